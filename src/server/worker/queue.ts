import { createHash } from 'node:crypto';
import type { PgBoss, SendOptions } from 'pg-boss';
import pgBoss from 'pg-boss/package.json' with { type: 'json' };
import type { Log } from '../log.ts';
import { Stopped } from '../mail/copy/lanes.ts';
import { keyOf, type NotificationJob, type Notifier } from '../notifications/notifier.ts';
import { DatabaseUnavailable, faultOf } from '../store/database-faults.ts';
import { type Database, madeByNewer, type Sql, startFault } from '../store/database.ts';
import { earlierTime } from '../store/earlier-time.ts';
import { releaseAllLeases } from '../transfers/lease.ts';
import { openTurns, TAKE_BACKS, TRANSFERS, TURN_MS } from './turns.ts';

/** `failures`: consecutive failures outside of a step (within steps, faults are waited for); `fault`: the last one. */
type TransferJob = { readonly transferId: string; readonly failures?: number; readonly fault?: string };

/** A worker without a sign of life for this long counts as dead; another one takes its job. */
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 5;
/** pg-boss lets no job run longer. */
const JOB_SECONDS = 24 * 3600 - 60;
const RETRY_SECONDS = 1;
/**
 * The first pause, doubling each time, before a job that failed outside of a step is tried again, for as long as it takes
 * an operator to fix the cause.
 */
const FIRST_AGAIN_SECONDS = 1;
const LAST_AGAIN_SECONDS = 1800;
/** A database that can note the job is there again. */
const LAST_AGAIN_AFTER_CRASH_SECONDS = 10;
/** A worker's death is not the transfer's fault. What counts against it is in `operations.idle_runs`. */
const RETRIES = 100_000;
const KEPT_SECONDS = 3600;
/**
 * pg-boss deletes a job that has waited for longer: after two weeks, unless it is told otherwise, without workers or by a
 * clock that is ahead. Nobody would queue it again.
 */
const WAITS_SECONDS = 10 * 365 * 24 * 3600;
const STOP_WITHIN_MS = 30_000;
const LOOK_FOR_TRANSFERS_SECONDS = 0.5;
/**
 * Transfers that another worker seems to have go before waiting ones: otherwise a dead worker's transfers would wait
 * behind all orders.
 */
const HELD_PRIORITY = 1;
/** As much later is as good; so far this machine's clock and the database's may be apart. */
const SOON_MS = 60_000;

const WORKED_ON = `select id from pgboss.job where name = '${TRANSFERS}' and state = 'active'`;
/** A set difference, whose speed does not depend on PostgreSQL's statistics: with stale ones, 10,000 rows took 19 s. */
const WITHOUT_JOB = `select id from transfers join
  (select id from transfers where finished is null except select singleton_key from pgboss.job
    where name = '${TRANSFERS}' and state in ('created', 'retry', 'active')) as idle using (id)
  order by created`;
const SENT_TOGETHER = 1000;

const AHEAD = "now() + interval '1 minute'";
/** What a clock that was ahead has written: of jobs that wait, of workers' last signs of life, of when they were looked for. */
const FROM_AHEAD = [
  `update pgboss.job set start_after = now() + (start_after - created_on), created_on = now()
   where state in ('created', 'retry') and created_on > ${AHEAD} returning 1`,
  // What a worker gave back when it was stopped: it may have been queued long before, and is tried again within so long.
  `update pgboss.job set start_after = now()
   where state = 'retry' and start_after > ${AHEAD} + make_interval(secs => greatest(retry_delay, retry_delay_max)) returning 1`,
  `update pgboss.job set heartbeat_on = now() where state = 'active' and heartbeat_on > ${AHEAD} returning 1`,
  `update pgboss.queue set maintain_on = least(maintain_on, now()), monitor_on = least(monitor_on, now()),
     monitor_claim_on = least(monitor_claim_on, now())
   where greatest(maintain_on, monitor_on, monitor_claim_on) > ${AHEAD} returning 1`,
];

const NOTIFICATIONS = 'notifications';
/** Longer than a slow mail server takes for a letter, so nobody sends it twice; after a crash, it is due again then. */
const SENT_WITHIN_SECONDS = 600;
/** The first pause, doubling each time, before an unsent notification is tried again, for about a day. */
const FIRST_TELL_AGAIN_SECONDS = 30;
const LAST_TELL_AGAIN_SECONDS = 3600;
const TELL_TRIES = 30;
/** How long a notification is remembered as sent. */
const TOLD_SECONDS = 90 * 24 * 3600;
const LOOK_FOR_NOTIFICATIONS_SECONDS = 2;
/** Errors of the queue with the same code are logged once within this time. */
const TOLD_AGAIN_MS = 60_000;

/** pg-boss keeps an error with its job for months, so what a server said, which may contain an address, is left out. */
class JobFailed extends Error {
  override name = 'JobFailed';
  readonly code: string | null;
  constructor(error: unknown) {
    super('The job failed.');
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    this.code = /^[A-Z0-9_]{1,32}$/.test(code) ? code : null;
  }
}

type Within = { readonly sql?: Sql };

/** The queue of transfers and of notifications about them, in the product's own database. */
export type JobQueue = AsyncDisposable & {
  /** Queues a transfer, within a transaction if one is given. */
  send(transferId: string, options?: Within & { readonly afterSeconds?: number }): Promise<void>;
  /**
   * Queues a transfer that another worker has for later, before waiting ones, unless it is queued for about the same
   * time already.
   */
  sendUnlessWaiting(transferId: string, afterSeconds: number): Promise<void>;
  /**
   * Queues a transfer that has paused, behind waiting ones, with the same exception: of two jobs each would queue the
   * next one, and together they would use up its tries in half the time.
   */
  sendAfterPause(transferId: string, afterSeconds: number): Promise<void>;
  /**
   * Has the subscriber or support notified if the given transaction commits: of each kind of news, or each occurrence of
   * it, once per transfer.
   */
  announce(
    transferId: string,
    kind: NotificationJob['kind'],
    options?: Within & { readonly occurrence?: string },
  ): Promise<void>;
  /** Queues the take-back of a transfer that has ended, within a transaction if one is given. */
  sendTakeBack(transferId: string, options?: Within): Promise<void>;
  /** Queues it for later, unless it is queued for about the same time already. */
  sendTakeBackAgain(transferId: string, afterSeconds: number): Promise<void>;
  workOnTakeBacks(run: (transferId: string, signal: AbortSignal) => Promise<void>): Promise<AsyncDisposable>;
  /**
   * Queues every unfinished transfer that nobody works on. With the embedded database that is all of them, as no other
   * process can hold one. To be called before this process works on any.
   */
  resume(): Promise<void>;
  /**
   * Mends what has been written while the database's clock was ahead: until that time came, what was queued then would
   * wait, and nobody would take a dead worker's jobs.
   */
  mendTimes(): Promise<void>;
  /** Takes transfers until it is disposed of, which waits for those under way. */
  workOnTransfers(
    atOnce: number,
    run: (transferId: string, signal: AbortSignal) => Promise<void>,
  ): Promise<AsyncDisposable>;
  /** Takes notifications, one at a time; if `tell` throws, the notification is tried again later. */
  workOnNotifications(tell: Notifier['tell']): Promise<AsyncDisposable>;
};

/** @throws {DatabaseUnavailable}, {@link SettingsError} when it can't be used */
export async function openJobQueue({ database, log }: { database: Database; log: Log }): Promise<JobQueue> {
  const boss = database.queue({
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', toldNowAndThen(log, Date.now));
  await boss.start().catch((error: unknown) => {
    throw startFault(error);
  });
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
    // Those that an earlier version has made as well.
    await boss.updateQueue(queue, { retentionSeconds: WAITS_SECONDS });
  }
  await boss.createQueue(NOTIFICATIONS, {
    policy: 'standard',
    retryLimit: TELL_TRIES,
    retryDelay: FIRST_TELL_AGAIN_SECONDS,
    retryBackoff: true,
    retryDelayMax: LAST_TELL_AGAIN_SECONDS,
    expireInSeconds: SENT_WITHIN_SECONDS,
    retentionSeconds: TOLD_SECONDS,
    deleteAfterSeconds: TOLD_SECONDS,
  });
  // pg-boss reads a queue's settings on first use, which within a transaction on PGlite would wait for itself.
  for (const queue of [TRANSFERS, TAKE_BACKS, NOTIFICATIONS]) await boss.findJobs(queue, { key: '' });
  /**
   * For each queue, the IDs of its workers in this process, which are notified of this process's own orders and need not
   * find them by polling.
   */
  const takers = new Map<string, string[]>();
  const wake = (queue: string) => {
    for (const id of takers.get(queue) ?? []) boss.notifyWorker(id);
  };
  const sendTo = async (
    queue: string,
    transferId: string,
    {
      sql,
      afterSeconds,
      ...failed
    }: Within & Omit<TransferJob, 'transferId'> & { readonly afterSeconds?: number } = {},
  ) => {
    const job: TransferJob = { transferId, ...failed };
    await boss.send(queue, job, {
      singletonKey: transferId,
      ...(afterSeconds === undefined ? {} : { startAfter: Math.ceil(afterSeconds) }),
      ...within(sql),
    });
    if (afterSeconds === undefined) void (sql?.committed ?? Promise.resolve()).then(() => wake(queue));
  };
  const send: JobQueue['send'] = (transferId, options) => sendTo(TRANSFERS, transferId, options);
  const sendOnce = async (
    queue: string,
    transferId: string,
    afterSeconds: number,
    options: Pick<SendOptions, 'priority'> = {},
  ) => {
    const jobs = await boss.findJobs<TransferJob>(queue, { key: transferId, queued: true });
    // Nothing is soon by a clock that is far ahead.
    const soon = (await earlierTime(database, Date.now)) + afterSeconds * 1000 + SOON_MS;
    if (jobs.some(({ startAfter }) => startAfter.getTime() <= soon)) return;
    // One that waits for later is brought forward: a second one would go on beside it.
    await boss.upsert(queue, { transferId } satisfies TransferJob, {
      singletonKey: transferId,
      startAfter: Math.ceil(afterSeconds),
      ...options,
    });
  };
  /** The operator is told when it begins to fail, or fails in another way than before. */
  const putOff = async (queue: string, { transferId, failures = 0, fault: before }: TransferJob, error: unknown) => {
    const fault = `${error instanceof Error ? error.name : typeof error} ${new JobFailed(error).code}`;
    if (fault !== before)
      log.error(
        { err: error, queue, transferId },
        'a job broke off, and is tried again after longer and longer pauses',
      );
    const wasAway = error instanceof DatabaseUnavailable && error.wasAway;
    const longest = wasAway ? LAST_AGAIN_AFTER_CRASH_SECONDS : LAST_AGAIN_SECONDS;
    const afterSeconds = Math.min(longest, FIRST_AGAIN_SECONDS * 2 ** failures);
    await sendTo(queue, transferId, { afterSeconds, failures: failures + 1, fault });
  };
  const turns = openTurns({ database, log });
  const workOn = async (
    queue: keyof typeof TURN_MS,
    atOnce: number,
    run: (transferId: string, signal: AbortSignal) => Promise<void>,
  ): Promise<AsyncDisposable> => {
    const options = { batchSize: 1, pollingIntervalSeconds: LOOK_FOR_TRANSFERS_SECONDS };
    const watched = queue === TRANSFERS ? turns.watchSlow(atOnce) : turns.watchTakeBack;
    const take = async (): Promise<string> => {
      const taker = await boss.work<TransferJob>(queue, options, async (jobs) => {
        for (const { data, signal } of jobs) {
          const begun = performance.now();
          const turn = new AbortController();
          const timer = setTimeout(() => turn.abort(), TURN_MS[queue]).unref();
          using _watched = watched(data.transferId, turn);
          // After a long run, failures no longer count as in a row.
          const failed = () =>
            performance.now() - begun > LAST_AGAIN_SECONDS * 1000 ? { transferId: data.transferId } : data;
          await handled(
            () => run(data.transferId, AbortSignal.any([signal, turn.signal])),
            (error) => {
              if (turn.signal.aborted) return sendTo(queue, data.transferId);
              if (error instanceof Stopped) throw error;
              return putOff(queue, failed(), error);
            },
          ).finally(() => clearTimeout(timer));
        }
        // Many mailboxes take less time than the polling interval.
        boss.notifyWorker(taker);
      });
      return taker;
    };
    takers.set(queue, await Promise.all(Array.from({ length: atOnce }, take)));
    return takingFrom(boss, queue);
  };
  return {
    send,
    sendTakeBack: (transferId, options) => sendTo(TAKE_BACKS, transferId, options),
    workOnTakeBacks: (run) => workOn(TAKE_BACKS, 1, run),
    sendTakeBackAgain: (transferId, afterSeconds) => sendOnce(TAKE_BACKS, transferId, afterSeconds),
    sendUnlessWaiting: (transferId, afterSeconds) =>
      sendOnce(TRANSFERS, transferId, afterSeconds, { priority: HELD_PRIORITY }),
    sendAfterPause: (transferId, afterSeconds) => sendOnce(TRANSFERS, transferId, afterSeconds),
    announce: async (transferId, kind, { sql, occurrence } = {}) => {
      const job: NotificationJob = { transferId, kind, ...(occurrence === undefined ? {} : { occurrence }) };
      await boss.send(NOTIFICATIONS, job, { id: onceIdOf(job), ...within(sql) });
    },
    resume: async () => {
      if (database.kind === 'pglite') await releaseAllLeases(database);
      // There may be very many, and visitors wait for this, so they are not looked up one by one.
      const worked = database.kind === 'pglite' ? await database.query<{ id: string }>(WORKED_ON) : [];
      if (worked.length > 0)
        await boss.fail(
          TRANSFERS,
          worked.map(({ id }) => id),
        );
      const idle = await database.query<{ id: string }>(WITHOUT_JOB);
      for (let from = 0; from < idle.length; from += SENT_TOGETHER) {
        const jobs = idle.slice(from, from + SENT_TOGETHER);
        await boss.insert(
          TRANSFERS,
          jobs.map(({ id }) => ({ data: { transferId: id } satisfies TransferJob, singletonKey: id })),
        );
      }
    },
    mendTimes: async () => {
      let mended = 0;
      for (const statement of FROM_AHEAD) mended += (await database.query(statement)).length;
      if (mended > 0)
        log.warn({ mended }, "the database's clock was ahead, and was put right: what was queued then begins now");
    },
    workOnTransfers: (atOnce, run) => workOn(TRANSFERS, atOnce, run),
    workOnNotifications: async (tell) => {
      await boss.work<NotificationJob>(
        NOTIFICATIONS,
        { batchSize: 1, pollingIntervalSeconds: LOOK_FOR_NOTIFICATIONS_SECONDS },
        async (jobs) => {
          // Whoever sends it has logged the failure.
          for (const { data, retryCount } of jobs) await handled(() => tell(data, retryCount >= TELL_TRIES));
        },
      );
      return takingFrom(boss, NOTIFICATIONS);
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: true, timeout: STOP_WITHIN_MS }),
  };
}

/** While the database is away, each poll of the queue is an error, ten a second. @param now milliseconds since the epoch */
export function toldNowAndThen(log: Log, now: () => number): (error: unknown) => void {
  const told = new Map<string | null, { at: number; since: number }>();
  return (thrown) => {
    const error = asError(thrown);
    const { code } = new JobFailed(error);
    const last = told.get(code);
    if (last !== undefined && now() - last.at < TOLD_AGAIN_MS) {
      last.since += 1;
      return;
    }
    told.set(code, { at: now(), since: 0 });
    log.error(
      {
        err: error,
        ...(code === null ? {} : remedyOf(error)),
        ...(last === undefined ? {} : { alike: last.since }),
      },
      'the job queue had an error: can the database be used?',
    );
  };
}

/** Only pg-boss knows of its connections. */
function remedyOf(error: unknown): { readonly remedy?: string } {
  const fault = faultOf(error);
  return fault instanceof DatabaseUnavailable ? { remedy: fault.remedy } : {};
}

/** During its maintenance, pg-boss copies an error into a plain object, which keeps only its name. */
function asError(thrown: unknown): unknown {
  if (thrown instanceof Error || typeof thrown !== 'object' || thrown === null || !('stack' in thrown)) return thrown;
  return Object.assign(new Error(), thrown);
}

/** @param settle handles a failure. @throws {JobFailed} when there is none, or it fails */
async function handled(run: () => Promise<void>, settle?: (error: unknown) => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    try {
      if (settle === undefined) throw error;
      await settle(error);
    } catch {
      throw new JobFailed(error);
    }
  }
}

function takingFrom(boss: PgBoss, queue: string): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => boss.offWork(queue) };
}

function within(sql: Sql | undefined): Pick<SendOptions, 'db'> {
  if (sql === undefined) return {};
  return { db: { executeSql: async (text: string, values?: unknown[]) => ({ rows: await sql.query(text, values) }) } };
}

/** The same job always gets the same ID (a UUID of version 8, RFC 9562), and pg-boss keeps the first one. */
function onceIdOf(job: NotificationJob): string {
  const digest = createHash('sha256').update(keyOf(job)).digest('hex');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
