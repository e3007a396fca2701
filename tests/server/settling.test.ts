import { expect, test } from 'vitest';
import type { LedgerMailbox, NewRow } from '../../src/server/mail/copy/ledger.ts';
import type { Run, Session } from '../../src/server/mail/copy/run.ts';
import { type Sending, settleUnseen } from '../../src/server/mail/copy/settling.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 7n, destinationPath: 'INBOX' };

/** What becomes of messages 1 and 2, which never came, in a mailbox that has 1 and this UIDVALIDITY. */
async function fatesUnder(uidValidity: bigint): Promise<readonly (readonly [number, string])[]> {
  const message = { uid: 1, bytes: Buffer.from('Subject: one'), flags: [], internalDate: new Date(0) };
  const { source } = memoryAccount([{ path: 'INBOX', uidValidity, messages: [message] }]);
  const settled: NewRow[] = [];
  const copy = {
    ledger: {
      settle: async (rows: readonly NewRow[]) => {
        settled.push(...rows);
        return [];
      },
    },
    onStep: async () => {},
  };
  await settleUnseen(
    [1, 2].map((uid) => ({ uid, size: 12, date: 0 })),
    {
      mailbox: MAILBOX,
      session: { reader: await source.reader() } as Session,
      run: { copy, settled: () => {} } as unknown as Run,
    } as Sending,
  );
  return settled.map(({ uid, fate }) => [uid, fate] as const);
}

test('of what never came the source has the one and has lost the other', async () => {
  expect(await fatesUnder(7n)).toEqual([
    [1, 'refused'],
    [2, 'gone'],
  ]);
});

test('nothing is said of it, and nothing more read by its UIDs, where the mailbox has been numbered anew', async () => {
  await expect(fatesUnder(8n)).rejects.toMatchObject({ fault: 'lost', message: /another UIDVALIDITY/ });
});
