import type { Clock } from '../mail/imap/wire.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { confirmLease, releaseLease, type HeldLease, type Lease } from '../transfers/lease.ts';

/** A worker whose lease was last confirmed longer ago than this writes to no socket. */
const LEASE_MS = 15_000;
/** How far clocks and the database's answer may be off. */
const MARGIN_MS = 3000;
const CONFIRM_EVERY_MS = 1500;
/** How long, after its owner has asked for a stop, a worker has to settle what is under way. */
const SETTLED_WITHIN_MS = 2000;
/**
 * How long after the end of a lease all that was written under it has arrived or failed: a proxy or a kernel may still
 * hold some.
 */
const LONGEST_APPEND_MS = 15_000;
/** How long after a confirmation nobody else may take the transfer. */
export const TAKEN_FOR_SECONDS = (LEASE_MS + LONGEST_APPEND_MS) / 1000;
/** Whoever is at work has confirmed a lease within this time, even one that has run out. */
export const CONFIRMED_WITHIN_MS = 2 * CONFIRM_EVERY_MS;

/** A lease whose worker is told when it is to stop. */
export type WorkersLease = HeldLease &
  AsyncDisposable & {
    /** Aborts once the owner has asked for a stop, or another worker has the transfer. */
    readonly ending: AbortSignal;
    /** Why it was aborted: `null` before that. */
    readonly why: () => 'stop' | 'lost' | null;
  };

/**
 * Confirms the lease that `takeTransfer` gave, until it is disposed of; then the next worker may take the transfer at
 * once.
 * @param taken when that was asked for, by the clock's `elapsed`
 */
export function holdLease(
  database: Database,
  lease: Lease,
  taken: number,
  { clock, log, processEnds }: { readonly clock: Clock; readonly log: Log; readonly processEnds: AbortSignal },
): WorkersLease {
  let confirmed = taken;
  let why: 'stop' | 'lost' | null = null;
  let maySettle = true;
  let endSettling: (() => void) | undefined;
  const ending = new AbortController();
  let isOver = false;
  let callOff: (() => void) | undefined;
  let confirming: Promise<void> = Promise.resolve();
  const confirm = async () => {
    const asked = clock.elapsed();
    try {
      const answer = await confirmLease(database, lease, TAKEN_FOR_SECONDS);
      if (answer !== 'lost') confirmed = asked;
      if (answer === 'stop')
        endSettling ??= clock.after(SETTLED_WITHIN_MS, () => {
          maySettle = false;
        });
      if (answer !== 'ours') {
        why = answer;
        ending.abort();
      }
    } catch (error) {
      log.warn({ err: error, transferId: lease.transferId }, 'the lease of a transfer could not be confirmed');
    }
    if (why !== 'lost' && !isOver) next();
  };
  const next = () => {
    callOff = clock.after(CONFIRM_EVERY_MS, () => {
      confirming = confirm();
    });
  };
  next();
  /**
   * Tries to give the lease back also when the database is away for a moment: else it would keep everybody from the
   * transfer until it has run out.
   */
  const release = async (): Promise<void> => {
    try {
      await releaseLease(database, lease);
    } catch (error) {
      log.warn({ err: error, transferId: lease.transferId }, 'the lease of a transfer could not be released');
      if (clock.elapsed() - confirmed >= TAKEN_FOR_SECONDS * 1000) return;
      clock.after(CONFIRM_EVERY_MS, () => {
        // With the process its database is let go of, and nobody could be told any more.
        if (!processEnds.aborted) void release();
      });
    }
  };
  return {
    ...lease,
    ending: ending.signal,
    why: () => why,
    mayWrite: () => why !== 'lost' && maySettle && clock.elapsed() - confirmed < LEASE_MS - MARGIN_MS,
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      callOff?.();
      endSettling?.();
      await confirming;
      await release();
    },
  };
}
