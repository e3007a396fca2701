import { MailError } from '../imap/mail-error.ts';
import { Stopped } from './lanes.ts';

/** Tries in a row that move nothing before the run gives up; the transfer itself goes on later. */
const TRIES_IN_A_ROW = 4;
const FIRST_PAUSE_MS = 1000;
/** A server that asks for more than this is left alone by the whole run. */
export const LONGEST_PAUSE_MS = 60_000;

/** Waits; ends early, without an error, when the signal aborts. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export type Pool<Item, Session extends AsyncDisposable> = {
  readonly size: number;
  readonly open: () => Promise<Session>;
  readonly work: (item: Item, session: Session) => Promise<void>;
  /** How much has been moved so far, to tell a run that goes on from one that is stuck. */
  readonly moved: () => number;
  readonly pause: Pause;
  readonly signal: AbortSignal;
};

/**
 * Works through all items with a few sessions at once, each made when it is needed and made anew after a passing
 * fault. An item may be worked on again after a fault. A server that doesn't allow all the sessions keeps those it does.
 * @throws {MailError} the fault that could not be got over; {@link Stopped} after an abort
 */
export async function workThrough<Item, Session extends AsyncDisposable>(
  items: readonly Item[],
  pool: Pool<Item, Session>,
): Promise<void> {
  const waiting = [...items];
  const failures: unknown[] = [];
  let standing = 0;
  const worker = async () => {
    let session: Session | undefined;
    let tries = 0;
    let movedBefore = pool.moved();
    try {
      for (;;) {
        const item = waiting.shift();
        if (item === undefined || failures.length > 0) return;
        if (pool.signal.aborted) throw new Stopped('The work was asked to stop.');
        try {
          if (session === undefined) {
            session = await pool.open();
            standing += 1;
          }
          await pool.work(item, session);
        } catch (error) {
          const opened = session !== undefined;
          if (session !== undefined) {
            standing -= 1;
            await session[Symbol.asyncDispose]();
            session = undefined;
          }
          if (!(error instanceof MailError) || !error.passing) throw error;
          waiting.unshift(item);
          // The others have what the server allows; they will take this item as well.
          if (!opened && standing > 0) return;
          tries = pool.moved() > movedBefore ? 1 : tries + 1;
          movedBefore = pool.moved();
          const wait = Math.max(error.pause ?? 0, FIRST_PAUSE_MS * 2 ** (tries - 1));
          if (tries >= TRIES_IN_A_ROW || wait > LONGEST_PAUSE_MS) throw error;
          await pool.pause(wait, pool.signal);
        }
      }
    } catch (error) {
      failures.push(error);
    } finally {
      if (session !== undefined) {
        standing -= 1;
        await session[Symbol.asyncDispose]();
      }
    }
  };
  // A worker that gave its item back may leave it to nobody, when the others had just ended.
  while (waiting.length > 0 && failures.length === 0)
    await Promise.all(Array.from({ length: Math.min(pool.size, waiting.length) }, worker));
  if (failures.length > 0) throw worst(failures);
}

/** A fault that somebody must mend says more than a lost connection, and a stop says least. */
function worst(failures: readonly unknown[]): unknown {
  return failures.toSorted((a, b) => rank(b) - rank(a))[0];
}

function rank(error: unknown): number {
  if (error instanceof Stopped) return 0;
  return error instanceof MailError ? (error.passing ? 1 : 2) : 3;
}
