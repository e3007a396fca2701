import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './run.ts';

/** `type` is OpenDocument's: `string`, `float`, `date`… A cell that would be executed has a formula. */
export type SheetCell = { readonly text: string; readonly type: string; readonly formula: string };

/** LibreOffice's CSV filter: comma, double quote, UTF-8, from the first row on. As text, with 400 text columns. */
const AS_IT_IS = 'CSV:44,34,76,1';
const ALL_TEXT = `${AS_IT_IS},${Array.from({ length: 400 }, (_, at) => `${at + 1}/2`).join('/')}`;

/** Reads a flat OpenDocument sheet, following part 3 of the specification (paragraphs, spaces, tabs, repeated cells). */
const READER = `
import json, sys, xml.etree.ElementTree as tree
ns = lambda name: '{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}' % name
table, text, office = ns('table'), ns('text'), ns('office')
def words(node):
  if node.tag == text + 's': own = ' ' * int(node.get(text + 'c', '1'))
  elif node.tag == text + 'tab': own = '\\t'
  elif node.tag == text + 'line-break': own = '\\n'
  else: own = node.text or ''
  return own + ''.join(words(child) + (child.tail or '') for child in node)
def cells(row):
  for cell in row.findall(table + 'table-cell'):
    said = '\\n'.join(words(line) for line in cell.findall(text + 'p'))
    one = {'text': said, 'type': cell.get(office + 'value-type', ''), 'formula': cell.get(table + 'formula', '')}
    for _ in range(min(int(cell.get(table + 'number-columns-repeated', '1')), 400)): yield one
rows = [list(cells(row)) for row in tree.parse(sys.argv[1]).getroot().iter(table + 'table-row')]
print(json.dumps([row for row in rows if any(cell['text'] for cell in row)]))`;

/** The rows of CSV files as LibreOffice shows them: `as it is`, as after a double click, or with all columns imported as text. */
export async function openedInLibreOffice(
  files: readonly string[],
  columns: 'as it is' | 'all text',
): Promise<SheetCell[][][]> {
  const folder = await mkdtemp(join(tmpdir(), 'sheet-'));
  try {
    await run('soffice', [
      `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`,
      '--headless',
      `--infilter=${columns === 'as it is' ? AS_IT_IS : ALL_TEXT}`,
      '--convert-to',
      'fods',
      '--outdir',
      folder,
      ...files,
    ]);
    const sheets: SheetCell[][][] = [];
    for (const file of files) {
      const read = await run('python3', ['-c', READER, join(folder, basename(file).replace(/\.csv$/, '.fods'))]);
      sheets.push(JSON.parse(read.toString()) as SheetCell[][]);
    }
    return sheets;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
