import type { Contact } from '../contact.ts';
import { isInOutlook } from '../parts.ts';
import type { Cells } from './cells.ts';
import { CsvContact, givenName } from './csv-spill.ts';

/** The header that classic Outlook for Windows exports and imports, in English (support.microsoft.com, read 2026-11-21). */
export const OUTLOOK_COLUMNS: readonly string[] = [
  'Title',
  'First Name',
  'Middle Name',
  'Last Name',
  'Suffix',
  'Company',
  'Department',
  'Job Title',
  'Business Street',
  'Business Street 2',
  'Business Street 3',
  'Business City',
  'Business State',
  'Business Postal Code',
  'Business Country/Region',
  'Home Street',
  'Home Street 2',
  'Home Street 3',
  'Home City',
  'Home State',
  'Home Postal Code',
  'Home Country/Region',
  'Other Street',
  'Other Street 2',
  'Other Street 3',
  'Other City',
  'Other State',
  'Other Postal Code',
  'Other Country/Region',
  "Assistant's Phone",
  'Business Fax',
  'Business Phone',
  'Business Phone 2',
  'Callback',
  'Car Phone',
  'Company Main Phone',
  'Home Fax',
  'Home Phone',
  'Home Phone 2',
  'ISDN',
  'Mobile Phone',
  'Other Fax',
  'Other Phone',
  'Pager',
  'Primary Phone',
  'Radio Phone',
  'TTY/TDD Phone',
  'Telex',
  'Account',
  'Anniversary',
  "Assistant's Name",
  'Billing Information',
  'Birthday',
  'Business Address PO Box',
  'Categories',
  'Children',
  'Directory Server',
  'E-mail Address',
  'E-mail Type',
  'E-mail Display Name',
  'E-mail 2 Address',
  'E-mail 2 Type',
  'E-mail 2 Display Name',
  'E-mail 3 Address',
  'E-mail 3 Type',
  'E-mail 3 Display Name',
  'Gender',
  'Government ID Number',
  'Hobby',
  'Home Address PO Box',
  'Initials',
  'Internet Free Busy',
  'Keywords',
  'Language',
  'Location',
  "Manager's Name",
  'Mileage',
  'Notes',
  'Office Location',
  'Organizational ID Number',
  'Other Address PO Box',
  'Priority',
  'Private',
  'Profession',
  'Referred By',
  'Sensitivity',
  'Spouse',
  'User 1',
  'User 2',
  'User 3',
  'User 4',
  'Web Page',
];

/**
 * The header that Outlook.com and the new Outlook export and import (support.microsoft.com, "Import contacts to Outlook",
 * read 2026-11-21).
 */
export const OUTLOOK_COM_COLUMNS: readonly string[] = [
  'First Name',
  'Middle Name',
  'Last Name',
  'Title',
  'Suffix',
  'Nickname',
  'Given Yomi',
  'Surname Yomi',
  'E-mail Address',
  'E-mail 2 Address',
  'E-mail 3 Address',
  'Home Phone',
  'Home Phone 2',
  'Business Phone',
  'Business Phone 2',
  'Mobile Phone',
  'Car Phone',
  'Other Phone',
  'Primary Phone',
  'Pager',
  'Business Fax',
  'Home Fax',
  'Other Fax',
  'Company Main Phone',
  'Callback',
  'Radio Phone',
  'Telex',
  'TTY/TDD Phone',
  'IMAddress',
  'Job Title',
  'Department',
  'Company',
  'Office Location',
  "Manager's Name",
  "Assistant's Name",
  "Assistant's Phone",
  'Company Yomi',
  'Business Street',
  'Business City',
  'Business State',
  'Business Postal Code',
  'Business Country/Region',
  'Home Street',
  'Home City',
  'Home State',
  'Home Postal Code',
  'Home Country/Region',
  'Other Street',
  'Other City',
  'Other State',
  'Other Postal Code',
  'Other Country/Region',
  'Personal Web Page',
  'Spouse',
  'Schools',
  'Hobby',
  'Location',
  'Web Page',
  'Birthday',
  'Anniversary',
  'Notes',
];

const EMAIL_COLUMNS = ['E-mail', 'E-mail 2', 'E-mail 3'] as const;

/** The columns that a label's numbers may go to, in this order. */
const PHONE_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map([
  ['mobile', ['Mobile Phone']],
  ['work mobile', ['Mobile Phone', 'Business Phone 2']],
  ['home', ['Home Phone', 'Home Phone 2']],
  ['work', ['Business Phone', 'Business Phone 2']],
  ['home fax', ['Home Fax']],
  ['work fax', ['Business Fax']],
  ['fax', ['Other Fax']],
  ['pager', ['Pager']],
  ['main', ['Company Main Phone']],
  ['car', ['Car Phone']],
  ['other', ['Other Phone', 'Primary Phone']],
  ['', ['Other Phone', 'Primary Phone']],
]);
const STREET_LINES = 3;
/** Labels without which a value says as much; any other is its owner's own, and stands in the notes with its value. */
const PLAIN_LABELS: ReadonlySet<string> = new Set(['', 'home', 'work', 'other', 'homepage']);

export function outlookCells(contact: Contact): Cells {
  const row = new CsvContact(contact, 'outlook.csv');
  const { fits } = row;
  const cells = commonCells(row);
  cells.set('Categories', fits.groups.join(';'));
  cells.set('Profession', fits.role);
  setGender(cells, row);
  setRelations(cells, row, 'Children');
  for (const column of EMAIL_COLUMNS)
    if (cells.has(`${column} Address`)) {
      cells.set(`${column} Type`, 'SMTP');
      cells.set(`${column} Display Name`, fits.name.formatted);
    }
  addAddresses(cells, row, 'with lines');
  return cells.set('Notes', row.notes);
}

export function outlookComCells(contact: Contact): Cells {
  const row = new CsvContact(contact, 'outlook-com.csv');
  const { fits } = row;
  const cells = commonCells(row);
  cells.set('Nickname', fits.nickname);
  cells.set('Given Yomi', fits.phonetic.given);
  cells.set('Surname Yomi', fits.phonetic.family);
  if (fits.phonetic.middle !== '') row.spill('phonetic name', { label: 'middle', value: fits.phonetic.middle });
  const [messenger] = fits.messengers;
  if (messenger !== undefined)
    cells.set('IMAddress', messenger.label === '' ? messenger.value : `${messenger.label}: ${messenger.value}`);
  cells.set('Personal Web Page', fits.websites[1]?.value ?? '');
  setRelations(cells, row, null);
  addAddresses(cells, row, 'whole');
  return cells.set('Notes', row.notes);
}

function commonCells(row: CsvContact): Map<string, string> {
  const { fits } = row;
  const { name, organization } = fits;
  const cells = new Map<string, string>([
    ['Title', name.prefix],
    ['First Name', givenName(fits)],
    ['Middle Name', name.middle],
    ['Last Name', name.family],
    ['Suffix', name.suffix],
    ['Company', organization.name],
    ['Department', organization.department],
    ['Job Title', organization.title],
    ['Web Page', fits.websites[0]?.value ?? ''],
  ]);
  if (isInOutlook(fits.birthday)) cells.set('Birthday', usDate(fits.birthday));
  else if (fits.birthday !== '') row.spill('birthday', { label: '', value: fits.birthday });
  for (const date of fits.dates) {
    if (date.label === 'anniversary' && isInOutlook(date.value) && !cells.has('Anniversary'))
      cells.set('Anniversary', usDate(date.value));
    else row.spill('date', date);
  }
  for (const [at, { value }] of fits.emails.entries()) cells.set(`${EMAIL_COLUMNS[at]} Address`, value);
  for (const email of fits.emails) if (!PLAIN_LABELS.has(email.label)) row.spill('email', email);
  for (const website of fits.websites) if (!PLAIN_LABELS.has(website.label)) row.spill('website', website);
  addPhones(cells, row);
  return cells;
}

/** Outlook's import reads the month first, as in the US. */
function usDate(date: string): string {
  const [year, month, day] = date.split('-').map(Number);
  return `${month}/${day}/${year}`;
}

/** The column holds one of three words. */
function setGender(cells: Map<string, string>, row: CsvContact): void {
  const { gender } = row.fits;
  const word = { male: 'Male', female: 'Female' }[gender];
  if (word === undefined) row.spill('gender', { label: '', value: gender });
  else cells.set('Gender', word);
}

const RELATION_COLUMNS: ReadonlyMap<string, string> = new Map([
  ['spouse', 'Spouse'],
  ['assistant', "Assistant's Name"],
  ['manager', "Manager's Name"],
]);

function setRelations(cells: Map<string, string>, row: CsvContact, children: 'Children' | null): void {
  const names: string[] = [];
  for (const relation of row.fits.relations) {
    const column = RELATION_COLUMNS.get(relation.label);
    if (relation.label === 'child' && children !== null) names.push(relation.value);
    else if (column === undefined || cells.has(column)) row.spill('relation', relation);
    else cells.set(column, relation.value);
  }
  if (children !== null) cells.set(children, names.join('; '));
}

function addPhones(cells: Map<string, string>, row: CsvContact): void {
  for (const phone of row.fits.phones) {
    const free = PHONE_COLUMNS.get(phone.label)?.find((column) => !cells.has(column));
    if (free === undefined) row.spill('phone', phone);
    else cells.set(free, phone.value);
  }
}

function addAddresses(cells: Map<string, string>, row: CsvContact, street: 'with lines' | 'whole'): void {
  const taken = new Set<string>();
  for (const address of row.fits.addresses) {
    const { label, value } = address;
    const place = label === 'home' ? 'Home' : label === 'work' ? 'Business' : 'Other';
    if (taken.has(place)) {
      row.spillAddress(address);
      continue;
    }
    taken.add(place);
    if (!PLAIN_LABELS.has(label)) row.spillAddress(address);
    const box = street === 'whole' ? [value.poBox] : [];
    const lines = [...box, value.extended, ...value.street.split(/\r\n|\r|\n/)].filter((line) => line !== '');
    if (street === 'whole') cells.set(`${place} Street`, lines.join('\n'));
    else {
      cells.set(`${place} Street`, lines[0] ?? '');
      cells.set(`${place} Street 2`, lines[1] ?? '');
      cells.set(`${place} Street 3`, lines.slice(STREET_LINES - 1).join(', '));
      cells.set(`${place} Address PO Box`, value.poBox);
    }
    cells.set(`${place} City`, value.city);
    cells.set(`${place} State`, value.region);
    cells.set(`${place} Postal Code`, value.postalCode);
    cells.set(`${place} Country/Region`, value.country);
  }
}
