import { MailError } from '../mail-error.ts';

/** A piece of a response: text (one character an octet), a literal, or `null` where a sink took the literal. */
export type Part = string | Buffer | null;

/**
 * Takes the octets of one literal as they come. A chunk is only valid during the call. `end` follows when the response
 * that the literal is in has come to its end and could be read: a server that counts a message wrong sends the rest of
 * it, or what is next, where that response should go on.
 */
export type LiteralSink = { octets(chunk: Buffer): void; end(): void };

/** Discards the octets of a literal. */
export const NOBODY: LiteralSink = { octets: () => {}, end: () => {} };

export type ResponseHandler = {
  /**
   * A literal of so many octets follows these parts.
   * @returns its sink; without one it is collected, within the limits
   */
  literal(parts: readonly Part[], size: number): LiteralSink | undefined;
  /** A whole response, without its line end and without the `{n}` of its literals. */
  response(parts: readonly Part[]): void;
};

/** How much a server may send at most, in octets, apart from messages. */
export const RESPONSE_LIMITS = {
  /** One line. */
  line: 1024 * 1024,
  /** A line of search results: a million UIDs. */
  searchLine: 8 * 1024 * 1024,
  /** A literal that no sink takes. */
  literal: 1024 * 1024,
  /** A response with its collected literals. */
  response: 8 * 1024 * 1024 + 1024,
  /** Lines and literals of one response. */
  parts: 2000,
} as const;

const CR = 13;
const LF = 10;
const SEARCHES = ['* SEARCH ', '* ESEARCH '].map((text) => Buffer.from(text));

/**
 * Splits the octets of a server into responses (RFC 9051 §7, §9), in linear time, however they are chunked. A line may
 * end in a bare LF, as some servers send it.
 */
export class ResponseParser {
  readonly #handler: ResponseHandler;
  /** The beginning of a line whose end has not come. */
  #held = Buffer.allocUnsafe(256);
  #heldLength = 0;
  #parts: Part[] = [];
  #size = 0;
  #inLiteral = false;
  #left = 0;
  #sink: LiteralSink | undefined;
  /** Those of the present response that have all their octets. */
  #filled: LiteralSink[] = [];
  #literal: Buffer | undefined;
  #stopped = false;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  /** Whether no part of a further response has come. */
  get between(): boolean {
    return !this.#inLiteral && this.#parts.length === 0 && this.#heldLength === 0;
  }

  /** Ends the present `feed` after this response: what follows is something else (TLS, compressed), or for nobody. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * @returns how many octets were taken: all, unless a response led to `stop`.
   * @throws {MailError} `lost` for what is beyond the limits.
   */
  feed(chunk: Buffer): number {
    this.#stopped = false;
    let at = 0;
    while (at < chunk.length && !this.#stopped) {
      if (this.#inLiteral) {
        at = this.#takeLiteral(chunk, at);
        continue;
      }
      const end = chunk.indexOf(LF, at);
      if (end < 0) {
        this.#hold(chunk, at, chunk.length);
        return chunk.length;
      }
      const line = this.#lineOf(chunk, at, end);
      at = end + 1;
      this.#takeLine(line);
    }
    return at;
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    const length = this.#heldLength + to - from;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#heldLength);
      this.#held = larger;
    }
    chunk.copy(this.#held, this.#heldLength, from, to);
    this.#heldLength = length;
    this.#check(length);
  }

  #check(length: number): void {
    if (length <= RESPONSE_LIMITS.line) return;
    const search =
      this.#parts.length === 0 && SEARCHES.some((word) => word.equals(this.#held.subarray(0, word.length)));
    if (length > (search ? RESPONSE_LIMITS.searchLine : RESPONSE_LIMITS.line)) throw tooMuch('a line');
  }

  #lineOf(chunk: Buffer, from: number, end: number): string {
    if (this.#heldLength === 0 && end - from <= RESPONSE_LIMITS.line)
      return chunk.toString('latin1', from, end > from && chunk[end - 1] === CR ? end - 1 : end);
    this.#hold(chunk, from, end);
    const length = this.#heldLength;
    this.#heldLength = 0;
    const line = this.#held.toString('latin1', 0, length > 0 && this.#held[length - 1] === CR ? length - 1 : length);
    if (this.#held.length > RESPONSE_LIMITS.line) this.#held = Buffer.allocUnsafe(256);
    return line;
  }

  #takeLine(line: string): void {
    const size = line.charCodeAt(line.length - 1) !== 125 || isStatus(this.#parts[0] ?? line) ? -1 : literalSize(line);
    this.#count(line.length);
    if (size < 0) {
      this.#parts.push(line);
      const [parts, filled] = [this.#parts, this.#filled];
      this.#parts = [];
      if (filled.length > 0) this.#filled = [];
      this.#size = 0;
      this.#handler.response(parts);
      for (const sink of filled) sink.end();
      return;
    }
    const marker = line.lastIndexOf('{');
    this.#parts.push(line.slice(0, line[marker - 1] === '~' ? marker - 1 : marker));
    this.#sink = this.#handler.literal(this.#parts, size);
    if (this.#sink === undefined) {
      if (size > RESPONSE_LIMITS.literal) throw tooMuch('a literal');
      this.#count(size);
      this.#literal = Buffer.allocUnsafe(size);
    }
    this.#inLiteral = true;
    this.#left = size;
    if (size === 0) this.#endLiteral();
  }

  #takeLiteral(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at);
    const octets = chunk.subarray(at, at + taken);
    const literal = this.#literal;
    if (literal === undefined) this.#sink?.octets(octets);
    else octets.copy(literal, literal.length - this.#left);
    this.#left -= taken;
    if (this.#left === 0) this.#endLiteral();
    return at + taken;
  }

  #endLiteral(): void {
    const [sink, literal] = [this.#sink, this.#literal];
    this.#inLiteral = false;
    this.#sink = undefined;
    this.#literal = undefined;
    this.#parts.push(literal ?? null);
    if (sink !== undefined) this.#filled.push(sink);
  }

  #count(octets: number): void {
    this.#size += octets;
    if (this.#size > RESPONSE_LIMITS.response) throw tooMuch('an answer');
    if (this.#parts.length >= RESPONSE_LIMITS.parts) throw tooMuch('the parts of an answer');
  }
}

function tooMuch(what: string): MailError {
  return new MailError('lost', `The mail server went beyond the limit for ${what}.`);
}

/** The `n` of `{n}`, `{n+}` or `~{n}` at the end of a line; -1 when there is none. */
function literalSize(line: string): number {
  let at = line.length - 1;
  if (line.charCodeAt(at - 1) === 43) at--;
  let size = 0;
  let scale = 1;
  let digits = 0;
  for (at--; at >= 0; at--) {
    const digit = line.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) break;
    size += digit * scale;
    scale *= 10;
    // No message is that large, and no server has a reason to send leading zeros.
    if (++digits > 15) throw tooMuch('a literal');
  }
  return digits > 0 && line.charCodeAt(at) === 123 ? size : -1;
}

/** Whether the response is human-readable text, which has no literals, whatever it ends in. */
function isStatus(first: Part): boolean {
  if (typeof first !== 'string') return false;
  if (first.charCodeAt(0) === 43) return true;
  const from = first.indexOf(' ') + 1;
  if (from === 0) return true;
  const to = first.indexOf(' ', from);
  switch (first.slice(from, to < 0 ? Math.min(first.length, from + 8) : Math.min(to, from + 8)).toUpperCase()) {
    case 'OK':
    case 'NO':
    case 'BAD':
    case 'BYE':
    case 'PREAUTH':
      return true;
    default:
      return false;
  }
}
