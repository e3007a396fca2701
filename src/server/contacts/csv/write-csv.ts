import { stringify } from 'csv-stringify/sync';
import type { Contact } from '../../../contract/contact.ts';
import type { Cells } from './cells.ts';
import { GOOGLE_COLUMNS, googleCells } from './google-csv.ts';
import { OUTLOOK_COLUMNS, outlookCells } from './outlook-csv.ts';

/** Which program's import the columns are for. */
export type CsvLayout = 'google' | 'outlook';

const LAYOUTS: Record<CsvLayout, { columns: readonly string[]; cellsOf: (contact: Contact) => Cells }> = {
  google: { columns: GOOGLE_COLUMNS, cellsOf: googleCells },
  outlook: { columns: OUTLOOK_COLUMNS, cellsOf: outlookCells },
};

/** Without it Excel and Outlook take UTF-8 for Windows-1252. */
const BYTE_ORDER_MARK = '\uFEFF';
/** With or without an extension ("ext. 7", "ext 7", "x7", "x 7"), which no program can calculate with. */
const PHONE_NUMBER = /^\+[0-9][0-9 ().-]{5,}(?: (?:ext\.? |x ?)[0-9]{1,8})?$/;
/** As ASVS 1.2.10 lists them, and their full-width twins, which Excel takes alike. */
const FORMULA = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;

/** All contacts as one CSV file (RFC 4180), a row at a time. What has no column of its own is in the notes. */
export async function* contactsCsv(
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  layout: CsvLayout,
): AsyncIterable<string> {
  const { columns, cellsOf } = LAYOUTS[layout];
  yield BYTE_ORDER_MARK + rowOf(columns);
  for await (const contact of contacts) {
    const cells = cellsOf(contact);
    yield rowOf(columns.map((column) => harmless(cells.get(column) ?? '')));
  }
}

function rowOf(cells: readonly string[]): string {
  return stringify([[...cells]], { record_delimiter: '\r\n', quoted_match: /[\r\n]|^\s|\s$/ });
}

/** A cell that a spreadsheet would run as a formula gets an apostrophe, which makes it text; phone numbers stay as they are. */
export function harmless(cell: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = cell.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g, '');
  return FORMULA.test(clean) && !PHONE_NUMBER.test(clean) ? `'${clean}` : clean;
}
