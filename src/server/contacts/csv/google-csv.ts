import type { Contact, Labelled } from '../contact.ts';
import { envelopeOf, hasOwnDisplayName } from '../parts.ts';
import type { Cells } from './cells.ts';
import { CsvContact, givenName, hasYear } from './csv-spill.ts';

/** How many columns each kind of value has; `PLACES` has the same numbers. */
const PLACES = { 'E-mail': 5, Phone: 6, Address: 3, Website: 3, Event: 3, Relation: 3 } as const;
/** For roles, messengers, genders and anything else with a label of its own. */
const CUSTOM_FIELDS = 8;
const ADDRESS_PARTS = [
  'Label',
  'Formatted',
  'Street',
  'City',
  'PO Box',
  'Region',
  'Postal Code',
  'Country',
  'Extended Address',
] as const;

function numbered(kind: keyof typeof PLACES, parts: readonly string[]): string[] {
  return Array.from({ length: PLACES[kind] }, (_, at) => parts.map((part) => `${kind} ${at + 1} - ${part}`)).flat();
}

/** The header that Google Contacts exports and imports: the template at contacts.google.com, "Import" (read 2026-11-21). */
export const GOOGLE_COLUMNS: readonly string[] = [
  'First Name',
  'Middle Name',
  'Last Name',
  'Phonetic First Name',
  'Phonetic Middle Name',
  'Phonetic Last Name',
  'Name Prefix',
  'Name Suffix',
  'Nickname',
  'File As',
  'Organization Name',
  'Organization Title',
  'Organization Department',
  'Birthday',
  'Notes',
  'Photo',
  'Labels',
  ...numbered('E-mail', ['Label', 'Value']),
  ...numbered('Phone', ['Label', 'Value']),
  ...numbered('Address', ADDRESS_PARTS),
  ...numbered('Website', ['Label', 'Value']),
  ...numbered('Event', ['Label', 'Value']),
  ...numbered('Relation', ['Label', 'Value']),
  ...Array.from({ length: CUSTOM_FIELDS }, (_, at) => [
    `Custom Field ${at + 1} - Label`,
    `Custom Field ${at + 1} - Value`,
  ]).flat(),
];

const LABELS: ReadonlyMap<string, string> = new Map([
  ['home', 'Home'],
  ['work', 'Work'],
  ['other', 'Other'],
  ['mobile', 'Mobile'],
  ['work mobile', 'Work Mobile'],
  ['home fax', 'Home Fax'],
  ['work fax', 'Work Fax'],
  ['fax', 'Other Fax'],
  ['pager', 'Pager'],
  ['main', 'Main'],
]);
/** Separates several values, or labels, in one cell. */
const JOINT = ' ::: ';

export function googleCells(contact: Contact): Cells {
  const row = new CsvContact(contact, 'google.csv');
  const { fits } = row;
  const { name, organization, phonetic } = fits;
  const dates = fits.dates.filter((date) => hasYear(date.value));
  for (const date of fits.dates) if (!hasYear(date.value)) row.spill('date', date);
  if (fits.birthday !== '' && !hasYear(fits.birthday)) row.spill('birthday', { label: '', value: fits.birthday });
  const cells: [string, string][] = [
    ['First Name', givenName(fits)],
    ['Middle Name', name.middle],
    ['Last Name', name.family],
    ['Phonetic First Name', phonetic.given],
    ['Phonetic Middle Name', phonetic.middle],
    ['Phonetic Last Name', phonetic.family],
    ['Name Prefix', name.prefix],
    ['Name Suffix', name.suffix],
    ['Nickname', fits.nickname],
    ['File As', fileAsOf(fits)],
    ['Organization Name', organization.name],
    ['Organization Title', organization.title],
    ['Organization Department', organization.department],
    ['Birthday', hasYear(fits.birthday) ? fits.birthday : ''],
    ['Labels', labelsOf(fits.groups).join(JOINT)],
    ...cellsOf('E-mail', fits.emails),
    ...cellsOf('Phone', fits.phones),
    ...cellsOf('Website', fits.websites),
    ...cellsOf('Event', dates),
    ...cellsOf('Relation', fits.relations),
    ...addressCells(fits),
    ...customCells(fits, row),
  ];
  return new Map([...cells, ['Notes', row.notes]]);
}

/** Google's own groups, which its exports name as any other; `* ` marks them. */
const OWN_GROUPS: ReadonlyMap<string, string> = new Map([
  ['mycontacts', '* myContacts'],
  ['starred', '* starred'],
]);

function labelsOf(groups: readonly string[]): string[] {
  return [...new Set([...groups.map((name) => OWN_GROUPS.get(name.toLowerCase()) ?? name), '* myContacts'])];
}

function fileAsOf(contact: Contact): string {
  const { given, middle, family } = contact.name;
  const structured = [given, middle, family].some((part) => part !== '');
  return structured || hasOwnDisplayName(contact) ? contact.name.formatted : '';
}

function labelOf(label: string): string {
  return LABELS.get(label) ?? label;
}

function capitalized(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}

function cellsOf(
  kind: Exclude<keyof typeof PLACES, 'Address'>,
  values: readonly Labelled<string>[],
): [string, string][] {
  return values.flatMap(({ label, value }, at): [string, string][] => [
    [`${kind} ${at + 1} - Label`, kind === 'Event' || kind === 'Relation' ? capitalized(label) : labelOf(label)],
    [`${kind} ${at + 1} - Value`, value],
  ]);
}

function customCells(fits: Contact, row: CsvContact): [string, string][] {
  const fields: { part: 'role' | 'gender' | 'messenger' | 'detail'; label: string; own: string; value: string }[] = [
    ...(fits.role === '' ? [] : [{ part: 'role' as const, label: 'Role', own: '', value: fits.role }]),
    ...(fits.gender === '' ? [] : [{ part: 'gender' as const, label: 'Gender', own: '', value: fits.gender }]),
    ...fits.messengers.map(({ label, value }) => ({
      part: 'messenger' as const,
      label: label === '' ? 'Messenger' : capitalized(label),
      own: label,
      value,
    })),
    ...fits.more.map(({ label, value }) => ({ part: 'detail' as const, label: capitalized(label), own: label, value })),
  ];
  for (const { part, own, value } of fields.slice(CUSTOM_FIELDS)) row.spill(part, { label: own, value });
  return fields.slice(0, CUSTOM_FIELDS).flatMap(({ label, value }, at): [string, string][] => [
    [`Custom Field ${at + 1} - Label`, label],
    [`Custom Field ${at + 1} - Value`, value],
  ]);
}

function addressCells({ addresses }: Contact): [string, string][] {
  return addresses.flatMap(({ label, value }, at) => {
    const cells: Record<(typeof ADDRESS_PARTS)[number], string> = {
      Label: labelOf(label),
      Formatted: envelopeOf(value),
      Street: value.street,
      City: value.city,
      'PO Box': value.poBox,
      Region: value.region,
      'Postal Code': value.postalCode,
      Country: value.country,
      'Extended Address': value.extended,
    };
    return ADDRESS_PARTS.map((part): [string, string] => [`Address ${at + 1} - ${part}`, cells[part]]);
  });
}
