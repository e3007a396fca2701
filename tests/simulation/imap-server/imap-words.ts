import { decodeName, encodeName } from '../../../src/sandbox/imap/mailbox-name.ts';

/** A piece of a command or an answer (RFC 9051 §4): lists are arrays, strings and atoms are text, a literal is octets. */
export type Word = string | Buffer | readonly Word[];

/** Thrown for what is no IMAP. */
export class BadWords extends Error {
  override name = 'BadWords';
}

/** `parts` are lines without their `{n}` and literals, by turns. */
export function wordsOf(parts: readonly Buffer[]): Word[] {
  const stack: Word[][] = [[]];
  const add = (word: Word) => stack.at(-1)?.push(word);
  parts.forEach((part, index) => {
    if (index % 2 === 1) {
      add(part);
      return;
    }
    const line = part.toString('utf8');
    let at = 0;
    while (at < line.length) {
      const char = line[at];
      if (char === ' ') at += 1;
      else if (char === '(') {
        stack.push([]);
        at += 1;
      } else if (char === ')') {
        const list = stack.pop();
        if (list === undefined || stack.length === 0) throw new BadWords('A parenthesis is closed that was not opened');
        add(list);
        at += 1;
      } else if (char === '"') {
        let text = '';
        for (at += 1; line[at] !== '"'; at += 1) {
          if (line[at] === '\\') at += 1;
          if (at >= line.length) throw new BadWords('A quoted string does not end');
          text += line[at] ?? '';
        }
        at += 1;
        add(text);
      } else {
        const from = at;
        let depth = 0;
        for (; at < line.length; at += 1) {
          const each = line[at];
          if (each === '[') depth += 1;
          else if (each === ']') depth -= 1;
          else if (depth === 0 && (each === ' ' || each === '(' || each === ')')) break;
        }
        add(line.slice(from, at));
      }
    }
  });
  const [words] = stack;
  if (words === undefined || stack.length !== 1) throw new BadWords('A parenthesis is not closed');
  return words;
}

export function textOf(word: Word | undefined): string {
  if (typeof word === 'string') return word;
  if (Buffer.isBuffer(word)) return word.toString('utf8');
  throw new BadWords('A word is missing');
}

/** The path of a mailbox, which travels in modified UTF-7 (RFC 3501 §5.1.3). */
export function pathOf(word: Word | undefined): string {
  return decodeName(textOf(word));
}

export function quotedPath(path: string): string {
  return quoted(encodeName(path));
}

export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The `date-time` of RFC 9051 §9, in UTC or, with a day of one digit as some have it, in Newfoundland. */
export function dateTimeOf(time: number, isElsewhere = false): string {
  const local = new Date(isElsewhere ? time - 12_600_000 : time).toUTCString();
  const [, day, month, year, clock] = /^\w+, (\d\d) (\w+) (\d+) ([\d:]+)/.exec(local) ?? [];
  return `"${isElsewhere ? day?.replace(/^0/, ' ') : day}-${month}-${year} ${clock} ${isElsewhere ? '-0330' : '+0000'}"`;
}

export function timeOf(text: string): number {
  const match = /^([ \d]\d)-(\w{3})-(\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/.exec(text);
  const month = MONTHS.indexOf(match?.[2] ?? '');
  if (match === null || month < 0) throw new BadWords('The date makes no sense');
  const [day, year, hour, minute, second, zoneHour, zoneMinute] = [1, 3, 4, 5, 6, 8, 9].map((n) => Number(match[n]));
  const zone = ((zoneHour ?? 0) * 60 + (zoneMinute ?? 0)) * (match[7] === '-' ? -60_000 : 60_000);
  return Date.UTC(year ?? 0, month, day, hour, minute, second) - zone;
}

/** The days since 1970 of a `date` such as `3-Feb-2020`. */
export function dayOf(text: string): number {
  return timeOf(`${text.padStart(11, '0')} 00:00:00 +0000`) / 86_400_000;
}

/** The members of a sequence set among numbers that rise. */
export function membersOf(set: string, numbers: readonly number[]): number[] {
  const last = numbers.at(-1) ?? 0;
  const number = (text: string | undefined) => (text === '*' ? last : Number(text));
  const ranges = set.split(',').map((range) => {
    const [from, to = from] = range.split(':');
    const ends = [number(from), number(to)];
    if (ends.some((end) => !Number.isInteger(end))) throw new BadWords('The set makes no sense');
    return [Math.min(...ends), Math.max(...ends)] as const;
  });
  return numbers.filter((each) => ranges.some(([from, to]) => each >= from && each <= to));
}

/** `1:3,7` of rising numbers. */
export function setOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}:${to}`)).join(',');
}

export function itemsOf(word: Word | undefined): string[] {
  if (Array.isArray(word)) return (word as readonly Word[]).map((each) => textOf(each));
  return [textOf(word)];
}
