import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import * as v from 'valibot';
import { BYTE_ORDER_MARK } from '../spreadsheet.ts';
import { cellsOf, isSigned, openListDigest } from './signing.ts';
import { COLUMNS } from './write-receipt.ts';

/** The file is no receipt, or was changed. The message is for whoever checks it. */
export class ReceiptError extends Error {
  override name = 'ReceiptError';
}

const Statement = v.object({
  transfer: v.string(),
  from: v.string(),
  to: v.string(),
  lines: v.number(),
  list: v.string(),
});
/**
 * `signed`: the statement as it is signed. `isListChecked`: each line was held against the signature, and not the sums
 * alone.
 */
export type Checked = {
  readonly statement: v.InferOutput<typeof Statement>;
  readonly signed: string;
  readonly isListChecked: boolean;
};

const NO_KEY = 'The file of the key holds no public key in PEM.';

type Read = {
  readonly statement: string;
  readonly signature: string;
  readonly lines: readonly (readonly string[])[] | null;
};

/**
 * Holds a receipt in any of its formats against the public key (PEM).
 * @throws {ReceiptError}
 */
export function checkReceipt(text: string, pem: string): Checked {
  const { statement, signature, lines } = read(text);
  if (!isSigned(statement, signature, publicKeyOf(pem)))
    throw new ReceiptError('The signature does not fit: the sums were changed, or the key is another one.');
  const parsed = v.safeParse(Statement, parseJson(statement));
  if (!parsed.success) throw new ReceiptError('The statement is not one that we know.');
  if (lines === null) return { statement: parsed.output, signed: statement, isListChecked: false };
  const digest = openListDigest();
  for (const cells of lines) digest.add(cells);
  if (lines.length !== parsed.output.lines || digest.end() !== parsed.output.list)
    throw new ReceiptError('A line was changed, added or taken away.');
  return { statement: parsed.output, signed: statement, isListChecked: true };
}

function publicKeyOf(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (cause) {
    throw new ReceiptError(NO_KEY, { cause });
  }
  throw new ReceiptError(NO_KEY);
}

function read(text: string): Read {
  if (text.startsWith('{')) return readJson(text);
  if (text.startsWith('<!doctype html>')) return readHtml(text);
  return readCsv(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
}

/** What a receipt shows as it is signed. */
const Shown = v.object({
  transfer: v.string(),
  from: v.string(),
  to: v.string(),
  ordered: v.string(),
  ended: v.string(),
  copied: v.number(),
  octets: v.number(),
  compared: v.number(),
  taken_back: v.optional(v.number()),
  taking_back: v.optional(v.literal(true)),
  folders_left: v.optional(v.array(v.object({ folder: v.string(), reason: v.string() }))),
  unsure: v.optional(v.number()),
  forwarded_since: v.optional(v.string()),
  forwarding_ended: v.optional(v.string()),
  operations: v.array(v.record(v.string(), v.any())),
  sums: v.record(v.string(), v.number()),
  // Absent from the statements of older receipts.
  how_compared: v.optional(v.string()),
  not_moved: v.optional(v.array(v.string())),
});

/** Strict, because nothing vouches for what is not known. */
const Line = v.strictObject({
  kind: v.picklist(['message', 'contact']),
  folder: v.string(),
  date: v.string(),
  subject: v.string(),
  size: v.nullable(v.number()),
  sha256: v.string(),
  fate: v.string(),
  note: v.string(),
});
const JsonReceipt = v.strictObject({
  ...Shown.entries,
  how_compared: v.string(),
  not_moved: v.array(v.string()),
  statement: v.string(),
  signature: v.string(),
  key: v.string(),
  items: v.array(Line),
});

function readJson(text: string): Read {
  const json = parseJson(text);
  // Of a name that stands twice, readers may show the one that is not checked here.
  if (withoutBlanks(text) !== withoutBlanks(JSON.stringify(json))) throw changed();
  const receipt = v.safeParse(JsonReceipt, json);
  if (!receipt.success) throw notOne();
  const { statement, signature, items, how_compared, not_moved, ...facts } = receipt.output;
  const signed = v.safeParse(Shown, parseJson(statement));
  const hasWords = signed.success && signed.output.how_compared !== undefined;
  const shown = hasWords ? { ...facts, how_compared, not_moved } : facts;
  if (!signed.success || JSON.stringify(signed.output) !== JSON.stringify(v.parse(Shown, shown))) throw changed();
  return { statement, signature, lines: items.map(cellsOf) };
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function changed(): ReceiptError {
  return new ReceiptError('What is shown was changed: it is not what was signed.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notOne();
  }
}

function readHtml(text: string): Read {
  const within = (id: string) => {
    const from = text.lastIndexOf(`<pre id="${id}">`);
    const to = text.indexOf('</pre>', from);
    if (from < 0 || to < 0) throw notOne();
    return text
      .slice(from + `<pre id="${id}">`.length, to)
      .replaceAll(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code)));
  };
  return { statement: within('statement'), signature: within('signature'), lines: null };
}

/** The last lines, whose last cell alone is vouched for: the others must be empty. */
const CSV_ENDS = ['statement', 'signature', 'key'].map((name) => [name, ...COLUMNS.slice(2).map(() => '')]);

function readCsv(text: string): Read {
  const [columns, ...rows] = rowsOf(text);
  const ends = rows.splice(-CSV_ENDS.length);
  const frame = [columns, ...ends.map((cells) => cells.slice(0, -1))];
  if (JSON.stringify(frame) !== JSON.stringify([COLUMNS, ...CSV_ENDS])) throw notOne();
  const [statement = '', signature = ''] = ends.map((cells) => cells.at(-1));
  return { statement, signature, lines: rows };
}

/** RFC 4180, strictly: of anything else, other programs may show what is not checked here. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length;) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] === '"') {
          if (text[at + 1] !== '"') break;
          at += 1;
        }
        cell += text[at];
      }
      at += 1;
    } else {
      const from = at;
      while (at < text.length && !',"\r\n'.includes(text.charAt(at))) at += 1;
      cell = text.slice(from, at);
    }
    row.push(cell);
    if (text[at] === ',') {
      at += 1;
      if (at === text.length) row.push('');
      continue;
    }
    if (text[at] === '\r') at += 1;
    if (at < text.length && text[at] !== '\n') throw notOne();
    at += 1;
    rows.push(row);
    row = [];
  }
  return rows;
}

function notOne(): ReceiptError {
  return new ReceiptError('This file is no receipt, or a part of it is missing.');
}
