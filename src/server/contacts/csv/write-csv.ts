import { setImmediate as turn } from 'node:timers/promises';
import { BYTE_ORDER_MARK, csvRow, harmless } from '../../spreadsheet.ts';
import type { Contact } from '../contact.ts';
import type { Cells } from './cells.ts';
import { GOOGLE_COLUMNS, googleCells } from './google-csv.ts';
import { OUTLOOK_COLUMNS, OUTLOOK_COM_COLUMNS, outlookCells, outlookComCells } from './outlook-csv.ts';

/** The program for whose import the columns are. */
export type CsvLayout = 'google' | 'outlook' | 'outlook-com';

const LAYOUTS: Record<CsvLayout, { columns: readonly string[]; cellsOf: (contact: Contact) => Cells }> = {
  google: { columns: GOOGLE_COLUMNS, cellsOf: googleCells },
  outlook: { columns: OUTLOOK_COLUMNS, cellsOf: outlookCells },
  'outlook-com': { columns: OUTLOOK_COM_COLUMNS, cellsOf: outlookComCells },
};

/** All contacts as one CSV file (RFC 4180), row by row. What has no column of its own goes into the notes. */
export async function* contactsCsv(
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  layout: CsvLayout,
): AsyncIterable<string> {
  const { columns, cellsOf } = LAYOUTS[layout];
  yield BYTE_ORDER_MARK + csvRow(columns);
  for await (const contact of contacts) {
    const cells = cellsOf(contact);
    yield csvRow(columns.map((column) => harmless(cells.get(column) ?? '')));
    await turn();
  }
}
