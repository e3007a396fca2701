import { setTimeout as wait } from 'node:timers/promises';
import { MACHINE_CLOCK } from '../clock.ts';
import { openHolds } from '../mail/imap/hold.ts';
import { MAIL_TIMES } from '../mail/imap/connection.ts';
import { openResolver } from '../network/resolver.ts';
import { openNotifier } from '../notifications/notifier.ts';
import type { Transfers } from '../transfers/orders.ts';
import { reviewOf } from '../transfers/review.ts';
import type { JobQueue } from './queue.ts';
import type { Pause, RunnerServices } from './runner.ts';
import { watchMemory } from './memory-watch.ts';
import { runTakeBack } from './take-back-run.ts';
import { startRounds } from './rounds.ts';
import { runTransfer } from './transfer-run.ts';

/** What a test may replace. */
type Given = 'pause' | 'clock' | 'holds' | 'times' | 'onStep' | 'onTakeBackStep' | 'resolver';

export type WorkerServices = Omit<RunnerServices, Given | 'processEnds'> &
  Partial<Pick<RunnerServices, Given>> & {
    readonly queue: JobQueue;
    readonly transfers: Pick<Transfers, 'news' | 'start' | 'running'>;
  };

/**
 * Works on queued transfers and sends notifications until it is disposed of; then it finishes the messages under way
 * and returns the rest to the queue.
 */
export async function startWorker(given: WorkerServices): Promise<AsyncDisposable> {
  const stop = new AbortController();
  const services = {
    processEnds: stop.signal,
    pause,
    clock: MACHINE_CLOCK,
    holds: openHolds(given.clock ?? MACHINE_CLOCK),
    times: MAIL_TIMES,
    onStep: () => {},
    onTakeBackStep: () => {},
    resolver: openResolver(),
    ...given,
  };
  const { queue, settings, log } = services;
  await using starting = new AsyncDisposableStack();
  starting.defer(() => log.info('the worker has stopped'));
  const memory = starting.use(watchMemory(services));
  const notifier = starting.use(
    openNotifier({ ...services, news: services.transfers.news, review: (id) => reviewOf(services.database, id) }),
  );
  await queue.resume();
  starting.use(startRounds(services));
  starting.use(await queue.workOnNotifications(notifier.tell));
  starting.use(
    await queue.workOnTransfers(settings.transfersAtOnce, (id, signal) =>
      runTransfer(id, AbortSignal.any([stop.signal, signal]), services, memory),
    ),
  );
  starting.use(
    await queue.workOnTakeBacks((id, signal) => runTakeBack(id, AbortSignal.any([stop.signal, signal]), services)),
  );
  starting.defer(() => stop.abort());
  return starting.move();
}

const pause: Pause = async (milliseconds, signal) => {
  await wait(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};
