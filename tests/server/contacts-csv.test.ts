import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Contact } from '../../src/server/contacts/contact.ts';
import { contactsCsv, type CsvLayout } from '../../src/server/contacts/csv/write-csv.ts';
import { harmless } from '../../src/server/spreadsheet.ts';
import { readCard } from '../../src/server/contacts/vcard/read-vcard.ts';
import { installed } from '../support/installed.ts';
import { anyContact, contact, BLANK } from '../support/contact-samples.ts';
import { needs } from '../support/needs.ts';

const PYTHON = installed('python3');
const READER = `
import csv, io, json, sys
text = sys.stdin.buffer.read().decode('utf-8')
assert text.startswith('\\ufeff')
print(json.dumps(list(csv.reader(io.StringIO(text[1:], newline=''), strict=True))))`;

async function csvOf(contacts: readonly Contact[], layout: CsvLayout): Promise<string> {
  let text = '';
  for await (const row of contactsCsv(contacts, layout)) text += row;
  return text;
}

test.each(['google', 'outlook', 'outlook-com'] as const)(
  'a card of the largest size keeps all its values for %s',
  async (layout) => {
    const kinds = ['X-A', 'X-AIM', 'TEL', 'ADR', 'X-SPOUSE', 'EMAIL', 'URL', 'TITLE'];
    const lines = Array.from({ length: 1_990 }, (_, at) => `${kinds[at % kinds.length]}:value${at}`);
    const result = readCard(['BEGIN:VCARD', 'VERSION:3.0', 'FN:Jane', ...lines, 'END:VCARD', ''].join('\r\n'));
    if (result.kind !== 'contact') throw new Error('The card is refused.');
    const text = await csvOf([result.contact], layout);
    const found = new Set(text.match(/(?<=value)\d+/g));
    expect(lines.filter((_, at) => !found.has(String(at)))).toEqual([]);
  },
);

test('other work gets its turn after each row', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  await csvOf(
    Array.from({ length: 50 }, () => contact({})),
    'google',
  );
  clearImmediate(immediate);
  expect(turns).toBeGreaterThanOrEqual(50);
});

/** What python3's csv module reads, row by row, each by its column. */
async function rowsOf(contacts: readonly Contact[], layout: CsvLayout): Promise<Record<string, string>[]> {
  const input = await csvOf(contacts, layout);
  const read = JSON.parse(
    execFileSync(PYTHON ?? 'python3', ['-c', READER], { input, maxBuffer: 1e9 }).toString(),
  ) as string[][];
  const [header = [], ...rows] = read;
  for (const row of rows) expect(row).toHaveLength(header.length);
  return rows.map((row) => Object.fromEntries(header.map((column, at) => [column, row[at] ?? ''])));
}

const JANE = contact({
  uid: 'jane',
  name: { formatted: 'Dr. Jane Q. Doe', prefix: 'Dr.', given: 'Jane', middle: 'Q.', family: 'Doe', suffix: 'Jr.' },
  nickname: 'JD',
  emails: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ label: 'home', value: `${name}@example.com` })),
  phones: [
    { label: 'mobile', value: '+1 650 555 0100' },
    { label: 'work fax', value: '2' },
    { label: 'Boat', value: '3' },
  ],
  addresses: [
    {
      label: 'home',
      value: {
        poBox: 'PO 7',
        extended: 'Apt 2',
        street: '1 Main St',
        city: 'X',
        region: 'CA',
        postalCode: '94066',
        country: 'USA',
      },
    },
  ],
  websites: [{ label: 'work', value: 'https://acme.example' }],
  organization: { name: 'Acme', department: 'Sales', title: 'Head' },
  birthday: '1980-04-13',
  notes: 'likes "tea",\nand cake',
  groups: ['Friends', 'Chess'],
});

describe('a CSV file, read back by python3', needs('python3'), () => {
  test('for Google has each value in its column, and what is left in the notes', async () => {
    const [row] = await rowsOf([JANE], 'google');
    expect(row).toMatchObject({
      'First Name': 'Jane',
      'Middle Name': 'Q.',
      'Last Name': 'Doe',
      'Name Prefix': 'Dr.',
      'Name Suffix': 'Jr.',
      Nickname: 'JD',
      'Organization Name': 'Acme',
      'Organization Title': 'Head',
      'Organization Department': 'Sales',
      Birthday: '1980-04-13',
      Labels: 'Friends ::: Chess ::: * myContacts',
      'E-mail 1 - Label': 'Home',
      'E-mail 1 - Value': 'a@example.com',
      'E-mail 5 - Value': 'e@example.com',
      'Phone 1 - Label': 'Mobile',
      'Phone 1 - Value': '+1 650 555 0100',
      'Phone 2 - Label': 'Work Fax',
      'Phone 3 - Label': 'Boat',
      'Address 1 - Formatted': 'PO 7\nApt 2\n1 Main St\nX CA 94066\nUSA',
      'Address 1 - Street': '1 Main St',
      'Address 1 - PO Box': 'PO 7',
      'Website 1 - Value': 'https://acme.example',
      Notes: 'likes "tea",\nand cake\n\nWithout a column of their own:\nE-mail (home): f@example.com',
    });
  });

  test('for Google names its own groups as its import knows them, and makes no others of that name', async () => {
    const [row] = await rowsOf([{ ...JANE, groups: ['myContacts', 'Chess', 'Starred'] }], 'google');
    expect(row?.['Labels']).toBe('* myContacts ::: Chess ::: * starred');
  });

  test('for Outlook has each value in its column, and what is left in the notes', async () => {
    const [row] = await rowsOf([JANE], 'outlook');
    expect(Object.keys(row ?? {})).toHaveLength(92);
    expect(row).toMatchObject({
      Title: 'Dr.',
      'First Name': 'Jane',
      'Last Name': 'Doe',
      Company: 'Acme',
      'Job Title': 'Head',
      'Home Street': 'Apt 2',
      'Home Street 2': '1 Main St',
      'Home City': 'X',
      'Home State': 'CA',
      'Home Address PO Box': 'PO 7',
      'Mobile Phone': '+1 650 555 0100',
      'Business Fax': '2',
      Birthday: '4/13/1980',
      Categories: 'Friends;Chess',
      'E-mail Address': 'a@example.com',
      'E-mail Type': 'SMTP',
      'E-mail 3 Address': 'c@example.com',
      'Web Page': 'https://acme.example',
    });
    expect(row?.['Notes']?.split('\n').slice(3)).toEqual([
      'Without a column of their own:',
      'Nickname: JD',
      'E-mail (home): d@example.com',
      'E-mail (home): e@example.com',
      'E-mail (home): f@example.com',
      'Phone (Boat): 3',
    ]);
  });

  test.each(['outlook', 'outlook-com'] as const)(
    'for %s has a day of the first centuries in the notes, as the import would take its year for one of ours',
    async (layout) => {
      const dates = [{ label: 'anniversary', value: '0085-06-07' }];
      const [row] = await rowsOf([contact({ birthday: '0001-01-01', dates })], layout);
      expect(row).toMatchObject({ Birthday: '', Anniversary: '' });
      expect(row?.['Notes']?.split('\n').slice(1)).toEqual(['Birthday: 0001-01-01', 'Date (anniversary): 0085-06-07']);
    },
  );

  test.each(['outlook', 'outlook-com'] as const)(
    'for %s has labels of their owner’s own in the notes',
    async (layout) => {
      const [home] = JANE.addresses;
      const jane = contact({
        emails: [
          { label: 'School', value: 'a@example.com' },
          { label: 'work', value: 'b@example.com' },
        ],
        addresses: home === undefined ? [] : [{ label: 'Cabin', value: home.value }],
        websites: [{ label: 'Blog', value: 'https://acme.example' }],
      });
      const [row] = await rowsOf([jane], layout);
      expect(row).toMatchObject({
        'E-mail Address': 'a@example.com',
        'Other City': 'X',
        'Web Page': 'https://acme.example',
      });
      expect(row?.['Notes']?.split('\n')).toEqual([
        'Without a column of their own:',
        'E-mail (School): a@example.com',
        'Website (Blog): https://acme.example',
        'Address (Cabin): PO 7, Apt 2, 1 Main St, X CA 94066, USA',
      ]);
    },
  );

  test.each(['google', 'outlook'] as const)(
    'for %s loses no value of any contact, and runs no formula',
    async (layout) => {
      const contacts = fc.sample(anyContact, 100);
      const rows = await rowsOf(contacts, layout);
      expect(rows).toHaveLength(contacts.length);
      for (const [at, { emails, phones, addresses, groups }] of contacts.entries()) {
        const cells = Object.values(rows[at] ?? {});
        const text = cells.join('\n');
        const values = [...emails, ...phones].map(({ value }) => value);
        for (const value of [...values, ...groups, ...addresses.map((one) => one.value.city)])
          expect(text).toContain(value);
        for (const cell of cells) expect(cell).not.toMatch(/^[\t\r]|^\s*[=@]|^\s*[+-](?![0-9 ().-]*$)/);
      }
    },
  );

  test('keeps a birthday without a year in the notes, where no program takes it for a formula', async () => {
    for (const layout of ['google', 'outlook'] as const) {
      const [row] = await rowsOf([contact({ ...BLANK, birthday: '--04-13' })], layout);
      expect(row?.['Birthday']).toBe('');
      expect(row?.['Notes']).toContain('Birthday: April 13');
    }
  });
});

test('a CSV file begins with a byte order mark, ends its rows with CRLF and quotes as RFC 4180 does', async () => {
  const text = await csvOf([contact({ ...BLANK, notes: 'a "b", c\nd' })], 'outlook');
  expect(text.startsWith('\uFEFFTitle,First Name,')).toBe(true);
  expect(text.endsWith('\r\n')).toBe(true);
  expect(text).toContain(',"a ""b"", c\nd",');
});

test.each([
  ['=1+1', "'=1+1"],
  ['  =1+1', "'  =1+1"],
  ['\n=1+1', "'\n=1+1"],
  ['+cmd|calc', "'+cmd|calc"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\ttab', "'\ttab"],
  ['\rreturn', "'\rreturn"],
  ['\0=1+1', "'=1+1"],
  [' \0=1+1', "' =1+1"],
  ['＝1+1', "'＝1+1"],
  ['+1 650 555 0100', '+1 650 555 0100'],
  ['+49(0)89-123.45', '+49(0)89-123.45'],
  ['+1\u00A0650\u202F555\u20090100', '+1\u00A0650\u202F555\u20090100'],
  ['+1-800-FLOWERS', '+1-800-FLOWERS'],
  ['+1 650 555 0100,,7#', '+1 650 555 0100,,7#'],
  ['+1 650 555 0100 ext. 7', '+1 650 555 0100 ext. 7'],
  ['+1 650 555 0100;p12', '+1 650 555 0100;p12'],
  ['+plus@x.example', '+plus@x.example'],
  ['+12345', "'+12345"],
  ['+1-1234567*A1', "'+1-1234567*A1"],
  ['+1234567+HYPERLINK("x")', '\'+1234567+HYPERLINK("x")'],
  ['+123456-SUM (1)', "'+123456-SUM (1)"],
  ['+1234567|x', "'+1234567|x"],
  ['@plus@x.example', "'@plus@x.example"],
  ['+1 650 555 0100=1', "'+1 650 555 0100=1"],
  ['+1 650 555 0100\n', "'+1 650 555 0100\n"],
  ["O'Neil - Smith", "O'Neil - Smith"],
])('the cell %j is written as %j', (cell, written) => {
  expect(harmless(cell)).toBe(written);
});
