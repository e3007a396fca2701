import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger, type Intent } from '../../src/server/mail/copy/ledger.ts';
import type { Database } from '../../src/server/store/database.ts';
import { takeTransfer, LeaseLost, type Lease } from '../../src/server/transfers/lease.ts';
import { endTransfer } from '../../src/server/transfers/operations.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';

const INTENT: Intent = {
  size: 3,
  sha256: 'ab'.repeat(32),
  internalDate: new Date('2001-02-03T04:05:06Z'),
  flags: ['\\Seen', '$Forwarded', 'with,comma'],
  uidValidity: 4_294_967_295n,
  uidNext: 17,
};
const listed = (uid: number) => ({ uid, size: 1, flags: [], internalDate: new Date() });

let database: Database;
let transfers = 0;
beforeAll(async () => {
  database = await openTestDatabase(FRESH);
});
afterAll(() => database[Symbol.asyncDispose]());

async function withTransfer(work: (database: Database, id: string) => Promise<void>): Promise<void> {
  transfers += 1;
  const id = `${transfers}`.padStart(32, '0');
  const transfer = {
    id,
    sourceEmail: `a${transfers}@b.example`,
    sourceProvider: 'sanbruno',
    destinationEmail: 'c@d.example',
    destinationProvider: 'yahoo',
    operations: ['emailmigration'],
    inQa: false,
  } as const;
  await insertTransfer(database, transfer, 'key');
  await work(database, id);
}

async function lease(database: Database, id: string): Promise<Lease> {
  const taken = await takeTransfer(database, id);
  if (taken === null) throw new Error('The transfer has ended.');
  return taken.lease;
}

describe('the ledger', () => {
  test('gives an intent back as it was, and forgets it when its outcome is known', () =>
    withTransfer(async (database, id) => {
      const ledger = openLedger(database, await lease(database, id));
      const mailbox = await ledger.addMailbox({ sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX' });
      await ledger.addListed(mailbox.id, [listed(1), listed(2)]);
      await ledger.addListed(mailbox.id, [listed(1), listed(2), listed(3)]);
      await ledger.intend(mailbox.id, 2, INTENT);
      expect(await ledger.pending(mailbox.id)).toEqual([
        { uid: 1, size: 1 },
        { uid: 2, size: 3, intent: INTENT },
        { uid: 3, size: 1 },
      ]);
      await Promise.all([
        ledger.settle(mailbox.id, 2, { state: 'done', uid: 20, uidValidity: 5n }),
        ledger.settle(mailbox.id, 3, { state: 'refused', reason: 'too large', subject: 'a\0b' }),
      ]);
      expect(await ledger.pending(mailbox.id)).toEqual([{ uid: 1, size: 1 }]);
      expect(await ledger.claimed('INBOX', 5n)).toEqual(new Set([20]));
      expect(await ledger.claimed('INBOX', 6n)).toEqual(new Set());
      expect(await ledger.progress()).toEqual({ total: 3, done: 2, bytes: 3 });
    }));

  test('takes up a message again that a listing had left out', () =>
    withTransfer(async (database, id) => {
      const ledger = openLedger(database, await lease(database, id));
      const mailbox = await ledger.addMailbox({ sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX' });
      await ledger.addListed(mailbox.id, [listed(1), listed(2)]);
      await ledger.settle(mailbox.id, 1, { state: 'gone' });
      await ledger.settle(mailbox.id, 2, { state: 'refused', reason: 'virus' });
      await ledger.addListed(mailbox.id, [listed(1), listed(2)]);
      expect((await ledger.pending(mailbox.id)).map((pending) => pending.uid)).toEqual([1]);
    }));

  test('refuses what a worker writes after another one has taken the transfer over', () =>
    withTransfer(async (database, id) => {
      const older = openLedger(database, await lease(database, id));
      const mailbox = await older.addMailbox({ sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX' });
      await older.addListed(mailbox.id, [listed(1), listed(2)]);
      await older.intend(mailbox.id, 1, INTENT);
      const newer = openLedger(database, await lease(database, id));
      await expect(older.settle(mailbox.id, 1, { state: 'done', uid: 9, uidValidity: 5n })).rejects.toThrow(LeaseLost);
      await expect(older.intend(mailbox.id, 2, INTENT)).rejects.toThrow(LeaseLost);
      expect((await newer.pending(mailbox.id)).map(({ uid, intent }) => [uid, intent !== undefined])).toEqual([
        [1, true],
        [2, false],
      ]);
      await newer.settle(mailbox.id, 1, { state: 'done', uid: 9, uidValidity: 5n });
    }));

  test('can not be taken by anyone once the transfer has ended', () =>
    withTransfer(async (database, id) => {
      await endTransfer(database, await lease(database, id));
      expect(await takeTransfer(database, id)).toBeNull();
    }));
});
