import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { LedgerMailbox, NewRow, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { findAnew } from '../../src/server/mail/copy/mailboxes/renumbered.ts';
import type { Session } from '../../src/server/mail/copy/run/run.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';
import { runOfTwoMailboxes } from '../support/run-of-two-mailboxes.ts';

const DATE = 1_000_000_000;
const TEXT = 'Message-ID: <1>\r\nSubject: one\r\n\r\nBody\r\n';
const KEPT = `X-Provider: yes\r\n${TEXT}`;
const CHANGED = KEPT.replace('Body', 'Else');
const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'Lists', sourceUidValidity: 1n, destinationPath: 'Lists' };
const NOW = 9n;

type Mail = { readonly uid: number; readonly text?: string; readonly date?: number };

function mailOf({ uid, text = TEXT, date = DATE }: Mail) {
  return { uid, bytes: Buffer.from(text), flags: [], internalDate: new Date(date * 1000) };
}

/** A row of what was stored under another UIDVALIDITY than the mailbox has now. */
function rowOf(uid: number, more: Partial<Row> & { readonly text?: string } = {}): Row {
  const { text = TEXT, ...row } = more;
  const sha256 = createHash('sha256').update(text).digest('hex');
  const before = { destinationUid: 50 + uid, destinationUidValidity: 5n, verified: true, earlier: false };
  return { uid, fate: 'stored', size: text.length, sha256, date: DATE, ...before, ...row };
}

type Given = {
  readonly source?: readonly Mail[];
  /** The UIDVALIDITY of the source's mailbox; `null`: it does not open now. */
  readonly sourceUidValidity?: bigint | null;
  readonly claims?: readonly number[];
  /** What the destination shows at most. */
  readonly window?: number;
  /** What the destination lists and does not hand out. */
  readonly withheld?: readonly number[];
  /** Whether another mailbox of the destination is in trouble. */
  readonly isTroubled?: boolean;
};

/** What the ledger is told of these rows once the mailbox has those messages. */
async function foundAnew(rows: readonly Row[], there: readonly Mail[], given: Given = {}) {
  const { source = [{ uid: 1 }], sourceUidValidity = 1n, claims = [], window, withheld = [], isTroubled } = given;
  const reader = await memoryAccount(
    [{ path: 'Lists', uidValidity: sourceUidValidity ?? 1n, messages: source.map(mailOf) }],
    { closed: () => sourceUidValidity === null },
  ).source.reader();
  const other = new MailError('busy', 'Not now.', { responseCode: 'UNAVAILABLE' });
  const checker = await memoryAccount(
    [
      { path: 'Lists', uidValidity: NOW, messages: there.map(mailOf) },
      { path: 'Other', messages: [] },
    ],
    {
      withheld: (_, uid) => withheld.includes(uid),
      inTrouble: (path) => (isTroubled === true && path === 'Other' ? other : undefined),
    },
  ).source.reader();
  const settled: NewRow[] = [];
  const forgotten: number[] = [];
  const run = runOfTwoMailboxes(MAILBOX, {
    clock: MACHINE_CLOCK,
    destination: { limits: { connections: 1, ...(window === undefined ? {} : { window }) } },
    onStep: async () => {},
    ledger: {
      claimed: async (path: string) => new Set(path === 'Lists' ? claims : []),
      async *rows() {
        yield rows;
      },
      settle: async (some: readonly NewRow[]) => settled.push(...some),
      forget: async (_: number, uids: readonly number[]) => forgotten.push(...uids),
    },
  });
  const told = () => ({
    rows: settled.map((row) => [row.uid, row.fate, row.destinationUid, row.verified]),
    forgotten,
  });
  return { told, find: () => findAnew(MAILBOX, NOW, { checker, reader } as unknown as Session, run) };
}

async function told(...given: Parameters<typeof foundAnew>) {
  const anew = await foundAnew(...given);
  await anew.find();
  return anew.told();
}

type Told = readonly [fate: string, destinationUid: number | undefined, verified: boolean] | 'again';

test.each<[string, Row, readonly Mail[], Told, Given?]>([
  ['is where it is now', rowOf(1), [{ uid: 7 }], ['stored', 7, true]],
  ['is read back by that', rowOf(1, { verified: false }), [{ uid: 7 }], ['stored', 7, true]],
  [
    'is not read back by a listing',
    rowOf(1, { verified: false }),
    [{ uid: 7 }],
    ['stored', 7, false],
    { withheld: [7] },
  ],
  ['is not what another row has', rowOf(1), [{ uid: 7 }], ['taken', 51, true], { claims: [7] }],
  ['was taken away if it had been read back', rowOf(1), [], ['taken', 51, true]],
  ['is brought again if it had not', rowOf(1, { verified: false }), [], 'again'],
  [
    'may be behind a window',
    rowOf(1, { verified: false }),
    [{ uid: 7, text: 'x' }],
    ['stored', undefined, false],
    { window: 1 },
  ],
  ['is kept', rowOf(1, { verified: false }), [{ uid: 7, text: KEPT }], ['kept', 7, true]],
  ['is kept, as it was sent with another date', rowOf(1, { fate: 'kept' }), [{ uid: 7 }], ['kept', 7, true]],
  ['is changed', rowOf(1, { verified: false }), [{ uid: 7, text: CHANGED }], ['changed', 7, true]],
  ['has another date', rowOf(1, { verified: false }), [{ uid: 7, date: DATE + 60 }], ['changed', 7, true]],
  ['had its date when it was read back', rowOf(1), [{ uid: 7, date: DATE + 60 }], ['stored', 7, true]],
  ['stays changed', rowOf(1, { fate: 'changed' }), [{ uid: 7, date: DATE + 60 }], ['changed', 7, true]],
  ['is a twin, whatever its date', rowOf(1, { fate: 'twin' }), [{ uid: 7, date: DATE + 60 }], ['stored', 7, true]],
  [
    'is no twin, if only its Message-ID is there',
    rowOf(1, { fate: 'twin', verified: false }),
    [{ uid: 7, text: CHANGED }],
    'again',
  ],
  ['was a twin', rowOf(1, { fate: 'twin' }), [], ['twin', undefined, true]],
])('what was stored %s', async (_, row, there, expected, given) => {
  const { rows, forgotten } = await told([row], there, given);
  expect(rows).toEqual(expected === 'again' ? [] : [[1, ...expected]]);
  expect(forgotten).toEqual(expected === 'again' ? [1] : []);
});

test('a twin is one of what is there under this UIDVALIDITY and has been read back as it is', async () => {
  const twin = rowOf(2, { fate: 'twin', verified: false });
  const now = { destinationUid: 7, destinationUidValidity: NOW };
  const of = (one: Row, given: Given = {}) => told([one, twin], [{ uid: 7 }], { claims: [7], ...given });
  expect(await of(rowOf(1, now))).toEqual({ rows: [[2, 'twin', undefined, true]], forgotten: [] });
  expect(await of(rowOf(1, { ...now, verified: false }))).toEqual({ rows: [], forgotten: [2] });
  expect(await of(rowOf(1, { ...now, fate: 'changed' }))).toEqual({ rows: [], forgotten: [2] });
  // Found anew, and read: the twin, which comes first, does not take its place.
  const source = [{ uid: 1 }, { uid: 2 }];
  expect(await told([twin, rowOf(1)], [{ uid: 7 }], { source })).toEqual({
    rows: [
      [1, 'stored', 7, true],
      [2, 'twin', undefined, true],
    ],
    forgotten: [],
  });
  expect((await told([twin, rowOf(1)], [{ uid: 7 }], { source, withheld: [7] })).forgotten).toEqual([2]);
  const changed = await told([twin, rowOf(1)], [{ uid: 7, text: CHANGED }], { source });
  expect(changed.forgotten).toEqual([2]);
});

test('what a provider keeps in its own form is not judged without the source, which alone can tell', async () => {
  const rows = [rowOf(1, { fate: 'kept' }), rowOf(2, { verified: false }), rowOf(3)];
  const there = [{ uid: 7, text: KEPT }];
  expect(await told(rows, there, { sourceUidValidity: null })).toEqual({
    rows: [[3, 'taken', 53, true]],
    forgotten: [],
  });
  // It has to be listed first, as its messages have other UIDs.
  expect(await told(rows, there, { sourceUidValidity: 2n })).toEqual({ rows: [], forgotten: [] });
});

test('nothing is brought again while it may be in a mailbox that nobody can look into', async () => {
  const { find, told: toldOf } = await foundAnew([rowOf(1, { verified: false })], [], { isTroubled: true });
  // However often its server has said that it is in trouble.
  for (let tries = 0; tries < 9; tries += 1) await expect(find()).rejects.toMatchObject({ fault: 'busy' });
  expect(toldOf().forgotten).toEqual([]);
});
