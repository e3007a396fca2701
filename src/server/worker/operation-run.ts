import type { Operation } from '../../contract/operation.ts';
import { Stopped } from '../stopped.ts';
import { isFarewell } from '../mail/imap/mail-error.ts';
import { isCredentialRefused, putToRest, type AtRest } from '../transfers/attention.ts';
import type { Secret } from '../transfers/credentials.ts';
import { switchDailyOff } from '../transfers/dailies.ts';
import type { HeldLease } from '../transfers/lease.ts';
import {
  beginRun,
  endOperation,
  noteNotIdle,
  noteWaiting,
  type Counts,
  type OperationEnd,
} from '../transfers/operations.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { openPace, type Work } from './pace.ts';
import type { Rest, Step } from './plan.ts';
import { followProgress } from './progress.ts';
import type { JobQueue } from './queue.ts';
import type { RunnerServices } from './runner.ts';
import { RUNNERS } from './runners.ts';
import { SENTENCES } from './sentences.ts';
import { verdictOn } from './verdict.ts';

/** How soon to try again with what the owner has put right during the run. */
const PUT_RIGHT_SECONDS = 1;

/** One run of a transfer. */
type TransferRun = {
  readonly transfer: Transfer;
  /** How often its owner had put it right when the run began. */
  readonly resumed: number;
  readonly lease: HeldLease;
  /** Its operations that have not ended. */
  readonly open: Set<Operation>;
  /** Those among them that wait for their owner. */
  readonly resting: Map<Operation, AtRest>;
  readonly source: Secret | null;
  readonly destination: Secret | null;
  readonly signal: AbortSignal;
};

/** One run of an operation, whose steps share what it has moved. */
type OperationRun = AsyncDisposable & { readonly perform: (step: Step) => Promise<Rest> };
type OperationRuns = AsyncDisposable & { readonly of: (operation: Operation) => Promise<OperationRun> };

/** A run itself waits for no longer wait than this, in seconds. */
const WAITED_FOR_SECONDS = 60;

/**
 * Does a step, unless its operation has ended, waits for its owner, or is `waiting` for so many seconds more. The run
 * itself waits for a short wait: otherwise this operation would have to wait for the others, which may go on for hours.
 * @param pause throws if the run is over meanwhile
 */
export async function performStep(
  step: Step,
  open: ReadonlySet<Operation>,
  resting: ReadonlyMap<Operation, AtRest>,
  waiting: Map<Operation, number>,
  runs: OperationRuns,
  pause: (milliseconds: number) => Promise<void>,
): Promise<Rest> {
  if (!step.during.every((operation) => open.has(operation))) return null;
  if (resting.has(step.of)) return Infinity;
  const seconds = waiting.get(step.of);
  if (seconds !== undefined) {
    if (seconds > WAITED_FOR_SECONDS) return seconds;
    await pause(seconds * 1000);
    waiting.delete(step.of);
  }
  return (await runs.of(step.of)).perform(step);
}

/** The runs of a transfer's operations, each created with its first step. */
export function operationRuns(
  transferRun: TransferRun,
  services: RunnerServices & { readonly queue: JobQueue },
): OperationRuns {
  const begun = new Map<Operation, Promise<OperationRun>>();
  return {
    of: (operation) => {
      const run = begun.get(operation) ?? beginOperation(operation, transferRun, services);
      begun.set(operation, run);
      return run;
    },
    [Symbol.asyncDispose]: async () => {
      for (const run of await Promise.allSettled(begun.values()))
        if (run.status === 'fulfilled') await run.value[Symbol.asyncDispose]();
    },
  };
}

async function beginOperation(
  operation: Operation,
  { transfer, resumed, lease, open, resting, source, destination, signal }: TransferRun,
  services: RunnerServices & { readonly queue: JobQueue },
): Promise<OperationRun> {
  const { database, log } = services;
  const { transferId } = lease;
  const before = await beginRun(database, lease, operation);
  const { idleRuns: begunIdle, refusalWaits, troubleWaits, done, bytes } = before;
  // A daily's credentials have worked before.
  let hasMoved = done > 0 || transfer.byItself === true;
  let movedNow = false;
  let hasArrived = false;
  const idleRuns = () => (movedNow ? 1 : begunIdle);
  // If a server answers by BYE for the whole account, each run gives up some more messages, which look done. So only
  // what has arrived counts.
  const isSentAway = (error: unknown) => isFarewell(error) && !hasArrived;
  const progress = followProgress(database, log, lease, operation);
  let hasDoneAStep = false;
  let hasFailed = false;
  const pace = openPace(() => services.clock.elapsed());
  const onProgress = (counts: Omit<Counts, 'left'> & Partial<Work>) => {
    // What was refused counts as done, though a later run may store it.
    movedNow ||= counts.done > done || counts.bytes > bytes;
    hasMoved ||= movedNow;
    hasArrived ||= counts.done - (counts.moved?.refused ?? 0) > done || counts.bytes > bytes;
    const { moved, left: open, ...plain } = counts;
    const left = moved === undefined || open === undefined ? undefined : pace.secondsLeft({ moved, left: open });
    progress.note({ ...plain, left });
  };
  const end = async (ended: OperationEnd) => {
    await progress[Symbol.asyncDispose]();
    await endOperation(database, lease, operation, ended);
    open.delete(operation);
  };
  const restFor = async (why: AtRest): Promise<Rest> => {
    await progress.flush();
    // First, so that the letter can mention it. Not for contacts: an address book that refuses the sign-in must not
    // hold up the mail.
    if (isCredentialRefused(why.reason) && operation === 'emailmigration')
      await switchDailyOff(services, transferId, 'sign_in');
    if (!(await putToRest(services, lease, operation, why, { resumed }, services.clock.now())))
      return PUT_RIGHT_SECONDS;
    resting.set(operation, why);
    log.warn({ transferId, operation, side: why.side, reason: why.reason }, 'an operation waits for its owner');
    return Infinity;
  };
  /** What follows from the failure of a step. */
  const afterFailure = async (step: Step, error: unknown): Promise<Rest> => {
    hasFailed = true;
    const stopped = signal.aborted ? new Stopped('The worker stops.') : error;
    const isIdle = isSentAway(stopped);
    const verdict = verdictOn(stopped, isIdle ? begunIdle : idleRuns(), hasMoved, services.clock.now());
    switch (verdict.kind) {
      case 'pass on':
        throw stopped;
      case 'later':
        if (verdict.waiting !== undefined) {
          // Written first, because writing progress marks the run as one that has moved something.
          if (isIdle) await progress.flush();
          const waiting = { ...verdict.waiting, ...(isIdle ? { idle: before } : {}) };
          const since = await noteWaiting(database, lease, operation, waiting, services.clock.now());
          // Nobody ordered this run, so its owner hears only what they have to act on.
          if (since !== null && transfer.byItself !== true)
            await services.queue.announce(transferId, 'waiting', { occurrence: String(since) });
        }
        log.warn(
          { err: error, transferId, operation, step: step.name, seconds: verdict.seconds },
          'a step is tried again later',
        );
        return verdict.seconds;
      case 'attention': {
        const { side, reason: what, end: why } = verdict;
        const secret = side === 'source' ? source : destination;
        const reason = what === 'credentials' ? (secret?.kind === 'token' ? 'consent' : 'password') : what;
        log.warn({ err: error, transferId, operation, step: step.name }, 'a step needs the owner');
        return restFor({ side, reason, ...why });
      }
      case 'end':
        await end(verdict.end);
        log.warn(
          { err: error, transferId, operation, step: step.name, status: verdict.end.status },
          'an operation has ended early',
        );
        return null;
    }
  };
  const run = {
    transfer,
    operation,
    lease,
    destination,
    signal,
    onProgress,
    idleRuns,
    refusalWaits,
    troubleWaits,
    isOpen: (each: Operation) => open.has(each),
  };
  return {
    perform: async (step) => {
      const missing = [...resting.values()].find(
        ({ side, reason }) => isCredentialRefused(reason) && (side === 'source' ? source : destination) === null,
      );
      if (missing !== undefined) return restFor(missing);
      if (source === null) {
        await end({ status: 'review', failure: withoutSource(transfer, operation, open) });
        return null;
      }
      try {
        const ended = await RUNNERS[step.name]({ ...run, source }, services);
        if (ended === null) {
          hasDoneAStep = true;
          return null;
        }
        await end(ended);
        log.info({ transferId, operation, status: ended.status }, 'an operation has ended');
        return null;
      } catch (error) {
        return afterFailure(step, error);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await progress[Symbol.asyncDispose]();
      // The operation may be waiting for another one, and must not run out of tries meanwhile.
      if (hasDoneAStep && !hasFailed)
        await noteNotIdle(database, lease, operation).catch((err: unknown) =>
          log.warn({ err, transferId, operation }, 'that a run was not idle could not be noted'),
        );
    },
  };
}

/**
 * Why an operation without credentials ends. Operations that follow the mail end for the reason that the mail has
 * ended.
 */
function withoutSource({ destinationProvider }: Transfer, operation: Operation, open: ReadonlySet<Operation>): string {
  if (open.has('emailmigration')) return SENTENCES.unexpected;
  if (operation === 'emailforwarding') return SENTENCES.forwardingWithoutMail;
  return destinationProvider === 'file_export' ? SENTENCES.exportWithoutMail : SENTENCES.unexpected;
}
