import { expect, test } from 'vitest';
import { MessageList } from '../../src/server/mail/copy/ledger/columns.ts';
import type { LedgerMailbox, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { readRows } from '../../src/server/mail/copy/looking/known-rows.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 7n, destinationPath: 'INBOX' };

test('a message that was gone, and that the source lists again, waits to be copied', async () => {
  const rows: Row[] = [1, 2, 3].map((uid) => ({
    uid,
    size: 10,
    date: 0,
    fate: uid === 3 ? 'refused' : 'gone',
    earlier: false,
    verified: false,
  }));
  const ledger = {
    async *rows() {
      yield rows;
    },
  };
  const run = { copy: { ledger } } as unknown as Run;
  const listed = new MessageList();
  for (const uid of [1, 3]) listed.set({ uid, size: 10, date: 0 });
  const { settled } = await readRows(MAILBOX, run, listed);
  expect([1, 2, 3].filter((uid) => settled.has(uid))).toEqual([2, 3]);
});
