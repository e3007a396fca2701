import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime, { type Address, type Email } from 'postal-mime';
import type { PartMessage, StagedMessages } from '../staging/staged-messages.ts';
import type { SpoolReader } from '../staging/spool.ts';
import type { MailFormat, PartFileContent } from './mail-format.ts';

/** So much of a message is looked into, in octets: its text comes before what is attached to it. */
const LOOKED_INTO = 512 * 1024;
/** So much of its text is shown, in UTF-16 units. */
const SHOWN = 200_000;
/** So much of a field is listed, and of the text is searched. */
const FIELD = 300;
const NAMES_AT_MOST = 50;
/** Messages that one file of the reader holds, and their text at most, in UTF-16 units. */
const BLOCK_MESSAGES = 250;
const BLOCK_TEXT = 2_000_000;

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
  for await (const { rows, bodies } of blocksOf(source)) {
    blocks += 1;
    yield written(`${place}/list-${blocks}.js`, made, `archive.list(${blocks},${JSON.stringify(rows)})`);
    yield written(`${place}/text-${blocks}.js`, made, `archive.text(${blocks},${JSON.stringify(bodies)})`);
  }
  const page = await readFile(join(import.meta.dirname, 'reader.html'), 'utf8');
  const said = { PROVIDER: escaped(provider), PLACE: place, BLOCKS: String(blocks) };
  yield written(
    readerPage(part),
    made,
    Object.entries(said).reduce((text, [name, value]) => text.replaceAll(`%${name}%`, () => value), page),
  );
}

async function* blocksOf(source: Source): AsyncGenerator<{ rows: Row[]; bodies: Body[] }> {
  let [rows, bodies, length]: [Row[], Body[], number] = [[], [], 0];
  for await (const { row, body } of readable(source)) {
    if (rows.length === BLOCK_MESSAGES || (rows.length > 0 && length + lengthOf(body) > BLOCK_TEXT)) {
      yield { rows, bodies };
      [rows, bodies, length] = [[], [], 0];
    }
    rows.push(row);
    bodies.push(body);
    length += lengthOf(body);
  }
  if (rows.length > 0) yield { rows, bodies };
}

async function* readable({ ledger, spool, part, format }: Source): AsyncGenerator<{ row: Row; body: Body }> {
  const mailboxes = new Map((await ledger.mailboxes(part)).map((mailbox) => [mailbox.mailboxId, mailbox]));
  for await (const message of ledger.messages(part)) {
    const mailbox = mailboxes.get(message.mailboxId);
    if (mailbox === undefined) throw new Error('A message is in no mailbox of its part.');
    const email = await parsed(spool, message);
    const body = bodyOf(email);
    // Only a format of one file for each message has files to lead to.
    const { path, more } = format.place(message, mailbox, 0);
    yield { row: rowOf(message, email, body, 'index' in more ? '' : path), body };
  }
}

/** `null` for what no parser reads; the message itself is in the archive all the same. */
async function parsed(spool: SpoolReader, message: PartMessage): Promise<Email | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of spool.read(message)) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length >= LOOKED_INTO) break;
  }
  try {
    return await PostalMime.parse(Buffer.concat(chunks).subarray(0, LOOKED_INTO), { maxNestingDepth: 32 });
  } catch {
    return null;
  }
}

function bodyOf(email: Email | null): Body {
  return {
    text: (email?.text ?? '').slice(0, SHOWN).toWellFormed(),
    html: (email?.html ?? '').slice(0, SHOWN).toWellFormed(),
    attached: (email?.attachments ?? [])
      .filter(({ disposition }) => disposition !== 'inline')
      .slice(0, NAMES_AT_MOST)
      .map(({ filename, mimeType }) => field(filename ?? mimeType)),
  };
}

function lengthOf({ text, html }: Body): number {
  return text.length + html.length;
}

function rowOf(message: PartMessage, email: Email | null, { text, html }: Body, file: string): Row {
  return {
    from: field(people(email?.from === undefined ? [] : [email.from])),
    to: field(people(email?.to ?? [])),
    subject: field(email?.subject ?? ''),
    folder: message.path,
    date: message.internalDate.toISOString(),
    start: field(text === '' ? html.replaceAll(/<[^<>]{0,1000}>/g, ' ') : text),
    file,
  };
}

function people(addresses: readonly Address[]): string {
  return addresses
    .slice(0, NAMES_AT_MOST)
    .map(({ name, address = '' }) => (name === '' || name === address ? address : `${name} <${address}>`))
    .join(', ');
}

/** One line of text. */
function field(text: string): string {
  return text
    .slice(0, 4 * FIELD)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, FIELD)
    .toWellFormed();
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}

function written(path: string, modified: Date, text: string): PartFileContent {
  return {
    path,
    modified,
    grain: 0,
    content: async function* () {
      yield Buffer.from(text);
    },
  };
}
