import { expect, test } from 'vitest';
import type { Group, LedgerMailbox } from '../../src/server/mail/copy/ledger.ts';
import type { Run, Session } from '../../src/server/mail/copy/run.ts';
import { sendMessages } from '../../src/server/mail/copy/sending.ts';
import type { Sending, Unsaid } from '../../src/server/mail/copy/settling.ts';
import { SIZES } from '../../src/server/mail/copy/sizes.ts';
import type { NewMessage } from '../../src/server/mail/imap/streams.ts';
import { LeaseLost } from '../../src/server/transfers/lease.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'Sent' };
const LOST = new LeaseLost('one');

/** Stores everything, and says no UIDs. */
function append(_: string, given: AsyncIterable<NewMessage>) {
  const stored = (async () => {
    const outcomes = [];
    for await (const { octets } of given) {
      for await (const _chunk of octets);
      outcomes.push({ kind: 'stored' });
    }
    return outcomes;
  })();
  return { sent: stored, outcome: stored };
}

/** Sends two messages to a server that stores both and says no UIDs. @returns what was looked for, and told the operator */
async function sent({ mayWrite, found }: { readonly mayWrite: boolean; readonly found: () => Promise<void> }) {
  const messages = [1, 2].map((uid) => ({
    uid,
    bytes: Buffer.from(`Subject: ${uid}\r\n`),
    flags: [],
    internalDate: new Date(0),
  }));
  const { source } = memoryAccount([{ path: 'INBOX', messages }]);
  const told: (number | null)[] = [];
  const looked: number[] = [];
  const copy = {
    sizes: SIZES,
    ledger: {
      open: async (groups: readonly Omit<Group, 'id'>[]) => groups.map((group, id) => ({ ...group, id })),
      settle: async () => [],
    },
    lease: { mayWrite: () => mayWrite },
    signal: new AbortController().signal,
    onStep: async () => {},
    onOrphan: (_path: string, uid: number | null) => told.push(uid),
  };
  const sending = {
    mailbox: MAILBOX,
    selected: { uidValidity: 3n, uidNext: 10, keeps: (flags: readonly string[]) => flags },
    session: { reader: await source.reader(), writer: { append, traits: { saysUids: false } } } as unknown as Session,
    run: {
      copy,
      said: new Map(),
      room: async () => {},
      budget: { take: async () => {}, correct: () => {} },
      settled: () => {},
      faults: () => 0,
      forgetFaults: () => {},
    } as unknown as Run,
    goesOn: () => true,
    claims: new Set(),
    resolve: async (unsaid: readonly Unsaid[]) => {
      looked.push(...unsaid.map(({ uid }) => uid));
      await found();
    },
  } as unknown as Sending;
  const planned = messages.map(({ uid, bytes }) => ({ uid, size: bytes.length, date: 0 }));
  const failure = await sendMessages(planned, sending).catch((error: unknown) => error);
  return { failure, looked, told };
}

test('what was stored without a UID is looked for at once, and the operator has nothing to do', async () => {
  expect(await sent({ mayWrite: true, found: async () => {} })).toEqual({
    failure: undefined,
    looked: [1, 2],
    told: [],
  });
});

test('what can not be looked for because another worker has taken over is told to the operator, one by one', async () => {
  expect(await sent({ mayWrite: false, found: () => Promise.reject(LOST) })).toEqual({
    failure: LOST,
    looked: [1, 2],
    told: [null, null],
  });
});
