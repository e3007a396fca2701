import type { Contact, Labelled } from '../../../contract/contact.ts';
import { displayNameOf, readCard } from './read-vcard.ts';
import { typesOfLabel, type LabelKind } from './vcard-labels.ts';
import {
  escapeText,
  lineOf,
  paramOf,
  readCardLines,
  typesOf,
  unescapeText,
  writeCardLines,
  type VcardLine,
  type VcardVersion,
} from './vcard-lines.ts';
import { birthdayLine, birthdayOf, bytesLine, bytesOf } from './vcard-values.ts';

/**
 * A contact as one vCard with CRLF line ends. When it came from a vCard, that one is written again with every line it
 * had, even those that no program here knows; only its UID and groups are brought up to date, and what the version
 * writes in another way.
 */
export function writeVcard(contact: Contact, version: VcardVersion): string {
  const source = contact.vcard === '' ? 'empty' : readCardLines(contact.vcard);
  if (typeof source === 'string') return composeVcard(contact, version);
  const converted = source.version === version ? source.lines : source.lines.map((line) => convert(line, version));
  return writeCardLines({ version, lines: upToDate(converted, contact, version) });
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
      ...unlessEmpty('NICKNAME', escapeText(contact.nickname)),
      ...labelled('EMAIL', 'place', contact.emails, escapeText),
      ...labelled('TEL', 'phone', contact.phones, escapeText),
      ...labelled('ADR', 'place', contact.addresses, (address) =>
        structured(
          address.poBox,
          address.extended,
          address.street,
          address.city,
          address.region,
          address.postalCode,
          address.country,
        ),
      ),
      ...labelled('URL', 'place', contact.websites, (url) => (version === '4.0' ? url : escapeText(url))),
      ...unlessEmpty('ORG', organizationOf(contact)),
      ...unlessEmpty('TITLE', escapeText(contact.organization.title)),
      ...(contact.birthday === '' ? [] : [birthdayLine(contact.birthday, version)]),
      ...unlessEmpty('NOTE', escapeText(contact.notes)),
      ...(contact.photo === undefined ? [] : [bytesLine('PHOTO', contact.photo, version)]),
      ...groupLines(contact.groups),
    ],
  });
}

function unlessEmpty(property: string, value: string): VcardLine[] {
  return value === '' ? [] : [lineOf(property, value)];
}

function organizationOf({ organization: { name, department } }: Contact): string {
  return department === '' ? escapeText(name) : structured(name, department);
}

function structured(...values: readonly string[]): string {
  return values.map(escapeText).join(';');
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
  if (known?.groups.join('\n') !== contact.groups.join('\n'))
    kept = [...kept.filter(({ name }) => name !== 'CATEGORIES'), ...groupLines(contact.groups)];
  // FN is required by both versions, N by 3.0 (RFC 2426 §3.1.2).
  if (version === '3.0' && !lines.some(({ name }) => name === 'N')) kept.unshift(nameLine(contact.name));
  if (!lines.some(({ name, value }) => name === 'FN' && value.trim() !== ''))
    kept = [lineOf('FN', escapeText(displayNameOf(contact))), ...kept.filter(({ name }) => name !== 'FN')];
  return kept;
}

/** One line in the grammar of the other version; a line that both write alike stays as it is. */
function convert(line: VcardLine, version: VcardVersion): VcardLine {
  if (['PHOTO', 'LOGO', 'SOUND', 'KEY'].includes(line.name)) {
    const bytes = bytesOf(line);
    if (bytes !== null) return bytesLine(line.name, bytes, version, line.group);
  }
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
