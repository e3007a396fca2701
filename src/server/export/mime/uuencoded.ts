import { decodeUnlabelled } from './charsets.ts';
import type { Sink } from './transfer-decoders.ts';

const BEGIN = Buffer.from('begin ');
/** The line that begins a file: its mode and its name. */
const HEAD = /^begin [0-7]{3,4} (\S[^\r\n]{0,200})$/;
/** How much is held to see whether a file begins, and the longest line of one. */
const [HEAD_LENGTH, LINE_LENGTH] = [400, 200];
/** How much blank text may be around a file that is all of a part. */
const BLANKS_LENGTH = 200;
/** The most octets in a line, and the range of the characters that encode them. */
const [LINE_OCTETS, FIRST, LAST] = [45, 0x20, 0x60];
const [LF, CR] = [0x0a, 0x0d];

/**
 * Separates text from the files in it that are uuencoded (as POSIX says), which is how mail programs sent files before
 * MIME. `attach` returns what takes a file's octets, or `undefined` if they are not wanted.
 */
export function withoutFiles(text: Sink, attach: (name: string) => Sink | undefined): Sink {
  const divider = new Divider(text, attach);
  return { write: (bytes) => divider.write(bytes), end: () => divider.end() };
}

/**
 * Decodes a part that is uuencoded by its transfer encoding. Anything else in it is kept as it is, and reported at the
 * end, except for a few empty lines around the file.
 */
export function uudecoded(output: (bytes: Uint8Array) => void): Sink {
  let [files, isClean, blanks] = [0, true, Buffer.alloc(0)];
  const around = (bytes: Uint8Array) => {
    blanks = Buffer.concat([blanks, bytes]);
    isClean &&= blanks.length < BLANKS_LENGTH && blanks.every((octet) => octet <= FIRST);
    if (isClean) return;
    output(blanks);
    blanks = Buffer.alloc(0);
  };
  const divider = withoutFiles({ write: around, end: () => true }, () => {
    files += 1;
    blanks = Buffer.alloc(0);
    return { write: output, end: () => true };
  });
  return { write: (bytes) => divider.write(bytes), end: () => divider.end() && isClean && files === 1 };
}

class Divider implements Sink {
  readonly #text: Sink;
  readonly #attach: (name: string) => Sink | undefined;
  #held: Buffer = Buffer.alloc(0);
  #atLineStart = true;
  #isInFile = false;
  #file: Sink | undefined;
  /** Whether the line without octets has come, after which there is only `end`. */
  #isOver = false;
  #isClean = true;

  constructor(text: Sink, attach: (name: string) => Sink | undefined) {
    this.#text = text;
    this.#attach = attach;
  }

  write(bytes: Uint8Array): void {
    const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#held = this.#held.length === 0 ? octets : Buffer.concat([this.#held, octets]);
    this.#divide(false);
    // A copy: the caller may reuse its own.
    this.#held = Buffer.from(this.#held);
  }

  end(): boolean {
    this.#divide(true);
    if (this.#isInFile) this.#endFile(false);
    return this.#text.end() && this.#isClean;
  }

  #divide(isEnd: boolean): void {
    while (this.#held.length > 0 && (this.#isInFile ? this.#readLine(isEnd) : this.#readText(isEnd)));
  }

  /**
   * Reads up to where a file begins.
   * @returns false if there is none, or it is not known yet
   */
  #readText(isEnd: boolean): boolean {
    const bytes = this.#held;
    for (let from = 0; ;) {
      const at = beginOf(bytes, from, this.#atLineStart, isEnd);
      const head = lineOf(bytes, at);
      const first = lineOf(bytes, at + head.length);
      const isUnknown = !isEnd && first.at(-1) !== LF && bytes.length - at < HEAD_LENGTH;
      const name = isFirstLine(withoutEnd(first)) && HEAD.exec(withoutEnd(head).toString('latin1'))?.[1];
      if (at === bytes.length || isUnknown || name) this.#give(at);
      if (at === bytes.length || isUnknown) return false;
      if (name) {
        this.#file = this.#attach(decodeUnlabelled(Buffer.from(name.trimEnd(), 'latin1')));
        [this.#isInFile, this.#isOver, this.#held] = [true, false, bytes.subarray(at + head.length)];
        return true;
      }
      from = at + 1;
    }
  }

  #give(length: number): void {
    if (length === 0) return;
    const octets = this.#held.subarray(0, length);
    this.#atLineStart = octets.at(-1) === LF;
    this.#held = this.#held.subarray(length);
    this.#text.write(octets);
  }

  #readLine(isEnd: boolean): boolean {
    const line = lineOf(this.#held);
    if (line.at(-1) !== LF && line.length < LINE_LENGTH && !isEnd) return false;
    const content = withoutEnd(line);
    const isLast = content.toString('latin1', 0, 8).trimEnd() === 'end';
    const count = countOf(content);
    if (isLast || this.#isOver || !isLine(content)) {
      this.#endFile(isLast);
      if (!isLast) return true;
    } else if (count === 0) this.#isOver = true;
    else this.#file?.write(octetsOf(content, count));
    this.#held = this.#held.subarray(line.length);
    return true;
  }

  #endFile(isWhole: boolean): void {
    if (!isWhole) this.#isClean = false;
    this.#file?.end();
    [this.#isInFile, this.#file, this.#atLineStart] = [false, undefined, true];
  }
}

/** Where a file, or what has come of its beginning, may begin; the length if it is nowhere. */
function beginOf(bytes: Buffer, from: number, atLineStart: boolean, isEnd: boolean): number {
  const startsLine = (at: number) => (at === 0 ? atLineStart : bytes[at - 1] === LF);
  for (let at = bytes.indexOf(BEGIN, from); at >= 0; at = bytes.indexOf(BEGIN, at + 1)) if (startsLine(at)) return at;
  const last = bytes.lastIndexOf(LF) + 1;
  const rest = bytes.subarray(last);
  const mayBegin = rest.length < BEGIN.length && rest.equals(BEGIN.subarray(0, rest.length));
  return mayBegin && startsLine(last) && !isEnd ? last : bytes.length;
}

function lineOf(bytes: Buffer, from = 0): Buffer {
  const end = bytes.indexOf(LF, from);
  return bytes.subarray(from, end < 0 ? bytes.length : end + 1);
}

function withoutEnd(line: Buffer): Buffer {
  const end = line.at(-1) === LF ? line.length - 1 : line.length;
  return line.subarray(0, line[end - 1] === CR ? end - 1 : end);
}

const valueOf = (sign = FIRST) => (sign - FIRST) & 0x3f;

/** How many octets a line claims to have; a line that lost its blank at the end has none. */
function countOf(line: Buffer): number {
  return valueOf(line[0]);
}

/**
 * Whether it is a line of a file. Blanks at its end, which are zeros, may be lost, and some programs add a character.
 */
function isLine(line: Buffer): boolean {
  const signs = Math.ceil(countOf(line) / 3) * 4;
  const isInAlphabet = line.every((octet) => octet >= FIRST && octet <= LAST);
  return isInAlphabet && countOf(line) <= LINE_OCTETS && line.length - 1 <= signs + 2;
}

function isFirstLine(line: Buffer): boolean {
  return isLine(line) && countOf(line) > 0 && line.length - 1 >= countOf(line) / 2;
}

function octetsOf(line: Buffer, count: number): Buffer {
  const octets = Buffer.alloc(Math.ceil(count / 3) * 3);
  for (let [at, from] = [0, 1]; at < octets.length; at += 3, from += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((more) => valueOf(line[from + more]));
    octets.writeUIntBE((a << 18) | (b << 12) | (c << 6) | d, at, 3);
  }
  return octets.subarray(0, count);
}
