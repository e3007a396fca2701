import type { Contact, Labelled, Organization, PostalAddress } from './contact.ts';
import { addressKey, nameKey, phoneKey, textKey, websiteKey, wordsOf } from './keys.ts';

/** The parts of a contact, named as in texts to the subscriber. */
const PART_WORDS = {
  name: 'parts of the name',
  'display name': 'display name',
  'phonetic name': 'phonetic name',
  nickname: 'nickname',
  email: 'email addresses',
  phone: 'phone numbers',
  address: 'addresses',
  website: 'websites',
  company: 'jobs',
  role: 'role',
  birthday: 'birthday',
  date: 'dates',
  messenger: 'messengers',
  relation: 'relations',
  gender: 'gender',
  note: 'notes',
  photo: 'photo',
  group: 'groups',
  detail: 'other details',
} as const;
export type Part = keyof typeof PART_WORDS;

/** Parts of which a contact has one at most: something else in its place keeps ours out. */
export const SINGLE_PARTS: ReadonlySet<Part> = new Set([
  'name',
  'display name',
  'phonetic name',
  'nickname',
  'role',
  'birthday',
  'gender',
  'photo',
] as const);

/** One value of a contact. `value` is for people; `''` when no text can hold it. `key` compares. */
export type Item = { readonly part: Part; readonly label: string; readonly value: string; readonly key: string };

/** A sentence's list of parts, each named once. */
export function partsInWords(parts: Iterable<Part>): string {
  return [...new Set(parts)].map((part) => PART_WORDS[part]).join(', ');
}

function item(part: Part, label: string, value: string, key: string): Item[] {
  return value.trim() === '' ? [] : [{ part, label, value, key }];
}

/** Every value of a contact. Its photo's value is `''`. */
export function itemsOf(contact: Contact): Item[] {
  const { name, phonetic } = contact;
  const each = (part: Part, values: readonly Labelled<string>[], keyOf: (value: string) => string) =>
    values.flatMap(({ label, value }) => item(part, label, value, keyOf(value)));
  const labelledEach = (part: Part, values: readonly Labelled<string>[]) =>
    values.flatMap(({ label, value }) => item(part, label, value, `${textKey(label)}\n${textKey(value)}`));
  return [
    ...(['prefix', 'given', 'middle', 'family', 'suffix'] as const).flatMap((piece) =>
      item('name', piece, name[piece], nameKey(name[piece])),
    ),
    ...item(
      'display name',
      '',
      hasOwnDisplayName(contact) ? name.formatted : '',
      nameKey(name.formatted) || textKey(name.formatted),
    ),
    ...(['given', 'middle', 'family'] as const).flatMap((piece) =>
      item('phonetic name', piece, phonetic[piece], `${piece} ${textKey(phonetic[piece])}`),
    ),
    ...item('nickname', '', contact.nickname, textKey(contact.nickname)),
    ...each('email', contact.emails, textKey),
    ...each('phone', contact.phones, phoneKey),
    ...contact.addresses.flatMap(({ label, value }) => item('address', label, envelopeOf(value), addressKey(value))),
    ...each('website', contact.websites, websiteKey),
    ...organizationsOf(contact).flatMap((organization) =>
      item('company', '', jobOf(organization), organizationKey(organization)),
    ),
    ...item('role', '', contact.role, textKey(contact.role)),
    ...item('birthday', '', dayInWords(contact.birthday), contact.birthday),
    ...contact.dates.flatMap(({ label, value }) =>
      item('date', label, dayInWords(value), `${textKey(label)}\n${value}`),
    ),
    ...contact.messengers.flatMap(({ label, value }) =>
      item('messenger', label, value, textKey(label === '' ? value : `${label}: ${value}`)),
    ),
    ...labelledEach('relation', contact.relations),
    ...item('gender', '', contact.gender, textKey(contact.gender)),
    ...item('note', '', contact.notes, textKey(contact.notes)),
    ...(contact.photo === undefined ? [] : [{ part: 'photo' as const, label: '', value: '', key: 'photo' }]),
    ...contact.groups.flatMap((group) => item('group', '', group, textKey(group))),
    ...contact.more.map(({ label, value }) => ({
      part: 'detail' as const,
      label,
      value,
      key: `${textKey(label)}\n${textKey(value)}`,
    })),
  ];
}

/** A contact's items; of equal ones, only the first. */
export class ItemIndex {
  readonly #items = new Map<string, Item>();

  constructor(contact: Contact) {
    for (const one of itemsOf(contact)) {
      const id = JSON.stringify([one.part, one.label, one.value]);
      if (!this.#items.has(id)) this.#items.set(id, one);
    }
  }

  /** As a list, which may be empty. */
  find(part: Part, label: string, value: string): readonly Item[] {
    const found = this.#items.get(JSON.stringify([part, label, value]));
    return found === undefined ? [] : [found];
  }
}

const MONTH_AND_DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });

/** A day without a year in the usual US form; a full date stays `YYYY-MM-DD`, which is unambiguous. */
export function dayInWords(day: string): string {
  // 2000 has every day.
  return day.startsWith('--') ? MONTH_AND_DAY.format(new Date(`2000${day.slice(1)}T00:00:00Z`)) : day;
}

/** Whether Outlook has a place for a day: one with a year, and that since its calendar begins. */
export function isInOutlook(day: string): boolean {
  return day >= '1601';
}

export function organizationsOf({ organization, otherOrganizations }: Contact): Organization[] {
  return [organization, ...otherOrganizations].filter((one) => Object.values(one).some((part) => part.trim() !== ''));
}

function organizationKey({ name, department, title }: Organization): string {
  return [name, department, title].map(textKey).join('\n');
}

function jobOf({ name, department, title }: Organization): string {
  return [title, department, name].filter((part) => part !== '').join(', ');
}

/** An address in the order used on an envelope. */
export function envelopeOf(address: PostalAddress): string {
  const { poBox, extended, street, city, region, postalCode, country } = address;
  const place = [city, region, postalCode].filter((part) => part !== '').join(' ');
  return [poBox, extended, street, place, country].filter((line) => line !== '').join('\n');
}

/** The words of a name's pieces. */
export function nameWords({ name }: Contact): Set<string> {
  return new Set([name.prefix, name.given, name.middle, name.family, name.suffix].flatMap(wordsOf));
}

/** Whether the display name says something that the pieces, the company and the addresses don't. */
export function hasOwnDisplayName(contact: Contact): boolean {
  const { formatted } = contact.name;
  const words = nameWords(contact);
  const own = wordsOf(formatted);
  if (formatted.trim() === '' || (own.length > 0 && own.every((word) => words.has(word)))) return false;
  const others = [
    contact.organization.name,
    contact.nickname,
    ...contact.emails.map(({ value }) => value),
    ...contact.phones.map(({ value }) => value),
  ];
  const key = textKey(formatted);
  return words.size > 0 || !others.some((other) => textKey(other) === key);
}

/** A value as written in the notes: `Birthday: 1950`. */
export function noteLine({ part, label, value }: Item): string {
  if (part === 'address')
    return `Address${label === '' ? '' : ` (${label})`}: ${value.replaceAll(/\r\n|\r|\n/g, ', ')}`;
  if (part === 'detail') return `${capitalized(label)}: ${value}`;
  return `${NOTE_WORDS[part] ?? capitalized(part)}${label === '' ? '' : ` (${label})`}: ${value}`;
}

const NOTE_WORDS: Partial<Record<Part, string>> = { company: 'Job', email: 'E-mail' };

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
