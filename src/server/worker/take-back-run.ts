import { isDiskFull } from '../export/disk/disk-room.ts';
import { openTakeBackRecords, type TakenBack, takenBack } from '../mail/copy/ledger/take-back-records.ts';
import { takeBack, type TakeBackEnd } from '../mail/copy/take-back.ts';
import { isSwitchedOff, MailError } from '../mail/imap/mail-error.ts';
import { ConsentError } from '../oauth/token-errors.ts';
import { DatabaseUnavailable } from '../store/database-faults.ts';
import { SealError } from '../store/vault.ts';
import { openCredentials } from '../transfers/credentials.ts';
import { LeaseLost, takeEndedTransfer } from '../transfers/lease.ts';
import { beginTakeBack, endTakeBack } from '../transfers/taking-back.ts';
import { holdLease, TAKEN_FOR_SECONDS } from './lease.ts';
import { openMailSide } from './mail.runner.ts';
import type { JobQueue } from './queue.ts';
import type { RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';
import { pauseAfterDatabase } from './verdict.ts';

/** Runs in a row that take nothing back, with pauses of up to five minutes. */
const IDLE_RUNS = 12;
const FIRST_PAUSE_SECONDS = 2;
const LONGEST_PAUSE_SECONDS = 300;
const LOOK_AGAIN_SECONDS = 5;
const LOST =
  'this run of a take-back is over: another worker has taken it, or the database was started anew and may have lost commits';

/** Takes back what an ended transfer has copied, continuing where an earlier run stopped. */
export async function runTakeBack(
  id: string,
  signal: AbortSignal,
  services: RunnerServices & { readonly queue: JobQueue },
): Promise<void> {
  const { database, safe, queue, clock, log } = services;
  const asked = clock.elapsed();
  const taken = await takeEndedTransfer(database, id, TAKEN_FOR_SECONDS);
  if (taken === null) return;
  if ('heldForSeconds' in taken) {
    await queue.sendTakeBackAgain(id, Math.min(taken.heldForSeconds + 1, LOOK_AGAIN_SECONDS));
    return;
  }
  await using lease = holdLease(database, taken.lease, asked, services);
  const idleRuns = await beginTakeBack(database, id);
  const stopping = AbortSignal.any([signal, lease.ending]);
  try {
    const destination = await openCredentials(database, safe, taken.transfer, 'destination');
    if (destination === null) return await endTakeBack(services, lease, SENTENCES.takenBackNoSignIn);
    const run = { transfer: taken.transfer, source: null, destination, signal: stopping, lease };
    const end = await takeBack({
      ...(await openMailSide('destination', run, services)),
      records: openTakeBackRecords(database, lease),
      clock,
      mayWrite: lease.mayWrite,
      mayWait: idleRuns < IDLE_RUNS,
      signal: stopping,
      onStep: services.onTakeBackStep,
    });
    const after = await takenBack(database, id);
    await endTakeBack(services, lease, end.isOneByOne ? failureOf(after, end) : notTaken(after));
    log.info({ transferId: id }, 'what a transfer had copied was taken back');
  } catch (error) {
    if (error instanceof LeaseLost || lease.why() === 'lost') {
      log.warn({ transferId: id, epoch: lease.epoch }, LOST);
      // As with transfers: this may be its only job; if not, the other worker's is enough.
      await queue.sendTakeBackAgain(id, LOOK_AGAIN_SECONDS);
      return;
    }
    if (stopping.aborted) throw error;
    log.warn({ err: error, transferId: id }, 'taking back was broken off');
    const isPassing =
      error instanceof MailError ? error.passing : !(error instanceof ConsentError || error instanceof SealError);
    if (error instanceof DatabaseUnavailable || isDiskFull(error) || (isPassing && idleRuns < IDLE_RUNS)) {
      const asked = error instanceof MailError ? (error.pause ?? 0) / 1000 : 0;
      await queue.sendTakeBackAgain(id, Math.max(pauseAfter(error, idleRuns), asked));
      return;
    }
    const isSignIn =
      error instanceof ConsentError ||
      error instanceof SealError ||
      (error instanceof MailError && (error.fault === 'credentials' || isSwitchedOff(error)));
    await endTakeBack(services, lease, isSignIn ? SENTENCES.takenBackNoSignIn : SENTENCES.takenBackFailed);
  }
}

/** In seconds. */
function pauseAfter(error: unknown, idleRuns: number): number {
  if (error instanceof DatabaseUnavailable) return pauseAfterDatabase(error, idleRuns);
  return Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (Math.min(idleRuns, IDLE_RUNS) - 1));
}

/** Why nothing more is taken back. An earlier try may have removed some. */
function notTaken(after: TakenBack | null): string {
  return after === null || after.removed === 0 ? SENTENCES.takenBackNot : SENTENCES.takenBackNoMore;
}

/** What is reported of messages that are still there, or may be. */
function failureOf(after: TakenBack | null, end: TakeBackEnd): string | null {
  if (after === null) return null;
  const { removed, unsure } = after;
  const left = Math.max(0, after.left - end.absent);
  const absent = after.left - left + after.moved;
  const archives = end.archives && removed > 0;
  return left + absent + unsure === 0 && !archives ? null : SENTENCES.takenBackLeft({ left, absent, unsure, archives });
}
