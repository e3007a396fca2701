import { MailError } from '../mail-error.ts';
import { writeInternalDate } from './fetch-response.ts';
import { numbersOf } from './uid-sets.ts';

/**
 * The numbers that a SEARCH (RFC 3501 §7.2.5) or ESEARCH (RFC 4731) response found; `undefined` if it is another
 * response.
 * @throws {MailError} `lost` for a set that can't be read or has more than `most`
 */
export function foundIn(line: string, most: number): readonly number[] | undefined {
  const name = line.slice(2, 10).toUpperCase();
  if (name.startsWith('SEARCH ') || name === 'SEARCH') return numbersFrom(line, 9);
  if (name !== 'ESEARCH ' && name !== 'ESEARCH') return undefined;
  const words = line.split(' ', 20);
  const set = words[words.findIndex((word) => word.toUpperCase() === 'ALL') + 1];
  if (set === words[0] || set === undefined) return [];
  const numbers = numbersOf(set, most);
  if (numbers === undefined) throw new MailError('lost', 'The mail server found messages in a way that can’t be read.');
  return numbers;
}

/** The numbers between spaces, up to anything else, such as `(MODSEQ 5)`. */
function numbersFrom(line: string, from: number): number[] {
  const numbers: number[] = [];
  let number = 0;
  let digits = 0;
  for (let at = from; at <= line.length; at++) {
    const digit = line.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9 && digits < 10) {
      number = number * 10 + digit;
      digits++;
    } else if (at === line.length || line.charCodeAt(at) === 32) {
      if (digits > 0) numbers.push(number);
      number = 0;
      digits = 0;
    } else break;
  }
  return numbers;
}

/** A day as SEARCH takes it (RFC 9051 §6.4.4), in UTC. */
export function searchDate(day: Date): string {
  const date = writeInternalDate(day);
  if (date === undefined) throw new RangeError('This day can’t be searched for.');
  return date.slice(1, 12).trim();
}
