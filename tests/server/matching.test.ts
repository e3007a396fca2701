import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { match } from '../../src/server/mail/copy/looking/matching.ts';
import type { Wanted } from '../../src/server/mail/copy/looking/wanted.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';
import { destinationPlace, messageName, openFaults, sourcePlace } from '../../src/server/mail/copy/troubles/breaks.ts';
import type { Listed } from '../../src/server/mail/imap/streams.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const DATE = 1_000_000_000;
const TEXT = 'Message-ID: <1>\r\nSubject: one\r\n\r\nBody\r\n';
const OTHER = TEXT.replace('<1>', '<2>').replace('one', 'two').replace('Body', 'More');

type Mail = { readonly uid: number; readonly text?: string; readonly date?: number | null };

type Given = {
  /** `null`: it can't be asked. */
  readonly source?: readonly Mail[] | null;
  /** By UID, what is listed and not handed out. */
  readonly withheld?: readonly number[];
  /** By UID, what the source is not asked for any more, as connections have broken off at it. */
  readonly unreadable?: readonly number[];
  /** What the destination says of each size. */
  readonly sizeOf?: (size: number) => number;
  /** What it has confirmed as stored. */
  readonly stored?: readonly number[];
  /** Whether all that is there has come since the wanted messages were sent. */
  readonly areNew?: boolean;
};

const sizeOf = ({ text = TEXT }: Mail) => Buffer.byteLength(text);

/** What of the wanted messages is found among those that are there. */
async function matched(
  wanted: readonly (Mail & { readonly isKnown?: boolean; readonly size?: number })[],
  there: readonly Mail[],
  {
    source = wanted,
    withheld = [],
    unreadable = [],
    sizeOf: listedSize = (size) => size,
    stored = [],
    areNew = false,
  }: Given = {},
) {
  const openReader = (messages: readonly Mail[], kept: readonly number[] = []) =>
    memoryAccount(
      [
        {
          path: 'Lists',
          messages: messages.map(({ uid, text = TEXT, date = DATE }) => ({
            uid,
            bytes: Buffer.from(text),
            flags: [],
            internalDate: new Date(date === null ? Number.NaN : date * 1000),
          })),
        },
      ],
      { withheld: (_, uid) => kept.includes(uid) },
    ).source.reader();
  const inOrder = await openReader(source ?? [], withheld);
  // As servers do, by rising UIDs.
  const fetch: typeof inOrder.fetch = (path, uids) =>
    inOrder.fetch(
      path,
      uids.toSorted((a, b) => a - b),
    );
  const reader = { ...inOrder, fetch };
  const checker = await openReader(there, withheld);
  const candidates: Listed[] = [];
  for await (const page of checker.list('Lists', 1)) candidates.push(...page);
  const run = {
    ...openFaults(),
    looked: () => {},
    copy: { signal: new AbortController().signal },
  } as unknown as Run;
  const asked = source === null ? null : sourcePlace(reader, 'Lists', 1n);
  if (asked !== null)
    for (const uid of unreadable) for (let breaks = 0; breaks < 9; breaks += 1) run.noteFault(messageName(asked, uid));
  const { found, gone } = await match(
    wanted.map((mail): Wanted => {
      const { uid, text = TEXT, date = DATE, size = sizeOf(mail), isKnown = false } = mail;
      return { uid, size, date, ...(isKnown ? { sha256: createHash('sha256').update(text).digest('hex') } : {}) };
    }),
    candidates.map((listed) => ({ ...listed, size: listedSize(listed.size) })),
    { source: asked, destination: destinationPlace(checker, 'Lists', 1n), run },
    { areStored: (uid) => stored.includes(uid), areNew },
  );
  return {
    found: [...found].map(([uid, one]) => [uid, one.destinationUid, one.fate]),
    hasDate: [...found.values()].every(({ hasDate }) => hasDate),
    isRead: [...found.values()].every(({ isRead }) => isRead),
    digests: [...found.values()].map(({ sha256 }) => sha256),
    gone: [...gone],
  };
}

const body = (text: string) => text.replace('Body', 'Else');
const found = (text: string, there: Mail, given?: Given) => matched([{ uid: 1, text }], [there], given);

test('of equal messages each is found by its own date, and one that is there stands for one', async () => {
  const wanted = [{ uid: 1 }, { uid: 2, date: DATE + 60 }, { uid: 3 }];
  const there = [
    { uid: 11, date: DATE + 60 },
    { uid: 12, date: DATE },
  ];
  const { found, hasDate } = await matched(wanted, there);
  expect(found).toEqual([
    [1, 12, 'stored'],
    [2, 11, 'stored'],
  ]);
  expect(hasDate).toBe(true);
  expect(await matched([{ uid: 1 }], [{ uid: 11, date: DATE + 60 }])).toMatchObject({
    found: [[1, 11, 'stored']],
    hasDate: false,
  });
  expect(await matched([{ uid: 1 }], [{ uid: 11 }, { uid: 12, date: DATE + 60 }])).toMatchObject({
    found: [[1, 11, 'stored']],
    hasDate: true,
  });
  expect(await matched([{ uid: 1 }], [{ uid: 11 }, { uid: 12 }], { withheld: [12] })).toMatchObject({
    found: [[1, 11, 'stored']],
    isRead: true,
  });
  const kept = `X-Provider: yes\r\n${TEXT}`;
  expect(await matched([{ uid: 1 }], [{ uid: 11, text: kept, date: DATE + 60 }])).toMatchObject({
    found: [[1, 11, 'kept']],
    hasDate: false,
  });
});

test('of equal messages the one that is confirmed as stored is what is there', async () => {
  const wanted = [{ uid: 1 }, { uid: 2 }];
  expect(await matched(wanted, [{ uid: 11 }], { stored: [2] })).toMatchObject({ found: [[2, 11, 'stored']] });
  const kept = [{ uid: 11, text: `X-Provider: yes\r\n${TEXT.replace('Body', 'Else')}` }];
  expect(await matched(wanted, kept, { stored: [2] })).toMatchObject({ found: [[2, 11, 'changed']] });
});

test('what is confirmed as stored is there in another form where the source is not asked for it any more, or can’t be', async () => {
  const wanted = [{ uid: 1, isKnown: true }];
  const there = [{ uid: 11, text: `X-Provider: yes\r\n${TEXT}` }];
  for (const given of [{ unreadable: [1] }, { source: null }]) {
    const asStored = { found: [[1, 11, 'stored']], isRead: false, gone: [] };
    expect(await matched(wanted, there, { ...given, stored: [1] })).toMatchObject(asStored);
    expect(await matched(wanted, there, given)).toMatchObject({ found: [], gone: [] });
  }
});

test('what has another body is found by its Message-ID and date together, and without one only where it is stored', async () => {
  expect(await found(TEXT, { uid: 11, text: body(TEXT) })).toMatchObject({ found: [[1, 11, 'changed']] });
  expect(await found(TEXT, { uid: 11, text: body(TEXT), date: DATE + 60 })).toMatchObject({ found: [] });
  expect(await found(TEXT, { uid: 11, text: OTHER })).toMatchObject({ found: [] });
  const bare = TEXT.replace('Message-ID: <1>\r\n', '');
  expect(await found(bare, { uid: 11, text: body(bare) })).toMatchObject({ found: [] });
  expect(await found(bare, { uid: 11, text: body(bare) }, { stored: [1] })).toMatchObject({
    found: [[1, 11, 'changed']],
  });
  const later = { uid: 11, date: DATE + 60 };
  expect(await found(bare, { ...later, text: body(bare) }, { stored: [1] })).toMatchObject({ found: [] });
});

test('what is confirmed as stored, and has another body and another date, is found by its Message-ID', async () => {
  const there = [
    { uid: 11, text: body(TEXT), date: DATE + 60 },
    { uid: 12, text: body(TEXT) },
  ];
  const wanted = [{ uid: 1 }, { uid: 2, text: TEXT.replace('Body', 'More'), date: DATE + 120 }];
  // The one with its own date comes first.
  expect(await matched(wanted, there, { stored: [1, 2] })).toMatchObject({
    found: [
      [1, 12, 'changed'],
      [2, 11, 'changed'],
    ],
    hasDate: false,
  });
  expect(await matched(wanted, there)).toMatchObject({ found: [[1, 12, 'changed']] });
  expect(await found(TEXT, { uid: 11, text: OTHER, date: DATE + 60 }, { stored: [1] })).toMatchObject({ found: [] });
});

test.each<[string, Partial<Wanted> & { isKnown?: boolean }, Mail, boolean]>([
  ['date and size', {}, { uid: 11 }, true],
  ['date and about the size', { size: sizeOf({ uid: 1 }) + 4000 }, { uid: 11 }, true],
  ['date, and a size that no server rounds so', { size: sizeOf({ uid: 1 }) + 5000 }, { uid: 11 }, false],
  ['size, and another date', {}, { uid: 11, date: DATE + 60 }, false],
  ['date and about the size, where its octets are known', { size: 9, isKnown: true }, { uid: 11 }, false],
  ['no date, and about the size', { size: 9, date: null }, { uid: 11, date: null }, false],
])('what the source has lost meanwhile is looked for by its %s', async (_, wanted, there, isFound) => {
  const text = OTHER;
  const { found, gone, digests } = await matched([{ uid: 1, text, ...wanted }], [there], { source: [] });
  expect(found).toEqual(isFound ? [[1, 11, 'stored']] : []);
  expect(gone).toEqual(wanted.isKnown === true ? [] : [1]);
  // The digest of another size is not that of what was sent.
  const digest = wanted.size === undefined ? createHash('sha256').update(TEXT).digest('hex') : undefined;
  expect(digests).toEqual(isFound ? [digest] : []);
});

test('one that is there stands for one that the source has lost', async () => {
  const { found } = await matched([{ uid: 1 }, { uid: 2 }], [{ uid: 11 }], { source: [] });
  expect(found).toEqual([[1, 11, 'stored']]);
});

test('what the source has lost, or can’t be asked for, is rather what has its size than about its size', async () => {
  const there = [{ uid: 11, text: `${TEXT}Or so` }, { uid: 12 }];
  for (const source of [[], null])
    for (const isKnown of [false, source === null]) {
      const { found } = await matched([{ uid: 1, text: OTHER, isKnown }], there, { source });
      expect(found).toEqual([[1, 12, 'stored']]);
    }
});

test('what the source still has is not lost, and is none that merely has its date and size', async () => {
  const text = OTHER.replace('More', 'Text');
  expect(await matched([{ uid: 1, text }], [{ uid: 11 }])).toMatchObject({ found: [], gone: [] });
  // It is there, and is not handed out now.
  expect(await matched([{ uid: 1, text }], [{ uid: 11 }], { withheld: [1] })).toMatchObject({ found: [], gone: [] });
});

test.each<[string, Partial<Mail>, Partial<Mail>, readonly number[], boolean]>([
  ['date and size', {}, {}, [], true],
  ['date, where sizes are rounded', { text: OTHER.repeat(2) }, {}, [], true],
  ['size, where its date is another one', {}, { date: DATE + 60 }, [], false],
  ['size, where its date was never known', { date: null }, { date: DATE + 60 }, [], true],
  ['neither', { text: OTHER.repeat(2) }, { date: DATE + 60 }, [], false],
  ['neither, where it is stored', { text: OTHER.repeat(2) }, { date: DATE + 60 }, [1], true],
])('what the destination does not hand out is known by its %s', async (_, mail, there, stored, isFound) => {
  const given = { withheld: [11], stored };
  const { found, isRead } = await matched([{ uid: 1, ...mail }], [{ uid: 11, ...there }], given);
  expect(found).toEqual(isFound ? [[1, 11, 'stored']] : []);
  expect(isRead).toBe(!isFound);
});

test('of what is not handed out one stands for one, and none is known by a size that nobody tells', async () => {
  const two = [{ uid: 1 }, { uid: 2 }];
  const { found } = await matched(two, [{ uid: 11 }], { withheld: [11] });
  expect(found).toEqual([[1, 11, 'stored']]);
  const unsized = [{ uid: 1, date: null, size: 0 }];
  const given = { withheld: [11], sizeOf: () => 0 };
  expect(
    await matched(unsized, [{ uid: 11, text: OTHER, date: DATE + 60 }], { ...given, source: [{ uid: 1, text: '' }] }),
  ).toMatchObject({ found: [] });
});

test('what is not handed out and has another date is known by its size, if it has come since', async () => {
  const there = { uid: 11, date: DATE + 60 };
  const given = { withheld: [11], areNew: true };
  expect(await found(TEXT, there, given)).toMatchObject({ found: [[1, 11, 'stored']], isRead: false });
  expect(await found(TEXT, there, { ...given, areNew: false })).toMatchObject({ found: [] });
  expect(await found(TEXT, there, { ...given, sizeOf: (size) => size + 1 })).toMatchObject({ found: [] });
  const two = [{ uid: 1 }, { uid: 2, date: DATE + 60 }];
  expect(await matched(two, [there], given)).toMatchObject({ found: [[2, 11, 'stored']] });
});

test('what is not handed out and has another date is somebody else’s, if one that is read has kept its date', async () => {
  const wanted = [{ uid: 1 }, { uid: 2, text: OTHER }];
  const another = { uid: 12, text: OTHER, date: DATE + 60 };
  const given = { withheld: [12], areNew: true };
  expect(await matched(wanted, [{ uid: 11 }, another], given)).toMatchObject({ found: [[1, 11, 'stored']] });
  expect(await matched(wanted, [{ uid: 11, date: DATE + 60 }, another], given)).toMatchObject({
    found: [
      [1, 11, 'stored'],
      [2, 12, 'stored'],
    ],
  });
});

test('what is not handed out and has another date is not known by a size that both servers round', async () => {
  const wanted = [{ uid: 1, size: 1024 }];
  const there = [{ uid: 11, text: `${OTHER}More\r\n`, date: DATE + 60 }];
  expect(await matched(wanted, there, { withheld: [11], areNew: true, sizeOf: () => 1024 })).toMatchObject({
    found: [],
  });
});
