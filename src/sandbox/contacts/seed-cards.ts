import { type Chance, chance } from '../mailbox/chance.ts';
import { picture } from '../mailbox/letter.ts';

const GIVEN = [
  'Anna',
  'Bernd',
  'Chiara',
  'Daniel',
  'Élodie',
  'Søren',
  'Grace',
  'Hiroshi',
  'Ingrid',
  'José',
  'Katarzyna',
  'Luís',
  'Mei',
  'Noor',
  'Óscar',
  'Zoë',
];
const FAMILY = [
  'Müller',
  'García',
  'O’Neill',
  'Wójcik',
  'Sørensen',
  'Smith',
  'Dvořák',
  'Nguyễn',
  'Rossi',
  'Lefèvre',
  'Okafor',
  'de la Cruz',
  'Keller',
  'Ivanova',
];
const JAPANESE = [
  ['健一', '田中'],
  ['美咲', '佐藤'],
  ['さくら', '山本'],
] as const;
const STREETS = ['12 Elm Street', 'Lindenstraße 7', '4-1 Sakura-cho', '88 Harbor View, Apt. 3', 'Calle Mayor 15'];
const CITIES = [
  ['San Bruno', 'CA', '94066', 'USA'],
  ['Köln', 'NRW', '50667', 'Germany'],
  ['京都', '', '600-8001', '日本'],
] as const;
const COMPANIES = ['Workshop & Sons', 'First Harbor Bank', 'Blumen Müller GmbH', 'Choir on the Hill'];
const NOTES = [
  'Met on the ferry.',
  'Likes tea, not coffee.\nBirthday cake: lemon.',
  'Semicolons; commas, and \\ slashes.',
  'Schlüssel liegt bei Oma Käthe.',
];
const GROUPS = ['Family', 'Choir', 'Nachbarn', '旅行'];
const ODD_NAMES = ['Plumber (nights)', '???', 'Aunt "Rosie"'];

/** Contacts as vCards (RFC 2426, RFC 6350) with their file names; the same at every start. */
export function seedCards(owner: string, count: number): [name: string, card: string][] {
  const lots = chance(`cards of ${owner}`);
  const members: string[] = [];
  const cards = Array.from({ length: count }, (_, index): [string, string] => {
    const uid = `${owner.split('@')[0]}-${String(index + 1).padStart(3, '0')}`;
    if (index % 7 === 0) members.push(uid);
    return [`${uid}.vcf`, card(lots, uid, index)];
  });
  if (count < 10) return cards;
  const group = [
    'BEGIN:VCARD',
    'VERSION:4.0',
    'KIND:group',
    `UID:${owner.split('@')[0]}-group`,
    'FN:Sunday lunch',
    ...members.map((uid) => `MEMBER:urn:uuid:${uid}`),
    'END:VCARD',
  ];
  return [...cards, ['sunday-lunch.vcf', fold(group)]];
}

function card(lots: Chance, uid: string, index: number): string {
  const newer = index % 5 === 4;
  const [given, family] = index % 15 === 7 ? lots.pick(JAPANESE) : [lots.pick(GIVEN), lots.pick(FAMILY)];
  const odd = index % 20 === 19 ? lots.pick(ODD_NAMES) : undefined;
  const home = newer ? 'TYPE=home' : 'TYPE=HOME';
  const work = newer ? 'TYPE=work' : 'TYPE=WORK';
  const address = `person${index + 1}`;
  const lines = [
    'BEGIN:VCARD',
    newer ? 'VERSION:4.0' : 'VERSION:3.0',
    `UID:${uid}`,
    `FN:${text(odd ?? `${given} ${family}`)}`,
    odd === undefined
      ? `N:${text(family)};${text(given)};${lots.oneIn(6) ? 'Maria' : ''};${lots.oneIn(12) ? 'Dr.' : ''};`
      : 'N:;;;;',
    `EMAIL;${home}:${address}@post.example`,
  ];
  if (index % 3 === 0)
    lines.push(`EMAIL;${work}:${address}@work.example`, `EMAIL;TYPE=other:${address}.old@sbcable.example`);
  if (index % 4 !== 3) lines.push(`TEL;TYPE=${newer ? 'cell' : 'CELL'}:+1 650 555 ${String(1000 + index)}`);
  if (index % 6 === 0)
    lines.push(`TEL;${home}:650-555-${String(2000 + index)}`, `TEL;${work}:(650) 555-${String(3000 + index)}`);
  if (index % 3 === 1) {
    const [city, region, code, country] = lots.pick(CITIES);
    lines.push(`ADR;${home}:;;${[lots.pick(STREETS), city, region, code, country].map(text).join(';')}`);
  }
  if (index % 4 === 2) lines.push(`ORG:${text(lots.pick(COMPANIES))};Sales`, 'TITLE:Head of everything');
  if (index % 5 === 0)
    lines.push(
      `BDAY:${1930 + lots.below(75)}${newer ? '' : '-'}${two(1 + lots.below(12))}${newer ? '' : '-'}${two(1 + lots.below(28))}`,
    );
  if (index % 5 === 2) lines.push(`NOTE:${text(lots.pick(NOTES))}`);
  if (index % 9 === 3) lines.push('URL:https://www.post.example/~person');
  if (index % 2 === 0)
    lines.push(`CATEGORIES:${[lots.pick(GROUPS), ...(lots.oneIn(3) ? ['Old friends'] : [])].join(',')}`);
  if (index % 12 === 5) {
    const png = picture(40, 40, [lots.below(256), 80, 160], [240, 200, lots.below(256)]).toString('base64');
    lines.push(newer ? `PHOTO:data:image/png;base64,${png}` : `PHOTO;ENCODING=b;TYPE=PNG:${png}`);
  }
  return fold([...lines, 'END:VCARD']);
}

const two = (number: number) => String(number).padStart(2, '0');

function text(value: string): string {
  return value.replace(/[\\;,]/g, '\\$&').replaceAll('\n', '\\n');
}

/** Folds lines longer than 75 octets, always between characters. */
function fold(lines: readonly string[]): string {
  const folded = lines.map((line) => {
    let out = '';
    let length = 0;
    for (const char of line) {
      const octets = Buffer.byteLength(char);
      if (length + octets > 75) {
        out += '\r\n ';
        length = 1;
      }
      out += char;
      length += octets;
    }
    return out;
  });
  return `${folded.join('\r\n')}\r\n`;
}
