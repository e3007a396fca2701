import { isFarewell } from '../mail/imap/mail-error.ts';
import type { Counts, RunBegun } from '../transfers/operations.ts';

/** What a run of an operation has moved so far, by which its failures are judged. */
export type Moved = {
  readonly note: (counts: Omit<Counts, 'left'> & { readonly moved?: { readonly refused?: number } }) => void;
  /** Whether this run or one before it has moved anything, so that the credentials have worked. */
  readonly ever: () => boolean;
  /** How many runs in a row have moved nothing, this one included; 1 once it has moved something. */
  readonly idleRuns: () => number;
  /**
   * Whether a server that answers by BYE has sent the whole account away. Each such run gives up some more messages,
   * which look done, so only what has arrived counts.
   */
  readonly isSentAway: (error: unknown) => boolean;
};

/** @param hasWorked whether its credentials are known to have worked before */
export function watchMoved(
  { done, bytes, idleRuns }: Pick<RunBegun, 'done' | 'bytes' | 'idleRuns'>,
  hasWorked: boolean,
): Moved {
  let isMoving = false;
  let hasArrived = false;
  return {
    // What was refused counts as done, though a later run may store it.
    note: ({ done: doneNow, bytes: bytesNow, moved }) => {
      isMoving ||= doneNow > done || bytesNow > bytes;
      hasArrived ||= doneNow - (moved?.refused ?? 0) > done || bytesNow > bytes;
    },
    ever: () => isMoving || done > 0 || hasWorked,
    idleRuns: () => (isMoving ? 1 : idleRuns),
    isSentAway: (error) => isFarewell(error) && !hasArrived,
  };
}
