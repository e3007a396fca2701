import { isUtf8 } from 'node:buffer';
import { addressParser } from 'postal-mime';
import { decoderOf, decodeUnlabelled, type CharsetDecoder } from './charsets.ts';
import { decodedWords, escapesDecoded, wordsInUnicode } from './encoded-words.ts';

/** How much of one field is examined; the message's whole header keeps all of it. */
const FIELD_LENGTH = 64 * 1024;
/** How many fields; as many as a megabyte can hold would take a hundred megabytes of memory. */
const FIELDS = 10_000;
/** Encoded words are decoded up to this length; nobody reads further. */
const WORDS_LENGTH = 8 * 1024;

export type HeaderField = { readonly name: string; readonly value: string };

/**
 * The fields of a header (RFC 5322 §2.2), unfolded, each in its own charset, or else that of the text. Lines that are
 * not fields are left out.
 *
 * @param ofText the charset of the text, where the header states none
 */
export function headerFields(header: Uint8Array, ofText = ''): HeaderField[] {
  const isUnicode = isUtf8(header);
  const fields: { name: string; lines: string[] }[] = [];
  for (const line of Buffer.from(header)
    .toString(isUnicode ? 'utf8' : 'latin1')
    .split(/\r?\n/)) {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      fields.at(-1)?.lines.push(line);
      continue;
    }
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    if (fields.length === FIELDS) break;
    fields.push({ name: line.slice(0, colon).trim().toLowerCase(), lines: [line.slice(colon + 1)] });
  }
  const values = fields.map(({ name, lines }) => ({ name, value: lines.join('').trim().slice(0, FIELD_LENGTH) }));
  const inText = isUnicode ? undefined : decoderOfText(fieldOf(values, 'content-type'), ofText);
  const decoded = (value: string) => {
    if (isUnicode && !value.includes('\u001b$')) return value;
    const octets = Buffer.from(value, isUnicode ? 'utf8' : 'latin1');
    const text = inText === undefined || isUtf8(octets) ? '\uFFFD' : inText.decode(octets);
    return text.includes('\uFFFD') ? decodeUnlabelled(octets) : text;
  };
  return values.map(({ name, value }) => ({ name, value: decoded(value) }));
}

/** ASCII that is not the same in every charset. */
const PLAIN = Buffer.from('az 09 +AOQ- ~{VP~}');

/**
 * The decoder for headers of programs from before encoded words: they used the charset of the text, if ASCII is a part
 * of that.
 */
function decoderOfText(contentType: string, ofText: string): CharsetDecoder | undefined {
  const decoder = decoderOf(structured(contentType).parameters.get('charset') ?? ofText);
  return decoder?.decode(PLAIN) === PLAIN.toString() ? decoder : undefined;
}

export function fieldOf(fields: readonly HeaderField[], name: string): string {
  return fields.find((field) => field.name === name)?.value ?? '';
}

/** A field's text with its encoded words (RFC 2047) decoded. */
export function readable(value: string): string {
  return decodedWords(value.slice(0, WORDS_LENGTH)) + value.slice(WORDS_LENGTH);
}

/**
 * How much is read of the fields of one name that hold addresses, which takes up to a second. RFC 5322 (§3.6) allows one
 * such field; before it, some programs wrote one for each address.
 */
const ADDRESSES_LENGTH = 4 * FIELD_LENGTH;

export type Address = { readonly name: string; readonly email: string };

/** Everybody in the fields of that name, with groups resolved. Name or address may be empty. */
export function addresses(fields: readonly HeaderField[], name: string): Address[] {
  let room = ADDRESSES_LENGTH;
  return fields
    .filter((field) => field.name === name && (room -= field.value.length) >= 0)
    .flatMap(({ value }) => addressParser(wordsInUnicode(withoutCut(value)), { flatten: true }))
    .map((found) => ({ name: readable(found.name ?? ''), email: found.address ?? '' }))
    .filter((found) => found.name !== '' || found.email !== '');
}

/** Without its last address, if the field was cut off at the length limit. */
function withoutCut(value: string): string {
  if (value.length < FIELD_LENGTH) return value;
  let [end, isQuoted] = [0, false];
  for (let at = 0; at < value.length; at += 1) {
    const sign = value[at];
    if (sign === '\\') at += 1;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === ',' || sign === ';')) end = at;
  }
  return value.slice(0, end);
}

export type Structured = { readonly value: string; readonly parameters: ReadonlyMap<string, string> };

/** `Content-Type` and the like: a value and parameters (RFC 2045 §5.1), joined as RFC 2231 says. */
export function structured(field: string): Structured {
  const [head, ...rest] = split(field);
  const start = head?.text.trim() ?? '';
  // Some programs forget the semicolon after the value, or write a comma.
  const value = /^[^\s,]*/.exec(start)?.[0] ?? '';
  const [unsaid = ''] = start
    .slice(value.length)
    .replace(/^,/, '')
    .trim()
    .split(/\s(?=[\w*-]+=)/, 1);
  const plain = new Map<string, string>();
  const continued = new Map<string, { readonly at: number; readonly text: string; readonly isEncoded: boolean }[]>();
  for (const piece of [{ ...UNQUOTED, text: unsaid }, ...rest]) {
    const equals = piece.text.indexOf('=');
    if (equals < 1) continue;
    const name = piece.text.slice(0, equals).trim().toLowerCase();
    const text = valueAfter(equals, piece);
    const [base = '', ...marks] = name.split('*');
    if (marks.length === 0) {
      if (!plain.has(base)) plain.set(base, text);
      continue;
    }
    const at = Number.parseInt(marks[0] || '0', 10);
    if (!(at >= 0)) continue;
    continued.set(base, [...(continued.get(base) ?? []), { at, text, isEncoded: marks.at(-1) === '' }].slice(0, 100));
  }
  for (const [name, parts] of continued) plain.set(name, joined(parts));
  return { value: value.toLowerCase(), parameters: plain };
}

/** `from` and `to`: where the quoted text begins and ends. */
type Piece = { readonly text: string; readonly from: number; readonly to: number };

const UNQUOTED = { from: Infinity, to: 0 };

/** A parameter's value without the blanks around it, but with those within its quotes. */
function valueAfter(equals: number, { text, from, to }: Piece): string {
  let [start, end] = [equals + 1, text.length];
  while (start < Math.min(from, end) && BLANK.test(text[start] ?? '')) start += 1;
  while (end > Math.max(to, start) && BLANK.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}

const BLANK = /\s/;

/** The pieces between semicolons, without quotes and comments. */
function split(field: string): Piece[] {
  const pieces: Piece[] = [];
  let [piece, isQuoted, depth] = ['', false, 0];
  let quotes: Omit<Piece, 'text'> = UNQUOTED;
  /** Whether the piece is an unquoted file name, which may contain parentheses, and whether it has begun. */
  let [isName, isBegun] = [false, false];
  const lastClose = field.lastIndexOf(')');
  /** Where the text begins that belongs to the piece and has not been taken yet. */
  let from = 0;
  const take = (end: number) => {
    piece += field.slice(from, end);
    from = end + 1;
  };
  const endPiece = (end: number) => {
    take(end);
    if (isQuoted) quotes = { ...quotes, to: piece.length };
    pieces.push({ text: piece, ...quotes });
    [piece, quotes, isName, isBegun] = ['', UNQUOTED, false, false];
  };
  for (let at = 0; at < field.length; at += 1) {
    const char = field[at];
    if (depth > 0) {
      if (char === ')') depth -= 1;
      else if (char === '(') depth += 1;
      from = at + 1;
    } else if (char === '"') {
      take(at);
      isQuoted = !isQuoted;
      quotes = isQuoted ? { ...quotes, from: Math.min(quotes.from, piece.length) } : { ...quotes, to: piece.length };
      [isName, isBegun] = [false, false];
    } else if (isQuoted) {
      if (char === '\\' && (field[at + 1] === '"' || field[at + 1] === '\\')) {
        take(at);
        at += 1;
      }
    } else if (char === '(' && at < lastClose && !isBegun) {
      take(at);
      depth = 1;
    } else if (char === ';') endPiece(at);
    else if (char === '=' && piece === '' && !isName) isName = FILE_NAME.test(field.slice(Math.max(from, at - 20), at));
    else if (isName && char !== ' ' && char !== '\t') isBegun = true;
  }
  endPiece(field.length);
  return pieces;
}

const FILE_NAME = /(?:^|\s)(?:file)?name[*\d]*\s*$/i;

function joined(parts: readonly { readonly at: number; readonly text: string; readonly isEncoded: boolean }[]): string {
  let charset = 'utf-8';
  const octets = parts
    .toSorted((one, other) => one.at - other.at)
    .map(({ text, isEncoded }, index) => {
      if (!isEncoded) return Buffer.from(text);
      const named = index === 0 ? /^([^']*)'[^']*'/.exec(text) : null;
      if (named?.[1]) charset = named[1];
      return percentDecoded(text.slice(named?.[0].length ?? 0));
    });
  return decoderOf(charset)?.decode(Buffer.concat(octets)) ?? decodeUnlabelled(Buffer.concat(octets));
}

function percentDecoded(text: string): Buffer {
  // What is not encoded stays as it is, whatever the charset.
  return Buffer.from(escapesDecoded(Buffer.from(text).toString('latin1'), /%([0-9a-f]{2})/gi), 'latin1');
}
