import { expect, test } from 'vitest';
import type { Clock } from '../../src/server/clock.ts';
import { openLog } from '../../src/server/log.ts';
import type { Database } from '../../src/server/store/database.ts';
import { holdLease } from '../../src/server/worker/lease.ts';

/** Lets go of a lease while the database is away. @returns how often that was tried, where the process ends or goes on */
async function triesToRelease(ends: boolean): Promise<number> {
  let [now, tries] = [0, 0];
  const ending = new AbortController();
  const due: (() => void)[] = [];
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    after: (milliseconds, run) => {
      const isDue = () => {
        now += milliseconds;
        run();
      };
      due.push(isDue);
      return () => void due.splice(due.indexOf(isDue), 1);
    },
  };
  const query = async () => {
    tries += 1;
    throw new Error('The database is away.');
  };
  const database = { query } as unknown as Database;
  const log = openLog('silent');
  const lease = holdLease(database, { transferId: 'one', epoch: 1 }, 0, { clock, log, processEnds: ending.signal });
  if (ends) ending.abort();
  await lease[Symbol.asyncDispose]();
  for (let next = due.shift(); next !== undefined; next = due.shift()) {
    next();
    await new Promise(setImmediate);
  }
  return tries;
}

test('releasing a lease is retried while the database is unreachable, until the lease has expired', async () => {
  expect(await triesToRelease(false)).toBe(21);
});

test('and that does not keep a process from ending', async () => {
  expect(await triesToRelease(true)).toBe(1);
});
