import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { FetchReader, readInternalDate, writeInternalDate } from '../../src/server/mail/imap/wire/fetch-response.ts';
import { mailboxName } from '../../src/server/mail/imap/wire/mailbox-name.ts';
import { type Part, RESPONSE_LIMITS, ResponseParser } from '../../src/server/mail/imap/wire/response-parser.ts';
import { readStatus } from '../../src/server/mail/imap/wire/status-response.ts';
import { numbersOf, setsOf } from '../../src/server/mail/imap/wire/uid-sets.ts';
import { ValueReader } from '../../src/server/mail/imap/wire/value-reader.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What a parser makes of chunks: responses, their literals as text, those that a sink took in angle brackets. */
function parsed(chunks: readonly Buffer[]): unknown[] {
  const responses: unknown[] = [];
  let taken = '';
  const parser = new ResponseParser({
    literal: (_parts, size) =>
      size % 2 === 0
        ? undefined
        : { octets: (chunk) => (taken += chunk.toString('latin1')), end: () => (taken += ';') },
    response: (parts) => {
      responses.push([...parts.map((part) => (Buffer.isBuffer(part) ? `{${part.toString('latin1')}}` : part)), taken]);
      taken = '';
    },
  });
  for (const chunk of chunks) parser.feed(chunk);
  return responses;
}

function cut(octets: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((place) => place % (octets.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((place, index) => octets.subarray(place, places[index]));
}

const octets = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const literal = octets.map((text) => `{${text.length}}\r\n${text}`);
const word = fc.constantFrom('UID 7', 'FLAGS (\\Seen)', 'BODY[] NIL', '"a {3}"', '(a (b) c)', 'X-GM-LABELS ()');
const value = fc.oneof(
  word,
  literal.map((text) => `BODY[] ${text}`),
  literal.map((text) => `X ~${text}`),
);
const response = fc.oneof(
  fc.array(value, { maxLength: 6 }).map((values) => `* 3 FETCH (${values.join(' ')})\r\n`),
  fc.constantFrom('* OK [ALERT] {12}\r\n', '+ go on {3}\r\n', 'A1 NO \r\n', '* BYE\n', '\r\n', '* 3 EXISTS\n'),
);

describe('The parser of responses', () => {
  test('the same octets give the same responses, however they are chunked', () => {
    fc.assert(
      fc.property(fc.array(response, { maxLength: 8 }), fc.array(fc.nat(2000), { maxLength: 30 }), (texts, cuts) => {
        const all = Buffer.from(texts.join(''), 'latin1');
        const whole = parsed([all]);
        expect(whole).toHaveLength(texts.length);
        expect(parsed(cut(all, cuts))).toEqual(whole);
        expect(parsed([...all].map((octet) => Buffer.from([octet])))).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  test('garbage ends in nothing but a MailError', () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      fc
        .array(
          fc.constantFrom('* ', '1 FETCH (', '{3}\r\n', '(', ')', '"', '\\', 'UID ', '[', ']', '\r\n', 'NIL', ' ', '~'),
          {
            maxLength: 60,
          },
        )
        .map((pieces) => Buffer.from(pieces.join(''))),
    );
    const reader = new FetchReader();
    fc.assert(
      fc.property(garbage, fc.array(fc.nat(300)), (bytes, cuts) => {
        expect(() => feedAll(reader, cut(bytes, cuts))).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['a line without an end', () => Buffer.alloc(65_536, 'a'), 17],
    ['lines of one octet', () => Buffer.from('* 1 FETCH (X {1}\r\n'), 0],
    [
      'an answer of large literals',
      (first: boolean) => Buffer.from(`${first ? '* 1 FETCH (' : ''}X {900000}\r\n${'x'.repeat(900_000)}`),
      10,
    ],
    [
      'an answer of many lines',
      (first: boolean) => Buffer.from(`${first ? '* 1 FETCH (' : ''}X ${'x'.repeat(900_000)} {1}\r\nx`),
      10,
    ],
    ['a literal that is too large', () => Buffer.from('* 1 FETCH (X {1048577}\r\n'), 1],
    ['a literal of more digits than there are', () => Buffer.from('* 1 FETCH (X {99999999999999999999}\r\n'), 1],
  ])('%s goes as far as its limit', (_what, chunk, most) => {
    let fed = 0;
    const parser = new ResponseParser({ literal: () => undefined, response: () => {} });
    const feed = () => {
      for (; fed < 3000; fed++) parser.feed(fed > 0 && most === 0 ? Buffer.from('x y {1}\r\n') : chunk(fed === 0));
    };
    expect(feed).toThrow(MailError);
    expect(fed).toBeLessThan(most === 0 ? 3000 : most);
  });

  test('of answers there may be any number', () => {
    const answer = Buffer.from(`* 1 FETCH (X {900000}\r\n${'x'.repeat(900_000)} Y ${'y'.repeat(900_000)})\r\n`);
    expect(parsed(Array.from({ length: 12 }, () => answer))).toHaveLength(12);
  });

  test.each(['{4}', '{4+}', '~{4}', '~{4+}', '{000000000000004}'])('%s announces a literal', (size) => {
    const said = parsed([Buffer.from(`* 1 FETCH (BODY[] ${size}\r\nabcd)\r\n`)]);
    expect(said).toEqual([['* 1 FETCH (BODY[] ', '{abcd}', ')', '']]);
  });

  test.each(['{}', '{+}', '{4x}', '{-4}', '4}', '{4'])('%s announces none', (size) => {
    expect(parsed([Buffer.from(`* 1 FETCH (BODY[] ${size}\r\nabcd)\r\n`)])).toHaveLength(2);
  });

  test.each([`* SEARCH ${'1234567 '.repeat(300_000)}`, `* ESEARCH (TAG "A4") UID ALL ${'1234567,'.repeat(300_000)}1`])(
    'search results may be longer than other lines (%.12s)',
    (line) => {
      expect(line.length).toBeGreaterThan(RESPONSE_LIMITS.line);
      expect(parsed(cut(Buffer.from(`${line}\r\n`), [5, 70_000, 1_500_000]))).toEqual([[line, '']]);
      expect(() => parsed(cut(Buffer.from(`* LIST${line}`), [5, 70_000, 1_500_000]))).toThrow(MailError);
    },
  );

  test('twice the octets take about twice the time, also of the worst kind', () => {
    const worst = [
      (n: number) => [`* 1 FETCH (${'('.repeat(60)}${'a '.repeat(n)}`],
      (n: number) => [`* OK ${'[('.repeat(n)}`],
      (n: number) => [`* 1 FETCH (FLAGS ("${'\\"'.repeat(n)}`],
      (n: number) => Array.from({ length: n }, () => 'a'),
    ];
    for (const make of worst) {
      const time = (n: number) => {
        const chunks = [...make(n).map((text) => Buffer.from(text)), Buffer.from('\r\n')];
        const reader = new FetchReader();
        const from = process.cpuUsage();
        feedAll(reader, chunks);
        const { user } = process.cpuUsage(from);
        return user;
      };
      time(1000);
      const small = Math.max(2000, time(20_000));
      expect(time(160_000)).toBeLessThan(small * 40);
    }
  });
});

/** Reads everything of it. @throws whatever is not a {@link MailError} */
function feedAll(reader: FetchReader, chunks: readonly Buffer[]): void {
  const parser = new ResponseParser({ literal: () => undefined, response: (parts) => readAll(reader, parts) });
  try {
    for (const chunk of chunks) parser.feed(chunk);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
  }
}

function readAll(reader: FetchReader, parts: readonly Part[]): void {
  const [line] = parts;
  if (typeof line !== 'string') return;
  if (FetchReader.numberOf(line) >= 0) reader.read(parts);
  readStatus(line, 2);
  const values = new ValueReader(parts, 0);
  while (!values.done) values.value();
}

describe('A status response', () => {
  const ok = { status: 'OK', code: undefined, args: '', text: '' };

  test.each([
    ['OK', ok],
    ['ok done', { ...ok, text: 'done' }],
    ['OK   done', { ...ok, text: 'done' }],
    ['OK see ] there', { ...ok, text: 'see ] there' }],
    ['OK [UIDNEXT 5', { ...ok, text: '[UIDNEXT 5' }],
    ['No [ appenduid  7 9 ]  well', { status: 'NO', code: 'APPENDUID', args: '7 9', text: 'well' }],
    ['BYE [TRYCREATE]', { status: 'BYE', code: 'TRYCREATE', args: '', text: '' }],
    ['BAD [ALERT] look', { status: 'BAD', code: undefined, args: '', text: 'look' }],
    ['PREAUTH in', { ...ok, status: 'PREAUTH', text: 'in' }],
    ['OKAY', undefined],
    ['', undefined],
  ])('%j is read', (line, expected) => {
    expect(readStatus(`A1 ${line}`, 3)).toEqual(expected);
  });

  test.each(['* OK', '* no', '* BAD', '* BYE', '* PREAUTH', 'A1 OK', 'A1 NO', 'A1 bad', '+'])(
    'what %s ends in is text, and no literal',
    (words) => {
      expect(parsed([Buffer.from(`${words} see {5}\r\n* 3 EXISTS\r\n`)])).toHaveLength(2);
    },
  );
});

describe('What a FETCH says', () => {
  const reader = new FetchReader();
  const read = (...parts: Part[]) => reader.read(parts);
  const date = new Date('1996-07-17T09:44:25Z');

  test('the items are read in any order, with literals and strings anywhere', () => {
    const line =
      '* 12 FETCH (UID 5 RFC822.SIZE 44827 INTERNALDATE "17-Jul-1996 02:44:25 -0700" FLAGS (\\Seen $X \\Recent))';
    const items = { number: 12, uid: 5, size: 44_827, internalDate: date, flags: ['\\Seen', '$X'] };
    expect(read(line)).toEqual(items);
    expect(
      read(
        '* 12  fetch (FLAGS ("\\\\Seen" ',
        Buffer.from('$X'),
        ') ENVELOPE (NIL "a" ((NIL NIL "b" NIL))) BODY[] ',
        null,
        '  uid 5  RFC822.SIZE "44827" INTERNALDATE ',
        Buffer.from('17-Jul-1996 02:44:25 -0700'),
        ' MODSEQ (7))',
      ),
    ).toEqual(items);
    expect(read('* 5 UIDFETCH (FLAGS () BODY[] "ab\\"c")')).toEqual({
      number: 5,
      flags: [],
      body: Buffer.from('ab"c'),
    });
    expect(read('* 5 FETCH (BODY[HEADER.FIELDS (DATE FROM)]<0> "x" BODY[] NIL UID 3)')).toEqual({
      number: 5,
      uid: 3,
      body: null,
    });
  });

  test('what makes no sense is left out', () => {
    expect(read('* 1 FETCH (UID 0 RFC822.SIZE NIL FLAGS NIL)')).toEqual({ number: 1, flags: [] });
    expect(read('* 1 FETCH (UID 4294967296)')).toEqual({ number: 1 });
    expect(read('* 1 FETCH (INTERNALDATE "yesterday" UID 1x)').internalDate?.getTime()).toBeNaN();
  });

  test.each([
    ['an atom', 'x'.repeat(9000), 0],
    ['an atom for each', 'flag '.repeat(2000), 1637],
    ['a string for each', '"a" '.repeat(5000), 4093],
  ])(
    'of more flags than any message has the first ones are taken, and those of the system: %s',
    (_what, flags, kept) => {
      const { flags: taken = [] } = read(`* 1 FETCH (UID 1 FLAGS (${flags} \\Seen))`);
      expect(taken).toHaveLength(kept + 1);
      expect(taken.at(-1)).toBe('\\Seen');
    },
  );

  test('more flags of the system than any message has are not taken', () => {
    expect(read(`* 1 FETCH (UID 1 FLAGS (${'\\Seen '.repeat(2000)}x))`).flags).toEqual([]);
  });

  test('of flags without end only those are copied that are kept', () => {
    using copied = vi.spyOn(Buffer, 'from');
    for (const flags of ['a '.repeat(500_000), '"a" '.repeat(200_000)])
      expect(read(`* 1 FETCH (UID 1 FLAGS (${flags}))`).flags).toHaveLength(4096);
    expect(copied.mock.calls.length).toBeLessThan(9000);
  });

  test('what is kept of an answer keeps none of the rest of it', () => {
    const rest = 'x'.repeat(900_000);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const answers = Array.from({ length: 100 }, (_, number) =>
      read(
        `* 1 FETCH (UID 1 FLAGS (${number % 2 === 0 ? `Keyword-No-${number}` : `"Keyword-No-${number}"`}) X ${rest})`,
      ),
    );
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
    expect(answers.at(-1)?.flags).toEqual(['Keyword-No-99']);
  });

  test.each([
    '* 1 FETCH (UID',
    '* 1 FETCH UID 3',
    '* 1 FETCH (X "abc)',
    '* 1 FETCH (FLAGS (\\Seen)',
    `* 1 FETCH (X ${'('.repeat(70)}`,
  ])('%s is no answer', (line) => {
    expect(() => read(line)).toThrow(MailError);
  });

  test.each([
    ['17-Jul-1996 02:44:25 -0700', date],
    [' 7-Jul-1996 02:44:25 +0000', new Date('1996-07-07T02:44:25Z')],
    ['07-JUL-96 02:44:25', new Date('1996-07-07T02:44:25Z')],
    ['01-Jan-2024 00:00:60 +0545', new Date('2023-12-31T18:16:00Z')],
    ['01-Jan-0001 00:00:00 +0000', undefined],
    ['1-Foo-2024 00:00:00 +0000', undefined],
    ['1-anf-2024 00:00:00 +0000', undefined],
    ['1-Jan-2024 24:00:00 +0000', undefined],
    ['', undefined],
    ['NIL', undefined],
  ])('the date %j is read', (text, expected) => {
    expect(readInternalDate(text)).toEqual(expected);
  });

  test('dates are written so that they are read again', () => {
    const dates = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (any) => {
        const text = writeInternalDate(any) ?? '';
        expect(readInternalDate(text.slice(1, -1))?.getTime()).toBe(Math.floor(any.getTime() / 1000) * 1000);
      }),
    );
    expect(writeInternalDate(new Date(Number.NaN))).toBeUndefined();
    expect(writeInternalDate(date)).toBe('"17-Jul-1996 09:44:25 +0000"');
  });
});

describe('Sets of UIDs', () => {
  test('commands name each UID once, and stay short', () => {
    const uids = fc.uniqueArray(fc.integer({ min: 1, max: 0xff_ff_ff_ff }), { maxLength: 3000 });
    fc.assert(
      fc.property(uids, (numbers) => {
        const sets = [...setsOf(numbers)];
        for (const { set } of sets) expect(set.length).toBeLessThan(7100);
        const named = sets.flatMap(({ set, count }) => numbersOf(set, count) ?? []);
        expect(named).toEqual(numbers.toSorted((a, b) => a - b));
      }),
      { numRuns: 30 },
    );
    expect([...setsOf([3, 1, 2, 7])]).toEqual([{ set: '1:3,7', count: 4 }]);
  });

  test.each([
    '',
    '1:',
    ':1',
    '-1',
    '1/2',
    '4294967296',
    '00000000001',
    '0',
    '2:1',
    '*',
    '1:4294967296',
    '1,,2',
    'x',
    '1:11',
  ])('%j is none that can be believed', (set) => {
    expect(numbersOf(set, 10)).toBeUndefined();
  });

  test('mailbox names are quoted and in modified UTF-7', () => {
    expect(mailboxName('INBOX')).toBe('"INBOX"');
    expect(mailboxName('Entwürfe & "x" \\ 日本語/😀')).toBe('"Entw&APw-rfe &- \\"x\\" \\\\ &ZeVnLIqe-/&2D3eAA-"');
    expect(mailboxName('a\r\nA1 DELETE x')).toBe('"a&AA0ACg-A1 DELETE x"');
  });
});
