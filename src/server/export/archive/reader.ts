import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Address } from '../mime/header-fields.ts';
import { readMessageText, type MessageText } from '../mime/message-text.ts';
import type { PartMessage, StagedMessages } from '../staging/staged-messages.ts';
import type { SpoolReader } from '../staging/spool.ts';
import type { MailFormat, PartFileContent } from './mail-format.ts';

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
  readonly ledger: StagedMessages;
  readonly spool: SpoolReader;
  readonly part: number;
  readonly provider: string;
  readonly made: Date;
  readonly format: MailFormat;
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

/**
 * A page that lists, searches, shows and prints the messages of a part in any browser, without a network. What it shows
 * lies beside it in scripts of nothing but data, since a browser lets a page of the disk read nothing else.
 */
export async function* readerFiles(source: Source): AsyncGenerator<PartFileContent> {
  const { part, provider, made } = source;
  const place = `reader/part-${part}`;
  let blocks = 0;
  for await (const { list, text } of blocksOf(source)) {
    blocks += 1;
    yield written(`${place}/list-${blocks}.js`, made, list);
    yield written(`${place}/text-${blocks}.js`, made, text);
  }
  const page = await readFile(join(import.meta.dirname, 'reader.html'), 'utf8');
  const said = { PROVIDER: escaped(provider), PLACE: place, BLOCKS: String(blocks) };
  const filled = Object.entries(said).reduce((text, [name, value]) => text.replaceAll(`%${name}%`, () => value), page);
  yield written(readerPage(part), made, Buffer.from(filled));
}

async function* blocksOf(source: Source): AsyncGenerator<{ readonly list: Buffer; readonly text: Buffer }> {
  const [list, text] = [openScripts('archive.list'), openScripts('archive.text')];
  let [messages, length] = [0, 0];
  for await (const { row, body } of readable(source)) {
    if (messages === BLOCK_MESSAGES || (messages > 0 && length + lengthOf(body) > BLOCK_TEXT)) {
      yield { list: list.end(), text: text.end() };
      [messages, length] = [0, 0];
    }
    list.add(row);
    text.add(body);
    messages += 1;
    length += lengthOf(body);
  }
  if (messages > 0) yield { list: list.end(), text: text.end() };
}

/** Scripts of one call each, with its number and an array. `end` gives one, which is good until something is added again. */
function openScripts(call: string): { add(value: object): void; end(): Buffer } {
  let octets = Buffer.allocUnsafeSlow(SCRIPT);
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
      return script;
    },
  };
}

async function* readable({ ledger, spool, part, format }: Source): AsyncGenerator<{ row: Row; body: Body }> {
  const mailboxes = new Map((await ledger.mailboxes(part)).map((mailbox) => [mailbox.mailboxId, mailbox]));
  for await (const message of ledger.messages(part)) {
    const mailbox = mailboxes.get(message.mailboxId);
    if (mailbox === undefined) throw new Error('A message is in no mailbox of its part.');
    const said = await readMessageText(beginningOf(message, spool));
    // Only a format of one file for each message has files to lead to.
    const { path, more } = format.place(message, mailbox, 0);
    yield { row: rowOf(message, said, 'index' in more ? '' : path), body: bodyOf(said) };
  }
}

async function* beginningOf(message: PartMessage, spool: SpoolReader): AsyncGenerator<Buffer> {
  let left = LOOKED_INTO;
  for await (const chunk of spool.read(message)) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
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

function written(path: string, modified: Date, octets: Buffer): PartFileContent {
  return {
    path,
    modified,
    grain: 0,
    known: { size: octets.length, crc32: crc32(octets) },
    content: async function* () {
      yield octets;
    },
  };
}
