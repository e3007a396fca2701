import { expect, test } from 'vitest';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { settleAbsent } from '../../src/server/mail/copy/reading-back/absent.ts';
import type { CheckSession, Run, Unchecked } from '../../src/server/mail/copy/run/run.ts';

const MAILBOX = { id: 1, sourcePath: 'Lists', sourceUidValidity: 1n, destinationPath: 'Lists' };

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
  const run = {
    faults: () => 0,
    noteFault: () => 1,
    forgetFaults: () => {},
    looked: () => {},
    opened: { source: new Set(), destination: new Set() },
    stale: new Set(),
    sourcePaths: () => ['Lists'],
    destinationPaths: () => ['Lists'],
  } as unknown as Run;
  const late = new Set<Unchecked>();
  await settleAbsent('Lists', absent, { checker } as unknown as CheckSession, run, late);
  expect({ late: late.size, stale: run.stale.size }).toEqual({ late: 0, stale: 0 });
});
