import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openSpoolReader, openSpoolWriter, type SpoolReader, type StagedOctets } from '../disk/spool.ts';
import { type Address } from '../mime/header-fields.ts';
import { openTextReader, type MessageText } from '../mime/message-text.ts';
import { deflated } from './compression.ts';
import { wordsOf } from './html-words.ts';

/** How much of a field is listed, and how much of the text is searched. */
const FIELD = 300;
const PEOPLE_AT_MOST = 50;
/** How many messages one of the page's files holds, and how much text at most, in UTF-16 units. */
const BLOCK_MESSAGES = 250;
const BLOCK_TEXT = 1_000_000;
/** Initial room for a script, in octets; it grows. */
const SCRIPT = 64 * 1024;

/** The folder of what is staged, and one for what is needed until the archive is written. */
export type PageFolders = { readonly folder: string; readonly scratch: string };

/** What is needed of a message; `file` is its path if it is a file of its own. */
export type PageMessage = StagedOctets & {
  readonly path: string;
  readonly internalDate: Date;
  readonly file: string;
};

/** A deflated script on the disk at `staged`; `known` and `sha256` are of the uncompressed one. */
export type PageScript = {
  readonly name: string;
  readonly staged: StagedOctets & { readonly crc32: number };
  readonly known: { readonly size: number; readonly crc32: number; readonly packedSize: number };
  readonly sha256: string;
};

/** What the list shows of a message, and searches. */
type Row = {
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  readonly folder: string;
  readonly date: string;
  readonly start: string;
  readonly file: string;
};
/** A message's text, or its beginning, and the names of its attachments. */
type Body = {
  readonly text: string;
  readonly html: string;
  readonly attached: readonly string[];
  readonly isCut?: true;
};

/** The scripts of a page, and how many blocks of messages they hold: each block has two. */
export type PageScripts = { readonly blocks: number; readonly scripts: readonly PageScript[] };

/** Makes a page's scripts from the text of messages. */
export type PageWriter = AsyncDisposable & {
  /** Batches are processed one after another, in the order of the calls. @throws {SpoolError} if a message is gone */
  add(messages: readonly PageMessage[]): Promise<void>;
  /** After the last message: all scripts, which stay on the disk until the writer is disposed of. */
  end(): Promise<PageScripts>;
};

export async function openPageWriter({ folder, scratch }: PageFolders): Promise<PageWriter> {
  const spool = openSpoolReader(folder);
  // The scripts wait on the disk until the messages are written: a part may have a lot of text.
  const waiting = await openSpoolWriter(scratch);
  const scripts = { list: openScripts('archive.list'), text: openScripts('archive.text') };
  const kept: PageScript[] = [];
  let [messages, length, blocks] = [0, 0, 0];
  let isOver = false;
  let last: Promise<void> = Promise.resolve();
  /** A block is packed while the next messages are read. */
  let packing: Promise<void> = Promise.resolve();
  const keep = async (made: readonly Script[]) => {
    const packed = await Promise.all(made.map(({ octets }) => deflated(octets)));
    for (const [index, { name, octets }] of made.entries()) {
      const place = waiting.begin();
      const stored = packed[index] ?? octets;
      if (!waiting.append(stored)) await waiting.drained();
      const staged = { ...place, ...waiting.end(), crc32: crc32(stored) };
      const known = { size: octets.length, crc32: crc32(octets), packedSize: staged.size };
      kept.push({ name, staged, known, sha256: createHash('sha256').update(octets).digest('hex') });
    }
  };
  const endBlock = async () => {
    await packing;
    if (messages === 0) return;
    blocks += 1;
    [messages, length] = [0, 0];
    const kinds = ['list', 'text'] as const;
    packing = keep(kinds.map((kind) => ({ name: `${kind}-${blocks}.js`, octets: scripts[kind].end() })));
    packing.catch(() => {});
  };
  const add = async (message: PageMessage) => {
    const said = await textOf(message, spool);
    const body = bodyOf(said);
    if (messages === BLOCK_MESSAGES || length + lengthOf(body) > BLOCK_TEXT) await endBlock();
    scripts.list.add(rowOf(message, said));
    scripts.text.add(body);
    messages += 1;
    length += lengthOf(body);
  };
  const addAfter = async (before: Promise<void>, batch: readonly PageMessage[]) => {
    await before;
    for (const message of batch) if (!isOver) await add(message);
  };
  return {
    add: (batch) => {
      last = addAfter(last, batch);
      return last;
    },
    end: async () => {
      await last;
      await endBlock();
      await packing;
      await waiting.sync();
      return { blocks, scripts: kept };
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await last.catch(() => {});
      await packing.catch(() => {});
      await waiting[Symbol.asyncDispose]();
      await spool[Symbol.asyncDispose]();
      await rm(join(scratch, waiting.segment), { force: true });
    },
  };
}

async function textOf(message: PageMessage, spool: SpoolReader): Promise<MessageText> {
  const reader = openTextReader();
  for await (const chunk of spool.read(message)) reader.write(chunk);
  return reader.end();
}

type Script = { readonly name: string; readonly octets: Buffer };

/** Scripts of one call each, with a number and an array. `end` returns one, valid until the next `end`. */
function openScripts(call: string): { add(value: object): void; end(): Buffer } {
  let [octets, other] = [Buffer.allocUnsafeSlow(SCRIPT), Buffer.allocUnsafeSlow(SCRIPT)];
  let [length, number] = [0, 1];
  // Writes into memory that is allocated at once: each garbage collection would copy strings that wait.
  const write = (text: string) => {
    const needed = length + Buffer.byteLength(text);
    if (needed > octets.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed);
      octets.copy(larger, 0, 0, length);
      octets = larger;
    }
    length += octets.write(text, length);
  };
  return {
    add: (value) => {
      write(length === 0 ? `${call}(${number},[` : ',');
      write(JSON.stringify(value));
    },
    end: () => {
      write('])');
      const script = octets.subarray(0, length);
      number += 1;
      length = 0;
      [octets, other] = [other, octets];
      return script;
    },
  };
}

function bodyOf({ text, html, attached, isCut }: MessageText): Body {
  const body = { text: text.toWellFormed(), html: html.toWellFormed(), attached: attached.map(field) };
  return isCut ? { ...body, isCut } : body;
}

function lengthOf({ text, html }: Body): number {
  return text.length + html.length;
}

function rowOf(message: PageMessage, { from, to, cc, bcc, subject, text, html }: MessageText): Row {
  return {
    from: field(people(from.slice(0, 1))),
    to: field(people(to)),
    cc: field(people(cc)),
    bcc: field(people(bcc)),
    subject: field(subject),
    folder: message.path,
    date: message.internalDate.toISOString(),
    start: field(html === '' ? text : wordsOf(html, 4 * FIELD)),
    file: message.file,
  };
}

function people(addresses: readonly Address[]): string {
  return addresses
    .slice(0, PEOPLE_AT_MOST)
    .map(({ name, email }) => (name === '' || email === '' || name === email ? name || email : `${name} <${email}>`))
    .join(', ');
}

/** One line of text. */
function field(text: string): string {
  const line = lineOf(text.slice(0, 2 * FIELD));
  // It contains much white space.
  const whole = line.length < FIELD && text.length > 2 * FIELD ? lineOf(text.slice(0, 4 * FIELD)) : line;
  const kept = whole.slice(0, FIELD).trimEnd().toWellFormed();
  return whole.length > FIELD ? `${kept}…` : kept;
}

/** Collapses white space to single blanks; quick if it is already. */
function lineOf(text: string): string {
  return text.replaceAll(/\s{2,}|[^\S ]/g, ' ').trimStart();
}
