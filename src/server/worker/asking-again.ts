import type { Log } from '../log.ts';
import type { Clock } from '../mail/imap/wire.ts';
import type { Database } from '../store/database.ts';
import { askAgain } from '../transfers/attention.ts';
import type { JobQueue } from './queue.ts';

const LOOK_EVERY_MS = 10 * 60_000;

type Services = {
  readonly database: Database;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
};

/** Looks now and then for owners who are to be asked again, until it is disposed of. */
export function startAskingAgain({ database, queue, clock, log }: Services): AsyncDisposable {
  let round: Promise<void> = Promise.resolve();
  let callOff: (() => void) | undefined;
  let isOver = false;
  const look = () => {
    round = askAgain({ database, queue }, clock.now())
      .catch((error: unknown) => log.error({ err: error }, 'owners could not be asked again'))
      .finally(() => {
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
