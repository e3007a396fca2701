import { ImapRefusal } from './refusal.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DATE_TIME = /^([ \d]\d)-([A-Za-z]{3})-(\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const two = (number: number) => String(number).padStart(2, '0');

/** The `date-time` of RFC 3501 §9, in UTC. `time` is in milliseconds since 1970. */
export function writeDateTime(time: number): string {
  const date = new Date(time);
  const day = `${two(date.getUTCDate())}-${MONTHS[date.getUTCMonth()]}-${String(date.getUTCFullYear()).padStart(4, '0')}`;
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
}

export function readDateTime(text: string): number {
  const match = DATE_TIME.exec(text);
  if (match === null) throw new ImapRefusal('BAD', 'The date makes no sense');
  const zone = (Number(match[8]) * 60 + Number(match[9])) * (match[7] === '-' ? -1 : 1);
  const day = dayOf(Number(match[1]), match[2] ?? '', Number(match[3]));
  return day + (Number(match[4]) * 60 + Number(match[5]) - zone) * 60_000 + Number(match[6]) * 1000;
}

/** The `date` of a search key, as the first millisecond of that day in UTC. */
export function readDate(text: string): number {
  const match = /^"?(\d{1,2})-([A-Za-z]{3})-(\d{4})"?$/.exec(text);
  if (match === null) throw new ImapRefusal('BAD', 'The date makes no sense');
  return dayOf(Number(match[1]), match[2] ?? '', Number(match[3]));
}

function dayOf(day: number, name: string, year: number): number {
  const month = MONTHS.findIndex((known) => known.toLowerCase() === name.toLowerCase());
  const time = new Date(0).setUTCFullYear(year, month, day);
  if (month < 0 || new Date(time).getUTCDate() !== day) throw new ImapRefusal('BAD', 'The date makes no sense');
  return time;
}
