import type { KeyObject } from 'node:crypto';
import type { ReceiptFormat } from '../../contract/calls/receipt.ts';
import { folderName } from '../../contract/folder-name.ts';
import { MOMENT } from '../moment.ts';
import { counted } from '../counted.ts';
import { breakableHtml, escapeHtml } from '../escape-html.ts';
import { BYTE_ORDER_MARK, csvRow } from '../spreadsheet.ts';
import { comparisonOf, notMoved, type Facts } from './facts.ts';
import { itemsOf, type Item, type ItemFate, type Reading } from './items.ts';
import { cellsOf, openListDigest, signatureOf } from './signing.ts';

export const COLUMNS = ['kind', 'folder', 'date', 'subject', 'size', 'sha256', 'fate', 'note'] as const;

export type Signing = { readonly key: KeyObject; readonly keyAddress: string };

/** What is signed. `list` is the digest of all lines, `sums` counts them by kind and fate. */
type Statement = Told & {
  readonly version: 1;
  readonly lines: number;
  readonly list: string;
  readonly sums: Readonly<Record<string, number>>;
};

/** The facts, and what they say in words. */
type Told = Facts & { readonly how_compared: string; readonly not_moved: readonly string[] };

/**
 * A receipt, in parts as they are made; its lines come from the database page by page. If the transfer is erased
 * meanwhile, it breaks off before its signature, because lines may be missing.
 */
export async function* writeReceipt(
  format: ReceiptFormat,
  database: Reading,
  facts: Facts,
  signing: Signing,
): AsyncIterable<string> {
  const page = PAGES[format];
  const digest = openListDigest();
  const sums: Record<string, number> = {};
  let lines = 0;
  yield page.head(facts);
  for await (const item of itemsOf(database, facts.transfer)) {
    const cells = cellsOf(item);
    digest.add(cells);
    const name = `${item.kind} ${item.fate}`;
    sums[name] = (sums[name] ?? 0) + 1;
    yield page.line(item, cells, lines === 0);
    lines += 1;
  }
  if ((await database.query('select 1 from transfers where id = $1', [facts.transfer])).length === 0)
    throw new Error('The transfer was erased while its receipt was being written.');
  const statement: Statement = { version: 1, ...toldOf(facts), lines, list: digest.end(), sums };
  const text = JSON.stringify(statement);
  yield page.foot(facts, sums, text, signatureOf(text, signing.key), signing.keyAddress);
}

function toldOf(facts: Facts): Told {
  return { ...facts, how_compared: comparisonOf(facts), not_moved: notMoved(facts) };
}

type Page = {
  readonly head: (facts: Facts) => string;
  readonly line: (item: Item, cells: readonly string[], isFirst: boolean) => string;
  readonly foot: (
    facts: Facts,
    sums: Readonly<Record<string, number>>,
    statement: string,
    signature: string,
    keyAddress: string,
  ) => string;
};

const csv: Page = {
  head: () => BYTE_ORDER_MARK + csvRow(COLUMNS),
  line: (_item, cells) => csvRow(cells),
  foot: (_facts, _sums, statement, signature, keyAddress) =>
    [
      ['statement', '', '', '', '', '', '', statement],
      ['signature', '', '', '', '', '', '', signature],
      ['key', '', '', '', '', '', '', keyAddress],
    ]
      .map(csvRow)
      .join(''),
};

const json: Page = {
  head: (facts) => `${JSON.stringify(toldOf(facts)).slice(0, -1)},"items":[\n`,
  line: (item, _cells, isFirst) => `${isFirst ? '' : ',\n'}${JSON.stringify(item)}`,
  foot: (_facts, sums, statement, signature, key) =>
    `\n],${JSON.stringify({ sums, statement, signature, key }).slice(1)}\n`,
};

export const STYLE = `body{font:16px/1.5 sans-serif;max-width:70em;margin:0 auto;padding:1em;color:#1b1b1f;overflow-wrap:break-word}
h1,h2{line-height:1.25}th{text-align:left}td,th{padding:.2em .8em .2em 0;vertical-align:top;overflow-wrap:anywhere}th[scope=row]{overflow-wrap:normal}
table.list{font-size:13px;border-collapse:collapse;width:100%}table.list tr{border-bottom:1px solid #ccc}
.list th,.list td:nth-child(2),.list td:nth-child(4),.list td:nth-child(5){overflow-wrap:normal}
.digest,pre{font-family:monospace;font-size:11px;white-space:pre-wrap;overflow-wrap:anywhere}.digest{display:block}
@media screen and (max-width:40em){.list tr{display:flex;flex-wrap:wrap}th[scope=row],th[scope=row]+td{display:block}}
@media screen and (min-width:40.01em){table.list{table-layout:fixed}.list td:nth-child(2){white-space:nowrap}.list th:nth-child(1){width:20%}.list th:nth-child(2){width:7.2em}.list th:nth-child(4){width:6em}.list th:nth-child(5){width:18%}}
@page{margin:10mm}
@media print{body{max-width:none;padding:0;font-size:10pt;line-height:1.4}h1{font-size:16pt;margin:0}h2{font-size:12pt;margin:1em 0 .3em;break-after:avoid}p,ul{margin:.3em 0}
tr{break-inside:avoid}thead{display:table-header-group}table.list{table-layout:fixed;font-size:7.5pt;line-height:1.25}td,th{box-sizing:border-box;padding:.1em .5em .1em 0}
.list th:nth-child(1){width:13%}.list th:nth-child(2){width:11%}.list th:nth-child(4){width:9%}.list th:nth-child(5){width:26%}.list .digest{font-size:5.5pt}pre{font-size:7pt}}`;

const SHORT = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'America/Los_Angeles' });
const NUMBER = new Intl.NumberFormat('en-US');

const LIST = `<h2>Messages and contacts</h2>
<table class="list"><thead><tr><th>Folder</th><th>Date</th><th>Subject or name, SHA-256</th><th>Size</th><th>What happened to it</th></tr></thead><tbody>
`;

/** The end of the list, and its sums; there is neither where nothing is listed, as for files. */
function totalsOf(sums: Readonly<Record<string, number>>): string {
  const rows = Object.entries(sums).map(
    ([name, count]) => `<tr><th scope="row">${escapeHtml(sumName(name))}</th><td>${NUMBER.format(count)}</td></tr>`,
  );
  return rows.length === 0 ? '' : `</tbody></table>\n<h2>Totals</h2>\n<table>${rows.join('')}</table>\n`;
}

const html: Page = {
  head: (facts) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Receipt of your transfer</title><style>${STYLE}</style></head>
<body><h1>Receipt of your transfer</h1>
<table>
${[
  ['From', facts.from],
  ['To', facts.to],
  ['Transfer ID', facts.transfer],
  ['Started', MOMENT.format(new Date(facts.ordered))],
  ['Ended', MOMENT.format(new Date(facts.ended))],
  ['Messages copied', `${NUMBER.format(facts.copied)} (${NUMBER.format(facts.octets)} bytes)`],
  ...(facts.taken_back === undefined ? [] : [['Of these, taken back', NUMBER.format(facts.taken_back)]]),
]
  .map(([name = '', value = '']) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${breakableHtml(value)}</td></tr>`)
  .join('\n')}
</table>
<h2>What was compared</h2>
<p>${escapeHtml(comparisonOf(facts))}</p>
${facts.operations.map((operation) => `<p>${escapeHtml(outcomeOf(operation))}</p>`).join('\n')}
${foldersLeftIn(facts)}<h2>What did not move</h2>
<ul>${notMoved(facts)
    .map((what) => `<li>${breakableHtml(what)}</li>`)
    .join('')}</ul>
`,
  line: ({ kind, folder, date, subject, size, sha256, fate, note }, _cells, isFirst) =>
    `${isFirst ? LIST : ''}<tr><td>${folderHtml(kind === 'contact' ? 'Contacts' : folderName(folder))}</td><td>${escapeHtml(date === '' ? '' : SHORT.format(new Date(date)))}</td><td>${foreign(subject)}<span class="digest">${escapeHtml(sha256)}</span></td><td>${size === null ? '' : NUMBER.format(size)}</td><td>${escapeHtml(note === '' ? FATES[fate] : `${FATES[fate]}: ${note}`)}</td></tr>\n`,
  foot: (_facts, sums, statement, signature, keyAddress) => `${totalsOf(sums)}<h2>Signature</h2>
<p>The totals above stand here again, signed. The signature proves that what stands here came from us and was not changed. The public key is at ${escapeHtml(keyAddress)}.</p>
<pre id="statement">${escapeHtml(statement)}</pre>
<pre id="signature">${escapeHtml(signature)}</pre>
</body></html>
`,
};

function foldersLeftIn({ folders_left: left = [] }: Facts): string {
  if (left.length === 0) return '';
  const items = left.map(({ folder, reason }) => `<li>${folderHtml(folderName(folder))}: ${escapeHtml(reason)}</li>`);
  return `<h2>Folders that could not be copied or checked</h2>\n<ul>${items.join('')}</ul>\n`;
}

/** What may be written from right to left. */
function foreign(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`;
}

/** Where a line is too short for it, it breaks after a slash. */
function folderHtml(name: string): string {
  return `<bdi>${escapeHtml(name).replaceAll('/', '/<wbr>')}</bdi>`;
}

const PAGES: Readonly<Record<ReceiptFormat, Page>> = { csv, json, html };

const FATES: Readonly<Record<ItemFate, string>> = {
  copied: 'Copied',
  kept: 'Copied, but the provider keeps it in a form of its own',
  present: 'Was already there',
  completed: 'Was already there. We added what was missing',
  'taken back': 'Copied, and taken back',
  moved: 'Copied, and moved or deleted there since',
  changed: 'Copied, but not the same there',
  lost: 'No longer there',
  refused: 'Not copied',
  gone: 'Deleted from the mailbox before we read it',
};

/** `message taken back` as people read it. */
function sumName(name: string): string {
  const [kind, ...fate] = name.split(' ');
  return `${kind === 'contact' ? 'Contacts' : 'Messages'}: ${FATES[fate.join(' ') as ItemFate]}`;
}

function outcomeOf({
  operation,
  status,
  stopped,
  lost,
  duplicated,
  changed,
  failure,
  left_out: leftOut = 0,
}: Facts['operations'][number]): string {
  const name = NAMES[operation] ?? operation;
  const others = operation === 'emailmigration' ? leftOut - (lost ?? 0) : leftOut;
  const refused = others > 0 ? ` ${leftOutWords(operation, others)}` : '';
  const missing = others > 0 ? 'others missing' : 'missing';
  const compared = lost === null ? '' : ` ${lost} ${missing}, ${duplicated ?? 0} there twice, ${changed ?? 0} changed.`;
  const how = stopped ? 'stopped by you' : status === 'completed' ? 'complete' : 'ended, but something went wrong';
  return `${name}: ${how}.${refused}${compared}${failure === null ? '' : ` ${failure}`}`;
}

function leftOutWords(operation: string, count: number): string {
  const words =
    operation === 'contactsmigration'
      ? counted(count, 'contact is', 'contacts are')
      : counted(count, 'message is', 'messages are');
  return `${words} not there: see why in the list.`;
}

const NAMES: Readonly<Record<string, string>> = {
  emailmigration: 'Email',
  contactsmigration: 'Contacts',
  emailforwarding: 'Forwarding',
};
