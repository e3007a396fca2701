import type { PgBoss } from 'pg-boss';
import pgBoss from 'pg-boss/package.json' with { type: 'json' };
import { type Database, madeByNewer, startFault } from '../store/database.ts';
import { TAKE_BACKS, TRANSFERS } from './turns.ts';

/** A worker without a sign of life for this long counts as dead; another one takes its job. */
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 5;
/** pg-boss lets no job run longer. */
const JOB_SECONDS = 24 * 3600 - 60;
const RETRY_SECONDS = 1;
/** A worker's death is not the transfer's fault. What counts against it is in `operations.idle_runs`. */
const RETRIES = 100_000;
const KEPT_SECONDS = 3600;
/**
 * pg-boss deletes a job that has waited for longer than this (by default two weeks), because no worker ran or a clock
 * is ahead. Nobody would queue it again.
 */
const WAITS_SECONDS = 10 * 365 * 24 * 3600;

export const NOTIFICATIONS = 'notifications';
/** Those to a phone: a mail server that takes its minutes over each letter must not hold them up. */
export const TEXTS = 'texts';
export const TELLING = [NOTIFICATIONS, TEXTS];
/** Longer than a slow mail server takes for a letter, so nobody sends it twice; after a crash, it is due again then. */
const SENT_WITHIN_SECONDS = 600;
/**
 * The first pause, doubling each time, before an unsent notification is tried again. The tries go on for three days, as
 * for mail servers: when the operator's own mail server was down for a weekend, every letter was lost.
 */
const FIRST_TELL_AGAIN_SECONDS = 30;
const LAST_TELL_AGAIN_SECONDS = 3600;
export const TELL_TRIES = 80;
/**
 * A unique violation: at a first start, another process may make pg-boss's tables at the same time. pg-boss itself
 * handles most of these cases.
 */
const MADE_BY_ANOTHER = '23505';
const START_TRIES = 5;
/** How long a notification is remembered as sent. */
const TOLD_SECONDS = 90 * 24 * 3600;

/**
 * Starts pg-boss, and makes the product's queues in it.
 * @throws {DatabaseUnavailable}, {@link SettingsError} when the database can't be used
 */
export async function startQueues(database: Database, onError: (error: unknown) => void): Promise<PgBoss> {
  const boss = database.queue({
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', onError);
  await startBoss(boss);
  const tables = await boss.schemaVersion();
  if (tables !== null && tables > pgBoss.pgboss.schema) {
    await boss.stop({ graceful: false });
    throw madeByNewer(database, `pgboss ${tables}`);
  }
  for (const queue of [TRANSFERS, TAKE_BACKS]) {
    await boss.createQueue(queue, {
      policy: 'standard',
      retryLimit: RETRIES,
      retryDelay: RETRY_SECONDS,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: JOB_SECONDS,
      deleteAfterSeconds: KEPT_SECONDS,
    });
    // Also for queues that an earlier version has made.
    await boss.updateQueue(queue, { retentionSeconds: WAITS_SECONDS });
  }
  for (const queue of TELLING) {
    await boss.createQueue(queue, {
      policy: 'standard',
      retryLimit: TELL_TRIES,
      retryDelay: FIRST_TELL_AGAIN_SECONDS,
      retryBackoff: true,
      retryDelayMax: LAST_TELL_AGAIN_SECONDS,
      expireInSeconds: SENT_WITHIN_SECONDS,
      retentionSeconds: TOLD_SECONDS,
      deleteAfterSeconds: TOLD_SECONDS,
    });
    // Also for jobs that an earlier version has queued.
    await boss.updateQueue(queue, { retryLimit: TELL_TRIES });
  }
  await database.query(
    "update pgboss.job set retry_limit = $2 where name = $1 and state in ('created', 'retry') and retry_limit < $2",
    [NOTIFICATIONS, TELL_TRIES],
  );
  // pg-boss reads a queue's settings on first use. Within a transaction on PGlite, that would wait for itself, so it is
  // done here.
  for (const queue of [TRANSFERS, TAKE_BACKS, ...TELLING]) await boss.findJobs(queue, { key: '' });
  return boss;
}

async function startBoss(boss: PgBoss, tries = START_TRIES): Promise<void> {
  try {
    await boss.start();
  } catch (error) {
    if ((error as { code?: unknown }).code !== MADE_BY_ANOTHER || tries === 1) throw startFault(error);
    await startBoss(boss, tries - 1);
  }
}
