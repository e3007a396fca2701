import type { Contact, Labelled, PostalAddress } from '../../../contract/contact.ts';
import { dayInWords, envelopeOf, ItemIndex, type Part } from '../parts.ts';
import { placed, type Destination } from '../places.ts';
import { Spill } from '../spill.ts';

const HEADING = 'Without a column of their own:';

/** A contact on its way into columns: what fits, and what goes below the notes, under a line that says so. */
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

  /** Puts a value below the notes that its column can't take. */
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

/** A date that an import takes; one without a year reads as a formula or a wrong year. */
export function hasYear(date: string): boolean {
  return /^\d{4}-/.test(date);
}

/** Whether the name is only a formatted one, which then stands in the column of the first name. */
export function givenName({ name, organization }: Contact): string {
  const structured = [name.given, name.middle, name.family].some((part) => part !== '');
  return structured || name.formatted === organization.name ? name.given : name.formatted;
}
