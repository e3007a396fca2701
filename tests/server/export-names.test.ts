import fc from 'fast-check';
import { expect, test } from 'vitest';
import { folderName } from '../../src/server/export/names/folder-name.ts';
import { messageName, senderAddress } from '../../src/server/export/archive/message-name.ts';
import { clashKey, safeName } from '../../src/server/export/names/safe-name.ts';
import { openHeaderCollector } from '../../src/server/export/staging/header-collector.ts';

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({
    unit: fc.constantFrom('.', ' ', '/', '\\', ':', '\0', '\u202e', '\u200d', 'é', 'e\u0301', '한', '👨‍👩‍👧', 'a'),
    maxLength: 400,
  }),
  fc.constantFrom(
    '../../etc/passwd',
    '/etc/passwd',
    'C:\\Windows\\x',
    '\\\\server\\share',
    'CON',
    'con.txt',
    'LPT¹',
    'nul .x',
    'trailing dot.',
    'trailing space ',
    '~$lock',
    '-rf',
    'x'.repeat(300),
    '한'.repeat(300),
    `a${'\u0301'.repeat(300)}`,
    '\u202egpj.exe',
    '=cmd()',
    '\ud800',
  ),
);

/** The name, if Windows refuses it or any system would read it as another one; else null. */
function unportable(name: string): string | null {
  const portable =
    name !== '' &&
    name !== '.' &&
    name !== '..' &&
    // oxlint-disable-next-line no-control-regex
    !/[<>:"/\\|?*\u0000-\u001f\u007f-\u009f]/.test(name) &&
    !/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/.test(name) &&
    !/^[ ]|[. ]$/.test(name) &&
    !/^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)/i.test(name) &&
    name.isWellFormed() &&
    name === name.normalize('NFC') &&
    Buffer.byteLength(name) <= 255 &&
    name.normalize('NFD').length <= 255;
  return portable ? null : name;
}

test('a safe name is portable or empty, whatever the text', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 8, max: 80 }), (text, length) => {
      const name = safeName(text, length);
      expect(name.length).toBeLessThanOrEqual(length);
      expect(unportable(name === '' ? 'empty' : name)).toBeNull();
    }),
    { numRuns: 2000 },
  );
});

test("no name is one of Windows' devices, with or without an extension", () => {
  for (const name of ['CON', 'nul.txt', 'aux .old', 'Lpt1  .x.y', 'COM¹', 'prn...', 'con .'])
    expect(unportable(safeName(name, 40))).toBeNull();
  // What stands before it may leave no room for its last letter.
  const long = [
    'Con. calls with the sales department. A',
    'nul.4567890123456789012345678901234567.9',
    'aux.456789012345678901234567890123456😊',
  ];
  expect(long.map((name) => unportable(safeName(name, 39)))).toEqual([null, null, null]);
  expect(['Console', 'com10', 'nul ones'].map((name) => safeName(name, 40))).toEqual(['Console', 'com10', 'nul ones']);
});

test('ordinary text stays as its owner wrote it', () => {
  expect(safeName('Grüße aus Zürich – 日本 😊', 48)).toBe('Grüße aus Zürich – 日本 😊');
  expect(safeName('Re: Lunch at 12:30?', 48)).toBe('Re Lunch at 12-30');
  expect(safeName('invoice 3/4 "final"', 48)).toBe("invoice 3-4 'final'");
});

test('mailboxes get as many folders as there are, on any file system, and none outside', () => {
  fc.assert(
    fc.property(fc.uniqueArray(hostile, { maxLength: 40 }), (paths) => {
      const taken = new Set<string>();
      for (const path of [...paths, 'Work', 'work', 'WORK', 'Café', 'Cafe\u0301', 'a.mbox', 'a.mbox_', 'x.part2']) {
        const folder = folderName(path, '/', taken);
        for (const part of folder.split('/')) expect(unportable(part)).toBeNull();
        expect(folder).not.toMatch(/\.(mbox|eml|part\d+)(\/|$)/i);
        expect(folder.length).toBeLessThanOrEqual(100);
        expect(taken.has(clashKey(folder))).toBe(false);
        taken.add(clashKey(folder));
      }
    }),
    { numRuns: 300 },
  );
});

test('folders lie in one another as the mailboxes do', () => {
  expect(folderName('Family/Photos 2024', '/', new Set())).toBe('Family/Photos 2024');
  expect(folderName('INBOX.Work.Bills', '.', new Set())).toBe('INBOX/Work/Bills');
  expect(folderName('No delimiter / here', '', new Set())).toBe('No delimiter - here');
});

test('a tree thirty mailboxes deep keeps its ends and stays short', () => {
  const path = Array.from({ length: 30 }, (_, depth) => `Level number ${depth}`).join('/');
  expect(folderName(path, '/', new Set())).toBe('Level number 0/~/Level number 29');
});

const internalDate = new Date('2025-03-05T14:22:33Z');
const letter = (header: string) => Buffer.from(`${header}\r\n\r\nSubject: not this\r\n`);

test('a message is named by its date, sender and subject', () => {
  expect(
    messageName({
      header: letter('From: Anna Smith <anna@example.com>\r\nSubject: Lunch\r\n tomorrow'),
      internalDate,
      number: 42,
    }),
  ).toBe('2025-03-05 14.22 Anna Smith - Lunch tomorrow (42).eml');
  expect(
    messageName({
      header: letter('FROM: =?UTF-8?Q?J=C3=BCrg?= <j@example.com>\r\nsubject: =?utf-8?B?8J+Yig==?= =?utf-8?Q?_ja?='),
      internalDate,
      number: 1,
    }),
  ).toBe('2025-03-05 14.22 Jürg - 😊 ja (1).eml');
  expect(messageName({ header: Buffer.alloc(0), internalDate, number: 7 })).toBe(
    '2025-03-05 14.22 Unknown sender - No subject (7).eml',
  );
  expect(messageName({ header: letter('From: bob@example.com'), internalDate, number: 7 })).toContain(
    ' bob@example.com - ',
  );
});

test('a message whose header is in the charset of its text is named as it was written', () => {
  const header = Buffer.concat([
    Buffer.from('Content-Type: text/plain; charset="KOI8-R"\r\nFrom: '),
    Buffer.from('f0d2c9d7c5d4', 'hex'),
    Buffer.from(' <a@mail.example>\r\nSubject: '),
    Buffer.from('f0d2c9d7c5d4', 'hex'),
  ]);
  const name = messageName({ header, internalDate: new Date('2001-02-03T04:05:00Z'), number: 1 });
  expect(name).toBe('2001-02-03 04.05 Привет - Привет (1).eml');
});

test('a message is named portably, whatever its header says', () => {
  fc.assert(
    fc.property(hostile, hostile, fc.integer({ min: 1, max: 9_999_999 }), (from, subject, number) => {
      const bytes = Buffer.from(`From: ${from}\r\nSubject: ${subject}\r\n\r\n`);
      const name = messageName({ header: bytes, internalDate, number });
      expect(unportable(name)).toBeNull();
      expect(name.length).toBeLessThanOrEqual(110);
      expect(name.endsWith(` (${number}).eml`)).toBe(true);
      expect(senderAddress(bytes)).toMatch(/^[\x21-\x7e]+$/);
    }),
    { numRuns: 1000 },
  );
});

test('octets that are no text at all still get a name', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      const name = messageName({ header: Buffer.from(bytes), internalDate, number: 3 });
      expect(unportable(name)).toBeNull();
    }),
  );
});

test.each(['\r\n', '\n'])(
  'the header of a message is kept whole, however it comes, with lines that end with %j',
  (end) => {
    const header = ['From: Ada <ada@mail.example>', 'Subject: Lunch', '', ''].join(end);
    const message = Buffer.from(`${header}Subject: not this${end}${end}one${end}`);
    for (let size = 1; size <= message.length; size += 1) {
      const collector = openHeaderCollector();
      for (let at = 0; at < message.length; at += size) collector.take(message.subarray(at, at + size));
      const kept = collector.octets().toString();
      expect(kept.startsWith(header)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(header.length + 4);
    }
  },
);

test('a header without an end is kept up to a bound', () => {
  const collector = openHeaderCollector();
  for (let at = 0; at < 100; at += 1) collector.take(Buffer.alloc(1000, 'a'));
  expect(collector.octets()).toHaveLength(64 * 1024);
});
