import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Address } from '../mime/header-fields.ts';
import { openTextReader, type MessageText } from '../mime/message-text.ts';
import type { PartMessage, StagedMessages } from '../staging/staged-messages.ts';
import { openSpoolWriter, SpoolError, type SpoolReader, type StagedOctets } from '../staging/spool.ts';
import { verified } from '../staging/verified.ts';
import type { MailFormat, PartFileContent } from './mail-format.ts';
import { deflated } from './zip-archive.ts';

/** So much of a message is looked into, in octets: its text comes before what is attached to it. */
const LOOKED_INTO = 512 * 1024;
/** So much of a field is listed, and of the text is searched. */
const FIELD = 300;
const PEOPLE_AT_MOST = 50;
/** Messages that one file of the reader holds, and their text at most, in UTF-16 units. */
const BLOCK_MESSAGES = 250;
const BLOCK_TEXT = 1_000_000;
/** Room for a script of them at first, in octets; it grows. */
const SCRIPT = 64 * 1024;

const UNSHOWN = ['head>', 'style', 'script'];

type Source = {
  readonly ledger: Pick<StagedMessages, 'mailboxes'>;
  readonly spool: SpoolReader;
  readonly part: number;
  readonly provider: string;
  readonly made: Date;
  readonly format: MailFormat;
  /** A folder for what is needed until the archive is written. */
  readonly scratch: string;
};

/** What the list shows and searches of a message; `file` leads to the message itself, where it is a file of its own. */
type Row = {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly folder: string;
  readonly date: string;
  readonly start: string;
  readonly file: string;
};
/** What a message says, and the names of what is attached to it. */
type Body = { readonly text: string; readonly html: string; readonly attached: readonly string[] };

/** Its own name in each part, so that parts which are unpacked in one place keep theirs. */
export function readerPage(part: number): string {
  return part === 1 ? 'index.html' : `index-${part}.html`;
}

/** The page of a part, made while the part's messages are written. */
export type ReaderPage = AsyncDisposable & {
  /** The octets of a message as they are; what the page is to show is read along, the first time. */
  alongside(message: PartMessage, octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
  /** After the last message. */
  files(): AsyncGenerator<PartFileContent>;
};

/**
 * A page that lists, searches, shows and prints the messages of a part in any browser, without a network. What it shows
 * lies beside it in scripts of nothing but data, since a browser lets a page of the disk read nothing else.
 */
export async function openReaderPage(source: Source): Promise<ReaderPage> {
  const { ledger, spool, part, provider, made, format, scratch } = source;
  const mailboxes = new Map((await ledger.mailboxes(part)).map((mailbox) => [mailbox.mailboxId, mailbox]));
  // The scripts wait on the disk until the messages are written: a part may have a lot of text.
  const waiting = await openSpoolWriter(scratch);
  const scripts = { list: openScripts('archive.list'), text: openScripts('archive.text') };
  const kept: Kept[] = [];
  let [messages, length, blocks] = [0, 0, 0];
  let last: PartMessage | undefined;
  /** While the next messages are written: in the end all of it would be waited for. */
  let packing: Promise<void> = Promise.resolve();
  const keep = async (made: readonly Script[]) => {
    const packed = await Promise.all(made.map(({ octets }) => deflated(octets)));
    for (const [index, { name, octets }] of made.entries()) {
      const place = waiting.begin();
      if (!waiting.append(packed[index] ?? octets)) await waiting.drained();
      const staged = { ...place, ...waiting.end() };
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
  const add = async (message: PartMessage, said: MessageText) => {
    const mailbox = mailboxes.get(message.mailboxId);
    if (mailbox === undefined) throw new Error('A message is in no mailbox of its part.');
    const body = bodyOf(said);
    if (messages === BLOCK_MESSAGES || length + lengthOf(body) > BLOCK_TEXT) await endBlock();
    // Only a format of one file for each message has files to lead to.
    const { path, more } = format.place(message, mailbox, 0);
    scripts.list.add(rowOf(message, said, 'index' in more ? '' : path));
    scripts.text.add(body);
    messages += 1;
    length += lengthOf(body);
  };
  return {
    alongside: async function* (message, octets) {
      const isFirst = message !== last;
      last = message;
      const reader = openTextReader();
      let left = isFirst ? LOOKED_INTO : 0;
      for await (const chunk of octets) {
        if (left > 0) reader.write(chunk.subarray(0, left));
        left -= chunk.length;
        yield chunk;
      }
      if (isFirst) await add(message, reader.end());
    },
    files: async function* () {
      await endBlock();
      await packing;
      await waiting.sync();
      const place = `reader/part-${part}`;
      for (const { name, staged, known, sha256 } of kept)
        yield {
          path: `${place}/${name}`,
          modified: made,
          grain: 0,
          known,
          sha256,
          content: () => ownOctets(verified(spool, staged)),
        };
      const page = await readFile(join(import.meta.dirname, 'reader.html'), 'utf8');
      const said = { PROVIDER: escaped(provider), PLACE: place, BLOCKS: String(blocks) };
      const filled = Buffer.from(
        Object.entries(said).reduce((text, [name, value]) => text.replaceAll(`%${name}%`, () => value), page),
      );
      yield {
        path: readerPage(part),
        modified: made,
        grain: 0,
        known: { size: filled.length, crc32: crc32(filled) },
        content: async function* () {
          yield filled;
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await packing.catch(() => {});
      await waiting[Symbol.asyncDispose]();
      await rm(join(scratch, waiting.segment), { force: true });
    },
  };
}

type Script = { readonly name: string; readonly octets: Buffer };
/** A script on the disk, deflated; `known` of it as it is. */
type Kept = Pick<Script, 'name'> &
  Required<Pick<PartFileContent, 'known' | 'sha256'>> & { readonly staged: StagedOctets & { readonly crc32: number } };

/** Mail that is damaged on the disk is fetched again; of the page's own nothing is there to fetch. */
async function* ownOctets(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* octets;
  } catch (error) {
    throw error instanceof SpoolError ? new Error('What the page consists of is damaged.', { cause: error }) : error;
  }
}

/** Scripts of one call each, with its number and an array. `end` gives one, which is good until the next one is ended. */
function openScripts(call: string): { add(value: object): void; end(): Buffer } {
  let [octets, other] = [Buffer.allocUnsafeSlow(SCRIPT), Buffer.allocUnsafeSlow(SCRIPT)];
  let [length, number] = [0, 1];
  // At once: each collection of garbage would copy what waits.
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

function bodyOf({ text, html, attached }: MessageText): Body {
  return { text: text.toWellFormed(), html: html.toWellFormed(), attached: attached.map(field) };
}

function lengthOf({ text, html }: Body): number {
  return text.length + html.length;
}

function rowOf(message: PartMessage, { from, to, subject, text, html }: MessageText, file: string): Row {
  return {
    from: field(people(from.slice(0, 1))),
    to: field(people(to)),
    subject: field(subject),
    folder: message.path,
    date: message.internalDate.toISOString(),
    start: field(html === '' ? text : wordsOf(html)),
    file,
  };
}

function people(addresses: readonly Address[]): string {
  return addresses
    .slice(0, PEOPLE_AT_MOST)
    .map(({ name, email }) => (name === '' || name === email ? email : `${name} <${email}>`))
    .join(', ');
}

/** The first words between the tags, without what a page does not show. */
function wordsOf(html: string): string {
  const lower = html.toLowerCase();
  const words: string[] = [];
  for (let [at, length] = [0, 0]; at < html.length && length < 4 * FIELD;) {
    const tag = html.indexOf('<', at);
    const word = html.slice(at, tag < 0 ? html.length : tag).trim();
    if (word !== '') words.push(word);
    length += word.length;
    if (tag < 0) break;
    const hidden = UNSHOWN.find((name) => lower.startsWith(`<${name}`, tag));
    const end = hidden === undefined ? tag : lower.indexOf(`</${hidden}`, tag);
    const close = end < 0 ? -1 : html.indexOf('>', end);
    if (close < 0) break;
    at = close + 1;
  }
  return words.join(' ');
}

/** One line of text. */
function field(text: string): string {
  const line = lineOf(text.slice(0, 2 * FIELD));
  // There is much white space in it.
  const whole = line.length < FIELD && text.length > 2 * FIELD ? lineOf(text.slice(0, 4 * FIELD)) : line;
  return whole.slice(0, FIELD).trimEnd().toWellFormed();
}

/** White space is one blank; where it is one already nothing is to be done. */
function lineOf(text: string): string {
  return text.replaceAll(/\s{2,}|[^\S ]/g, ' ').trimStart();
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
