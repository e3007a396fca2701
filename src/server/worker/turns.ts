import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { movedBy } from '../transfers/operations.ts';
import { costOf } from './pace.ts';

export const TRANSFERS = 'transfers';
export const TAKE_BACKS = 'take-backs';

/**
 * A job that takes longer is stopped, and goes on behind those that wait. Otherwise slow mail servers would have all
 * places for good, because pg-boss runs a job that it has ended itself before all newer ones. Take-backs have a single
 * place.
 */
export const TURN_MS = { [TRANSFERS]: 23 * 3_600_000, [TAKE_BACKS]: 6 * 3_600_000 };
/**
 * While others wait, a take-back goes on behind them after this: one subscriber may have ordered many at a slow server.
 */
export const TAKE_BACK_WHILE_OTHERS_WAIT_MS = 30 * 60_000;
/**
 * How often a transfer's progress is looked at, and how many looks in a row may find less than `MOVED_AT_LEAST` of it
 * before it counts as slow: an hour.
 */
export const LOOKED_AT_EVERY_MS = 5 * 60_000;
export const SLOW_AFTER_LOOKS = 12;
/** By {@link costOf}: it may be some thousand small messages. */
export const MOVED_AT_LEAST = 64_000_000;

const WAITING =
  "select 1 from pgboss.job where name = $1 and state in ('created', 'retry') and start_after <= now() limit 1";

/** Watches one turn of a transfer, which it aborts, until it is disposed of. */
type Watch = (transferId: string, turn: AbortController) => Disposable;

/** Decides whose turn ends while others wait. */
export function openTurns({ database, log }: { readonly database: Database; readonly log: Log }): {
  /** @param atOnce how many places there are */
  watchSlow(atOnce: number): Watch;
  readonly watchTakeBack: Watch;
} {
  const doOthersWait = async (queue: string) => (await database.query(WAITING, [queue])).length > 0;
  const lookEvery = (milliseconds: number, look: () => Promise<void>): Disposable => {
    const timer = setInterval(() => {
      look().catch((error: unknown) => log.warn({ err: error }, 'whether others wait could not be looked at'));
    }, milliseconds).unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  };
  /**
   * Ends the turns of slow transfers that have more than half of the places (or the only one) while others wait:
   * otherwise a few slow mail servers would keep everybody waiting for a whole turn.
   */
  const watchSlow = (atOnce: number): Watch => {
    const slow = new Set<AbortController>();
    return (transferId, turn) => {
      let [from, looks, isOver] = [0, 0, false];
      const looking = lookEvery(LOOKED_AT_EVERY_MS, async () => {
        const moved = costOf(await movedBy(database, transferId));
        if (isOver) return;
        looks += 1;
        if (moved - from >= MOVED_AT_LEAST) {
          [from, looks] = [moved, 0];
          slow.delete(turn);
        } else if (looks >= SLOW_AFTER_LOOKS) slow.add(turn);
        const isOneTooMany = slow.has(turn) && slow.size > Math.floor(atOnce / 2);
        if (!isOneTooMany || !(await doOthersWait(TRANSFERS)) || isOver) return;
        slow.delete(turn);
        log.info({ transferId }, 'a slow transfer goes on behind those that wait');
        turn.abort();
      });
      return {
        [Symbol.dispose]: () => {
          isOver = true;
          looking[Symbol.dispose]();
          slow.delete(turn);
        },
      };
    };
  };
  const watchTakeBack: Watch = (_transferId, turn) =>
    lookEvery(TAKE_BACK_WHILE_OTHERS_WAIT_MS, async () => {
      if (await doOthersWait(TAKE_BACKS)) turn.abort();
    });
  return { watchSlow, watchTakeBack };
}
