import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eml } from '../../src/server/export/archive/eml.format.ts';
import { contactFiles } from '../../src/server/export/archive/contact-files.ts';
import { BLANK, contact } from '../support/contact-samples.ts';
import { needs } from '../support/needs.ts';
import { openedInLibreOffice, type SheetCell } from '../support/spreadsheet.ts';

const MADE_HARMLESS = [
  '=1+1',
  '@SUM(1;2)',
  '+1+1',
  '-2+3',
  '=cmd|calc',
  '＝1+1',
  '  =1+1',
  '=HYPERLINK("http://x.example";"y")',
];
const LEFT_AS_IT_IS = [
  'Grüße aus Zürich – 日本 😊',
  'He said "no", twice',
  'a,b;c',
  'first\nsecond\n\nfourth',
  "O'Neil",
  '1 = 1',
  'x'.repeat(5000),
];
const PHONES = [
  '+1 415 555 0100',
  '+1 (415) 555-0101',
  '415-555-0102',
  '+1-415-555-0103 ext. 7',
  '+1 415 555 0104 x12',
];

/** The texts, each in every kind of place: a name, a nickname, an organization, a label, a group, an address, notes. */
const contacts = [
  ...[...MADE_HARMLESS, ...LEFT_AS_IT_IS].map((text, at) =>
    contact({
      uid: `${at}`,
      name: { ...BLANK.name, formatted: text, given: text, family: `Row ${at}` },
      nickname: text,
      organization: { name: text, department: text, title: text },
      emails: [{ label: 'home', value: `row.${at}@example.com` }],
      addresses: [
        {
          label: 'home',
          value: { poBox: '', extended: '', street: '1 Main St', city: text, region: '', postalCode: '', country: '' },
        },
      ],
      notes: text,
    }),
  ),
  contact({
    uid: 'phones',
    name: { ...BLANK.name, formatted: 'Phones', given: 'Phones' },
    phones: PHONES.map((value, at) => ({ label: ['mobile', 'home', 'work', 'fax', 'pager'][at] ?? '', value })),
  }),
];

const written = (text: string) => (MADE_HARMLESS.includes(text) ? `'${text}` : text);
const COLUMNS: Record<string, readonly string[]> = {
  'google.csv': ['First Name', 'Nickname', 'Organization Name', 'Organization Department', 'Address 1 - City', 'Notes'],
  'outlook.csv': ['First Name', 'Company', 'Department', 'Job Title', 'Home City'],
};

/** Each contact's cells by the column's name. */
function byColumn([header = [], ...rows]: readonly SheetCell[][]): Map<string, SheetCell>[] {
  return rows.map(
    (row) => new Map(header.map(({ text }, at) => [text, row[at] ?? { text: '', type: '', formula: '' }])),
  );
}

async function* all() {
  yield* contacts;
}

describe(
  'the tables of contacts, opened in LibreOffice (needs soffice and python3)',
  needs('soffice', 'python3'),
  () => {
    let folder: string;
    const files: string[] = [];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tables-'));
      const source = { scratch: folder, id: 'tables', made: new Date(0), signal: new AbortController().signal };
      const staged = {
        count: async () => contacts.length,
        contacts: all,
        countCards: async () => 0,
        card: async () => '',
      };
      for await (const { path, content } of (await contactFiles('csv', staged, source, eml)).files()) {
        const pieces: Uint8Array[] = [];
        for await (const piece of content()) pieces.push(piece);
        const file = join(folder, basename(path));
        await writeFile(file, Buffer.concat(pieces));
        files.push(file);
      }
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test('no cell runs, and phone numbers stand as they were given', async () => {
      const sheets = await openedInLibreOffice(files, 'as it is');
      expect(sheets).toHaveLength(3);
      for (const sheet of sheets) {
        expect(sheet).toHaveLength(contacts.length + 1);
        expect(sheet.flat().filter(({ formula }) => formula !== '')).toEqual([]);
        const rows = byColumn(sheet);
        for (const [at, text] of MADE_HARMLESS.entries())
          expect(rows[at]?.get('First Name')).toEqual({ text: written(text), type: 'string', formula: '' });
        const shown = [...(rows.at(-1)?.values() ?? [])]
          .filter(({ type }) => type === 'string')
          .map(({ text }) => text);
        expect(shown).toEqual(expect.arrayContaining(PHONES));
      }
    });

    test('LibreOffice does run a cell that nobody has made harmless', { tags: 'proof' }, async () => {
      const file = join(folder, 'control.csv');
      await writeFile(file, 'a\r\n=1+1\r\n');
      const [[, [cell] = []] = []] = await openedInLibreOffice([file], 'as it is');
      expect(cell).toEqual({ text: '2', type: 'float', formula: 'of:=1+1' });
    });

    test(
      'every text is in its cell as it was given, or after an apostrophe that keeps it from running',
      { tags: 'proof' },
      async () => {
        const sheets = await openedInLibreOffice(files, 'all text');
        for (const [which, file] of files.entries()) {
          const rows = byColumn(sheets[which] ?? []);
          expect(rows).toHaveLength(contacts.length);
          for (const [at, text] of [...MADE_HARMLESS, ...LEFT_AS_IT_IS].entries()) {
            for (const column of COLUMNS[basename(file)] ?? [])
              expect([column, rows[at]?.get(column)?.text]).toEqual([column, written(text)]);
            expect(rows[at]?.get('Last Name')?.text).toBe(`Row ${at}`);
          }
        }
      },
    );
  },
);
