import { setTimeout as wait } from 'node:timers/promises';
import type { Operation } from '../../contract/operation.ts';
import { exportFiles } from '../export/download/links.ts';
import { MAIL_TIMES } from '../mail/imap/connection.ts';
import { Stopped } from '../mail/copy/copy-chunk.ts';
import { queueNotification } from '../notifications/outbox.ts';
import { openResolver } from '../network/resolver.ts';
import { startNotifier } from '../notifications/notifier.ts';
import { LeaseLost } from '../mail/copy/ledger.ts';
import {
  beginRun,
  endOperation,
  endTransfer,
  openOperations,
  takeTransfer,
  type OperationEnd,
  type Transfer,
} from '../transfers/operations.ts';
import { SealError } from '../store/vault.ts';
import type { Pause } from '../mail/copy/connection-pool.ts';
import { destroyCredentials, openCredentials, type Secret } from '../transfers/credentials.ts';
import { followProgress } from './progress.ts';
import { TRANSFERS_QUEUE, type JobQueue, type TransferJob } from './queue.ts';
import type { RunnerServices } from './runner.ts';
import { runnerOf } from './runners.ts';
import { SENTENCES } from './sentences.ts';
import { countDeaths } from '../transfers/deaths.ts';
import { DEATHS_AT_MOST, watchMemory, type MemoryWatch } from './memory-watch.ts';
import { verdictOn } from './verdict.ts';

const LOOK_EVERY_SECONDS = 0.5;
/** For a transfer whose operations wait for nothing but one another. */
const NEXT_TURN_SECONDS = 1;

export type WorkerServices = Omit<RunnerServices, 'pause' | 'times' | 'onStep' | 'resolver'> &
  Partial<Pick<RunnerServices, 'pause' | 'times' | 'onStep' | 'resolver'>> & { readonly queue: JobQueue };

/**
 * Works on queued transfers and sends notifications until it is disposed of: then the messages under way are finished,
 * and what is left goes back to the queue.
 */
export async function startWorker(given: WorkerServices): Promise<AsyncDisposable> {
  const services = { pause, times: MAIL_TIMES, onStep: () => {}, resolver: openResolver(), ...given };
  const { queue, settings, log } = services;
  const stop = new AbortController();
  const memory = watchMemory(services);
  await queue.resume();
  await queue.boss.work<TransferJob>(
    TRANSFERS_QUEUE,
    { batchSize: 1, localConcurrency: settings.transfersAtOnce, pollingIntervalSeconds: LOOK_EVERY_SECONDS },
    async (jobs) => {
      for (const job of jobs)
        await runTransfer(job.data.transferId, AbortSignal.any([stop.signal, job.signal]), services, memory);
    },
  );
  const notifier = startNotifier({
    ...services,
    exportFiles: (id) => exportFiles({ ...services, now: () => Date.now() }, id),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await queue.boss.offWork(TRANSFERS_QUEUE);
      memory[Symbol.dispose]();
      await notifier[Symbol.asyncDispose]();
      log.info('the worker has stopped');
    },
  };
}

const pause: Pause = async (milliseconds, signal) => {
  await wait(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};

/** Seconds until the operation is to be tried again, or `null` when it has ended. */
type Rest = number | null;

async function runTransfer(
  id: string,
  signal: AbortSignal,
  services: RunnerServices & { readonly queue: JobQueue },
  memory: MemoryWatch,
): Promise<void> {
  const { database, safe, tokens, queue, log } = services;
  const taken = await takeTransfer(database, id);
  if (taken === null) return;
  const { transfer, epoch } = taken;
  const { source, destination } = await credentialsOf(id, services);
  const operations = await openOperations(database, id);
  const deaths = await countDeaths(database, id);
  await using _watched = memory.during(id);
  const setAside = async (operation: Operation): Promise<Rest> => {
    log.error(
      { transferId: id, operation, deaths },
      'an operation has killed its worker again and again and is set aside',
    );
    await endOperation(database, id, epoch, operation, { status: 'review', failure: SENTENCES.setAside });
    return null;
  };
  const outcomes = await Promise.allSettled(
    operations.map((operation) =>
      deaths >= DEATHS_AT_MOST
        ? setAside(operation)
        : runOperation({ transfer, epoch, operation, source, destination, signal }, services),
    ),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) {
    if (failed.reason instanceof LeaseLost) {
      log.warn({ transferId: id, epoch }, 'another worker has taken the transfer over');
      return;
    }
    throw failed.reason;
  }
  const rests = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value !== null ? [outcome.value] : [],
  );
  if (rests.length > 0) {
    const soonest = Math.min(...rests);
    await queue.send(id, { afterSeconds: Number.isFinite(soonest) ? soonest : NEXT_TURN_SECONDS });
    return;
  }
  if (destination?.kind === 'token') await tokens.forget(destination.tokenId);
  await database.transaction(async (sql) => {
    const ends = await endTransfer(sql, id);
    const kind = ends.every((end) => end.status === 'completed') ? 'finished' : 'attention';
    if (transfer.notificationContact !== undefined)
      await queueNotification(sql, id, kind, transfer.notificationContact);
  });
  await destroyCredentials(safe, id);
  log.info({ transferId: id }, 'a transfer has ended');
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

type OperationRun = {
  readonly transfer: Transfer;
  readonly epoch: number;
  readonly operation: Operation;
  readonly source: Secret | null;
  readonly destination: Secret | null;
  readonly signal: AbortSignal;
};

async function runOperation(run: OperationRun, services: RunnerServices): Promise<Rest> {
  const { database, log } = services;
  const { transfer, epoch, operation, source } = run;
  const { id } = transfer;
  const { idleRuns, done } = await beginRun(database, id, operation);
  let hasMoved = done > 0;
  let movedNow = false;
  const end = (ended: OperationEnd) => endOperation(database, id, epoch, operation, ended);
  if (source === null) {
    await end({ status: 'review', failure: SENTENCES.unexpected });
    return null;
  }
  try {
    await using progress = followProgress(database, log, id, operation);
    const onProgress: typeof progress.note = (counts) => {
      movedNow ||= counts.done > done;
      hasMoved ||= movedNow;
      progress.note(counts);
    };
    const ended = await runnerOf(transfer, operation)({ ...run, source, onProgress }, services);
    await progress[Symbol.asyncDispose]();
    await end(ended);
    log.info({ transferId: id, operation, status: ended.status }, 'an operation has ended');
    return null;
  } catch (error) {
    const verdict = verdictOn(
      run.signal.aborted ? new Stopped('The worker stops.') : error,
      movedNow ? 1 : idleRuns,
      hasMoved,
    );
    switch (verdict.kind) {
      case 'pass on':
        throw run.signal.aborted ? new Stopped('The worker stops.') : error;
      case 'later':
        log.warn(
          { err: error, transferId: id, operation, seconds: verdict.seconds },
          'an operation is tried again later',
        );
        return verdict.seconds;
      case 'end':
        await end(verdict.end);
        log.warn({ err: error, transferId: id, operation, status: verdict.end.status }, 'an operation has ended early');
        return null;
    }
  }
}
