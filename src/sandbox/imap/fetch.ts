import type { MailAccount, Message } from '../mail-account.ts';
import { type Part, headerLength, rawHeaders, readHeaders, readMessage } from '../mime.ts';
import type { Value } from './command.ts';
import { writeDateTime } from './date-time.ts';
import { ImapRefusal } from './refusal.ts';
import { bodyStructure, envelope, partAt } from './structure.ts';

const HEADER_WINDOW = 32 * 1024;

/** One data item of a FETCH. `section` is what the client wrote, in upper case. */
export type Item =
  | { readonly kind: 'uid' | 'flags' | 'internaldate' | 'size' | 'envelope' | 'body' | 'bodystructure' }
  | {
      readonly kind: 'section';
      readonly label: string;
      readonly section: string;
      readonly start: number;
      readonly length: number | undefined;
      readonly peek: boolean;
    };

const SIMPLE: Readonly<Record<string, Item>> = {
  UID: { kind: 'uid' },
  FLAGS: { kind: 'flags' },
  INTERNALDATE: { kind: 'internaldate' },
  'RFC822.SIZE': { kind: 'size' },
  ENVELOPE: { kind: 'envelope' },
  BODY: { kind: 'body' },
  BODYSTRUCTURE: { kind: 'bodystructure' },
  RFC822: section('RFC822', '', false),
  'RFC822.HEADER': section('RFC822.HEADER', 'HEADER', true),
  'RFC822.TEXT': section('RFC822.TEXT', 'TEXT', false),
};
const MACROS: Readonly<Record<string, readonly string[]>> = {
  FAST: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
  ALL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE'],
  FULL: ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'ENVELOPE', 'BODY'],
};

function section(label: string, name: string, peek: boolean, start = 0, length?: number): Item {
  return { kind: 'section', label, section: name, start, length, peek };
}

export function readItems(value: Value | undefined, byUid: boolean): readonly Item[] {
  const values = value?.kind === 'list' ? value.items : value === undefined ? [] : [value];
  const names = values.flatMap((item) => {
    if (item.kind !== 'atom') throw new ImapRefusal('BAD', 'FETCH wants items');
    return MACROS[item.text.toUpperCase()] ?? [item.text.toUpperCase()];
  });
  if (names.length === 0) throw new ImapRefusal('BAD', 'FETCH wants items');
  const items = names.map(readItem);
  return byUid && !names.includes('UID') ? [{ kind: 'uid' }, ...items] : items;
}

function readItem(name: string): Item {
  const simple = SIMPLE[name];
  if (simple !== undefined) return simple;
  const match = /^BODY(\.PEEK)?\[([^\]]*)\](?:<(\d{1,10})(?:\.(\d{1,10}))?>)?$/.exec(name);
  if (match === null || !isSection(match[2] ?? '')) throw new ImapRefusal('BAD', `${name.slice(0, 60)} is unknown`);
  const [, peek, what = '', start, length] = match;
  const label = `BODY[${what}]${start === undefined ? '' : `<${start}>`}`;
  return section(
    label,
    what,
    peek !== undefined,
    Number(start ?? 0),
    length === undefined ? undefined : Number(length),
  );
}

function isSection(text: string): boolean {
  return /^(?:[1-9]\d{0,4}(?:\.[1-9]\d{0,4})*(?:\.(?:MIME|TEXT|HEADER(?:\.FIELDS(?:\.NOT)? \([^()]+\))?))?|TEXT|HEADER(?:\.FIELDS(?:\.NOT)? \([^()]+\))?)?$/.test(
    text,
  );
}

/** The data of a FETCH response: what goes between its parentheses. */
export async function answerItems(account: MailAccount, message: Message, items: readonly Item[]): Promise<Buffer[]> {
  const reader = new MessageReader(account, message);
  const out: Buffer[] = [];
  for (const item of items) {
    if (out.length > 0) out.push(Buffer.from(' '));
    if (item.kind !== 'section') out.push(Buffer.from(await simpleAnswer(reader, message, item.kind), 'latin1'));
    else {
      const bytes = await reader.section(item.section, item.start, item.length);
      if (bytes === null) out.push(Buffer.from(`${item.label} NIL`));
      else out.push(Buffer.from(`${item.label} {${bytes.length}}\r\n`), bytes);
    }
  }
  return out;
}

async function simpleAnswer(reader: MessageReader, message: Message, kind: Exclude<Item['kind'], 'section'>) {
  switch (kind) {
    case 'uid':
      return `UID ${message.uid}`;
    case 'flags':
      return `FLAGS (${message.flags.join(' ')})`;
    case 'internaldate':
      return `INTERNALDATE "${writeDateTime(message.internalDate)}"`;
    case 'size':
      return `RFC822.SIZE ${message.size}`;
    case 'envelope':
      return `ENVELOPE ${envelope(readHeaders(await reader.header()))}`;
    case 'body':
    case 'bodystructure': {
      const bytes = await reader.whole();
      return `${kind.toUpperCase()} ${bodyStructure(bytes, reader.parsed(bytes), kind === 'bodystructure')}`;
    }
  }
}

/** Reads only what is asked for of one message, and caches it. */
export class MessageReader {
  readonly #account: MailAccount;
  readonly #message: Message;
  #whole: Buffer | undefined;
  #header: Buffer | undefined;
  #part: Part | undefined;

  constructor(account: MailAccount, message: Message) {
    this.#account = account;
    this.#message = message;
  }

  async whole(): Promise<Buffer> {
    this.#whole ??= await this.#account.read(this.#message);
    return this.#whole;
  }

  async header(): Promise<Buffer> {
    if (this.#header !== undefined) return this.#header;
    const first = await this.#account.read(this.#message, 0, HEADER_WINDOW);
    const length = headerLength(first);
    const ended = length < first.length || first.length === this.#message.size;
    this.#header = ended ? first.subarray(0, length) : await this.#longHeader();
    return this.#header;
  }

  parsed(bytes: Buffer): Part {
    this.#part ??= readMessage(bytes);
    return this.#part;
  }

  /** The contents of a section, from `start`; `null` when the message has no such part. */
  async section(name: string, start = 0, length = this.#message.size): Promise<Buffer | null> {
    if (name === '') return this.#account.read(this.#message, start, length);
    const all = await this.#all(name);
    return all === null ? null : all.subarray(start, start + length);
  }

  async #longHeader(): Promise<Buffer> {
    const bytes = await this.whole();
    return bytes.subarray(0, headerLength(bytes));
  }

  async #all(name: string): Promise<Buffer | null> {
    const [, path = '', what = ''] = /^([\d.]*?)\.?([A-Z].*)?$/s.exec(name) ?? [];
    if (path === '' && what.startsWith('HEADER')) return picked(await this.header(), what);
    const bytes = await this.whole();
    const message = this.parsed(bytes);
    if (path === '') return bytes.subarray(message.bodyStart);
    const part = partAt(message, path.split('.').map(Number));
    if (part === undefined) return null;
    if (what === '') return bytes.subarray(part.bodyStart, part.end);
    if (what === 'MIME') return bytes.subarray(part.start, part.bodyStart);
    const inner = part.type === 'message/rfc822' ? part.parts[0] : undefined;
    if (inner === undefined) return null;
    if (what === 'TEXT') return bytes.subarray(inner.bodyStart, inner.end);
    return picked(bytes.subarray(inner.start, inner.bodyStart), what);
  }
}

/** The header, or the fields that `HEADER.FIELDS (…)` or `HEADER.FIELDS.NOT (…)` selects, with the blank line. */
function picked(header: Buffer, what: string): Buffer {
  const match = /^HEADER\.FIELDS(\.NOT)? \((.*)\)$/s.exec(what);
  if (match === null) return header;
  const names = new Set((match[2] ?? '').split(/\s+/).map((name) => name.replaceAll('"', '').toLowerCase()));
  const lines = rawHeaders(header).filter((line) => {
    const colon = line.indexOf(58);
    return colon > 0 && names.has(line.toString('latin1', 0, colon).trim().toLowerCase()) === (match[1] === undefined);
  });
  return Buffer.concat([...lines, Buffer.from('\r\n')]);
}
