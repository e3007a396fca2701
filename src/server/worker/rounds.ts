import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { earlierTime } from '../store/earlier-time.ts';
import type { Safe } from '../store/safe.ts';
import type { Tokens } from '../oauth/tokens.ts';
import { askAgain } from '../transfers/attention.ts';
import { startDailies } from '../transfers/dailies.ts';
import type { Transfers } from '../transfers/orders.ts';
import type { JobQueue } from './queue.ts';

const LOOK_EVERY_MS = 10 * 60_000;

type Services = {
  readonly database: Database;
  readonly safe: Safe;
  readonly tokens: Pick<Tokens, 'hold' | 'unhold' | 'expire' | 'forget'>;
  readonly transfers: Pick<Transfers, 'start' | 'running'>;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * Looks regularly for owners to remind, for daily runs that are due, and for times that a wrong clock has written,
 * until it is disposed of.
 */
export function startRounds(services: Services): AsyncDisposable {
  const { clock, log } = services;
  let round: Promise<unknown> = Promise.resolve();
  let callOff: (() => void) | undefined;
  let isOver = false;
  const attempt = (work: Promise<void>, failed: string) =>
    work.catch((error: unknown) => log.error({ err: error }, failed));
  const look = () => {
    // The earlier of two clocks: a daily whose days are over is switched off, and its credentials are erased.
    const due = earlierTime(services.database, () => clock.now());
    round = Promise.all([
      attempt(
        due.then((now) => askAgain(services, now)),
        'owners could not be asked again',
      ),
      attempt(
        due.then((now) => startDailies(services, now)),
        'what is due once a day could not be looked for',
      ),
      attempt(services.queue.mendTimes(), 'what a wrong clock has written could not be looked for'),
    ]).finally(() => {
      if (!isOver) callOff = clock.after(LOOK_EVERY_MS, look);
    });
  };
  look();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      callOff?.();
      await round;
    },
  };
}
