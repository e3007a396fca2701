import type { Contact, Labelled, PostalAddress } from '../contact.ts';
import { dayInWords, envelopeOf, ItemIndex, type Part } from '../parts.ts';
import { placed, type Destination } from '../places.ts';
import { Spill } from '../spill.ts';

const HEADING = 'Without a column of their own:';

/** A contact being put into columns: what fits, and what goes below the notes, under a line that says so. */
export class CsvContact {
  readonly fits: Contact;
  readonly #items: ItemIndex;
  readonly #spill = new Spill();

  constructor(contact: Contact, layout: Extract<Destination, `${string}.csv`>) {
    const { fits, left } = placed(contact, layout);
    this.fits = fits;
    this.#items = new ItemIndex(contact);
    this.#spill.add(left.filter(({ part }) => part !== 'photo'));
  }

  /** Puts a value that its column can't hold below the notes. */
  spill(part: Part, { label, value }: Labelled<string>): void {
    const text = part === 'birthday' || part === 'date' ? dayInWords(value) : value;
    this.#spill.add(this.#items.find(part, label, text));
  }

  spillAddress({ label, value }: Labelled<PostalAddress>): void {
    this.spill('address', { label, value: envelopeOf(value) });
  }

  get notes(): string {
    return this.#spill.below(this.fits.notes, HEADING);
  }
}

/** A date that an import accepts; one without a year would be read as a formula or with a wrong year. */
export function hasYear(date: string): boolean {
  return /^\d{4}-/.test(date);
}

/** Whether there is only a formatted name, which then goes into the first name's column. */
export function givenName({ name, organization }: Contact): string {
  const structured = [name.given, name.middle, name.family].some((part) => part !== '');
  return structured || name.formatted === organization.name ? name.given : name.formatted;
}
