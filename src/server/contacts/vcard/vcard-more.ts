import type { Labelled } from '../contact.ts';
import { wordsOf } from '../keys.ts';
import { CardProperties, isBlank } from './card-properties.ts';
import { paramOf, typesOf, unescapeText, type VcardLine } from './vcard-lines.ts';
import { androidFieldOf, dateOf, isName, MESSENGER_PROPERTIES, RELATION_PROPERTIES } from './vcard-people.ts';
import { birthdayOf, bytesOf } from './vcard-values.ts';

/** Properties for which `Contact` has a field for every line. */
const HELD: ReadonlySet<string> = new Set([
  ...'NICKNAME EMAIL TEL X-MS-TEL ADR URL ORG TITLE NOTE CATEGORIES IMPP X-ABRELATEDNAMES AGENT'.split(' '),
  ...MESSENGER_PROPERTIES.keys(),
  ...RELATION_PROPERTIES.keys(),
]);
/** Properties for which `Contact` has a field for the first line. */
const HELD_ONCE: ReadonlySet<string> = new Set(
  'FN N ROLE GENDER X-GENDER X-PHONETIC-FIRST-NAME X-PHONETIC-MIDDLE-NAME X-PHONETIC-LAST-NAME'.split(' '),
);
/** They describe the card, or the program that wrote it, and not the person. */
const SILENT: ReadonlySet<string> = new Set(
  'UID VERSION REV PRODID KIND MAILER PROFILE NAME SOURCE CLASS CLIENTPIDMAP X-ABLABEL X-ABADR X-ABUID X-ABSHOWAS X-EVOLUTION-FILE-AS X-ADDRESSBOOKSERVER-KIND X-MS-OL-DESIGN X-MS-OL-DEFAULT-POSTAL-ADDRESS'.split(
    ' ',
  ),
);

const NAMES: ReadonlyMap<string, string> = new Map([
  ['BDAY', 'birthday'],
  ['FN', 'other name'],
  ['N', 'other name'],
  ['ANNIVERSARY', 'anniversary'],
  ['X-ANNIVERSARY', 'anniversary'],
  ['X-ABDATE', 'date'],
  ['PHOTO', 'photo'],
  ['LABEL', 'address'],
  ['LOGO', 'logo'],
  ['SOUND', 'sound'],
  ['KEY', 'key'],
  ['LANG', 'language'],
  ['TZ', 'time zone'],
  ['GEO', 'position'],
  ['RELATED', 'related'],
  ['HOBBY', 'hobby'],
  ['INTEREST', 'interest'],
  ['EXPERTISE', 'expertise'],
  ['CALURI', 'calendar'],
  ['FBURL', 'free or busy'],
  ['SOCIALPROFILE', 'social profile'],
  ['X-SOCIALPROFILE', 'social profile'],
  ['X-UNREADABLE', 'unreadable line'],
]);

/**
 * What no field of a contact holds, in readable form. `value` is `''` for what people can't read, such as a sound, which
 * only the vCard itself keeps.
 */
export function moreOf(lines: CardProperties): Labelled<string>[] {
  const seen = new Set<string>();
  let hasPhoto = false;
  const addresses = lines.of('ADR').map(({ value }) => new Set(wordsOf(unescapeText(value))));
  return lines.all.flatMap((line): Labelled<string>[] => {
    // RFC 6350 §6.3.1: an address that is not in pieces.
    if (line.name === 'ADR' && isBlank(line.value)) return addressLabelOf(line);
    if (line.name === 'LABEL' && isAgain(line, addresses)) return [];
    if (isBlank(line.value) || SILENT.has(line.name) || HELD.has(line.name)) return [];
    const first = !seen.has(line.name);
    seen.add(line.name);
    if (HELD_ONCE.has(line.name) && line === lines.of(line.name)[0]) return [];
    if (line.name === 'X-GENDER' && lines.of('GENDER').length > 0) return [];
    if (line.name === 'BDAY' && first && birthdayOf(line) !== '') return [];
    if (line.name === 'RELATED' && isName(line)) return [];
    if (dateOf(lines, line) !== null) return [];
    const field = androidFieldOf(line);
    if (field !== null)
      return field.kind === 'contact_event' ? [{ label: field.label || 'date', value: field.value }] : [];
    if (line.name === 'PHOTO' && !hasPhoto && bytesOf(line) !== null) {
      hasPhoto = true;
      return [];
    }
    return [{ label: lines.labelOf(line) || titleOf(line), value: readable(line) }];
  });
}

/** vCard 2.1 and 3.0 write an address once more, as on an envelope. */
function isAgain({ value }: VcardLine, addresses: readonly ReadonlySet<string>[]): boolean {
  const words = wordsOf(unescapeText(value));
  return words.length > 0 && addresses.some((address) => words.every((word) => address.has(word)));
}

function addressLabelOf(line: VcardLine): Labelled<string>[] {
  const value = unescapeText(paramOf(line, 'LABEL') ?? '').trim();
  return value === '' ? [] : [{ label: 'address', value }];
}

function titleOf(line: VcardLine): string {
  const name = NAMES.get(line.name) ?? line.name;
  if (name !== 'social profile') return name;
  const network = paramOf(line, 'SERVICE-TYPE') ?? typesOf(line).find((type) => type !== 'pref');
  return network === undefined ? name : `${name} (${network})`;
}

/** Longer values are files rather than words; `ESCAPED_LENGTH` applies to the escaped form. */
const READABLE_LENGTH = 4_000;
const ESCAPED_LENGTH = 64 * 1024;

function readable(line: VcardLine): string {
  if (line.value.length > ESCAPED_LENGTH || bytesOf(line) !== null || /^data:/i.test(line.value)) return '';
  // Apple's word for networks that have no addresses.
  const text = unescapeText(line.value)
    .replaceAll(/;+/g, ' ')
    .trim()
    .replace(/^x-apple:/i, '');
  return text.length > READABLE_LENGTH ? '' : text;
}
