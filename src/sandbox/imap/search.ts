import type { MailAccount, Message } from '../mail-account.ts';
import { bodyText, decodedHeader, headerOf, readHeaders, readMessage } from '../mime.ts';
import { type Value, inSet, readSet, textOf } from './command.ts';
import { readDate } from './date-time.ts';
import { MessageReader } from './fetch.ts';
import { ImapRefusal } from './refusal.ts';

/** A message as a search sees it; `number` is its sequence number. */
export type Candidate = { readonly number: number; readonly message: Message; readonly reader: MessageReader };
type Test = (candidate: Candidate) => boolean | Promise<boolean>;
type Last = { readonly number: number; readonly uid: number };

const FLAG_KEYS: Readonly<Record<string, string>> = {
  ANSWERED: '\\Answered',
  DELETED: '\\Deleted',
  DRAFT: '\\Draft',
  FLAGGED: '\\Flagged',
  SEEN: '\\Seen',
};
const DAY = 86_400_000;

/** Parses the keys of a SEARCH (RFC 3501 §6.4.4); a message must match all of them. */
export function readSearch(args: readonly Value[], last: Last): Test {
  const keys = [...args];
  if (keys[0]?.kind === 'atom' && keys[0].text.toUpperCase() === 'CHARSET') {
    const charset = textOf(keys[1], 'The charset').toUpperCase();
    if (!['UTF-8', 'US-ASCII'].includes(charset)) throw new ImapRefusal('NO', '[BADCHARSET (UTF-8)] Unknown charset');
    keys.splice(0, 2);
  }
  if (keys.length === 0) throw new ImapRefusal('BAD', 'SEARCH wants a key');
  const tests: Test[] = [];
  while (keys.length > 0) tests.push(readKey(keys, last));
  return async (candidate) => {
    for (const test of tests) if (!(await test(candidate))) return false;
    return true;
  };
}

function readKey(keys: Value[], last: Last): Test {
  const key = keys.shift();
  if (key?.kind === 'list') return readSearch(key.items, last);
  const name = textOf(key, 'A search key').toUpperCase();
  const next = (what: string) => textOf(keys.shift(), what);
  const flag = FLAG_KEYS[name] ?? FLAG_KEYS[name.replace(/^UN/, '')];
  if (flag !== undefined) return ({ message }) => has(message, flag) === name in FLAG_KEYS;
  switch (name) {
    case 'ALL':
    case 'OLD':
      return () => true;
    case 'NEW':
    case 'RECENT':
      return () => false;
    case 'NOT': {
      const test = readKey(keys, last);
      return async (candidate) => !(await test(candidate));
    }
    case 'OR': {
      const tests = [readKey(keys, last), readKey(keys, last)] as const;
      return async (candidate) => (await tests[0](candidate)) || tests[1](candidate);
    }
    case 'UID': {
      const set = readSet(next('The set'), last.uid);
      return ({ message }) => inSet(set, message.uid);
    }
    case 'KEYWORD':
    case 'UNKEYWORD': {
      const keyword = next('The keyword');
      return ({ message }) => has(message, keyword) === (name === 'KEYWORD');
    }
    case 'LARGER':
    case 'SMALLER': {
      const size = Number(next('The size'));
      return ({ message }) => (name === 'LARGER' ? message.size > size : message.size < size);
    }
    case 'BEFORE':
    case 'ON':
    case 'SINCE':
    case 'SENTBEFORE':
    case 'SENTON':
    case 'SENTSINCE':
      return dateTest(name, readDate(next('The date')));
    case 'HEADER': {
      const field = next('The field');
      return headerTest(field, next('The text'));
    }
    case 'FROM':
    case 'TO':
    case 'CC':
    case 'BCC':
    case 'SUBJECT':
      return headerTest(name, next('The text'));
    case 'BODY':
    case 'TEXT':
      return textTest(name, next('The text'));
    default: {
      const set = /^[\d*:,]+$/.test(name) ? readSet(name, last.number) : undefined;
      if (set === undefined) throw new ImapRefusal('BAD', `The search key ${name.slice(0, 40)} is unknown`);
      return ({ number }) => inSet(set, number);
    }
  }
}

function has({ flags }: Message, wanted: string): boolean {
  return flags.some((flag) => flag.toLowerCase() === wanted.toLowerCase());
}

function dateTest(name: string, day: number): Test {
  return async ({ message, reader }) => {
    const sent = name.startsWith('SENT');
    const time = sent ? Date.parse(headerOf(readHeaders(await reader.header()), 'date') ?? '') : message.internalDate;
    if (name.endsWith('BEFORE')) return time < day;
    return time >= day && (name.endsWith('SINCE') || time < day + DAY);
  };
}

function headerTest(field: string, text: string): Test {
  const wanted = text.toLowerCase();
  return async ({ reader }) =>
    readHeaders(await reader.header()).some(
      ({ name, value }) =>
        name.toLowerCase() === field.toLowerCase() &&
        (value.toLowerCase().includes(wanted) || decodedHeader(value).toLowerCase().includes(wanted)),
    );
}

function textTest(name: string, text: string): Test {
  const wanted = text.toLowerCase();
  return async ({ reader }) => {
    const bytes = await reader.whole();
    const message = readMessage(bytes);
    const parts = [bodyText(bytes, message, 'text/plain'), bodyText(bytes, message, 'text/html')];
    if (name === 'TEXT') parts.push(...message.headers.map(({ value }) => decodedHeader(value)));
    return parts.some((part) => part?.toLowerCase().includes(wanted));
  };
}

export async function search(
  account: MailAccount,
  view: readonly Message[],
  test: Test,
): Promise<readonly Omit<Candidate, 'reader'>[]> {
  const found: Omit<Candidate, 'reader'>[] = [];
  for (const [index, message] of view.entries()) {
    const number = index + 1;
    if (await test({ number, message, reader: new MessageReader(account, message) })) found.push({ number, message });
  }
  return found;
}
