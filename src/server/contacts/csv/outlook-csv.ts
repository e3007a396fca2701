import type { Contact, Labelled } from '../../../contract/contact.ts';
import type { Cells } from './cells.ts';
import { CsvSpill, envelopeOf, hasYear } from './csv-spill.ts';

/** The header that Outlook exports and imports. */
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

export function outlookCells(contact: Contact): Cells {
  const spill = new CsvSpill();
  const { name, organization } = contact;
  const structured = [name.given, name.middle, name.family].some((part) => part !== '');
  const cells = new Map<string, string>([
    ['Title', name.prefix],
    ['First Name', structured || name.formatted === organization.name ? name.given : name.formatted],
    ['Middle Name', name.middle],
    ['Last Name', name.family],
    ['Suffix', name.suffix],
    ['Company', organization.name],
    ['Department', organization.department],
    ['Job Title', organization.title],
    ['Categories', contact.groups.join(';')],
    ['Web Page', contact.websites[0]?.value ?? ''],
  ]);
  if (contact.nickname !== '') spill.add('Nickname', [{ label: '', value: contact.nickname }]);
  if (hasYear(contact.birthday)) cells.set('Birthday', usDate(contact.birthday));
  else if (contact.birthday !== '') spill.add('Birthday', [{ label: '', value: contact.birthday.slice(2) }]);
  addEmails(cells, contact, spill);
  addPhones(cells, contact.phones, spill);
  addAddresses(cells, contact, spill);
  spill.add('Website', contact.websites.slice(1));
  return cells.set('Notes', spill.below(contact.notes));
}

/** Outlook's import reads the month first, as the US writes it. */
function usDate(birthday: string): string {
  const [year, month, day] = birthday.split('-').map(Number);
  return `${month}/${day}/${year}`;
}

function addEmails(cells: Map<string, string>, { emails, name }: Contact, spill: CsvSpill): void {
  for (const [at, column] of EMAIL_COLUMNS.entries()) {
    const email = emails[at];
    if (email === undefined) break;
    cells.set(`${column} Address`, email.value);
    cells.set(`${column} Type`, 'SMTP');
    cells.set(`${column} Display Name`, name.formatted);
  }
  spill.add('E-mail', emails.slice(EMAIL_COLUMNS.length));
}

function addPhones(cells: Map<string, string>, phones: readonly Labelled<string>[], spill: CsvSpill): void {
  for (const phone of phones) {
    const free = PHONE_COLUMNS.get(phone.label)?.find((column) => !cells.has(column));
    if (free === undefined) spill.add('Phone', [phone]);
    else cells.set(free, phone.value);
  }
}

function addAddresses(cells: Map<string, string>, { addresses }: Contact, spill: CsvSpill): void {
  const taken = new Set<string>();
  for (const { label, value } of addresses) {
    const place = label === 'home' ? 'Home' : label === 'work' ? 'Business' : 'Other';
    if (taken.has(place)) {
      spill.add('Address', [{ label, value: envelopeOf(value) }]);
      continue;
    }
    taken.add(place);
    const lines = [value.extended, ...value.street.split(/\r\n|\r|\n/)].filter((line) => line !== '');
    const rest = lines.slice(STREET_LINES - 1).join(', ');
    cells.set(`${place} Street`, lines[0] ?? '');
    cells.set(`${place} Street 2`, lines[1] ?? '');
    cells.set(`${place} Street 3`, rest);
    cells.set(`${place} City`, value.city);
    cells.set(`${place} State`, value.region);
    cells.set(`${place} Postal Code`, value.postalCode);
    cells.set(`${place} Country/Region`, value.country);
    cells.set(`${place} Address PO Box`, value.poBox);
  }
}
