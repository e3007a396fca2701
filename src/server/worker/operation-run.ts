import type { Operation } from '../../contract/operation.ts';
import { Stopped } from '../stopped.ts';
import { isCredentialRefused, putToRest, type AtRest } from '../transfers/attention.ts';
import type { Secret } from '../transfers/credentials.ts';
import { switchDailyOff } from '../transfers/dailies.ts';
import type { HeldLease } from '../transfers/lease.ts';
import {
  beginRun,
  endOperation,
  noteNotIdle,
  noteWaiting,
  type OperationEnd,
  type RunBegun,
  type Waiting,
} from '../transfers/operations.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { type Moved, watchMoved } from './moved.ts';
import { openPace } from './pace.ts';
import type { Rest, Step } from './plan.ts';
import { followProgress } from './progress.ts';
import type { JobQueue } from './queue.ts';
import type { Run, RunnerServices } from './runner.ts';
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
type Services = RunnerServices & { readonly queue: JobQueue };
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
export function operationRuns(transferRun: TransferRun, services: Services): OperationRuns {
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
  transferRun: TransferRun,
  services: Services,
): Promise<StartedOperation> {
  const { database, log } = services;
  const { lease } = transferRun;
  const before = await beginRun(database, lease, operation);
  return new StartedOperation(
    operation,
    transferRun,
    services,
    before,
    followProgress(database, log, lease, operation),
  );
}

class StartedOperation implements OperationRun {
  readonly #operation: Operation;
  readonly #of: TransferRun;
  readonly #services: Services;
  readonly #before: RunBegun;
  readonly #progress: ReturnType<typeof followProgress>;
  readonly #pace: ReturnType<typeof openPace>;
  readonly #moved: Moved;
  #hasDoneAStep = false;
  #hasFailed = false;

  constructor(
    operation: Operation,
    of: TransferRun,
    services: Services,
    before: RunBegun,
    progress: ReturnType<typeof followProgress>,
  ) {
    this.#operation = operation;
    this.#of = of;
    this.#services = services;
    this.#before = before;
    this.#progress = progress;
    this.#pace = openPace(() => services.clock.elapsed());
    // A daily's credentials have worked before.
    this.#moved = watchMoved(before, of.transfer.byItself === true);
  }

  async perform(step: Step): Promise<Rest> {
    const { transfer, resting, source, destination, open } = this.#of;
    const missing = [...resting.values()].find(
      ({ side, reason }) => isCredentialRefused(reason) && (side === 'source' ? source : destination) === null,
    );
    if (missing !== undefined) return this.#restFor(missing);
    if (source === null) {
      await this.#end({ status: 'review', failure: withoutSource(transfer, this.#operation, open) });
      return null;
    }
    try {
      const ended = await RUNNERS[step.name](this.#runWith(source), this.#services);
      if (ended === null) this.#hasDoneAStep = true;
      else {
        await this.#end(ended);
        this.#services.log.info({ ...this.#facts(), status: ended.status }, 'an operation has ended');
      }
      return null;
    } catch (error) {
      return this.#afterFailure(step, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#progress[Symbol.asyncDispose]();
    // The operation may be waiting for another one, and must not run out of tries meanwhile.
    if (this.#hasDoneAStep && !this.#hasFailed)
      await noteNotIdle(this.#services.database, this.#of.lease, this.#operation).catch((err: unknown) =>
        this.#services.log.warn({ err, ...this.#facts() }, 'that a run was not idle could not be noted'),
      );
  }

  #facts() {
    return { transferId: this.#of.lease.transferId, operation: this.#operation };
  }

  #runWith(source: Secret): Run {
    const { transfer, lease, destination, signal, open } = this.#of;
    const { refusalWaits, troubleWaits } = this.#before;
    return {
      transfer,
      operation: this.#operation,
      lease,
      source,
      destination,
      signal,
      onProgress: (counts) => this.#onProgress(counts),
      idleRuns: this.#moved.idleRuns,
      refusalWaits,
      troubleWaits,
      isOpen: (each) => open.has(each),
    };
  }

  #onProgress(counts: Parameters<Run['onProgress']>[0]): void {
    this.#moved.note(counts);
    const { moved, left: open, ...plain } = counts;
    const left = moved === undefined || open === undefined ? undefined : this.#pace.secondsLeft({ moved, left: open });
    this.#progress.note({ ...plain, left });
  }

  /** What follows from the failure of a step. */
  async #afterFailure(step: Step, error: unknown): Promise<Rest> {
    this.#hasFailed = true;
    const stopped = this.#of.signal.aborted ? new Stopped('The worker stops.') : error;
    const isSentAway = this.#moved.isSentAway(stopped);
    const idleRuns = isSentAway ? this.#before.idleRuns : this.#moved.idleRuns();
    const verdict = verdictOn(stopped, idleRuns, this.#moved.ever(), this.#services.clock.now());
    const facts = { err: error, ...this.#facts(), step: step.name };
    const { log } = this.#services;
    switch (verdict.kind) {
      case 'pass on':
        throw stopped;
      case 'later':
        if (verdict.waiting !== undefined) await this.#noteWaiting(verdict.waiting, isSentAway);
        log.warn({ ...facts, seconds: verdict.seconds }, 'a step is tried again later');
        return verdict.seconds;
      case 'attention': {
        const { side, reason: what, end } = verdict;
        const secret = side === 'source' ? this.#of.source : this.#of.destination;
        const reason = what === 'credentials' ? (secret?.kind === 'token' ? 'consent' : 'password') : what;
        log.warn(facts, 'a step needs the owner');
        return this.#restFor({ side, reason, ...end });
      }
      case 'end':
        await this.#end(verdict.end);
        log.warn({ ...facts, status: verdict.end.status }, 'an operation has ended early');
        return null;
    }
  }

  async #noteWaiting(waiting: Waiting, isSentAway: boolean): Promise<void> {
    const { lease, transfer } = this.#of;
    const { database, clock, queue } = this.#services;
    // Written first, because writing progress marks the run as one that has moved something.
    if (isSentAway) await this.#progress.flush();
    const noted = { ...waiting, ...(isSentAway ? { idle: this.#before } : {}) };
    const since = await noteWaiting(database, lease, this.#operation, noted, clock.now());
    // Nobody ordered this run, so its owner hears only what they have to act on.
    if (since !== null && transfer.byItself !== true)
      await queue.announce(lease.transferId, 'waiting', { occurrence: String(since) });
  }

  async #restFor(why: AtRest): Promise<Rest> {
    const { lease, resumed, resting } = this.#of;
    await this.#progress.flush();
    // First, so that the letter can mention it. Not for contacts: an address book that refuses the sign-in must not
    // hold up the mail.
    if (isCredentialRefused(why.reason) && this.#operation === 'emailmigration')
      await switchDailyOff(this.#services, lease.transferId, 'sign_in');
    if (!(await putToRest(this.#services, lease, this.#operation, why, { resumed }, this.#services.clock.now())))
      return PUT_RIGHT_SECONDS;
    resting.set(this.#operation, why);
    this.#services.log.warn(
      { ...this.#facts(), side: why.side, reason: why.reason },
      'an operation waits for its owner',
    );
    return Infinity;
  }

  async #end(ended: OperationEnd): Promise<void> {
    await this.#progress[Symbol.asyncDispose]();
    await endOperation(this.#services.database, this.#of.lease, this.#operation, ended);
    this.#of.open.delete(this.#operation);
  }
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
