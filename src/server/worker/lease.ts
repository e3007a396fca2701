import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { confirmLease, releaseLease, type HeldLease, type Lease } from '../transfers/lease.ts';

/** A worker whose lease was last confirmed longer ago than this, less the tolerance, writes to no socket any more. */
const LEASE_MS = 15_000;
/** Tolerance for clocks and for the delay of the database's answer. */
const MARGIN_MS = 3000;
const CONFIRM_EVERY_MS = 1500;
/** How long a worker has to settle what is under way after the owner has asked for a stop. */
const SETTLED_WITHIN_MS = 2000;
/**
 * How long after the end of a lease everything written under it has arrived or failed: a proxy or a kernel may still
 * hold some of it.
 */
const LONGEST_APPEND_MS = 15_000;
/** How long after a confirmation nobody else may take the transfer. */
export const TAKEN_FOR_SECONDS = (LEASE_MS + LONGEST_APPEND_MS) / 1000;
/** A live worker confirms its lease within this time, even one that has expired. */
export const CONFIRMED_WITHIN_MS = 2 * CONFIRM_EVERY_MS;

/** A lease that also tells its worker when to stop. */
export type WorkersLease = HeldLease &
  AsyncDisposable & {
    /** Aborts once the owner has asked for a stop, or the lease is lost. */
    readonly ending: AbortSignal;
    /** Why it was aborted: `null` before that. */
    readonly why: () => 'stop' | 'lost' | null;
  };

/**
 * Keeps confirming the lease that `takeTransfer` gave, until it is disposed of; then the next worker may take the
 * transfer at once.
 * @param taken when it was requested, by the clock's `elapsed`
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
   * Releases the lease; tries again if the database is away for a moment. Otherwise nobody could take the transfer
   * until the lease expires.
   */
  const release = async (): Promise<void> => {
    try {
      await releaseLease(database, lease);
    } catch (error) {
      log.warn({ err: error, transferId: lease.transferId }, 'the lease of a transfer could not be released');
      if (clock.elapsed() - confirmed >= TAKEN_FOR_SECONDS * 1000) return;
      clock.after(CONFIRM_EVERY_MS, () => {
        // The process is about to close its database, and could not release the lease any more.
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
      // What has been lost is left to run out, as after a death: something of ours may still arrive.
      if (why !== 'lost') await release();
    },
  };
}
