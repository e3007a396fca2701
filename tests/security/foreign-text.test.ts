import * as v from 'valibot';
import { describe, expect, test, vi } from 'vitest';
import { Email } from '../../src/contract/email.ts';
import { isEmail } from '../../src/contract/email-address.ts';
import { readHost } from '../../src/contract/mail-host.ts';
import { isWellFormed } from '../../src/server/contacts/carddav/well-formed.ts';
import { splitCards } from '../../src/server/contacts/vcard/cards-in-text.ts';
import { displayNameOf, readCard } from '../../src/server/contacts/vcard/read-vcard.ts';
import { nameKey, phoneKey, textKey } from '../../src/server/contacts/keys.ts';
import { folderName } from '../../src/server/export/names/folder-name.ts';
import { manifestTable } from '../../src/server/export/archive/manifest.ts';
import { messageName, senderAddress } from '../../src/server/export/archive/message-name.ts';
import { clashKey, safeName } from '../../src/server/export/names/safe-name.ts';
import { namesTagWeakly, rangeOf } from '../../src/server/export/download/byte-range.ts';
import { unflowed } from '../../src/server/export/mime/flowed.ts';
import { structured } from '../../src/server/export/mime/header-fields.ts';
import { MailParser } from '../../src/server/export/mime/mail-parser.ts';
import { beginReply, readReply, SieveSyntaxError } from '../../src/server/forwarding/sieve-reply.ts';
import { fold } from '../../src/server/mail/copy/mailboxes/mapping.ts';
import { messageIdOf, sentDateOf, subjectOf } from '../../src/server/mail/copy/message/message-text.ts';
import { readAutoconfig } from '../../src/server/mail/discovery/autoconfig.ts';
import { mailErrorOf } from '../../src/server/mail/imap/mail-error.ts';
import { clientNetwork } from '../../src/server/web/client-address.ts';
import { superLinear } from './linear-expressions.lint.ts';

/** Who reads what a stranger wrote, and how it begins and ends there. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  'an autoconfiguration document': (text) => readAutoconfig(text, 'club.example'),
  'a host within it': (text) =>
    readAutoconfig(`<incomingServer type="imap"><hostname>${text}</hostname></incomingServer>`, 'club.example'),
  'hosts of many servers': (text) =>
    readAutoconfig(
      (text.match(/[^]{1,3900}/g) ?? [])
        .map((part) => `<incomingServer type="imap"><hostname>${part}<x></incomingServer>`)
        .join(''),
      'club.example',
    ),
  "a mail server's refusal": (text) =>
    mailErrorOf(Object.assign(new Error('NO'), { responseStatus: 'NO', responseText: text })),
  'a response code': (text) =>
    mailErrorOf(Object.assign(new Error('NO'), { responseStatus: 'NO', serverResponseCode: text })),
  'a subject': (text) => subjectOf(Buffer.from(`Subject: ${text}\r\n\r\n`)),
  'a message ID': (text) => messageIdOf(Buffer.from(`Message-ID: ${text}\r\n\r\n`)),
  'a date': (text) => sentDateOf(Buffer.from(`Date: ${text}\r\n\r\n`)),
  'a sender': (text) => senderAddress(Buffer.from(`From: ${text}\r\n\r\n`)),
  'the name of a message': (text) =>
    messageName({
      header: Buffer.from(`From: ${text}\r\nSubject: ${text}\r\n\r\n`),
      internalDate: new Date(0),
      number: 1,
    }),
  "a part's type and its parameters": structured,
  'a message, line by line': (text) => {
    const sink = { write: () => undefined, end: () => true };
    const handler = {
      begin: () => undefined,
      part: () => sink,
      message: () => handler,
      fault: () => undefined,
      end: () => undefined,
    };
    const parser = new MailParser(handler);
    parser.write(Buffer.from(`Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n${text}`));
    parser.end();
  },
  'a text that flows': (text) => unflowed(text.repeat(4), true),
  'the name of a file': (text) => safeName(text, 100),
  'the name of a folder': (text) => folderName(text, '/', new Set()),
  'a vCard': (text) => readCard(`BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${text}\r\nTEL;TYPE=${text}:1\r\nEND:VCARD\r\n`),
  'a file of vCards': (text) => [...splitCards(text)],
  'the answer of a ManageSieve server': (text) => {
    try {
      return readReply(Buffer.from(text));
    } catch (error) {
      return error;
    }
  },
  'the answer of an address book': (text) => isWellFormed(`<a>${text}</a>`),
  'an address': isEmail,
  'an address of a call': (text) => v.safeParse(Email, `a@${text}`),
  'a name that a contact is known by': nameKey,
  'a text that a contact is known by': textKey,
  'a number that a contact is known by': phoneKey,
  'the name of a mailbox': fold,
  'a host': readHost,
  'a header of proxies': (text) => clientNetwork('192.0.2.1', text, 1),
  'a range': (text) => rangeOf(text, 1000),
  'entity tags': (text) => namesTagWeakly(text, '"x"'),
};

const PIECES: readonly string[] = [
  [
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\r\n ',
    'a \r\n',
    'a',
    '.',
    '@',
    ',',
    ';',
    ':',
    '"',
    '\\',
    '<',
    '>',
    '=',
    '(',
    ')',
    '/',
    '-',
    '\u0301',
    // Two marks that a normal form has in the other order.
    '\u0301\u0316',
    '&',
    '<!',
    '<!--',
    '<a>',
    '<a b="',
  ],
  ['<incomingServer ', '<incomingServer>', '</incomingServer>', '<hostname>', '<hostname> ', 'type=', "type='imap'"],
  ['exceed', 'exceeds ', 'quota ', 'over', 'too many ', 'backoff time ', 'backoff time:1', '[ALERT] ', 'rate limit'],
  ['=?utf-8?q?', '=?utf-8?q?=61?=', '=?utf-8?b?', '?=', '<a@b>', '"a" <', 'group:', 'a@b.c', 'a.', '1,', 'W/"a",'],
  [
    'BEGIN:VCARD\r\n',
    'END:VCARD\r\n',
    'FN:a\r\n',
    '\r\n FN',
    'TYPE=',
    '\\,',
    '\\;',
    'bytes=',
    '{9}',
    '{1}\r\n',
    '"\\"',
  ],
].flat();
const SMALL = 8 * 1024;
const TIMES = 8;
/** What a garbage collection or another program may add; so many times in a row are none. */
const NOISE_MS = 120;
const IN_A_ROW = 4;

/** Milliseconds of this process's own work. */
function costOf(parse: (text: string) => unknown, text: string): number {
  const before = process.cpuUsage();
  parse(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const FIRST_TIMES = 6;
const longOf = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** The pieces of which eight times as many take much more than eight times as long. */
function slowIn(parse: (text: string) => unknown, pieces: readonly string[]): string[] {
  return pieces.filter((piece) => {
    // Code that runs for the first times is slower than the same is with the long text.
    const small = Math.min(...Array.from({ length: FIRST_TIMES }, () => costOf(parse, longOf(piece, SMALL))));
    const long = longOf(piece, SMALL * TIMES);
    return Array.from({ length: IN_A_ROW }).every(() => costOf(parse, long) > small * TIMES * 2 + NOISE_MS);
  });
}

/** Looks back over a quarter of what came before, at each `a`. */
function quadratic(text: string): number {
  let seen = 0;
  for (let at = 0; at < text.length; at += 1)
    if (text[at] === 'a') for (let back = at; back > 0; back -= 4) seen += text.charCodeAt(back);
  return seen;
}

describe('eight times as much foreign text takes about eight times as long, whatever is repeated in', () => {
  test.each(Object.entries(PARSERS))('%s', (_what, parse) => {
    expect(slowIn(parse, PIECES)).toEqual([]);
  });

  test('and a parser for which it takes longer is found', { tags: 'proof' }, () => {
    expect(slowIn(quadratic, ['b', 'a'])).toEqual(['a']);
  });
});

test('of a folder that has thousands of twins, few names are tried before one that is free', () => {
  let tried = 0;
  class Counted extends Set<string> {
    override has(name: string): boolean {
      tried += 1;
      return super.has(name);
    }
  }
  const taken = new Counted();
  const names = Array.from({ length: 2000 }, (_, at) => {
    const name = folderName(`${'The letters of many years '.repeat(3)}${at}`, '/', taken);
    taken.add(clashKey(name));
    return name;
  });
  expect(new Set(names.map(clashKey)).size).toBe(2000);
  expect(names.at(-1)).toMatch(/ \(2000\)$/);
  expect(tried).toBeLessThan(2000 * 30);
});

describe('the lint rule for expressions', () => {
  test.each([
    [String.raw`exceed\w* (?:your |the )?quota`, 'i'],
    [String.raw`<incomingServer\b([^>]{0,200})>([\s\S]{0,4000}?)<\/incomingServer>`, 'g'],
    [String.raw`^(a+)+$`, ''],
    [String.raw`\/+$`, ''],
    [String.raw`^\s*(.*?)\s*$`, ''],
    [String.raw`<port>\s*([^<]{1,253}?)\s*</port>`, ''],
  ])('knows /%s/%s as one that can take very long', (pattern, flags) => {
    expect(superLinear(pattern, flags)).not.toBeNull();
  });

  test.each([
    [String.raw`^[0-9a-f]{32}$`, ''],
    [String.raw`[\p{Z}\s]+`, 'gu'],
    [String.raw`^subject:(.*(?:\r?\n[ \t].*)*)`, 'im'],
    [String.raw`<([^<>]+)>`, ''],
  ])('lets /%s/%s be', (pattern, flags) => {
    expect(superLinear(pattern, flags)).toBeNull();
  });
});

test('the name of a contact is one cell of the table in the files, and no formula, whatever it begins or goes on with', async () => {
  const names = [String.raw`Ann\n=cmd|'/C calc'!A0`, String.raw`\n=1+1`, '@SUM(1)', 'Ann'];
  const contacts = async function* () {
    for (const [index, name] of names.entries()) {
      const read = readCard(`BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${name}\r\nEND:VCARD\r\n`);
      if (read.kind === 'contact') yield { path: 'contacts.vcf', index, uid: '', name: displayNameOf(read.contact) };
    }
  };
  const nothing = { mailboxes: () => Promise.resolve([]), messages: async function* () {} };
  const listed = { ledger: nothing, part: 1, format: {} } as unknown as Parameters<typeof manifestTable>[0];
  let table = '';
  for await (const part of manifestTable(listed, contacts)) table += part.toString();
  // What is within quotes begins no row, and no cell.
  const plain = table.replaceAll(/"(?:[^"]|"")*"/g, (quoted) => quoted.replaceAll(/[\r\n,]/g, '|'));
  const rows = plain.split(/[\r\n]+/);
  expect(rows.map((row) => row.slice(0, 7))).toEqual(['\uFEFFType,F', ...names.map(() => 'contact'), '']);
  // oxlint-disable-next-line no-control-regex
  expect(rows.filter((row) => /(?:^|,)"?[\s\u0000-\u001f]*[=@]/.test(row))).toEqual([]);
});

test('an answer of a server of scripts that comes octet by octet is read once, and not anew with each octet', () => {
  const words = 3000;
  const answer = Buffer.from(
    `${'"a" "b"\r\n'.repeat(words / 4)}${'"c" '.repeat(words / 2)}\r\nOK (TAG "x") "done"\r\n`,
  );
  const begun = beginReply();
  using reading = vi.spyOn(Buffer, 'from');
  for (let end = 1; end < answer.length; end += 1) expect(readReply(answer.subarray(0, end), begun)).toBeNull();
  const read = readReply(answer, begun);
  expect(reading.mock.calls.length).toBeLessThan(words + 100);
  expect(read).toEqual(readReply(answer));
  expect(() => readReply(Buffer.from(`"${'a'.repeat(5000)}`))).toThrow(SieveSyntaxError);
});
