/** One answer of a ManageSieve server (RFC 5804 §1.3): its lines of strings and atoms, and how it ends. */
export type SieveReply = {
  readonly lines: readonly (readonly string[])[];
  readonly status: 'OK' | 'NO' | 'BYE';
  /** The response code, upper case, without brackets and what follows it. */
  readonly code?: string;
};

/** What came is not ManageSieve. */
export class SieveSyntaxError extends Error {
  override name = 'SieveSyntaxError';
}

const CR = 13;
const LF = 10;
const QUOTE = 34;
const OPEN = 40;
const CLOSE = 41;
const BACKSLASH = 92;
const BRACE = 123;
const LITERAL = /^\{(\d{1,9})\+?\}$/;
/** Lists within lists (RFC 5804 §1.3, `extension-item`), which nothing needs: with more of them the stack would end. */
const NESTED_AT_MOST = 16;
/** Anything but a literal is read anew as more of it comes; a quoted string has 1024 octets at most (RFC 5804 §4). */
const TOKEN_OCTETS = 4096;
/** `{`, nine digits, `+`, `}`. */
const LITERAL_HEADER_OCTETS = 12;

/** How far an answer has been read that is not complete, so that what has come is not read anew with each octet. */
export type BegunReply = { at: number; line: BegunLine; readonly lines: string[][] };
type BegunLine = { readonly words: string[]; first?: string; code?: string | undefined };

export function beginReply(): BegunReply {
  return { at: 0, line: { words: [] }, lines: [] };
}

/**
 * Reads the answer that the octets begin with, and how many octets it has; `null` when it is not complete yet.
 * @param begun goes on with it, when more has come
 * @throws {SieveSyntaxError}
 */
export function readReply(octets: Buffer, begun = beginReply()): { reply: SieveReply; length: number } | null {
  const { lines } = begun;
  for (;;) {
    if (!readLine(octets, begun)) return null;
    const { words, first, code } = begun.line;
    if (first === 'OK' || first === 'NO' || first === 'BYE')
      return { reply: { lines, status: first, ...(code === undefined ? {} : { code }) }, length: begun.at };
    lines.push(words);
    begun.line = { words: [] };
  }
}

/** @returns whether the line is complete */
function readLine(octets: Buffer, begun: BegunReply): boolean {
  const { line } = begun;
  for (;;) {
    while (octets[begun.at] === 32) begun.at += 1;
    if (octets[begun.at] === CR && octets[begun.at + 1] === LF) {
      begun.at += 2;
      return true;
    }
    const token = readToken(octets, begun.at);
    if (token === null) {
      if (octets[begun.at] !== BRACE && octets.length - begun.at > TOKEN_OCTETS)
        throw new SieveSyntaxError('A word is too long.');
      return false;
    }
    begun.at = token.end;
    if (token.kind === 'atom' && line.words.length === 0) line.first = token.text.toUpperCase();
    if (token.kind === 'list') line.code = token.text.split(' ', 1)[0]?.toUpperCase();
    else line.words.push(token.text);
  }
}

type Token = { readonly kind: 'atom' | 'string' | 'list'; readonly text: string; readonly end: number };

function readToken(octets: Buffer, from: number, depth = 0): Token | null {
  switch (octets[from]) {
    case undefined:
      return null;
    case QUOTE:
      return readQuoted(octets, from);
    case BRACE:
      return readLiteral(octets, from);
    case OPEN:
      return readList(octets, from, depth + 1);
    default:
      return readAtom(octets, from);
  }
}

function readAtom(octets: Buffer, from: number): Token | null {
  let end = from;
  while (end < octets.length && !isDelimiter(octets[end])) end += 1;
  if (end === octets.length || (octets[end] === CR && end + 1 === octets.length)) return null;
  if (end === from || (octets[end] === CR && octets[end + 1] !== LF))
    throw new SieveSyntaxError('There is an octet that belongs to nothing.');
  return { kind: 'atom', text: octets.toString('utf8', from, end), end };
}

function isDelimiter(octet: number | undefined): boolean {
  return octet === 32 || octet === CR || octet === LF || octet === QUOTE || octet === OPEN || octet === CLOSE;
}

function readQuoted(octets: Buffer, from: number): Token | null {
  const text: number[] = [];
  for (let at = from + 1; at < octets.length; at += 1) {
    let octet = octets[at];
    if (octet === QUOTE) return { kind: 'string', text: Buffer.from(text).toString('utf8'), end: at + 1 };
    if (octet === BACKSLASH) octet = octets[(at += 1)];
    if (octet === CR || octet === LF) throw new SieveSyntaxError('A quoted string ends with the line.');
    if (octet !== undefined) text.push(octet);
  }
  return null;
}

function readLiteral(octets: Buffer, from: number): Token | null {
  const close = octets.indexOf('}\r\n', from);
  if (close < 0 || close - from > LITERAL_HEADER_OCTETS) {
    if (octets.length - from > LITERAL_HEADER_OCTETS + 2) throw new SieveSyntaxError('A literal has no size.');
    return null;
  }
  const size = LITERAL.exec(octets.toString('latin1', from, close + 1))?.[1];
  if (size === undefined) throw new SieveSyntaxError('A literal has no size.');
  const start = close + 3;
  const end = start + Number(size);
  return end > octets.length ? null : { kind: 'string', text: octets.toString('utf8', start, end), end };
}

function readList(octets: Buffer, from: number, depth: number): Token | null {
  if (depth > NESTED_AT_MOST) throw new SieveSyntaxError('There are too many lists within lists.');
  const words: string[] = [];
  let at = from + 1;
  for (;;) {
    while (octets[at] === 32) at += 1;
    if (octets[at] === CLOSE) return { kind: 'list', text: words.join(' '), end: at + 1 };
    const token = readToken(octets, at, depth);
    if (token === null) return null;
    words.push(token.text);
    at = token.end;
  }
}

/** A string as a client sends it (RFC 5804 §4): a literal that waits for nobody. */
export function writeString(text: string): string {
  return `{${Buffer.byteLength(text)}+}\r\n${text}`;
}
