import type { Socket } from 'node:net';
import { ImapRefusal } from './refusal.ts';

/** An argument of a command (RFC 3501 §4): an atom, a quoted or literal string, or a parenthesized list. */
export type Value =
  | { readonly kind: 'atom'; readonly text: string }
  | { readonly kind: 'string'; readonly bytes: Buffer }
  | { readonly kind: 'list'; readonly items: readonly Value[] };

export type Command = { readonly tag: string; readonly name: string; readonly args: readonly Value[] };

const LONGEST_LINE = 256 * 1024;
const DEEPEST_LIST = 16;

/** Reads lines and counted runs of octets from a socket, no further ahead than the socket's own buffer. */
export class WireReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** A line without its line break, or `null` when the client has disconnected. */
  async line(limit = LONGEST_LINE): Promise<Buffer | null> {
    for (let searched = 0; ;) {
      const end = this.#rest.indexOf(10, searched);
      if (end >= 0) {
        const line = this.#rest.subarray(0, end > 0 && this.#rest[end - 1] === 13 ? end - 1 : end);
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      if (this.#rest.length > limit) throw new ImapRefusal('BYE', 'The line is too long');
      searched = this.#rest.length;
      const { value, done } = await this.#chunks.next();
      if (done === true) return null;
      this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    }
  }

  /** Exactly `size` octets, or `null` when the client disconnects first. With `keep` off they are discarded. */
  async take(size: number, keep = true): Promise<Buffer | null> {
    const bytes = keep ? Buffer.allocUnsafe(size) : Buffer.alloc(0);
    for (let filled = 0; ;) {
      const part = this.#rest.subarray(0, size - filled);
      if (keep) part.copy(bytes, filled);
      this.#rest = this.#rest.subarray(part.length);
      filled += part.length;
      if (filled === size) return bytes;
      const { value, done } = await this.#chunks.next();
      if (done === true) return null;
      this.#rest = value;
    }
  }
}

export type Received =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'bad'; readonly tag: string; readonly refusal: ImapRefusal };

/** Reads one command with its literals (RFC 3501 §4.3, RFC 7888). `null` when the client has disconnected. */
export async function receive(
  wire: WireReader,
  largestLiteral: number,
  goAhead: () => Promise<void>,
): Promise<Received | null> {
  const parts: Buffer[] = [];
  let tag = '*';
  let total = 0;
  let refusal: ImapRefusal | null = null;
  for (;;) {
    const line = await wire.line();
    if (line === null) return null;
    if (parts.length === 0) tag = /^[^\s(){%*"\\+]+/.exec(line.toString('latin1'))?.[0] ?? '*';
    const marker = /~?\{(\d{1,12})(\+?)\}$/.exec(line.toString('latin1', Math.max(0, line.length - 20)));
    if (marker === null) {
      parts.push(line);
      break;
    }
    const size = Number(marker[1]);
    total += size + line.length;
    const fits = total <= largestLiteral;
    if (!fits) refusal = new ImapRefusal('NO', `[TOOBIG] At most ${largestLiteral} octets are taken`);
    if (!fits && marker[2] !== '+') break;
    if (marker[2] !== '+') await goAhead();
    const literal = await wire.take(size, fits);
    if (literal === null) return null;
    parts.push(line.subarray(0, line.length - marker[0].length), literal);
  }
  if (refusal !== null) return { kind: 'bad', tag, refusal };
  try {
    return { kind: 'command', command: parse(parts) };
  } catch (error) {
    if (error instanceof ImapRefusal) return { kind: 'bad', tag, refusal: error };
    throw error;
  }
}

/** `parts` alternate between lines and literals. */
function parse(parts: readonly Buffer[]): Command {
  const values = new Parser(parts).all();
  const [tag, name, ...args] = values;
  if (tag?.kind !== 'atom' || name?.kind !== 'atom') throw new ImapRefusal('BAD', 'A command needs a tag and a name');
  const upper = name.text.toUpperCase();
  const [first, ...rest] = args;
  if (upper === 'UID' && first?.kind === 'atom')
    return { tag: tag.text, name: `UID ${first.text.toUpperCase()}`, args: rest };
  return { tag: tag.text, name: upper, args };
}

class Parser {
  readonly #parts: readonly Buffer[];
  #part = 0;
  #at = 0;

  constructor(parts: readonly Buffer[]) {
    this.#parts = parts;
  }

  all(): Value[] {
    const values = this.#list(0);
    if (this.#peek() !== null) throw new ImapRefusal('BAD', 'A parenthesis is closed that was not opened');
    return values;
  }

  #line(): Buffer {
    return this.#parts[this.#part] ?? Buffer.alloc(0);
  }

  #peek(): string | null {
    const byte = this.#line()[this.#at];
    return byte === undefined ? null : String.fromCharCode(byte);
  }

  #list(depth: number): Value[] {
    if (depth > DEEPEST_LIST) throw new ImapRefusal('BAD', 'Lists are nested too deep');
    const values: Value[] = [];
    for (;;) {
      const next = this.#peek();
      if (next === null) {
        const literal = this.#parts[this.#part + 1];
        if (literal === undefined) break;
        values.push({ kind: 'string', bytes: literal });
        this.#part += 2;
        this.#at = 0;
      } else if (next === ' ') this.#at += 1;
      else if (next === ')') break;
      else if (next === '(') {
        this.#at += 1;
        const items = this.#list(depth + 1);
        if (this.#peek() !== ')') throw new ImapRefusal('BAD', 'A parenthesis is not closed');
        this.#at += 1;
        values.push({ kind: 'list', items });
      } else if (next === '"') values.push(this.#quoted());
      else values.push(this.#atom());
    }
    return values;
  }

  #quoted(): Value {
    const line = this.#line();
    const bytes: number[] = [];
    for (let at = this.#at + 1; at < line.length; at += 1) {
      const byte = line[at] ?? 0;
      if (byte === 0x22) {
        this.#at = at + 1;
        return { kind: 'string', bytes: Buffer.from(bytes) };
      }
      if (byte === 0x5c) {
        at += 1;
        bytes.push(line[at] ?? 0);
      } else bytes.push(byte);
    }
    throw new ImapRefusal('BAD', 'A quoted string does not end');
  }

  /** An atom, including anything in brackets, even spaces: `BODY.PEEK[HEADER.FIELDS (TO)]<0.10>`. */
  #atom(): Value {
    const line = this.#line();
    let at = this.#at;
    for (; at < line.length; at += 1) {
      const char = String.fromCharCode(line[at] ?? 0);
      if (char === '[') {
        const end = line.indexOf(0x5d, at);
        if (end < 0) throw new ImapRefusal('BAD', 'A bracket is not closed');
        at = end;
      } else if (char === ' ' || char === '(' || char === ')' || char === '"') break;
    }
    const text = line.toString('latin1', this.#at, at);
    this.#at = at;
    return { kind: 'atom', text };
  }
}

/** The text of an atom or a string. */
export function textOf(value: Value | undefined, what: string): string {
  if (value?.kind === 'atom') return value.text;
  if (value?.kind === 'string') return value.bytes.toString();
  throw new ImapRefusal('BAD', `${what} is missing`);
}

export function itemsOf(value: Value | undefined, what: string): readonly Value[] {
  if (value?.kind === 'list') return value.items;
  throw new ImapRefusal('BAD', `${what} must be a list`);
}

type Range = readonly [from: number, to: number];

/** Parses a sequence set (RFC 3501 §9); `*` means `last`. */
export function readSet(text: string, last: number): readonly Range[] {
  const number = (word: string | undefined) => (word === '*' ? last : Number(word));
  return text.split(',').map((part): Range => {
    const match = /^(\d{1,10}|\*)(?::(\d{1,10}|\*))?$/.exec(part);
    if (match === null) throw new ImapRefusal('BAD', 'The set of messages makes no sense');
    const from = number(match[1]);
    const to = match[2] === undefined ? from : number(match[2]);
    return from <= to ? [from, to] : [to, from];
  });
}

export function inSet(set: readonly Range[], number: number): boolean {
  return set.some(([from, to]) => from <= number && number <= to);
}
