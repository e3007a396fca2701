import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { NewRow, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { settleAbsent } from '../../src/server/mail/copy/reading-back/absent.ts';
import type { CheckSession, Run, Unchecked } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { memoryAccount, type MemoryMailbox } from '../support/memory-mailbox.ts';

const MAILBOX = { id: 1, sourcePath: 'Lists', sourceUidValidity: 1n, destinationPath: 'Lists' };

/** A run in which nothing has failed yet. */
function runWith(particulars: object): Run {
  return {
    faults: () => 0,
    noteFault: () => 1,
    forgetFaults: () => {},
    looked: () => {},
    opened: { source: new Set(), destination: new Set() },
    stale: new Set(),
    sourcePaths: () => ['Lists'],
    destinationPaths: () => ['Lists'],
    ...particulars,
  } as unknown as Run;
}

test('however many messages were not there when they were read back, other work has its turn', async () => {
  // One that is looked for among all others each time would take minutes.
  const count = 800_000;
  const messages = Array.from({ length: count }, (_, at): Unchecked => {
    const uid = at + 1;
    return { uid, destinationUid: uid, size: 10, sha256: `${uid}`, date: 0, fate: 'stored' };
  });
  const check = { mailbox: MAILBOX, uidValidity: 7n, messages };
  const absent = messages.map((message) => ({ check, message }));
  const checker: Pick<MailReader, 'open' | 'look'> = {
    open: async () => ({ uidValidity: 7n, exists: count }),
    async *look(_, uids) {
      yield uids.map((uid) => ({ uid, size: 10, flags: [], internalDate: new Date(0) }));
    },
  };
  const run = runWith({});
  const late = new Set<Unchecked>();
  await settleAbsent('Lists', absent, { checker } as unknown as CheckSession, run, late);
  expect({ late: late.size, stale: run.stale.size }).toEqual({ late: 0, stale: 0 });
});

test('a message whose UID the mailbox has not given away yet is lost, and one whose UID it has was removed', async () => {
  const settled: NewRow[] = [];
  const messages = [7, 8, 9].map((uid): Unchecked => {
    return { uid, destinationUid: uid, size: 10, sha256: `${uid}`, date: 0, fate: 'stored' };
  });
  const check = { mailbox: MAILBOX, uidValidity: 7n, messages };
  const reader: Pick<MailReader, 'open' | 'status' | 'look' | 'list' | 'search'> = {
    open: async () => ({ uidValidity: 7n, exists: 0, uidNext: 9 }),
    status: async () => ({ uidValidity: 7n, exists: 0 }),
    async *look() {},
    async *list() {},
    search: async () => [],
  };
  const run = runWith({
    searches: new Map(),
    known: new Map(),
    copy: {
      clock: MACHINE_CLOCK,
      // It has waited as often as it may.
      refusalWaits: 99,
      destination: { limits: {} },
      ledger: { settle: async (rows: readonly NewRow[]) => void settled.push(...rows) },
    },
  });
  const session = { checker: reader, reader: async () => reader } as unknown as CheckSession;
  const absent = messages.map((message) => ({ check, message }));
  await settleAbsent('Lists', absent, session, run, new Set());
  expect(settled.map(({ uid, fate, reason }) => ({ uid, fate, reason }))).toEqual([
    { uid: 7, fate: 'taken', reason: 'removed' },
    { uid: 8, fate: 'taken', reason: 'removed' },
    { uid: 9, fate: 'lost', reason: undefined },
  ]);
});

const TEXT = 'Subject: one\r\n\r\nBody\r\n';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');
const TROUBLE = new MailError('busy', 'It is in trouble.', { responseCode: 'SERVERBUG' });
const OURS = { size: TEXT.length, sha256: SHA256, date: 0 };

type Absent = Pick<Unchecked, 'destinationUid'> & Partial<Unchecked>;
type There = {
  /** UIDs of the mailbox, which has given away those below 20; all of its messages are equal. */
  readonly has?: readonly number[];
  /** Of those, what it tells of by SEARCH only. */
  readonly hides?: readonly number[];
  readonly uidValidity?: bigint;
  readonly window?: number;
  /** Another row of the mailbox, of a message that was stored as 7. */
  readonly row?: Partial<Row>;
  /** Whose server fails at another mailbox, where the messages may be, or at theirs. */
  readonly troubled?: 'source' | 'destination';
  readonly isMissing?: boolean;
  readonly mayWait?: boolean;
};

/** A mailbox of one side, and another one. */
async function readerOf(side: 'source' | 'destination', { has = [], hides = [], troubled, ...there }: There) {
  const messages = has.map((uid) => ({ uid, bytes: Buffer.from(TEXT), flags: [], internalDate: new Date(0) }));
  const lists: MemoryMailbox = { path: 'Lists', uidValidity: there.uidValidity ?? 7n, messages };
  const boxes: MemoryMailbox[] = [
    side === 'source' ? { path: 'Lists', messages: [] } : lists,
    { path: 'Other', messages: [] },
  ];
  const reader = await memoryAccount(boxes).source.reader();
  const failing = side === 'source' ? 'Lists' : 'Other';
  const isShown = ({ uid }: { readonly uid: number }) => !hides.includes(uid);
  const find = (path: string) => {
    if (there.isMissing === true && path === 'Lists')
      throw new MailError('refused', 'No.', { responseCode: 'NONEXISTENT' });
  };
  const other: Pick<MailReader, 'open' | 'status' | 'list' | 'look'> = {
    open: async (path) => {
      if (troubled === side && path === failing) throw TROUBLE;
      find(path);
      return { ...(await reader.open(path)), uidNext: 20 };
    },
    status: async (path) => {
      find(path);
      return reader.status(path);
    },
    async *list(path, from) {
      for await (const page of reader.list(path, from)) yield page.filter(isShown);
    },
    async *look(path, uids) {
      for await (const page of reader.look(path, uids)) yield page.filter(isShown);
    },
  };
  return { ...reader, ...other };
}

/** What becomes of messages that were not there when they were read back. */
async function settledOf(absent: readonly Absent[], there: There) {
  const settled: NewRow[] = [];
  const messages = absent.map((message, at): Unchecked => ({ uid: at + 1, ...OURS, fate: 'stored', ...message }));
  const check = { mailbox: MAILBOX, uidValidity: 7n, messages };
  const row = { uid: 50, ...OURS, destinationUid: 7, fate: 'stored', earlier: false, verified: true } as const;
  const run = runWith({
    ...openFaults(),
    destinationPaths: () => ['Lists', 'Other'],
    searches: new Map(),
    known: new Map([['Lists', [MAILBOX]]]),
    copy: {
      clock: MACHINE_CLOCK,
      refusalWaits: there.mayWait === true ? 0 : 99,
      destination: { limits: { window: there.window } },
      ledger: {
        claimed: async () => new Set(),
        async *rows() {
          if (there.row !== undefined) yield [{ ...row, ...there.row }];
        },
        settle: async (rows: readonly NewRow[]) => void settled.push(...rows),
      },
    },
  });
  const checker = await readerOf('destination', there);
  const session = { checker, reader: () => readerOf('source', there) } as unknown as CheckSession;
  const late = new Set<Unchecked>();
  const settling = () =>
    settleAbsent(
      'Lists',
      messages.map((message) => ({ check, message })),
      session,
      run,
      late,
    );
  // It is the mailbox that is in trouble when that has failed three times.
  const last = there.troubled === undefined ? 1 : 3;
  for (let times = 1; times < last; times += 1) await expect(settling()).rejects.toBe(TROUBLE);
  await settling();
  return {
    fates: settled.map(({ destinationUid, fate, reason }) => [destinationUid, reason ?? fate]),
    late: Array.from(late, ({ destinationUid }) => destinationUid),
    isStale: run.stale.has(MAILBOX.id),
  };
}

describe('a message that was not there when it was read back', () => {
  const one = [{ destinationUid: 7 }];

  test.each<[string, readonly Absent[], There, Partial<Awaited<ReturnType<typeof settledOf>>>]>([
    ['is there where SEARCH finds it', one, { has: [7], hides: [7] }, { fates: [] }],
    ['was removed where nothing is equal to it', one, { has: [] }, { fates: [[7, 'removed']] }],
    ['has given way to an equal one', one, { has: [9] }, { fates: [[7, 'twin']] }],
    ['has given way to an equal one that only SEARCH finds', one, { has: [9], hides: [9] }, { fates: [[7, 'twin']] }],
    [
      'has not where that has another date',
      [{ destinationUid: 7, date: 5 }],
      { has: [9] },
      { fates: [[7, 'removed']] },
    ],
    [
      'has not where that has other octets',
      [{ destinationUid: 7, sha256: '' }],
      { has: [9] },
      { fates: [[7, 'removed']] },
    ],
    ['is lost where its UID has not been given away', [{ destinationUid: 20 }], {}, { fates: [[20, 'lost']] }],
    ['is to be found anew under another UIDVALIDITY', one, { uidValidity: 8n }, { fates: [], isStale: true }],
    ['is left behind a window', [{ destinationUid: 7, sha256: '' }], { has: [9], window: 1 }, { fates: [] }],
    [
      'has given way to an equal one within a window',
      [{ destinationUid: 12 }],
      { has: [9], window: 1 },
      { fates: [[12, 'twin']] },
    ],
    ['was removed with its mailbox', one, { isMissing: true, mayWait: true }, { fates: [[7, 'removed']] }],
    [
      'was removed where it can’t be shown later',
      [{ destinationUid: 7, sha256: '' }],
      { has: [9], mayWait: true },
      { fates: [[7, 'removed']] },
    ],
    ['is waited for where nothing newer is shown', one, { has: [5], mayWait: true }, { fates: [], late: [7] }],
    [
      'is not where something newer is',
      one,
      { hides: [], has: [9], mayWait: true },
      { fates: [[7, 'twin']], late: [] },
    ],
  ])('%s', async (_, absent, there, expected) => {
    expect(await settledOf(absent, there)).toMatchObject({ late: [], isStale: false, ...expected });
  });

  test.each(['source', 'destination'] as const)('is waited for while the %s can’t be asked', async (troubled) => {
    const there = { has: [9], troubled };
    const other = [{ destinationUid: 7, sha256: '' }];
    expect(await settledOf(other, { ...there, mayWait: true })).toMatchObject({ fates: [], late: [7] });
    expect(await settledOf(other, there)).toMatchObject({ fates: [[7, 'removed']], late: [] });
  });
});

describe('a twin that is not there', () => {
  const twin = { destinationUid: 7, fate: 'twin' } as const;

  test.each<[string, Partial<Row>, string]>([
    ['was removed with what was read back', {}, 'removed'],
    ['was removed with what was taken away', { fate: 'taken', verified: false }, 'removed'],
    ['is lost where what it stands for has not been read back', { verified: false }, 'lost'],
    ['is lost where that is another one', { fate: 'changed' }, 'lost'],
    ['is lost where that is a twin itself', { fate: 'twin' }, 'lost'],
    ['is lost where that is of other octets', { sha256: '' }, 'lost'],
    ['is lost where that was stored elsewhere', { destinationUid: 8 }, 'lost'],
  ])('%s', async (_, row, fate) => {
    expect(await settledOf([twin], { row })).toMatchObject({ fates: [[7, fate]] });
  });

  test('was removed with one that is not there either, and is lost with another twin', async () => {
    const removed = [7, 'removed'];
    expect(await settledOf([{ destinationUid: 7 }, twin], {})).toMatchObject({ fates: [removed, removed] });
    const lost = [7, 'lost'];
    expect(await settledOf([twin, twin], {})).toMatchObject({ fates: [lost, lost] });
  });

  test('is not taken to be behind a window', async () => {
    expect(await settledOf([{ ...twin, sha256: '' }], { has: [9], window: 1 })).toMatchObject({ fates: [[7, 'lost']] });
  });
});
