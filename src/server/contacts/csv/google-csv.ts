import type { Contact, Labelled } from '../../../contract/contact.ts';
import type { Cells } from './cells.ts';
import { CsvSpill, envelopeOf, hasYear } from './csv-spill.ts';

/** How many columns each kind of value has; what is beyond goes to the notes. */
const PLACES = { 'E-mail': 5, Phone: 6, Address: 3, Website: 3 } as const;
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

/** The header that Google Contacts exports and imports. */
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
  'Event 1 - Label',
  'Event 1 - Value',
  'Custom Field 1 - Label',
  'Custom Field 1 - Value',
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
/** Joins several values, or labels, of one cell. */
const JOINT = ' ::: ';

export function googleCells(contact: Contact): Cells {
  const spill = new CsvSpill();
  const { name, organization } = contact;
  const structured = [name.given, name.middle, name.family].some((part) => part !== '');
  const numberedCells = [
    ...cellsOf('E-mail', contact.emails, spill),
    ...cellsOf('Phone', contact.phones, spill),
    ...cellsOf('Website', contact.websites, spill),
    ...addressCells(contact, spill),
  ];
  if (contact.birthday !== '' && !hasYear(contact.birthday))
    spill.add('Birthday', [{ label: '', value: contact.birthday.slice(2) }]);
  return new Map([
    ['First Name', structured || name.formatted === organization.name ? name.given : name.formatted],
    ['Middle Name', name.middle],
    ['Last Name', name.family],
    ['Name Prefix', name.prefix],
    ['Name Suffix', name.suffix],
    ['Nickname', contact.nickname],
    ['File As', structured ? name.formatted : ''],
    ['Organization Name', organization.name],
    ['Organization Title', organization.title],
    ['Organization Department', organization.department],
    ['Birthday', hasYear(contact.birthday) ? contact.birthday : ''],
    // `* ` marks a group of Google's own.
    ['Labels', [...contact.groups, '* myContacts'].join(JOINT)],
    ...numberedCells,
    ['Notes', spill.below(contact.notes)],
  ]);
}

function labelOf(label: string): string {
  return LABELS.get(label) ?? label;
}

function cellsOf(
  kind: Exclude<keyof typeof PLACES, 'Address'>,
  values: readonly Labelled<string>[],
  spill: CsvSpill,
): [string, string][] {
  spill.add(kind, values.slice(PLACES[kind]));
  return values.slice(0, PLACES[kind]).flatMap(({ label, value }, at): [string, string][] => [
    [`${kind} ${at + 1} - Label`, labelOf(label)],
    [`${kind} ${at + 1} - Value`, value],
  ]);
}

function addressCells({ addresses }: Contact, spill: CsvSpill): [string, string][] {
  spill.add(
    'Address',
    addresses.slice(PLACES.Address).map(({ label, value }) => ({ label, value: envelopeOf(value) })),
  );
  return addresses.slice(0, PLACES.Address).flatMap(({ label, value }, at) => {
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
