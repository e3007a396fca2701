import { setTimeout as wait } from 'node:timers/promises';
import type { Operation } from '../../contract/operation.ts';
import { MAIL_TIMES } from '../mail/imap/connection.ts';
import { MACHINE_CLOCK } from '../mail/imap/clock.ts';
import { Stopped } from '../mail/copy/lanes.ts';
import { openResolver } from '../network/resolver.ts';
import { openNotifier } from '../notifications/notifier.ts';
import type { News } from '../notifications/news.ts';
import { SealError } from '../store/vault.ts';
import { destroyCredentials, openCredentials, type Secret } from '../transfers/credentials.ts';
import { LeaseLost, takeTransfer, type HeldLease } from '../transfers/lease.ts';
import {
  beginRun,
  endOperation,
  endTransfer,
  notePause,
  noteWaiting,
  openOperations,
  type Counts,
  type OperationEnd,
} from '../transfers/operations.ts';
import { reviewOf } from '../transfers/review.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { holdLease, TAKEN_FOR_SECONDS } from './lease.ts';
import { followPlan, planOf, type Rest, type Step } from './plan.ts';
import { followProgress } from './progress.ts';
import type { JobQueue } from './queue.ts';
import type { Pause, RunnerServices } from './runner.ts';
import { RUNNERS } from './runners.ts';
import { SENTENCES } from './sentences.ts';
import { countDeaths } from '../transfers/deaths.ts';
import { DEATHS_AT_MOST, watchMemory, type MemoryWatch } from './memory-watch.ts';
import { verdictOn } from './verdict.ts';

export type WorkerServices = Omit<RunnerServices, 'pause' | 'clock' | 'times' | 'onStep' | 'resolver'> &
  Partial<Pick<RunnerServices, 'pause' | 'clock' | 'times' | 'onStep' | 'resolver'>> & {
    readonly queue: JobQueue;
    /** What a letter about a transfer tells. */
    readonly news: (transferId: string) => Promise<News | null>;
  };

/**
 * Works on queued transfers and sends notifications until it is disposed of: then the messages under way are finished,
 * and what is left goes back to the queue.
 */
export async function startWorker(given: WorkerServices): Promise<AsyncDisposable> {
  const services = {
    pause,
    clock: MACHINE_CLOCK,
    times: MAIL_TIMES,
    onStep: () => {},
    resolver: openResolver(),
    ...given,
  };
  const { queue, settings, log } = services;
  await using starting = new AsyncDisposableStack();
  const stop = new AbortController();
  starting.defer(() => log.info('the worker has stopped'));
  const memory = starting.use(watchMemory(services));
  const notifier = starting.use(openNotifier({ ...services, review: (id) => reviewOf(services.database, id) }));
  await queue.resume();
  starting.use(await queue.workOnNotifications(notifier.tell));
  starting.use(
    await queue.workOnTransfers(settings.transfersAtOnce, (id, signal) =>
      runTransfer(id, AbortSignal.any([stop.signal, signal]), services, memory),
    ),
  );
  starting.defer(() => stop.abort());
  return starting.move();
}

const pause: Pause = async (milliseconds, signal) => {
  await wait(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};

async function runTransfer(
  id: string,
  signal: AbortSignal,
  services: RunnerServices & { readonly queue: JobQueue },
  memory: MemoryWatch,
): Promise<void> {
  const { database, safe, tokens, queue, log, clock } = services;
  const asked = clock.elapsed();
  const taken = await takeTransfer(database, id, TAKEN_FOR_SECONDS);
  if (taken === null) return;
  if ('heldForSeconds' in taken) {
    await queue.sendUnlessWaiting(id, taken.heldForSeconds + 1);
    return;
  }
  const { transfer } = taken;
  await using lease = holdLease(database, taken.lease, asked, services);
  const credentials = await credentialsOf(id, services);
  const open = new Set(await openOperations(database, id));
  const deaths = await countDeaths(database, id);
  await using _watched = memory.during(id);
  let rest: Rest = null;
  try {
    if (deaths >= DEATHS_AT_MOST) await setAside(lease, open, services);
    await using runs = operationRuns({ transfer, lease, open, signal, ...credentials }, services);
    rest = await followPlan(planOf(transfer), (step) => performStep(step, open, runs));
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log.warn({ transferId: id, epoch: lease.epoch }, 'another worker has taken the transfer over');
    return;
  }
  if (rest !== null) {
    await queue.send(id, { afterSeconds: rest });
    return;
  }
  const { destination } = credentials;
  if (destination?.kind === 'token') await tokens.forget(destination.tokenId);
  await database.transaction(async (sql) => {
    const { allCompleted } = await endTransfer(sql, lease);
    await queue.announce(id, allCompleted ? 'finished' : 'attention', { sql });
    if (!allCompleted) await queue.announce(id, 'review', { sql });
  });
  await destroyCredentials(safe, id);
  log.info({ transferId: id }, 'a transfer has ended');
}

/** For the operator to look at: it would take the worker down again, and everybody else's transfers with it. */
async function setAside(lease: HeldLease, open: Set<Operation>, { database, log }: RunnerServices): Promise<void> {
  const { transferId } = lease;
  log.error({ transferId }, 'a transfer has killed its worker again and again, and is set aside');
  for (const operation of open)
    await endOperation(database, lease, operation, { status: 'review', failure: SENTENCES.setAside });
  open.clear();
}

/** What can't be opened any more, such as after `SECRET_KEY` was changed, is as good as gone. */
async function credentialsOf(id: string, { database, safe, log }: RunnerServices) {
  try {
    return {
      source: await openCredentials(database, safe, id, 'source'),
      destination: await openCredentials(database, safe, id, 'destination'),
    };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    log.error({ transferId: id, err: error }, 'the credentials of a transfer can not be opened, so it ends');
    return { source: null, destination: null };
  }
}

type TransferRun = {
  readonly transfer: Transfer;
  readonly lease: HeldLease;
  /** Its operations that have not ended. */
  readonly open: Set<Operation>;
  readonly source: Secret | null;
  readonly destination: Secret | null;
  readonly signal: AbortSignal;
};

/** One run of an operation, whose steps share what it has moved. */
type OperationRun = AsyncDisposable & { readonly perform: (step: Step) => Promise<Rest> };
type OperationRuns = AsyncDisposable & { readonly of: (operation: Operation) => Promise<OperationRun> };

async function performStep(step: Step, open: ReadonlySet<Operation>, runs: OperationRuns): Promise<Rest> {
  if (!step.during.every((operation) => open.has(operation))) return null;
  return (await runs.of(step.of)).perform(step);
}

function operationRuns(transferRun: TransferRun, services: RunnerServices): OperationRuns {
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
  { transfer, lease, open, source, destination, signal }: TransferRun,
  services: RunnerServices,
): Promise<OperationRun> {
  const { database, log } = services;
  const { transferId } = lease;
  const { idleRuns, done } = await beginRun(database, lease, operation);
  let hasMoved = done > 0;
  let movedNow = false;
  const progress = followProgress(database, log, lease, operation);
  const onProgress = (counts: Counts) => {
    movedNow ||= counts.done > done;
    hasMoved ||= movedNow;
    progress.note(counts);
  };
  const end = async (ended: OperationEnd) => {
    await progress[Symbol.asyncDispose]();
    await endOperation(database, lease, operation, ended);
    open.delete(operation);
  };
  const run = {
    transfer,
    operation,
    lease,
    destination,
    signal,
    onProgress,
    isOpen: (each: Operation) => open.has(each),
  };
  return {
    perform: async (step) => {
      if (source === null) {
        await end({ status: 'review', failure: SENTENCES.unexpected });
        return null;
      }
      try {
        const ended = await RUNNERS[step.name]({ ...run, source }, services);
        if (ended === null) return null;
        await end(ended);
        log.info({ transferId, operation, status: ended.status }, 'an operation has ended');
        return null;
      } catch (error) {
        const stopped = signal.aborted ? new Stopped('The worker stops.') : error;
        const verdict = verdictOn(stopped, movedNow ? 1 : idleRuns, hasMoved, services.clock.now());
        switch (verdict.kind) {
          case 'pass on':
            throw stopped;
          case 'later':
            if (verdict.paused !== undefined) await notePause(database, lease, operation, verdict.paused);
            if (verdict.waiting !== undefined) await noteWaiting(database, lease, operation, verdict.waiting);
            log.warn(
              { err: error, transferId, operation, step: step.name, seconds: verdict.seconds },
              'a step is tried again later',
            );
            return verdict.seconds;
          case 'end':
            await end(verdict.end);
            log.warn(
              { err: error, transferId, operation, step: step.name, status: verdict.end.status },
              'an operation has ended early',
            );
            return null;
        }
      }
    },
    [Symbol.asyncDispose]: () => progress[Symbol.asyncDispose](),
  };
}
