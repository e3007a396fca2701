import type { Contact, Labelled, PostalAddress } from '../../../contract/contact.ts';
import { labelOfApple, labelOfTypes, type LabelKind } from './vcard-labels.ts';
import {
  paramOf,
  readCardLines,
  splitValue,
  typesOf,
  unescapeText,
  type CardFault,
  type VcardLine,
} from './vcard-lines.ts';
import { birthdayOf, bytesOf } from './vcard-values.ts';

/** A card that names others: the members are UIDs without `urn:uuid:`. */
export type GroupCard = { readonly name: string; readonly members: readonly string[] };

export type ReadCard =
  | { readonly kind: 'contact'; readonly contact: Contact }
  | { readonly kind: 'group'; readonly group: GroupCard }
  | { readonly kind: 'fault'; readonly fault: CardFault };

/** The properties that `Contact` holds, or that say nothing of the person. */
const HELD: ReadonlySet<string> = new Set(
  'FN N NICKNAME EMAIL TEL ADR URL ORG TITLE BDAY NOTE PHOTO CATEGORIES UID VERSION REV PRODID X-ABLABEL KIND X-ABADR'.split(
    ' ',
  ),
);

/** Reads one vCard 2.1, 3.0 or 4.0. Its UID may be missing, then `uid` is `''`. Never throws. */
export function readCard(text: string): ReadCard {
  const card = readCardLines(text);
  if (typeof card === 'string') return { kind: 'fault', fault: card };
  const lines = new Lines(card.lines);
  if (isGroup(lines)) return { kind: 'group', group: groupOf(lines) };
  const contact = contactOf(lines, text);
  const tells = card.lines.some(
    ({ name, value }) => !['UID', 'REV', 'PRODID', 'KIND'].includes(name) && !isBlank(value),
  );
  return tells ? { kind: 'contact', contact } : { kind: 'fault', fault: 'empty' };
}

/** The names of the properties that only the vCard itself can keep, such as `ANNIVERSARY`. */
export function unheldProperties(vcard: string): string[] {
  const card = vcard === '' ? 'empty' : readCardLines(vcard);
  if (typeof card === 'string') return [];
  const linked = card.lines.some((line) => line.name === 'PHOTO' && bytesOf(line) === null) ? ['PHOTO (a link)'] : [];
  const names = card.lines.filter(({ name, value }) => !HELD.has(name) && !isBlank(value)).map(({ name }) => name);
  return [...new Set([...names, ...linked])];
}

/** What to call a contact when its formatted name is empty. */
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

function isBlank(value: string): boolean {
  return /^[\s;,]*$/.test(value);
}

class Lines {
  readonly all: readonly VcardLine[];
  readonly #labels: ReadonlyMap<string, string>;

  constructor(all: readonly VcardLine[]) {
    this.all = all;
    this.#labels = new Map(
      all
        .filter(({ name, group }) => name === 'X-ABLABEL' && group !== '')
        .map(({ group, value }) => [group.toLowerCase(), labelOfApple(unescapeText(value))]),
    );
  }

  /** Lines of a property that hold something, preferred ones first (TYPE=pref, PREF=1). */
  of(name: string): VcardLine[] {
    return this.all.filter((line) => line.name === name && !isBlank(line.value)).toSorted((a, b) => rank(a) - rank(b));
  }

  text(name: string): string {
    const [line] = this.of(name);
    return line === undefined ? '' : unescapeText(line.value);
  }

  labelled<Value>(name: string, kind: LabelKind, valueOf: (line: VcardLine) => Value): Labelled<Value>[] {
    return this.of(name).map((line) => ({
      label: this.#labels.get(line.group.toLowerCase()) ?? labelOfTypes(kind, typesOf(line)),
      value: valueOf(line),
    }));
  }
}

function rank(line: VcardLine): number {
  const preference = Number(paramOf(line, 'PREF') ?? Number.NaN);
  if (preference >= 1 && preference <= 100) return preference;
  return typesOf(line).includes('pref') ? 1 : 101;
}

function components(line: VcardLine | undefined): string[] {
  if (line === undefined) return [];
  return splitValue(line.value, ';').map((part) => splitValue(part, ',').map(unescapeText).join(' ').trim());
}

/** Like `components`, but a bare comma is part of the text: street addresses and companies are full of them. */
function parts(line: VcardLine | undefined): string[] {
  return line === undefined ? [] : splitValue(line.value, ';').map((part) => unescapeText(part).trim());
}

function contactOf(lines: Lines, vcard: string): Contact {
  const [family = '', given = '', middle = '', prefix = '', suffix = ''] = components(lines.of('N')[0]);
  const [organization = '', ...units] = parts(lines.of('ORG')[0]);
  const photo = lines
    .of('PHOTO')
    .map(bytesOf)
    .find((found) => found !== null);
  return {
    uid: lines.text('UID').trim(),
    name: { formatted: lines.text('FN').trim(), prefix, given, middle, family, suffix },
    nickname: lines
      .of('NICKNAME')
      .flatMap((line) => splitValue(line.value, ',').map((part) => unescapeText(part).trim()))
      .join(', '),
    emails: lines.labelled('EMAIL', 'place', (line) =>
      unescapeText(line.value)
        .trim()
        .replace(/^mailto:/i, ''),
    ),
    phones: lines.labelled('TEL', 'phone', phoneOf),
    addresses: lines.labelled('ADR', 'place', addressOf),
    websites: lines.labelled('URL', 'place', (line) => unescapeText(line.value).trim()),
    organization: {
      name: organization,
      department: units.filter((unit) => unit !== '').join(', '),
      title: lines.text('TITLE').trim(),
    },
    birthday: lines.of('BDAY').map(birthdayOf)[0] ?? '',
    notes: lines
      .of('NOTE')
      .map((line) => unescapeText(line.value))
      .join('\n\n'),
    ...(photo === undefined ? {} : { photo }),
    groups: distinct(
      lines.of('CATEGORIES').flatMap((line) => splitValue(line.value, ',').map((part) => unescapeText(part).trim())),
    ),
    vcard,
  };
}

function phoneOf(line: VcardLine): string {
  const text = unescapeText(line.value).trim();
  if (!/^tel:/i.test(text)) return text;
  const [number = '', ...rest] = text.slice('tel:'.length).split(';');
  const extension = rest.find((part) => /^ext=/i.test(part));
  return extension === undefined ? number : `${number} ext. ${extension.slice('ext='.length)}`;
}

function addressOf(line: VcardLine): PostalAddress {
  const [poBox = '', extended = '', street = '', city = '', region = '', postalCode = '', country = ''] = parts(line);
  return { poBox, extended, street, city, region, postalCode, country };
}

function isGroup(lines: Lines): boolean {
  return ['KIND', 'X-ADDRESSBOOKSERVER-KIND'].some((name) => lines.text(name).trim().toLowerCase() === 'group');
}

function groupOf(lines: Lines): GroupCard {
  return {
    name: lines.text('FN').trim() || components(lines.of('N')[0]).join(' ').trim(),
    members: distinct(
      ['MEMBER', 'X-ADDRESSBOOKSERVER-MEMBER'].flatMap((name) =>
        lines.of(name).map((line) => memberKey(unescapeText(line.value))),
      ),
    ),
  };
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
