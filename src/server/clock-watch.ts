import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { lookAgain } from './look-again.ts';
import type { Sql } from './store/database.ts';
import { CLOCKS_APART_MS } from './web/limits.ts';

/** What to log if this machine's clock differs from the database's, which all processes share; `null` if it doesn't. */
export async function clockFault(database: Sql, now: () => number): Promise<string | null> {
  const asked = now();
  const [row] = await database.query<{ at: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as at',
  );
  const ahead = (asked + now()) / 2 - (row?.at ?? asked);
  if (Math.abs(ahead) <= CLOCKS_APART_MS) return null;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return `This machine's clock is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the database's: sign-ins, sessions, limits and what runs out by time go wrong. Put both right (NTP), and start this process again.`;
}

type Watched = {
  readonly database: Sql;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Pick<Log, 'error' | 'info'>;
};

/**
 * Compares the clocks at the start and then every ten minutes, until it is disposed of. The log says so once each time
 * that they begin to differ, and when they agree again.
 */
export async function watchClock({ database, clock, log }: Watched): Promise<AsyncDisposable> {
  let isWrong = false;
  const look = async () => {
    const fault = await clockFault(database, clock.now);
    if (fault !== null && !isWrong) log.error(fault);
    if (fault === null && isWrong) log.info("this machine's clock and the database's are right again");
    isWrong = fault !== null;
  };
  await look();
  return lookAgain(clock, look);
}
