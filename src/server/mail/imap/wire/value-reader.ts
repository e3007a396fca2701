import { MailError } from '../mail-error.ts';
import type { Part } from './response-parser.ts';

/** How deep the lists of an answer may be nested. */
const DEPTH_LIMIT = 64;

const SPACE = 32;
const QUOTE = 34;
const OPEN = 40;
const CLOSE = 41;
const LEFT_BRACKET = 91;
const BACKSLASH = 92;
const RIGHT_BRACKET = 93;

/** Stands for a literal that a sink took. */
const TAKEN = Symbol('taken');
/** `null` is NIL. Strings have one character an octet. */
export type Value = string | null | typeof TAKEN | readonly Value[];

/** Reads the values of a response one after the other (RFC 9051 §4). Several spaces count as one. */
export class ValueReader {
  readonly #parts: readonly Part[];
  #next = 1;
  #text: string;
  #at: number;

  /** @param from where in the first part the values begin. */
  constructor(parts: readonly Part[], from: number) {
    this.#parts = parts;
    this.#text = textOf(parts[0]);
    this.#at = from;
  }

  /** Whether everything has been read. */
  get done(): boolean {
    this.#skipSpaces();
    return this.#at >= this.#text.length && this.#next >= this.#parts.length;
  }

  /** Enters a list, if one begins here. */
  enter(): boolean {
    return this.#takeIf(OPEN);
  }

  /** Leaves a list, if it ends here. */
  leave(): boolean {
    return this.#takeIf(CLOSE);
  }

  /** The name of an item, with its section: `BODY[HEADER.FIELDS (DATE)]<0>`. Upper case. */
  name(): string {
    this.#skipSpaces();
    const from = this.#at;
    let inBrackets = false;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === LEFT_BRACKET) inBrackets = true;
      else if (code === RIGHT_BRACKET) inBrackets = false;
      else if (!inBrackets && (code === SPACE || code === OPEN || code === CLOSE)) break;
    }
    if (this.#at === from) throw unreadable();
    return this.#text.slice(from, this.#at).toUpperCase();
  }

  /** The next value; numbers are returned as strings. */
  value(depth = 0): Value {
    this.#skipSpaces();
    if (this.#at >= this.#text.length) return this.#literal();
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#quoted();
    if (code === CLOSE) throw unreadable();
    if (code !== OPEN) {
      const atom = this.#atom();
      return atom.length === 3 && atom.toUpperCase() === 'NIL' ? null : atom;
    }
    if (depth >= DEPTH_LIMIT) throw new MailError('lost', 'The mail server nested its answer too deep.');
    this.#at++;
    const values: Value[] = [];
    while (!this.#takeIf(CLOSE)) values.push(this.value(depth + 1));
    return values;
  }

  /** The text of a list that begins here, unless it has strings, lists or literals in it. */
  plainList(): string | undefined {
    this.#skipSpaces();
    if (this.#text.charCodeAt(this.#at) !== OPEN) return undefined;
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE || code === OPEN) return undefined;
      if (code !== CLOSE) continue;
      const list = this.#text.slice(this.#at + 1, at);
      this.#at = at + 1;
      return list;
    }
    return undefined;
  }

  #atom(): string {
    const from = this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === SPACE || code === OPEN || code === CLOSE) break;
    }
    return this.#text.slice(from, this.#at);
  }

  #quoted(): string {
    const pieces: string[] = [];
    let from = ++this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === BACKSLASH) {
        pieces.push(this.#text.slice(from, this.#at));
        from = ++this.#at;
      } else if (code === QUOTE) {
        pieces.push(this.#text.slice(from, this.#at++));
        return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
      }
    }
    throw unreadable();
  }

  #literal(): Value {
    if (this.#next >= this.#parts.length) throw unreadable();
    const literal = this.#parts[this.#next];
    this.#text = textOf(this.#parts[this.#next + 1]);
    this.#at = 0;
    this.#next += 2;
    return Buffer.isBuffer(literal) ? literal.toString('latin1') : TAKEN;
  }

  #takeIf(code: number): boolean {
    this.#skipSpaces();
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at++;
    return true;
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.#at) === SPACE) this.#at++;
  }
}

function textOf(part: Part | undefined): string {
  return typeof part === 'string' ? part : '';
}

function unreadable(): MailError {
  return new MailError('lost', 'The mail server gave an answer that can’t be read.');
}
