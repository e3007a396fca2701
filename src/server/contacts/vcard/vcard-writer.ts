import type { ContactGroup } from '../contact-store.ts';
import type { Contact, Labelled, PostalAddress } from '../contact.ts';
import { itemsOf } from '../parts.ts';
import { Spill } from '../spill.ts';
import { isBlank } from './card-properties.ts';
import { addressOf, displayNameOf, hasSurplus, memberKey, readCard } from './read-vcard.ts';
import { typesOfLabel, type LabelKind } from './vcard-labels.ts';
import {
  escapeText,
  lineOf,
  paramOf,
  readCardLines,
  splitValue,
  typesOf,
  unescapeText,
  writeCardLines,
  type VcardLine,
  type VcardVersion,
} from './vcard-lines.ts';
import { birthdayLine, birthdayOf, bytesLine, bytesOf } from './vcard-values.ts';

/**
 * A contact as one vCard with CRLF line ends. If it came from a vCard, that one is written again with every line it had,
 * even those that nothing here understands; only its UID and groups are updated, and what the version writes differently.
 */
export function writeVcard(contact: Contact, version: VcardVersion): string {
  const source = contact.vcard === '' ? 'empty' : readCardLines(contact.vcard);
  if (typeof source === 'string') return composeVcard(contact, version);
  const lines = source.lines.map(withPlainColons);
  const converted = source.version === version ? lines : lines.map((line) => convert(line, version));
  return writeCardLines({ version, lines: upToDate(converted.map(withEscapedText).map(inPieces), contact, version) });
}

/** The card from the fields of the contact alone: for a store that refuses the source's own card. */
export function composeVcard(contact: Contact, version: VcardVersion): string {
  let items = 0;
  const labelled = <Value>(
    property: string,
    kind: LabelKind,
    values: readonly Labelled<Value>[],
    spell: (value: Value) => string,
  ): VcardLine[] =>
    values.flatMap(({ label, value }) => {
      const types = label === '' ? [] : typesOfLabel(kind, label);
      if (types !== null) {
        const params = types.length === 0 ? [] : [{ name: 'TYPE', values: types.map((type) => type.toUpperCase()) }];
        return [lineOf(property, spell(value), params)];
      }
      items += 1;
      const group = `item${items}`;
      return [lineOf(property, spell(value), [], group), lineOf('X-ABLabel', escapeText(label), [], group)];
    });

  return writeCardLines({
    version,
    lines: [
      ...unlessEmpty('UID', escapeText(contact.uid)),
      lineOf('FN', escapeText(displayNameOf(contact))),
      nameLine(contact.name),
      ...unlessEmpty('X-PHONETIC-FIRST-NAME', escapeText(contact.phonetic.given)),
      ...unlessEmpty('X-PHONETIC-MIDDLE-NAME', escapeText(contact.phonetic.middle)),
      ...unlessEmpty('X-PHONETIC-LAST-NAME', escapeText(contact.phonetic.family)),
      ...unlessEmpty('NICKNAME', escapeText(contact.nickname)),
      ...labelled('EMAIL', 'place', contact.emails, escapeText),
      ...labelled('TEL', 'phone', contact.phones, escapeText),
      ...labelled('ADR', 'place', contact.addresses, addressValue),
      ...labelled('URL', 'place', contact.websites, (url) => (version === '4.0' ? url : escapeText(url))),
      ...organizationLines(contact),
      ...unlessEmpty('ROLE', escapeText(contact.role)),
      ...(contact.birthday === '' ? [] : [birthdayLine(contact.birthday, version)]),
      ...contact.dates.flatMap(({ label, value }) => {
        items += 1;
        const line = birthdayLine(value, '3.0');
        return [
          { ...line, name: 'X-ABDATE', group: `item${items}` },
          ...unlessEmpty('X-ABLabel', escapeText(label), `item${items}`),
        ];
      }),
      ...contact.messengers.map(({ label, value }) =>
        lineOf(
          'IMPP',
          escapeText(`x-apple:${encodeURIComponent(value)}`),
          label === '' ? [] : [{ name: 'X-SERVICE-TYPE', values: [label] }],
        ),
      ),
      ...contact.relations.flatMap(({ label, value }) => {
        items += 1;
        return [
          lineOf('X-ABRELATEDNAMES', escapeText(value), [], `item${items}`),
          ...unlessEmpty('X-ABLabel', escapeText(label), `item${items}`),
        ];
      }),
      ...(contact.gender === '' ? [] : [genderLine(contact.gender, version)]),
      ...unlessEmpty('NOTE', escapeText(notesOf(contact))),
      ...(contact.photo === undefined ? [] : [bytesLine('PHOTO', contact.photo, version)]),
      ...groupLines(contact.groups),
    ],
  });
}

/**
 * A card with what it lacked; its own lines stay as they were written, except for the pieces of its name, a company's
 * department, and notes that are continued.
 * @param add `fillingFor` of this card
 */
export function fillVcard(card: string, add: Contact): string {
  const there = readCardLines(card);
  if (typeof there === 'string') return card;
  const { version } = there;
  const composed = readCardLines(composeVcard({ ...add, uid: '' }, version));
  const more = typeof composed === 'string' ? [] : composed.lines;
  const names = new Set(more.map(({ name }) => name));
  // Servers refuse a card that has one of these twice, even if one is empty.
  const lines = there.lines.filter(({ name, value }) => !(ONCE.has(name) && names.has(name) && isBlank(value)));
  const own = freshGroups(lines);
  const places = new Map<string, number>();
  const companies = new Map<string, number>();
  const noted = ({ name, value }: VcardLine, at: number) => {
    if (!isBlank(value)) setFirst(places, name, at);
    if (name === 'ORG') setFirst(companies, companyOf(value), at);
  };
  for (const [at, line] of lines.entries()) noted(line, at);
  const push = (line: VcardLine) => noted(line, lines.push(line) - 1);
  // A title belongs to the company before it.
  let job = '';
  for (const line of more) {
    const at = places.get(line.name) ?? lines.length;
    const one = lines[at];
    switch (line.name) {
      case 'FN':
        // A composed card always has one, even without a name.
        if (one === undefined) push(line);
        break;
      case 'N':
        if (one === undefined) push(line);
        else lines[at] = { ...one, value: filledPieces(one.value, line.value), text: '' };
        break;
      case 'NOTE':
      case 'CATEGORIES': {
        const joint = line.name === 'NOTE' ? '\\n\\n' : ',';
        if (one === undefined) push(line);
        else lines[at] = { ...one, value: `${one.value}${joint}${line.value}`, text: '' };
        break;
      }
      case 'ORG': {
        const same = companies.get(companyOf(line.value)) ?? lines.length;
        const company = lines[same];
        job = company === undefined ? own(line.group === '' ? 'job' : line.group) : company.group;
        if (company === undefined) push({ ...line, group: job });
        else lines[same] = { ...company, value: filledPieces(company.value, line.value), text: '' };
        break;
      }
      case 'TITLE':
        push({ ...line, group: job });
        break;
      default:
        push(line.group === '' ? line : { ...line, group: own(line.group) });
    }
  }
  return writeCardLines({ version, lines });
}

const ONCE: ReadonlySet<string> = new Set(['FN', 'N', 'BDAY', 'GENDER', 'X-GENDER']);

/** Names for groups that the card does not have yet. */
function freshGroups(lines: readonly VcardLine[]): (group: string) => string {
  const taken = new Set(lines.map(({ group }) => /^added\d+-/i.exec(group)?.[0].toLowerCase()));
  let number = 1;
  while (taken.has(`added${number}-`)) number += 1;
  return (group) => `added${number}-${group}`;
}

function companyOf(value: string): string {
  return unescapeText(splitValue(value, ';')[0] ?? '');
}

function setFirst(map: Map<string, number>, key: string, at: number): void {
  if (!map.has(key)) map.set(key, at);
}

/** The components of a structured value, completed from the other one where they are empty. */
function filledPieces(there: string, add: string): string {
  const own = splitValue(there, ';');
  const pieces = splitValue(add, ';');
  return Array.from({ length: Math.max(own.length, pieces.length) }, (_, at) => own[at] || (pieces[at] ?? '')).join(
    ';',
  );
}

/** A group as a card of vCard 3.0, as Apple and CardDAV servers know it. */
export function groupVcard({ uid, name, notes, members, strangers, vcard }: ContactGroup): string {
  const own = vcard === '' ? 'empty' : readCardLines(vcard);
  const lines = typeof own === 'string' ? [] : own.lines;
  const kept = lines.filter(({ name: property }) => !GROUP_PROPERTIES.has(property));
  // As its owner wrote them.
  const named = lines.filter(({ name: property }) => property.endsWith('MEMBER'));
  const spelled = new Map(named.map(({ value }) => [memberKey(unescapeText(value)), unescapeText(value).trim()]));
  const addresses = addressesOf(strangers).map((address) => spelled.get(address) ?? address);
  return writeCardLines({
    version: '3.0',
    lines: [
      lineOf('UID', escapeText(uid)),
      lineOf('FN', escapeText(name)),
      lineOf('N', `${escapeText(name)};;;;`),
      lineOf('X-ADDRESSBOOKSERVER-KIND', 'group'),
      ...[...members, ...addresses].map((member) => memberLine(member, 'X-ADDRESSBOOKSERVER-MEMBER')),
      ...unlessEmpty('NOTE', escapeText(notes)),
      ...kept,
    ],
  });
}

/** Those without a card that are addresses; a card that is gone tells nothing any more. */
export function addressesOf(strangers: readonly string[]): string[] {
  return strangers.filter((stranger) => stranger.startsWith(ADDRESS));
}

const ADDRESS = 'mailto:';

/**
 * A group's card with the members that it lacks, by their UIDs or addresses; `null` where it lacks none, or is no
 * group's.
 */
export function fillGroupVcard(card: string, members: readonly string[]): string | null {
  const [there, read] = [readCardLines(card), readCard(card)];
  if (typeof there === 'string' || read.kind !== 'group') return null;
  const known = new Set(read.group.members);
  const lacking = members.filter((member) => !known.has(memberKey(member)));
  if (lacking.length === 0) return null;
  const property = there.version === '4.0' ? 'MEMBER' : 'X-ADDRESSBOOKSERVER-MEMBER';
  return writeCardLines({
    ...there,
    lines: [...there.lines, ...lacking.map((member) => memberLine(member, property))],
  });
}

function memberLine(member: string, property: string): VcardLine {
  if (memberKey(member).startsWith(ADDRESS)) return lineOf(property, escapeText(member));
  // In vCard 4.0, the UID itself is often written so.
  return lineOf(property, `urn:uuid:${escapeText(member.replace(/^urn:uuid:/i, ''))}`);
}

const GROUP_PROPERTIES: ReadonlySet<string> = new Set(
  'UID FN N KIND MEMBER NOTE X-ADDRESSBOOKSERVER-KIND X-ADDRESSBOOKSERVER-MEMBER'.split(' '),
);

function unlessEmpty(property: string, value: string, group = ''): VcardLine[] {
  return value === '' ? [] : [lineOf(property, value, [], group)];
}

/** The first one is plain, so that all programs can read it; each further one is grouped with its title. */
function organizationLines({ organization, otherOrganizations }: Contact): VcardLine[] {
  return [organization, ...otherOrganizations].flatMap(({ name, department, title }, at) => {
    const group = at === 0 ? '' : `job${at}`;
    const value = department === '' ? escapeText(name) : structured(name, department);
    return [...unlessEmpty('ORG', value, group), ...unlessEmpty('TITLE', escapeText(title), group)];
  });
}

function genderLine(gender: string, version: VcardVersion): VcardLine {
  const sex = { male: 'M', female: 'F', other: 'O', none: 'N', unknown: 'U' }[gender];
  return lineOf(version === '4.0' ? 'GENDER' : 'X-GENDER', sex ?? structured('', gender));
}

/** A composed card has lines for common fields only; the rest goes into the notes. */
function notesOf(contact: Contact): string {
  const spill = new Spill();
  spill.add(itemsOf(contact).filter(({ part }) => part === 'detail'));
  return spill.below(contact.notes);
}

function structured(...values: readonly string[]): string {
  return values.map(escapeText).join(';');
}

function addressValue({ poBox, extended, street, city, region, postalCode, country }: PostalAddress): string {
  return structured(poBox, extended, street, city, region, postalCode, country);
}

/** Of an address with an unescaped semicolon, servers take the pieces for one another, and drop the last. */
function inPieces(line: VcardLine): VcardLine {
  return line.name === 'ADR' && hasSurplus(line) ? { ...line, value: addressValue(addressOf(line)), text: '' } : line;
}

/** Apple escapes colons, which no standard knows; servers keep the backslash as a part of the address, or double it. */
function withPlainColons(line: VcardLine): VcardLine {
  const value = line.value.replaceAll(/\\[^]/g, (pair) => (pair === '\\:' ? ':' : pair));
  return value === line.value ? line : { ...line, value, text: '' };
}

const TEXTS: ReadonlySet<string> = new Set(['FN', 'NOTE', 'TITLE', 'ROLE']);

/** Many programs don't escape commas in a text; servers that take them for ends of values drop what is behind (Radicale). */
function withEscapedText(line: VcardLine): VcardLine {
  if (!TEXTS.has(line.name)) return line;
  const value = line.value.replaceAll(/\\[^]|[,;]/g, (found) => (found.length === 1 ? `\\${found}` : found));
  return value === line.value ? line : { ...line, value, text: '' };
}

function nameLine({ family, given, middle, prefix, suffix }: Contact['name']): VcardLine {
  return lineOf('N', structured(family, given, middle, prefix, suffix));
}

function groupLines(groups: readonly string[]): VcardLine[] {
  return groups.length === 0 ? [] : [lineOf('CATEGORIES', groups.map(escapeText).join(','))];
}

function upToDate(lines: readonly VcardLine[], contact: Contact, version: VcardVersion): VcardLine[] {
  const read = readCard(writeCardLines({ version, lines }));
  const known = read.kind === 'contact' ? read.contact : null;
  let kept = [...lines];
  if (contact.uid !== '' && known?.uid !== contact.uid)
    kept = [lineOf('UID', escapeText(contact.uid)), ...kept.filter(({ name }) => name !== 'UID')];
  // A link to the legacy service dies with the service.
  if (contact.photo !== undefined && known?.photo === undefined)
    kept = [...kept.filter(({ name }) => name !== 'PHOTO'), bytesLine('PHOTO', contact.photo, version)];
  if (known?.groups.join('\n') !== contact.groups.join('\n'))
    kept = [...kept.filter(({ name }) => name !== 'CATEGORIES'), ...groupLines(contact.groups)];
  // FN is required by both versions, N by 3.0 (RFC 2426 §3.1.2).
  if (version === '3.0' && !lines.some(({ name }) => name === 'N')) kept.unshift(nameLine(contact.name));
  if (!lines.some(({ name, value }) => name === 'FN' && value.trim() !== ''))
    kept = [lineOf('FN', escapeText(displayNameOf(contact))), ...kept.filter(({ name }) => name !== 'FN')];
  return kept;
}

/** Rewrites a line in the grammar of the other version; lines that are the same in both stay unchanged. */
function convert(line: VcardLine, version: VcardVersion): VcardLine {
  if (['PHOTO', 'LOGO', 'SOUND', 'KEY'].includes(line.name)) {
    const bytes = bytesOf(line);
    if (bytes !== null) return bytesLine(line.name, bytes, version, line.group);
    // What is a link by itself in 4.0 is base64 by itself in 3.0.
    if (version === '3.0' && /^[a-z][\w+.-]*:/i.test(line.value) && paramOf(line, 'VALUE') === undefined) {
      const ranked = rankAs3(line);
      return { ...ranked, params: [...ranked.params, { name: 'VALUE', values: ['uri'] }], text: '' };
    }
  }
  // vCard 4.0 has no agents, and for some readers a card inside a card would end it.
  if (line.name === 'AGENT' && version === '4.0') return { ...line, name: 'X-AGENT', text: '' };
  if (line.name === 'BDAY') {
    const birthday = birthdayOf(line);
    if (birthday !== '') return { ...birthdayLine(birthday, version), group: line.group };
    return { ...line, params: [{ name: 'VALUE', values: ['text'] }], text: '' };
  }
  const ranked = version === '4.0' ? rankAs4(line) : rankAs3(line);
  if (version === '3.0' && line.name === 'TEL' && /^tel:/i.test(line.value)) {
    const value = unescapeText(line.value).slice('tel:'.length).replace(/;ext=/i, ' ext. ');
    return {
      ...ranked,
      params: ranked.params.filter(({ name }) => name !== 'VALUE'),
      value: escapeText(value),
      text: '',
    };
  }
  return ranked;
}

function rankAs4(line: VcardLine): VcardLine {
  if (!typesOf(line).includes('pref') && paramOf(line, 'CHARSET') === undefined) return line;
  const params = line.params
    .filter(({ name }) => name !== 'CHARSET')
    .map(({ name, values }) => ({
      name,
      values: name === 'TYPE' ? values.filter((value) => value.toLowerCase() !== 'pref') : values,
    }))
    .filter(({ values }) => values.length > 0);
  const preference = typesOf(line).includes('pref') ? [{ name: 'PREF', values: ['1'] }] : [];
  return { ...line, params: [...params, ...preference], text: '' };
}

function rankAs3(line: VcardLine): VcardLine {
  const preference = paramOf(line, 'PREF');
  if (preference === undefined) return line;
  const params = line.params.filter(({ name }) => name !== 'PREF');
  return {
    ...line,
    params: preference === '1' ? [...params, { name: 'TYPE', values: ['PREF'] }] : params,
    text: '',
  };
}
