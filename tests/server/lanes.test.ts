import { expect, test } from 'vitest';
import { openLanes, workOf } from '../../src/server/mail/copy/lanes.ts';
import { MACHINE_CLOCK } from '../../src/server/mail/imap/clock.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';

/** A clock whose waits are over at once. */
const CLOCK = {
  ...MACHINE_CLOCK,
  after: (_: number, run: () => void) => {
    queueMicrotask(run);
    return () => {};
  },
};

test('what a lane gave back before it was closed for want of connections is worked on by another one', async () => {
  let allowed = 2;
  const done: string[] = [];
  const session = { [Symbol.asyncDispose]: async () => {} };
  await using lanes = openLanes({
    size: 2,
    open: async () => session,
    clock: CLOCK,
    signal: new AbortController().signal,
    moved: () => done.length,
  });
  await lanes.work(
    workOf(['short', 'refused']),
    async (item) => {
      if (item === 'refused' && allowed === 2) {
        allowed = 1;
        throw new MailError('busy', 'Too many simultaneous connections');
      }
      done.push(item);
    },
    () => allowed,
  );
  expect(done).toEqual(['short', 'refused']);
});
