import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { Group, LedgerMailbox, NewRow, Planned, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { compareMailbox } from '../../src/server/mail/copy/reading-back/comparing.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

/** Before the first append its next UID was 10. */
const MAILBOX: LedgerMailbox = {
  id: 1,
  sourcePath: 'INBOX',
  sourceUidValidity: 1n,
  destinationPath: 'INBOX',
  destination: { uidValidity: 3n, uidNext: 10 },
};
const DATE = 1_000_000_000;
const SENT = 'Message-ID: <1>\r\nSubject: one\r\n\r\nBody\r\n';
/** The same as a provider keeps it. */
const KEPT = `X-Provider: yes\r\n${SENT}`;

type There = { readonly uid: number; readonly text?: string; readonly date?: number };

/** The row of a message that was stored as this UID, and read back. */
function rowAt(destinationUid: number, more: Partial<Row> = {}): Row {
  const sha256 = createHash('sha256').update(SENT).digest('hex');
  const what = { uid: destinationUid, size: SENT.length, sha256, date: DATE, fate: 'stored', destinationUid } as const;
  return { ...what, destinationUidValidity: 3n, verified: true, earlier: false, ...more };
}

/** An intent of this mailbox, or of another one, that no worker has closed. */
function groupOf(messages: readonly Planned[], mailboxId = 1): Group {
  return { id: 1, mailboxId, messages, uidValidity: 3n, uidNext: 10 };
}

/** What a comparison finds, and which rows it writes. `unlisted`: so many more are counted than listed. */
async function compared(
  rows: readonly Row[],
  there: readonly There[],
  more: {
    readonly groups?: readonly Group[];
    readonly unlisted?: number;
    readonly window?: number;
    readonly claimed?: readonly number[];
    readonly mailbox?: LedgerMailbox;
  } = {},
) {
  const { groups = [], unlisted = 0, window, claimed = [], mailbox = MAILBOX } = more;
  const messages = there.map(({ uid, text = SENT, date = DATE }) => {
    return { uid, bytes: Buffer.from(text), flags: [], internalDate: new Date(date * 1000) };
  });
  const account = memoryAccount([{ path: 'INBOX', uidValidity: 3n, messages }], { unlisted: () => unlisted });
  const taken: (readonly [number, string])[] = [];
  const ledger = {
    async *rows() {
      yield rows;
    },
    groups: async () => groups,
    claimed: async () => new Set(claimed),
    settle: async (settled: readonly NewRow[]) =>
      void taken.push(...settled.map(({ uid, fate }) => [uid, fate] as const)),
  };
  const run = {
    ...openFaults(),
    looked: () => {},
    copy: { clock: MACHINE_CLOCK, ledger, destination: { limits: { window } } },
  } as unknown as Run;
  const counts = await compareMailbox(mailbox, await account.source.reader(), run);
  return { ...counts, taken };
}

describe('what is told as duplicated', () => {
  test.each<[string, readonly There[], number]>([
    ['a second one that has come since', [{ uid: 11 }], 1],
    ['none that was there before', [{ uid: 9 }], 0],
    ['none of another date', [{ uid: 11, date: DATE + 1 }], 0],
    ['none of other octets', [{ uid: 11, text: SENT.replace('Body', 'Ydob') }], 0],
    ['none in a form of the provider’s own where ours has none', [{ uid: 11, text: KEPT }], 0],
  ])('%s', async (_, more, duplicated) => {
    expect(await compared([rowAt(10)], [{ uid: 10 }, ...more])).toMatchObject({ duplicated, taken: [] });
  });

  test('the first one that has come since', async () => {
    expect(await compared([rowAt(11)], [{ uid: 10 }, { uid: 11 }])).toMatchObject({ duplicated: 1 });
  });

  test('none where it is not known what has come since, as the mailbox had another UIDVALIDITY then', async () => {
    const mailbox = { ...MAILBOX, destination: { uidValidity: 2n, uidNext: 1 } };
    expect(await compared([rowAt(10)], [{ uid: 10 }, { uid: 11 }], { mailbox })).toMatchObject({ duplicated: 0 });
  });

  test('none that is told as lost, and has come late', async () => {
    const rows = [rowAt(10, { fate: 'lost', verified: false })];
    expect(await compared(rows, [{ uid: 11 }])).toMatchObject({ lost: 1, duplicated: 0 });
  });

  test('none that belongs to another mailbox', async () => {
    expect(await compared([rowAt(10)], [{ uid: 10 }, { uid: 11 }], { claimed: [11] })).toMatchObject({ duplicated: 0 });
  });

  test.each<[string, readonly Row[]]>([
    ['was taken away', [rowAt(10), rowAt(11, { fate: 'taken' })]],
    ['gave way to an equal one', [rowAt(10), rowAt(11, { fate: 'twin' })]],
    ['is missing now', [rowAt(10), rowAt(11)]],
  ])('of two, one only where one of ours %s, as its owner may have put that back', async (_, rows) => {
    const there = [10, 12, 13].map((uid) => ({ uid }));
    expect(await compared(rows, there.slice(0, 2))).toMatchObject({ duplicated: 0 });
    expect(await compared(rows, there)).toMatchObject({ duplicated: 1 });
    expect(await compared([...rows, rowAt(14, { fate: 'taken' })], there)).toMatchObject({ duplicated: 0 });
  });

  test('none that was on its way, each of which stands for one', async () => {
    const there = [10, 11, 12].map((uid) => ({ uid }));
    const underWay = groupOf([{ uid: 2, size: SENT.length, date: DATE }]);
    expect(await compared([rowAt(10)], there.slice(0, 2), { groups: [underWay] })).toMatchObject({ duplicated: 0 });
    expect(await compared([rowAt(10)], there, { groups: [underWay] })).toMatchObject({ duplicated: 1 });
    const elsewhere = { ...underWay, mailboxId: 2 };
    expect(await compared([rowAt(10)], there, { groups: [elsewhere] })).toMatchObject({ duplicated: 2 });
  });

  test('none that may be one that was on its way, by its size or its date', async () => {
    const there = [10, 11, 12].map((uid) => ({ uid }));
    const underWay = groupOf([
      { uid: 2, size: 1, date: DATE },
      { uid: 3, size: SENT.length, date: null },
    ]);
    expect(await compared([rowAt(10)], there, { groups: [underWay] })).toMatchObject({ duplicated: 0 });
  });

  test('none that may be one that was on its way, where another one is that one exactly', async () => {
    const other = SENT.replace('Body', 'A longer body');
    const size = other.length;
    const sha256 = createHash('sha256').update(other).digest('hex');
    const rows = [rowAt(10), rowAt(11, { date: DATE + 1 }), rowAt(12, { size, sha256 })];
    const there = [
      { uid: 10 },
      { uid: 11, date: DATE + 1 },
      { uid: 12, text: other },
      { uid: 13, text: other },
      { uid: 14, date: DATE + 1 },
    ];
    const underWay = groupOf([
      { uid: 2, size: SENT.length, date: DATE },
      { uid: 3, size, date: DATE },
    ]);
    expect(await compared(rows, there, { groups: [underWay] })).toMatchObject({ duplicated: 0 });
  });

  test('a second one in the form that the provider keeps ours in, of the same date', async () => {
    const there = [
      { uid: 10, text: KEPT },
      { uid: 11, text: KEPT },
    ];
    expect(await compared([rowAt(10, { fate: 'kept' })], there)).toMatchObject({ kept: 1, duplicated: 1 });
    const other = [
      { uid: 10, text: KEPT },
      { uid: 11, text: KEPT, date: DATE + 1 },
    ];
    expect(await compared([rowAt(10, { fate: 'kept' })], other)).toMatchObject({ kept: 1, duplicated: 0 });
  });

  test('one of the size, where the date is not known', async () => {
    const rows = [rowAt(10, { date: null })];
    expect(await compared(rows, [{ uid: 10 }, { uid: 11 }])).toMatchObject({ duplicated: 1 });
    expect(await compared(rows, [{ uid: 10 }, { uid: 11, text: `${SENT}\r\n` }])).toMatchObject({ duplicated: 0 });
  });
});

describe('what is not there', () => {
  test('was taken away, once it had been read back', async () => {
    const rows = [rowAt(10), rowAt(11), rowAt(12, { verified: false })];
    expect(await compared(rows, [{ uid: 10 }])).toMatchObject({ taken: [[11, 'taken']], isUnread: true });
  });

  test('may be there where less is listed than counted, or behind a window', async () => {
    const rows = [rowAt(10), rowAt(11)];
    expect(await compared(rows, [{ uid: 11 }], { unlisted: 1 })).toMatchObject({ taken: [] });
    expect(await compared(rows, [{ uid: 11 }], { window: 1 })).toMatchObject({ taken: [] });
    expect(await compared(rows, [{ uid: 10 }], { window: 1 })).toMatchObject({ taken: [[11, 'taken']] });
  });

  test('can’t be read back from behind a window', async () => {
    const rows = [rowAt(10, { verified: false }), rowAt(11)];
    expect(await compared(rows, [{ uid: 11 }], { window: 1 })).toMatchObject({ isUnread: false });
    expect(await compared(rows, [{ uid: 11 }], { window: 2 })).toMatchObject({ isUnread: true });
  });

  test('is not told as changed again where an earlier transfer has told it', async () => {
    const there = [{ uid: 11 }];
    const changed = { fate: 'changed' } as const;
    expect(await compared([rowAt(10, { ...changed, earlier: true })], there)).toMatchObject({ changed: 0 });
    expect(await compared([rowAt(10, changed)], there)).toMatchObject({ changed: 1 });
    expect(await compared([rowAt(10, { earlier: true })], there)).toMatchObject({ changed: 0 });
  });
});

describe('rows of another UIDVALIDITY', () => {
  const other = { destinationUidValidity: 2n };

  test('are to be found anew, and not told as taken away', async () => {
    expect(await compared([rowAt(11, other), rowAt(10)], [{ uid: 10 }])).toMatchObject({ isStale: true, taken: [] });
    expect(await compared([rowAt(10)], [{ uid: 10 }])).toMatchObject({ isStale: false });
  });

  test.each(['taken', 'lost', 'twin'] as const)('need not be, where there is none: %s', async (fate) => {
    expect(await compared([rowAt(10), rowAt(11, { ...other, fate })], [{ uid: 10 }])).toMatchObject({ isStale: false });
  });
});
