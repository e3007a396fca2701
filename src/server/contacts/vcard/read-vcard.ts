import type { Contact, Organization, PostalAddress } from '../contact.ts';
import { CardProperties, isBlank } from './card-properties.ts';
import { splitCards } from './cards-in-text.ts';
import { readCardLines, splitValue, unescapeText, type CardFault, type VcardLine } from './vcard-lines.ts';
import { moreOf } from './vcard-more.ts';
import { androidFieldOf, datesOf, genderOf, messengersOf, relationsOf } from './vcard-people.ts';
import { birthdayOf, bytesOf, type Photo } from './vcard-values.ts';

/** A card that names others: the members are UIDs without `urn:uuid:`, `mailto:` addresses, or `card:` and a file's name. */
export type GroupCard = {
  readonly uid: string;
  readonly name: string;
  readonly notes: string;
  readonly members: readonly string[];
  readonly vcard: string;
};

export type ReadCard =
  | { readonly kind: 'contact'; readonly contact: Contact }
  | { readonly kind: 'group'; readonly group: GroupCard }
  | { readonly kind: 'fault'; readonly fault: CardFault };

/** Reads one vCard 2.1, 3.0 or 4.0. If it has no UID, `uid` is `''`. Never throws. */
export function readCard(text: string): ReadCard {
  const card = readCardLines(text);
  if (typeof card === 'string') {
    const list = card === 'not a vCard' ? listOf(text) : null;
    return list === null ? { kind: 'fault', fault: card } : { kind: 'group', group: list };
  }
  const lines = new CardProperties(card.lines);
  if (isGroup(lines)) return { kind: 'group', group: groupOf(lines, text) };
  const contact = contactOf(lines, text);
  const tells = card.lines.some(
    ({ name, value }) => !['UID', 'REV', 'PRODID', 'KIND'].includes(name) && !isBlank(value),
  );
  return tells ? { kind: 'contact', contact } : { kind: 'fault', fault: 'empty' };
}

/** A resource should hold one card (RFC 6352 §5.1); some programs put a whole address book into one. */
export function* readCards(text: string): Iterable<{ readonly text: string; readonly read: ReadCard }> {
  let count = 0;
  for (const card of splitCards(text)) {
    count += 1;
    yield { text: card, read: readCard(card) };
  }
  if (count === 0) yield { text, read: readCard(text) };
}

/** The address of a linked photo; `null` if there is none, or it is inside the card. */
export function photoLinkOf(vcard: string): string | null {
  const card = vcard === '' ? 'empty' : readCardLines(vcard);
  if (typeof card === 'string') return null;
  const photos = card.lines.filter(({ name, value }) => name === 'PHOTO' && !isBlank(value));
  if (photos.some((line) => bytesOf(line) !== null)) return null;
  const links = photos
    .filter(({ value }) => value.length <= LINK_LENGTH)
    .map((line) => unescapeText(line.value).trim());
  return links.find((link) => /^https?:/i.test(link)) ?? null;
}

const LINK_LENGTH = 8 * 1024;

/** What to call a contact if its formatted name is empty. */
export function displayNameOf(contact: Contact): string {
  const { formatted, given, middle, family } = contact.name;
  return (
    [
      formatted,
      [given, middle, family].filter((part) => part !== '').join(' '),
      contact.organization.name,
      contact.nickname,
      contact.emails[0]?.value ?? '',
      contact.phones[0]?.value ?? '',
    ].find((name) => name.trim() !== '') ?? ''
  );
}

function components(line: VcardLine | undefined): string[] {
  if (line === undefined) return [];
  return splitValue(line.value, ';').map((part) => splitValue(part, ',').map(unescapeText).join(' ').trim());
}

/** Like `components`, but a bare comma is part of the text: street addresses and companies are full of them. */
function parts(line: VcardLine | undefined): string[] {
  return line === undefined ? [] : splitValue(line.value, ';').map((part) => unescapeText(part).trim());
}

function contactOf(lines: CardProperties, vcard: string): Contact {
  const [family = '', given = '', middle = '', prefix = '', suffix = ''] = components(lines.of('N')[0]);
  const [organization = BLANK_ORGANIZATION, ...otherOrganizations] = organizationsOf(lines);
  const photo = firstPhotoOf(lines);
  return {
    uid: lines.text('UID').trim(),
    name: { formatted: lines.text('FN').trim(), prefix, given, middle, family, suffix },
    phonetic: {
      given: lines.text('X-PHONETIC-FIRST-NAME').trim(),
      middle: lines.text('X-PHONETIC-MIDDLE-NAME').trim(),
      family: lines.text('X-PHONETIC-LAST-NAME').trim(),
    },
    nickname: nicknamesOf(lines).join(', '),
    emails: lines.labelled('EMAIL', 'place', (line) =>
      unescapeText(line.value)
        .trim()
        .replace(/^mailto:/i, ''),
    ),
    phones: PHONE_PROPERTIES.flatMap((name) => lines.labelled(name, 'phone', phoneOf)),
    addresses: lines.labelled('ADR', 'place', addressOf),
    websites: lines.labelled('URL', 'place', (line) => unescapeText(line.value).trim()),
    organization,
    otherOrganizations,
    role: lines.text('ROLE').trim(),
    birthday: lines.of('BDAY').map(birthdayOf)[0] ?? '',
    dates: datesOf(lines),
    messengers: messengersOf(lines),
    relations: relationsOf(lines),
    gender: genderOf(lines),
    notes: lines
      .of('NOTE')
      .map((line) => unescapeText(line.value))
      .join('\n\n'),
    ...(photo === undefined ? {} : { photo }),
    groups: distinct(
      lines.of('CATEGORIES').flatMap((line) => splitValue(line.value, ',').map((part) => unescapeText(part).trim())),
    ),
    more: moreOf(lines),
    vcard,
  };
}

function nicknamesOf(lines: CardProperties): string[] {
  return [
    ...lines.of('NICKNAME').flatMap((line) => splitValue(line.value, ',').map((part) => unescapeText(part).trim())),
    ...lines
      .of('X-ANDROID-CUSTOM')
      .flatMap((line) => androidFieldOf(line) ?? [])
      .flatMap(({ kind, value }) => (kind === 'nickname' ? [value] : [])),
  ];
}

/** The second one is Outlook's, for numbers that the standard has no type for. */
const PHONE_PROPERTIES = ['TEL', 'X-MS-TEL'] as const;

function firstPhotoOf(lines: CardProperties): Photo | undefined {
  for (const line of lines.of('PHOTO')) {
    const photo = bytesOf(line);
    if (photo !== null) return photo;
  }
  return undefined;
}

const BLANK_ORGANIZATION: Organization = { name: '', department: '', title: '' };

/** A title belongs to the organization of its group (RFC 6350 §3.3), else to the first that has none. */
function organizationsOf(lines: CardProperties): Organization[] {
  const organizations = lines.of('ORG').map((line) => {
    const [name = '', ...units] = parts(line);
    return {
      group: line.group.toLowerCase(),
      name,
      department: units.filter((unit) => unit !== '').join(', '),
      title: '',
    };
  });
  // Each is passed only once, since it then has its title.
  const all = organizations.values();
  const byGroup = new Map(
    [...Map.groupBy(organizations, ({ group }) => group)].map(([group, own]) => [group, own.values()]),
  );
  const hasOwn = ({ group }: VcardLine) => group !== '' && byGroup.has(group.toLowerCase());
  const titles = lines.of('TITLE');
  // Before another title can take their organization.
  for (const line of [...titles.filter(hasOwn), ...titles.filter((each) => !hasOwn(each))]) {
    const own = (hasOwn(line) ? nextFree(byGroup.get(line.group.toLowerCase())) : undefined) ?? nextFree(all);
    const title = unescapeText(line.value).trim();
    if (own === undefined) organizations.push({ ...BLANK_ORGANIZATION, group: line.group, title });
    else own.title = title;
  }
  return organizations.map(({ name, department, title }) => ({ name, department, title }));
}

function nextFree<Job extends Organization>(jobs: Iterator<Job> | undefined): Job | undefined {
  for (let next = jobs?.next(); next?.done === false; next = jobs?.next())
    if (next.value.title === '') return next.value;
  return undefined;
}

function phoneOf(line: VcardLine): string {
  const text = unescapeText(line.value).trim();
  if (!/^tel:/i.test(text)) return text;
  const [number = '', ...rest] = text.slice('tel:'.length).split(';');
  const extension = rest.find((part) => /^ext=/i.test(part));
  return extension === undefined ? number : `${number} ext. ${extension.slice('ext='.length)}`;
}

export function addressOf(line: VcardLine): PostalAddress {
  const all = parts(line);
  const [poBox = '', extended = '', ...rest] = all.slice(0, all.findLastIndex((piece) => piece !== '') + 1);
  // Some programs write `1 Main St; Apt 4` as it is. With all of RFC 9554's pieces, the street has them itself.
  const surplus = all.length < ALL_ADDRESS_PIECES ? Math.max(0, rest.length + 2 - ADDRESS_PIECES) : 0;
  const street = rest
    .slice(0, surplus + 1)
    .filter((piece) => piece !== '')
    .join('; ');
  const [city = '', region = '', postalCode = '', country = ''] = rest.slice(surplus + 1);
  return { poBox, extended, street, city, region, postalCode, country };
}

/** Whether an address has so few pieces more than the standard knows that a semicolon in it explains them. */
export function hasSurplus(line: VcardLine): boolean {
  const { length } = splitValue(line.value, ';');
  return length > ADDRESS_PIECES && length <= ADDRESS_PIECES + 2;
}

/** RFC 6350 §6.3.1, and with those of RFC 9554 §2.1. */
const [ADDRESS_PIECES, ALL_ADDRESS_PIECES] = [7, 18];

function isGroup(lines: CardProperties): boolean {
  return ['KIND', 'X-ADDRESSBOOKSERVER-KIND'].some((name) => lines.text(name).trim().toLowerCase() === 'group');
}

function groupOf(lines: CardProperties, vcard: string): GroupCard {
  return {
    uid: lines.text('UID').trim(),
    name: lines.text('FN').trim() || components(lines.of('N')[0]).join(' ').trim(),
    notes: lines
      .of('NOTE')
      .map((line) => unescapeText(line.value))
      .join('\n\n'),
    members: distinct(
      ['MEMBER', 'X-ADDRESSBOOKSERVER-MEMBER'].flatMap((name) =>
        lines.of(name).map((line) => memberKey(unescapeText(line.value))),
      ),
    ),
    vcard,
  };
}

const [LIST_BEGINS, LIST_ENDS] = ['BEGIN:VLIST', 'END:VLIST'];

/** SOGo's list of cards, in the form of a card; `null` if it is none. */
function listOf(text: string): GroupCard | null {
  const whole = text.trim();
  const isList =
    whole.slice(0, LIST_BEGINS.length).toUpperCase() === LIST_BEGINS &&
    whole.slice(-LIST_ENDS.length).toUpperCase() === LIST_ENDS;
  if (!isList) return null;
  const card = readCardLines(`BEGIN:VCARD${whole.slice(LIST_BEGINS.length, -LIST_ENDS.length)}END:VCARD`);
  if (typeof card === 'string') return null;
  const lines = new CardProperties(card.lines);
  const nickname = lines.text('NICKNAME').trim();
  return {
    uid: lines.text('UID').trim(),
    name: lines.text('FN').trim(),
    notes: [lines.text('DESCRIPTION'), nickname === '' ? '' : `Nickname: ${nickname}`]
      .filter((part) => part !== '')
      .join('\n\n'),
    members: distinct(lines.of('CARD').map((line) => fileKey(unescapeText(line.value).trim()))),
    vcard: text,
  };
}

/** How a list names the card in this file. */
export function fileKey(name: string): string {
  return `card:${name.toLowerCase()}`;
}

/** A UID as group cards spell it: with or without `urn:uuid:`, in any case. */
export function memberKey(uid: string): string {
  return uid
    .trim()
    .replace(/^urn:uuid:/i, '')
    .toLowerCase();
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text) => text !== ''))];
}
