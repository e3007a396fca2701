import type { ExistingContact } from './contact-store.ts';
import { BLANK_CONTACT, type Contact, type Organization } from './contact.ts';
import { textKey, wordsOf } from './keys.ts';
import { itemsOf, nameWords, noteLine, organizationsOf, SINGLE_PARTS, type Item, type Part } from './parts.ts';

/** How much of the notes is searched for values without a line of their own, in UTF-16 code units. */
const NOTES_READ_AT_MOST = 100 * 1024 * 1024;

/** What a contact at the destination holds, for looking up single values. */
export class Held {
  readonly #contact: Contact;
  readonly #keys = new Map<Part, Set<string>>();
  readonly #words: ReadonlySet<string>;
  readonly #notes: string;
  readonly #noteLines: ReadonlySet<string>;
  #notesRead = 0;
  readonly #hasPhoto: boolean;

  constructor({ contact, hasPhoto }: ExistingContact) {
    this.#contact = contact;
    this.#words = new Set([...nameWords(contact), ...wordsOf(contact.name.formatted)]);
    this.#notes = textKey(contact.notes);
    this.#noteLines = new Set(contact.notes.split(/\r\n|\r|\n/).map(textKey));
    this.#hasPhoto = hasPhoto ?? contact.photo !== undefined;
    for (const { part, key } of itemsOf(contact)) {
      const keys = this.#keys.get(part);
      if (keys === undefined) this.#keys.set(part, new Set([key]));
      else keys.add(key);
    }
  }

  /** In its own place, or in readable form in the notes. */
  has(item: Item): boolean {
    if (item.part === 'photo') return this.#hasPhoto;
    if (this.#keys.get(item.part)?.has(item.key) === true) return true;
    if (item.part === 'note') return this.#notes.includes(item.key);
    if (item.part === 'name' || item.part === 'display name') {
      const words = wordsOf(item.value);
      if (words.length > 0 && words.every((word) => this.#words.has(word))) return true;
    }
    return item.value !== '' && this.#isNoted(textKey(noteLine(item)));
  }

  #isNoted(line: string): boolean {
    if (this.#noteLines.has(line)) return true;
    this.#notesRead += this.#notes.length;
    return this.#notesRead <= NOTES_READ_AT_MOST && this.#notes.includes(line);
  }

  /** Whether something is already where this single value would go. */
  isTaken({ part, label }: Item): boolean {
    const { name, phonetic, more } = this.#contact;
    if (part === 'name') return name[label as 'given'] !== '';
    if (part === 'phonetic name') return phonetic[label as 'given'] !== '';
    // One that is no date.
    if (part === 'birthday' && more.some((detail) => detail.label === 'birthday')) return true;
    return part === 'display name' ? this.#words.size > 0 : (this.#keys.get(part)?.size ?? 0) > 0;
  }
}

/** The values of a contact that its counterpart holds nowhere. What can't be text is not looked for. */
export function missingItems(existing: ExistingContact, contact: Contact): Item[] {
  const held = new Held(existing);
  return itemsOf(contact).filter((item) => (item.value !== '' || item.part === 'photo') && !held.has(item));
}

/**
 * What to add to a contact of the destination so that it lacks nothing of ours: a contact with only the missing values.
 * `stays`: parts that are left out, because there is something else.
 */
export type Filling = { readonly add: Contact; readonly added: readonly Part[]; readonly stays: readonly Part[] };

/** What a contact adds to an existing one: only into empty fields. */
export function fillingFor(existing: ExistingContact, contact: Contact): Filling {
  const held = new Held(existing);
  const added: Part[] = [];
  const stays: Part[] = [];
  const wanted = new Set<string>();
  for (const item of missingItems(existing, contact)) {
    if (item.part === 'company') continue;
    if (SINGLE_PARTS.has(item.part) && held.isTaken(item)) stays.push(item.part);
    else {
      added.push(item.part);
      wanted.add(idOf(item));
    }
  }
  // A middle name alone would be the whole name of a contact that has no other pieces.
  if (added.includes('name') && nameWords(existing.contact).size === 0)
    for (const item of itemsOf(contact)) if (item.part === 'name') wanted.add(idOf(item));
  const items = itemsOf(contact).filter(({ part }) => part === 'company');
  const theirs = new JobIndex(organizationsOf(existing.contact));
  const jobs = organizationsOf(contact).flatMap((ours, at) => {
    const item = items[at];
    if (item !== undefined && held.has(item)) return [];
    const piece = theirs.missingOf(ours);
    if (piece === null) return [];
    if (piece === 'taken') {
      stays.push('company');
      return [];
    }
    added.push('company');
    return [piece];
  });
  return { add: { ...only(contact, wanted), ...jobsOf(jobs) }, added: [...new Set(added)], stays: [...new Set(stays)] };
}

function idOf({ part, label, key }: Item): string {
  return JSON.stringify([part, label, key]);
}

/** The jobs of their contact, by company. */
class JobIndex {
  readonly #first = new Map<string, Organization>();
  /** Every job, and the job without its department or its title. */
  readonly #covered = new Set<string>();

  constructor(theirs: readonly Organization[]) {
    for (const one of theirs) {
      const name = textKey(one.name);
      if (!this.#first.has(name)) this.#first.set(name, one);
      for (const department of [null, textKey(one.department)])
        for (const title of [null, textKey(one.title)]) this.#covered.add(JSON.stringify([name, department, title]));
    }
  }

  /** What theirs lack of an organization; a job at the same company is completed, never replaced. */
  missingOf(ours: Organization): Organization | 'taken' | null {
    const name = textKey(ours.name);
    const [department, title] = [ours.department, ours.title].map((piece) => (piece === '' ? null : textKey(piece)));
    if (this.#covered.has(JSON.stringify([name, department, title]))) return null;
    const one = this.#first.get(name);
    if (one === undefined) return ours;
    const piece = (field: 'department' | 'title') => (one[field] === '' ? ours[field] : '');
    const missing = { name: ours.name, department: piece('department'), title: piece('title') };
    const isTaken = (['department', 'title'] as const).some(
      (field) => one[field] !== '' && ours[field] !== '' && textKey(one[field]) !== textKey(ours[field]),
    );
    return isTaken ? 'taken' : missing;
  }
}

function jobsOf([first = BLANK_CONTACT.organization, ...otherOrganizations]: readonly Organization[]) {
  return { organization: first, otherOrganizations };
}

function isBlank({ value }: { readonly value: string }): boolean {
  return value.trim() === '';
}

/** The contact with only these values. */
function only(contact: Contact, wanted: ReadonlySet<string>): Contact {
  const items = new Map(itemsOf(contact).map((item) => [item, wanted.has(idOf(item))]));
  const of = (part: Part) => [...items].filter(([item]) => item.part === part);
  const has = (part: Part, label = '') => of(part).some(([item, isWanted]) => isWanted && item.label === label);
  const text = (part: Part, value: string) => (has(part) ? value : '');
  /** The values in the order of their items; blank ones have no item. */
  const list = <Value>(part: Part, values: readonly Value[], isBlank: (value: Value) => boolean): Value[] => {
    const flags = of(part).map(([, isWanted]) => isWanted);
    return values.filter((value) => !isBlank(value)).filter((_, at) => flags[at] === true);
  };
  const { name, phonetic, photo } = contact;
  const piece = (part: Part, label: string, value: string) => (has(part, label) ? value : '');
  return {
    ...BLANK_CONTACT,
    uid: contact.uid,
    vcard: contact.vcard,
    name: {
      formatted: text('display name', name.formatted),
      prefix: piece('name', 'prefix', name.prefix),
      given: piece('name', 'given', name.given),
      middle: piece('name', 'middle', name.middle),
      family: piece('name', 'family', name.family),
      suffix: piece('name', 'suffix', name.suffix),
    },
    phonetic: {
      given: piece('phonetic name', 'given', phonetic.given),
      middle: piece('phonetic name', 'middle', phonetic.middle),
      family: piece('phonetic name', 'family', phonetic.family),
    },
    nickname: text('nickname', contact.nickname),
    emails: list('email', contact.emails, isBlank),
    phones: list('phone', contact.phones, isBlank),
    addresses: list('address', contact.addresses, ({ value }) =>
      Object.values(value).every((line) => line.trim() === ''),
    ),
    websites: list('website', contact.websites, isBlank),
    role: text('role', contact.role),
    birthday: text('birthday', contact.birthday),
    dates: list('date', contact.dates, isBlank),
    messengers: list('messenger', contact.messengers, isBlank),
    relations: list('relation', contact.relations, isBlank),
    gender: text('gender', contact.gender),
    notes: text('note', contact.notes),
    groups: list('group', contact.groups, (group) => group.trim() === ''),
    more: list('detail', contact.more, () => false),
    ...(photo !== undefined && has('photo') ? { photo } : {}),
  };
}
