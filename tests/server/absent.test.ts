import { expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { settleAbsent } from '../../src/server/mail/copy/reading-back/absent.ts';
import type { CheckSession, Run, Unchecked } from '../../src/server/mail/copy/run/run.ts';

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
