import type { Orphans } from '../../src/server/mail/copy/run/mail-copy.ts';
import { expect, test } from 'vitest';
import type { LedgerMailbox, NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import type { Run, Session } from '../../src/server/mail/copy/run/run.ts';
import { commitOutcome } from '../../src/server/mail/copy/storing/committing.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { LeaseLost } from '../../src/server/transfers/lease.ts';

const TEN_MINUTES = 635_000;
const GONE = new Error('The database is gone.');
const LOST = new LeaseLost('one');

async function answering(answer: unknown): Promise<unknown> {
  if (answer instanceof Error) throw answer;
  return answer;
}

/**
 * A worker that has stored 101 and 102, each of whose steps fails as it is told to, until it is told to work; its waits
 * pass at once. `refused`: of these the ledger does not take the rows.
 */
function worker({
  settle = () => undefined,
  refused = [],
  disown = () => true,
  expunge = () => undefined,
  endsAt = Infinity,
  particulars = {},
  now: uidValidity = 7n,
}: {
  readonly settle?: (at: number) => unknown;
  readonly refused?: readonly number[];
  readonly disown?: (at: number, uid: number) => unknown;
  readonly expunge?: (at: number) => unknown;
  /** When its process is asked to end, in milliseconds. */
  readonly endsAt?: number;
  /** Of the row of 101. */
  readonly particulars?: Partial<NewRow>;
  /** The UIDVALIDITY of the mailbox by now. */
  readonly now?: bigint;
}) {
  const ending = new AbortController();
  let now = 0;
  const [told, expunged, settled]: [Orphans[], number[], string[]] = [[], [], []];
  const writer = {
    select: async () => ({ uidValidity }),
    expunge: async (_: string, uids: number[]) => {
      await answering(expunge(now));
      expunged.push(...uids);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const copy = {
    clock: {
      elapsed: () => now,
      after: (wait: number, then: () => void) => {
        const until = now + wait;
        now = until < endsAt || ending.signal.aborted ? until : endsAt;
        queueMicrotask(() => {
          if (now >= endsAt) ending.abort();
          then();
        });
        return () => {};
      },
    },
    processEnds: ending.signal,
    lease: { transferId: 'one', mayWrite: () => false },
    ledger: {
      settle: async (rows: readonly NewRow[]) => {
        await answering(settle(now));
        return rows.filter(({ uid }) => refused.includes(uid));
      },
      disown: (_: string, __: bigint, uid: number) => answering(disown(now, uid)),
    },
    destination: { writer: async () => writer },
    onStep: async () => {},
    onOrphans: (_: unknown, left: Orphans) => told.push(left),
  };
  const where = {
    mailbox: { id: 1, sourcePath: 'INBOX', destinationPath: 'INBOX' } as LedgerMailbox,
    session: { writer } as unknown as Session,
    run: { copy, settled: (path: string) => settled.push(path) } as unknown as Run,
  };
  const rows = [101, 102].map(
    (destinationUid) =>
      ({
        mailboxId: 1,
        uid: destinationUid,
        destinationUid,
        destinationUidValidity: 7n,
        ...(destinationUid === 101 ? particulars : {}),
      }) as NewRow,
  );
  return { commit: (unsaid = 0) => commitOutcome(rows, [1], where, unsaid), told, expunged, settled, now: () => now };
}

test('a database that comes back while the lease is still ours learns the outcome', async () => {
  const { commit, told, expunged, settled } = worker({ settle: (at) => (at < 60_000 ? GONE : undefined) });
  await commit(1);
  expect({ told, expunged, settled }).toEqual({ told: [], expunged: [], settled: ['INBOX'] });
});

test('a message that is stored under the UID of one being taken back is removed, and its folder is listed again', async () => {
  const { commit, told, expunged, settled } = worker({ refused: [102] });
  await expect(commit()).rejects.toMatchObject({ fault: 'lost', passing: true });
  expect({ told, expunged, settled }).toEqual({ told: [], expunged: [102], settled: ['INBOX'] });
});

test('what another worker has not claimed is taken back, however long the database and the server are gone', async () => {
  const { commit, told, expunged, settled } = worker({
    settle: (at) => (at < 60_000 ? GONE : LOST),
    disown: (at, uid) => (at < 200_000 ? GONE : uid === 102),
    expunge: (at) => (at < 500_000 ? new MailError('unreachable', 'No way.') : undefined),
  });
  await expect(commit()).rejects.toBe(LOST);
  expect({ told, expunged, settled }).toEqual({ told: [], expunged: [102], settled: [] });
});

test('what has the UID of another message, which may be the subscriber’s own, is never taken back', async () => {
  const particulars = { fate: 'twin' } as const;
  const late = worker({ settle: () => LOST, particulars });
  await expect(late.commit()).rejects.toBe(LOST);
  expect({ told: late.told, expunged: late.expunged }).toEqual({ told: [], expunged: [102] });
  const disowned = worker({ refused: [101, 102], particulars });
  await expect(disowned.commit()).rejects.toMatchObject({ fault: 'lost' });
  expect(disowned.expunged).toEqual([102]);
});

test('what was stored under another UIDVALIDITY than the mailbox has now is not taken back by its UID', async () => {
  const late = worker({ settle: () => LOST, now: 8n });
  await expect(late.commit()).rejects.toBe(LOST);
  expect(late.expunged).toEqual([]);
  const disowned = worker({ refused: [101, 102], particulars: { destinationUidValidity: 8n }, now: 8n });
  await expect(disowned.commit()).rejects.toMatchObject({ fault: 'lost' });
  expect(disowned.expunged).toEqual([101]);
});

test.each<[string, Parameters<typeof worker>[0], readonly number[]]>([
  ['the database is gone all the time', { settle: () => GONE }, [101, 102]],
  ['nobody can be asked whose they are', { settle: () => LOST, disown: () => GONE }, [101, 102]],
  ['what it signs in with can not be had', { settle: () => LOST, expunge: () => GONE }, [101, 102]],
  [
    'the server lets nobody take them away',
    { settle: () => LOST, disown: (_, uid) => uid === 102, expunge: () => new MailError('busy', 'Later.') },
    [102],
  ],
  [
    'the server refuses to take them away',
    { settle: () => LOST, expunge: () => new MailError('refused', 'No.') },
    [101, 102],
  ],
])('the operator is told of what is left when %s, and of what has no UID', async (_, failing, left) => {
  const { commit, told, expunged, now } = worker(failing);
  await expect(commit(2)).rejects.toBeInstanceOf(Error);
  expect(expunged).toEqual([]);
  expect(told).toEqual([
    { uids: [], unsaid: 2 },
    { uids: left, unsaid: 0 },
  ]);
  expect(now()).toBeLessThanOrEqual(TEN_MINUTES * 2);
});

test.each<[string, Parameters<typeof worker>[0]]>([
  ['the database is gone', { settle: () => GONE }],
  ['its server is gone', { settle: () => LOST, expunge: () => new MailError('unreachable', 'No way.') }],
])('a process that is to end waits for nothing any more while %s, and tells the operator', async (_, failing) => {
  const { commit, told, now } = worker({ ...failing, endsAt: 7000 });
  await expect(commit()).rejects.toBeInstanceOf(Error);
  expect(told).toEqual([{ uids: [101, 102], unsaid: 0 }]);
  expect(now()).toBe(7000);
});
