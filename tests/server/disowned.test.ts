import { expect, test } from 'vitest';
import { takeBackDisowned } from '../../src/server/mail/copy/disowned.ts';
import type { Engine } from '../../src/server/mail/copy/engine.ts';
import type { Work } from '../../src/server/mail/copy/lanes/lane-work.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';

type Disowned = { readonly destinationPath: string; readonly uidValidity: bigint; readonly uid: number };

/** A run at a destination whose mailboxes have this UIDVALIDITY, and what it expunges. */
function runAt(uidValidity: bigint, disowned: readonly Disowned[], isThere = (_path: string) => true) {
  const expunged: string[] = [];
  const writer = {
    select: async (path: string) => {
      if (!isThere(path)) throw new MailError('refused', 'It is not there.', { responseCode: 'NONEXISTENT' });
      return { uidValidity };
    },
    expunge: async (path: string, uids: readonly number[]) => {
      expunged.push(`${path} ${uids.join()}`);
    },
  };
  const pool = {
    work: async (work: Work<unknown>, each: (item: unknown, session: unknown) => Promise<void>) => {
      for (let item = await work.next(); item !== null; item = await work.next())
        await each(item, { writer, checker: { isOver: true } });
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const opened = { source: new Set(), destination: new Set() };
  const run = { ...openFaults(), opened, copy: { ledger: { disowned: async () => disowned } } };
  const engine = { run, lanes: pool, controls: pool, checker: pool, checkers: pool, takenBack: new Set() };
  const all = { ...engine, destinationPaths: ['INBOX', 'Sent'] };
  return { expunged, takeBack: () => takeBackDisowned(all as unknown as Engine) };
}

test('what an earlier worker stored too late is taken back once, in each mailbox', async () => {
  const late = { destinationPath: 'INBOX', uidValidity: 5n, uid: 7 };
  const { expunged, takeBack } = runAt(5n, [late, { ...late, uid: 8 }, { ...late, destinationPath: 'Sent' }]);
  expect(await takeBack()).toBe(true);
  expect(expunged).toEqual(['INBOX 7,8', 'Sent 7']);
  expect(await takeBack()).toBe(false);
  expect(expunged).toHaveLength(2);
});

test('what an earlier worker stored under another UIDVALIDITY is not taken back by its UID, which is another message’s', async () => {
  const late = { destinationPath: 'INBOX', uidValidity: 5n, uid: 7 };
  const { expunged, takeBack } = runAt(6n, [late]);
  await takeBack();
  expect(expunged).toEqual([]);
  const both = runAt(6n, [{ ...late, uidValidity: 6n }, { ...late, uidValidity: 6n, uid: 8 }, late]);
  await both.takeBack();
  expect(both.expunged).toEqual(['INBOX 7,8']);
});

test('a mailbox that is gone by then keeps nothing in the others from being taken back', async () => {
  const late = { destinationPath: 'INBOX', uidValidity: 5n, uid: 7 };
  const { expunged, takeBack } = runAt(5n, [late, { ...late, destinationPath: 'Sent' }], (path) => path !== 'INBOX');
  expect(await takeBack()).toBe(true);
  expect(expunged).toEqual(['Sent 7']);
});
