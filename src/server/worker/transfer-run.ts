import type { Operation } from '../../contract/operation.ts';
import { removeUnfinishedExport } from '../export/download/sweeper.ts';
import { Stopped } from '../stopped.ts';
import { earlierTime } from '../store/earlier-time.ts';
import { SealError } from '../store/vault.ts';
import { ENDS_AFTER_MS, eraseRefused, restingOperations, type AtRest } from '../transfers/attention.ts';
import { destroyCredentials, openCredentials, type Secret } from '../transfers/credentials.ts';
import { countDailyRun, isOldNews, switchDailyOff } from '../transfers/dailies.ts';
import { countDeaths } from '../transfers/deaths.ts';
import { LeaseLost, takeTransfer, type HeldLease } from '../transfers/lease.ts';
import { endOperation, endTransfer, openOperations, waitingOperations } from '../transfers/operations.ts';
import { endStopped } from '../transfers/stopping.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { CONFIRMED_WITHIN_MS, holdLease, TAKEN_FOR_SECONDS } from './lease.ts';
import { DEATHS_AT_MOST, type MemoryWatch } from './memory-watch.ts';
import { operationRuns, performStep } from './operation-run.ts';
import { followPlan, planOf, type Rest } from './plan.ts';
import type { JobQueue } from './queue.ts';
import type { RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';

/** How soon to look again at a transfer that another worker has. */
const LOOK_AGAIN_SECONDS = 5;
/** How soon to look again whether it is the turn of a transfer that a worker has died with. */
const SUSPECT_AGAIN_SECONDS = 30;
/** Reminders, and the ends of resting transfers, may be late by this much. */
const KEPT_AFTER_MS = 24 * 3_600_000;

const LOST =
  'this run of a transfer is over: another worker has taken it, or the database was started anew and may have lost commits';

type Services = RunnerServices & { readonly queue: JobQueue };

/**
 * One run of a queued transfer: takes it and follows its plan as far as possible. Then it is ended, left to its owner,
 * or queued again.
 */
export async function runTransfer(
  id: string,
  signal: AbortSignal,
  services: Services,
  memory: MemoryWatch,
): Promise<void> {
  const { database, queue, log } = services;
  const { taken, asked } = await take(id, signal, services);
  if (taken === null) return;
  if (!('lease' in taken)) {
    // The other worker may be done with it sooner.
    const seconds = 'heldForSeconds' in taken ? taken.heldForSeconds : 0;
    await queue.sendUnlessWaiting(id, Math.min(seconds + 1, LOOK_AGAIN_SECONDS));
    return;
  }
  const { transfer, resumed } = taken;
  await using lease = holdLease(database, taken.lease, asked, services);
  const open = new Set(await openOperations(database, id));
  // If none is open, the request came too late.
  if (taken.stopAsked && open.size > 0) {
    await endAsked(lease, services);
    return;
  }
  const credentials = await credentialsOf(transfer, services);
  const resting = await restingNow(transfer, lease, open, services);
  const waiting = await waitingOperations(database, id);
  const deaths = await countDeaths(database, id);
  using suspect = deaths > 0 && deaths < DEATHS_AT_MOST ? memory.suspect() : undefined;
  if (suspect === null) {
    await queue.sendAfterPause(id, SUSPECT_AGAIN_SECONDS);
    return;
  }
  await using _watched = memory.during(id);
  let rest: Rest;
  try {
    if (deaths >= DEATHS_AT_MOST) await setAside(lease, open, services);
    const ending = AbortSignal.any([signal, lease.ending]);
    await using runs = operationRuns(
      { transfer, resumed, lease, open, resting, signal: ending, ...credentials },
      services,
    );
    const waitFor = async (milliseconds: number) => {
      await services.pause(milliseconds, ending);
      if (ending.aborted) throw new Stopped('The worker stops.');
    };
    rest = await followPlan(planOf(transfer), (step) => performStep(step, open, resting, waiting, runs, waitFor));
  } catch (error) {
    if (!(error instanceof LeaseLost) && lease.why() === null) throw error;
    if (lease.why() === 'stop') await endAsked(lease, services);
    else {
      log.warn({ transferId: id, epoch: lease.epoch }, LOST);
      // If the database has lost the record of who took it, this may be its only job, which ends with this run.
      await queue.sendUnlessWaiting(id, LOOK_AGAIN_SECONDS);
    }
    return;
  }
  if (rest === null) await end(transfer, lease, credentials.destination, services);
  else if (lease.why() === 'stop') await endAsked(lease, services);
  else if (rest === Infinity) await awaitOwner(lease, credentials.destination, services);
  else await queue.sendAfterPause(id, rest);
}

/**
 * Takes a transfer. If its lease has expired without being released, its worker gets the time to confirm it first.
 * @returns `asked`: when it was requested, by the clock's `elapsed`
 */
async function take(id: string, signal: AbortSignal, { database, clock, pause }: Services) {
  const asked = clock.elapsed();
  const taken = await takeTransfer(database, id, TAKEN_FOR_SECONDS);
  if (taken === null || !('unreleased' in taken)) return { taken, asked };
  await pause(CONFIRMED_WITHIN_MS, signal);
  if (signal.aborted) return { taken, asked };
  const askedAgain = clock.elapsed();
  return { taken: await takeTransfer(database, id, TAKEN_FOR_SECONDS, taken.unreleased), asked: askedAgain };
}

/** Ends a transfer whose operations have all ended, and notifies whoever has to know. */
async function end(
  { byItself }: Transfer,
  lease: HeldLease,
  destination: Secret | null,
  services: Services,
): Promise<void> {
  const { database, safe, tokens, queue, log } = services;
  const { transferId: id } = lease;
  const endsDaily = await database.transaction(async (sql) => {
    const { allCompleted, wasPutRight, isUnordered } = await endTransfer(sql, lease);
    const isDone = allCompleted || (isUnordered && (await isOldNews(sql, id)));
    const fails = byItself === true && (await countDailyRun(sql, id, isDone));
    // Nobody ordered this run, so its owner hears only what they have to act on.
    if (!isUnordered || wasPutRight || fails)
      await queue.announce(id, allCompleted ? 'finished' : 'attention', { sql });
    if (!isDone) await queue.announce(id, 'review', { sql });
    if (destination?.kind === 'token') await tokens.expire(destination.tokenId, sql);
    return fails;
  });
  await destroyCredentials(safe, id);
  if (destination?.kind === 'token') await tokens.forget(destination.tokenId);
  if (endsDaily) await switchDailyOff(services, id, 'failed');
  log.info({ transferId: id }, 'a transfer has ended');
}

/** The operations that wait for their owner; ends those that have waited too long. */
async function restingNow(
  { destinationProvider }: Transfer,
  lease: HeldLease,
  open: Set<Operation>,
  { database, clock }: RunnerServices,
): Promise<Map<Operation, AtRest>> {
  const resting = new Map<Operation, AtRest>();
  const now = await earlierTime(database, () => clock.now());
  for (const { operation, since, ...rest } of await restingOperations(database, lease.transferId)) {
    if (now - since.getTime() < ENDS_AFTER_MS) resting.set(operation, rest);
    else {
      const ofMail = destinationProvider === 'file_export' ? SENTENCES.unansweredExport : SENTENCES.unanswered;
      const failure = operation === 'contactsmigration' ? SENTENCES.unansweredContacts : ofMail;
      await endOperation(database, lease, operation, { status: rest.status, failure });
      open.delete(operation);
    }
  }
  return resting;
}

/** Leaves the transfer to its owner, who has to put something right before anything can be done. */
async function awaitOwner(
  lease: HeldLease,
  destination: Secret | null,
  { database, safe, tokens }: RunnerServices,
): Promise<void> {
  const erased = await eraseRefused(database, safe, lease);
  if (destination?.kind !== 'token') return;
  if (erased.includes('destination')) await tokens.forget(destination.tokenId);
  else await tokens.keep(destination.tokenId, ENDS_AFTER_MS + KEPT_AFTER_MS);
}

/** Ends the transfer at its owner's request, once what was under way has been settled. */
async function endAsked(lease: HeldLease, services: Services): Promise<void> {
  const { transferId } = lease;
  const isStopped = await endStopped(services, transferId, lease);
  await removeUnfinishedExport(services, transferId);
  if (!isStopped) {
    // All was done, or somebody else has ended it: this may be its only job.
    await services.queue.sendUnlessWaiting(transferId, LOOK_AGAIN_SECONDS);
    return;
  }
  services.log.info({ transferId }, 'a transfer was stopped by its owner');
}

/** Leaves the transfer to the operator: it would kill the worker again, and everybody else's transfers with it. */
async function setAside(lease: HeldLease, open: Set<Operation>, { database, log }: RunnerServices): Promise<void> {
  const { transferId } = lease;
  log.error({ transferId }, 'a transfer has killed its worker again and again, and is set aside');
  for (const operation of open)
    await endOperation(database, lease, operation, { status: 'review', failure: SENTENCES.setAside });
  open.clear();
}

/** Credentials that can't be opened any more, for instance because `SECRET_KEY` was changed, count as gone. */
async function credentialsOf(transfer: Transfer, { database, safe, log }: RunnerServices) {
  try {
    return {
      source: await openCredentials(database, safe, transfer, 'source'),
      destination: await openCredentials(database, safe, transfer, 'destination'),
    };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    log.error(
      { transferId: transfer.id, err: error },
      'the credentials of a transfer can not be opened, so it ends: is SECRET_KEY the same in every process?',
    );
    return { source: null, destination: null };
  }
}
