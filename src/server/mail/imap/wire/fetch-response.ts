import { MailError } from '../mail-error.ts';
import type { Part } from './response-parser.ts';
import { ValueReader, type Value } from './value-reader.ts';

/**
 * The items of a FETCH response (RFC 9051 §7.5.2). `number` is the message's sequence number, its UID in a UIDFETCH
 * (RFC 9586). Missing items were not sent, or can't be read.
 */
export type FetchItems = {
  number: number;
  uid?: number;
  /** RFC822.SIZE, in octets. */
  size?: number;
  /** Without `\Recent`. */
  flags?: readonly string[];
  /** Invalid when it can't be read. */
  internalDate?: Date;
  /** A whole message that no sink took, such as a quoted string; or NIL. */
  body?: Buffer | null;
};

/** A server answers BAD to a higher one, or finds nothing under it. */
export const HIGHEST_UID = 2 ** 32 - 1;

/**
 * How many lists of flags are kept for messages to share: a mailbox of half a million has only a few dozen different
 * ones.
 */
const SHARED_LISTS = 1000;
/**
 * How much of a message's flags is kept, in characters; more than those of any message take. Limited because those of
 * many messages are in memory at a time.
 */
const FLAGS_LIMIT = 8192;

/** Reads FETCH responses; one for each connection, because it keeps the lists of flags that it has met. */
export class FetchReader {
  readonly #flags = new Map<string, readonly string[]>();
  /** The last response, kept because each command under way is asked whether it is its own. */
  #parts: readonly Part[] | undefined;
  #items: FetchItems = { number: -1 };

  /** The sequence number or UID when the response is a FETCH; -1 when it is another. */
  static numberOf(line: string): number {
    if (line.charCodeAt(0) !== 42 || line.charCodeAt(1) !== 32) return -1;
    let number = 0;
    let at = 2;
    // RFC 9051 §9: a number has 32 bits.
    for (; at < 12; at++) {
      const digit = line.charCodeAt(at) - 48;
      if (!(digit >= 0 && digit <= 9)) break;
      number = number * 10 + digit;
    }
    if (at === 2 || line.charCodeAt(at) !== 32) return -1;
    return itemsAt(line) < 0 ? -1 : number;
  }

  /** @throws {MailError} `lost` when the response can't be read. */
  read(parts: readonly Part[]): FetchItems {
    if (parts === this.#parts) return this.#items;
    const { items, open } = this.#readItems(parts, false);
    if (open !== undefined) throw new MailError('lost', 'The mail server broke off an answer.');
    this.#parts = parts;
    this.#items = items;
    return items;
  }

  /** The items before a literal, and the name of the item that the literal belongs to. */
  readBefore(parts: readonly Part[]): { readonly items: FetchItems; readonly open: string | undefined } {
    return this.#readItems(parts, true);
  }

  #readItems(parts: readonly Part[], unfinished: boolean): { items: FetchItems; open: string | undefined } {
    const [line] = parts;
    if (typeof line !== 'string') throw new TypeError('A response begins with text.');
    const items: FetchItems = { number: FetchReader.numberOf(line) };
    const reader = new ValueReader(parts, itemsAt(line));
    if (!reader.enter()) throw new MailError('lost', 'The mail server gave a message no items.');
    let hasBody = false;
    while (!reader.leave()) {
      if (unfinished && reader.done) return { items, open: '' };
      const name = reader.name();
      // A literal that is said to be longer than it is has the beginning of the next response in it.
      if (isBody(name) && hasBody) throw overrun();
      hasBody ||= isBody(name);
      if (unfinished && reader.done) return { items, open: name };
      if (name === 'FLAGS') items.flags = this.#flagsIn(reader);
      else take(items, name, reader.value());
    }
    if (hasBody && !reader.done) throw overrun();
    return { items, open: undefined };
  }

  #flagsIn(reader: ValueReader): readonly string[] {
    const plain = reader.plainList();
    const known = plain === undefined ? undefined : this.#flags.get(plain);
    if (known !== undefined) return known;
    const told = plain === undefined ? reader.value() : plain.split(' ');
    const flags = keptOf(told).map(ownText);
    if (plain !== undefined && plain.length <= FLAGS_LIMIT && this.#flags.size < SHARED_LISTS)
      this.#flags.set(ownText(plain), flags);
    return flags;
  }
}

function isBody(name: string): boolean {
  return name === 'BODY[]' || name === 'RFC822';
}

function overrun(): MailError {
  return new MailError('lost', 'The mail server gave a message more octets than it has.');
}

function itemsAt(line: string): number {
  let name = line.indexOf(' ', 2) + 1;
  while (line.charCodeAt(name) === 32) name++;
  const end = line.indexOf(' ', name);
  if (name < 3 || end < 0 || end - name > 8) return -1;
  const word = line.slice(name, end);
  if (word === 'FETCH') return end + 1;
  const upper = word.toUpperCase();
  return upper === 'FETCH' || upper === 'UIDFETCH' ? end + 1 : -1;
}

function take(items: FetchItems, name: string, value: Value): void {
  switch (name) {
    case 'UID':
      if (numberOf(value) > 0 && numberOf(value) <= HIGHEST_UID) items.uid = numberOf(value);
      break;
    case 'RFC822.SIZE':
      if (numberOf(value) >= 0) items.size = numberOf(value);
      break;
    case 'INTERNALDATE': {
      const date = typeof value === 'string' ? readInternalDate(value) : undefined;
      items.internalDate = date ?? new Date(Number.NaN);
      break;
    }
    case 'BODY[]':
    case 'RFC822':
      if (value === null) items.body = null;
      else if (typeof value === 'string') items.body = Buffer.from(value, 'latin1');
      break;
    default:
  }
}

/** The flags without `\Recent`, in their order, and without the last keywords where they are too long together. */
function keptOf(value: Value): readonly string[] {
  if (!Array.isArray(value)) return [];
  let room = FLAGS_LIMIT;
  for (const flag of value) if (isSystemFlag(flag)) room -= flag.length + 1;
  if (room < 0) return [];
  return value.filter((flag): flag is string => {
    if (isSystemFlag(flag)) return flag.toLowerCase() !== '\\recent';
    if (typeof flag !== 'string' || flag === '') return false;
    room -= flag.length + 1;
    return room >= 0;
  });
}

function isSystemFlag(flag: Value): flag is string {
  return typeof flag === 'string' && flag.startsWith('\\');
}

/** A copy of the text: a substring keeps the whole string in memory, and a response may be long. */
function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** A number of at most 15 digits; -1 for anything else. */
export function numberOf(value: Value): number {
  if (typeof value !== 'string' || value.length === 0 || value.length > 15) return -1;
  let number = 0;
  for (let at = 0; at < value.length; at++) {
    const digit = value.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';

/**
 * Reads `17-Jul-1996 02:44:25 -0700`. A day of one digit, a missing zone (then UTC) and a year of two digits are taken
 * as well; `undefined` for what is no date.
 */
export function readInternalDate(text: string): Date | undefined {
  return readUsualDate(text) ?? readOddDate(text);
}

/**
 * The form of RFC 9051 §9, which nearly all dates have. Read separately for speed: a listing may have half a million.
 */
function readUsualDate(text: string): Date | undefined {
  if (text.length !== 26 || text[2] !== '-' || text[6] !== '-' || text[14] !== ':' || text[17] !== ':')
    return undefined;
  const month = MONTHS.indexOf(text.slice(3, 6).toLowerCase());
  const sign = text[21] === '-' ? -1 : text[21] === '+' ? 1 : 0;
  const day = text[0] === ' ' ? digitsOf(text, 1, 2) : digitsOf(text, 0, 2);
  const year = digitsOf(text, 7, 11);
  const [hour, minute, second] = [digitsOf(text, 12, 14), digitsOf(text, 15, 17), digitsOf(text, 18, 20)];
  const [east, more] = [digitsOf(text, 22, 24), digitsOf(text, 24, 26)];
  if (month < 0 || month % 3 !== 0 || sign === 0 || year < 100 || day < 1 || day > 31) return undefined;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 || east < 0 || more < 0)
    return undefined;
  return new Date(Date.UTC(year, month / 3, day, hour, minute, second) - sign * (east * 60 + more) * 60_000);
}

/** The number between two places of a text; -1 when it is none. */
function digitsOf(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    number = number * 10 + digit;
  }
  return number;
}

function readOddDate(text: string): Date | undefined {
  const [date, time, zone = '+0000', ...more] = text.slice(0, 64).trim().split(' ');
  const [day, month, year, ...rest] = (date ?? '').split('-');
  const [hour, minute, second, ...finer] = (time ?? '').split(':');
  if (more.length > 0 || rest.length > 0 || finer.length > 0 || month?.length !== 3) return undefined;
  const index = MONTHS.indexOf(month.toLowerCase());
  const numbers = [year, day, hour, minute, second].map((part) => numberOf(part ?? null));
  const [y = -1, d = -1, h = -1, m = -1, s = -1] = numbers;
  if (index < 0 || index % 3 !== 0 || d < 1 || d > 31 || h > 23 || m > 59 || s > 60) return undefined;
  // A year before 100, written with four digits, is no date: Exchange sends 0001 if it knows none.
  if (numbers.some((each) => each < 0) || y > 9999 || (y < 100 && year?.length !== 2)) return undefined;
  const offset = offsetOf(zone);
  if (offset === undefined) return undefined;
  const full = y < 50 ? y + 2000 : y < 100 ? y + 1900 : y;
  const at = new Date(0);
  at.setUTCFullYear(full, index / 3, d);
  at.setUTCHours(h, m - offset, s);
  return at;
}

/** Minutes east of Greenwich. */
function offsetOf(zone: string): number | undefined {
  if (zone === 'GMT' || zone === 'UTC' || zone === 'UT' || zone === 'Z') return 0;
  const sign = zone[0] === '-' ? -1 : zone[0] === '+' ? 1 : 0;
  const digits = numberOf(zone.slice(1));
  if (sign === 0 || zone.length !== 5 || digits < 0) return undefined;
  return sign * (Math.floor(digits / 100) * 60 + (digits % 100));
}

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function two(number: number): string {
  return `${number}`.padStart(2, '0');
}

/** The date-time of RFC 9051 §9, in UTC, quoted; `undefined` for a date that has no such form. */
export function writeInternalDate(date: Date): string | undefined {
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) return undefined;
  const day = `${date.getUTCDate()}`.padStart(2, ' ');
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  return `"${day}-${NAMES[date.getUTCMonth()]}-${`${year}`.padStart(4, '0')} ${time} +0000"`;
}
