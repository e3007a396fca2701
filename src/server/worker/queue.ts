import { createHash } from 'node:crypto';
import type { PgBoss, SendOptions } from 'pg-boss';
import pgBoss from 'pg-boss/package.json' with { type: 'json' };
import type { Log } from '../log.ts';
import { Stopped } from '../mail/copy/lanes.ts';
import { keyOf, type NotificationJob, type Notifier } from '../notifications/notifier.ts';
import { DatabaseUnavailable, faultOf } from '../store/database-faults.ts';
import { type Database, madeByNewer, type Sql, startFault } from '../store/database.ts';
import { releaseAllLeases } from '../transfers/lease.ts';

const TRANSFERS = 'transfers';
/** `failures`: how often in a row it has broken off outside of a step, where its own faults are waited for; `fault`: the last. */
type TransferJob = { readonly transferId: string; readonly failures?: number; readonly fault?: string };

/** A worker that has given no sign of life for this long has died; another one takes its job. */
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 5;
/** pg-boss lets no job run longer; a transfer that does is given back and taken again. */
const JOB_SECONDS = 24 * 3600 - 60;
const RETRY_SECONDS = 1;
/**
 * The first pause, doubling, before a job that broke off outside of a step is tried again, for as long as an operator
 * takes to mend it.
 */
const FIRST_AGAIN_SECONDS = 1;
const LAST_AGAIN_SECONDS = 1800;
/** Deaths of workers are no fault of a transfer. What is counted against it is in `operations.idle_runs`. */
const RETRIES = 100_000;
const KEPT_SECONDS = 3600;
const STOP_WITHIN_MS = 30_000;
const LOOK_FOR_TRANSFERS_SECONDS = 0.5;
/**
 * Transfers that another worker seems to have go before those that only wait: otherwise a dead worker's transfers would
 * wait behind all orders.
 */
const HELD_PRIORITY = 1;
/** As much later is as good; so far this machine's clock and the database's may be apart. */
const SOON_MS = 60_000;

const WORKED_ON = `select id from pgboss.job where name = '${TRANSFERS}' and state = 'active'`;
/** What is taken from each other as sets takes no longer by what PostgreSQL believes of the tables: 10,000 took 19 s. */
const WITHOUT_JOB = `select id from transfers join
  (select id from transfers where finished is null except select singleton_key from pgboss.job
    where name = '${TRANSFERS}' and state in ('created', 'retry', 'active')) as idle using (id)
  order by created`;
const SENT_TOGETHER = 1000;

const TAKE_BACKS = 'take-backs';
const NOTIFICATIONS = 'notifications';
/** Longer than a slow mail server takes for a letter: nobody else sends it meanwhile. After a crash it comes back then. */
const SENT_WITHIN_SECONDS = 600;
/** The first pause, doubling, before a notification that could not be sent is tried again, for about a day. */
const FIRST_TELL_AGAIN_SECONDS = 30;
const LAST_TELL_AGAIN_SECONDS = 3600;
const TELL_TRIES = 30;
/** How long a notification is remembered as sent. */
const TOLD_SECONDS = 90 * 24 * 3600;
const LOOK_FOR_NOTIFICATIONS_SECONDS = 2;
/** Within this time errors of the queue with the same code are logged once. */
const TOLD_AGAIN_MS = 60_000;

/** pg-boss keeps an error with its job, for months: what a server said, in which an address may stand, is left out. */
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

/** The queue of transfers and of what is told about them, on the product's own database. */
export type JobQueue = AsyncDisposable & {
  /** Puts a transfer in the queue, within a transaction if one is given. */
  send(transferId: string, options?: Within & { readonly afterSeconds?: number }): Promise<void>;
  /**
   * Puts a transfer that another worker has in the queue for later, before those that only wait, unless it is there for
   * about the same time.
   */
  sendUnlessWaiting(transferId: string, afterSeconds: number): Promise<void>;
  /**
   * Has the subscriber or support told, if the given transaction commits: each kind of news, or occurrence of it, once
   * for a transfer.
   */
  announce(
    transferId: string,
    kind: NotificationJob['kind'],
    options?: Within & { readonly occurrence?: string },
  ): Promise<void>;
  /** Has the copy of a transfer that has ended taken back, within a transaction if one is given. */
  sendTakeBack(transferId: string, options?: Within & { readonly afterSeconds?: number }): Promise<void>;
  workOnTakeBacks(run: (transferId: string, signal: AbortSignal) => Promise<void>): Promise<AsyncDisposable>;
  /**
   * Puts every unfinished transfer back that nobody works on. With the embedded database that is all of them:
   * no other process can hold one. To be called before this process works on any.
   */
  resume(): Promise<void>;
  /** Takes transfers until it is disposed of, which waits for those under way. */
  workOnTransfers(
    atOnce: number,
    run: (transferId: string, signal: AbortSignal) => Promise<void>,
  ): Promise<AsyncDisposable>;
  /** Takes notifications, one at a time; one whose `tell` throws is given back, to be tried later. */
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
  for (const queue of [TRANSFERS, TAKE_BACKS])
    await boss.createQueue(queue, {
      policy: 'standard',
      retryLimit: RETRIES,
      retryDelay: RETRY_SECONDS,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: JOB_SECONDS,
      deleteAfterSeconds: KEPT_SECONDS,
    });
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
  // What pg-boss keeps of a queue is read on its first use: within a transaction on PGlite that would wait for itself.
  for (const queue of [TRANSFERS, TAKE_BACKS, NOTIFICATIONS]) await boss.findJobs(queue, { key: '' });
  /**
   * For each queue, the IDs of its takers in this process: they are notified of this process's own orders and need not
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
  /** Its operator is told when it begins to break off, or does so otherwise than before. */
  const putOff = async (queue: string, { transferId, failures = 0, fault: before }: TransferJob, error: unknown) => {
    const fault = `${error instanceof Error ? error.name : typeof error} ${new JobFailed(error).code}`;
    if (fault !== before)
      log.error(
        { err: error, queue, transferId },
        'a job broke off, and is tried again after longer and longer pauses',
      );
    const afterSeconds = Math.min(LAST_AGAIN_SECONDS, FIRST_AGAIN_SECONDS * 2 ** failures);
    await sendTo(queue, transferId, { afterSeconds, failures: failures + 1, fault });
  };
  const workOn = async (
    queue: string,
    atOnce: number,
    run: (transferId: string, signal: AbortSignal) => Promise<void>,
  ): Promise<AsyncDisposable> => {
    const options = { batchSize: 1, pollingIntervalSeconds: LOOK_FOR_TRANSFERS_SECONDS };
    const take = async (): Promise<string> => {
      const taker = await boss.work<TransferJob>(queue, options, async (jobs) => {
        for (const { data, signal } of jobs) {
          const begun = performance.now();
          // What went on for long has not failed in a row.
          const failed = () =>
            performance.now() - begun > LAST_AGAIN_SECONDS * 1000 ? { transferId: data.transferId } : data;
          await handled(
            () => run(data.transferId, signal),
            (error) => putOff(queue, failed(), error),
          );
        }
        // Many mailboxes take less time than lies between two looks.
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
    sendUnlessWaiting: async (transferId, afterSeconds) => {
      const jobs = await boss.findJobs<TransferJob>(TRANSFERS, { key: transferId, queued: true });
      const soon = Date.now() + afterSeconds * 1000 + SOON_MS;
      if (jobs.some(({ startAfter }) => startAfter.getTime() <= soon)) return;
      // One that waits for later is brought forward: a second one would go on beside it.
      await boss.upsert(TRANSFERS, { transferId } satisfies TransferJob, {
        singletonKey: transferId,
        startAfter: Math.ceil(afterSeconds),
        priority: HELD_PRIORITY,
      });
    },
    announce: async (transferId, kind, { sql, occurrence } = {}) => {
      const job: NotificationJob = { transferId, kind, ...(occurrence === undefined ? {} : { occurrence }) };
      await boss.send(NOTIFICATIONS, job, { id: onceIdOf(job), ...within(sql) });
    },
    resume: async () => {
      if (database.kind === 'pglite') await releaseAllLeases(database);
      // A town's worth may wait, and visitors wait for this: they are not looked for one by one.
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
    workOnTransfers: (atOnce, run) => workOn(TRANSFERS, atOnce, run),
    workOnNotifications: async (tell) => {
      await boss.work<NotificationJob>(
        NOTIFICATIONS,
        { batchSize: 1, pollingIntervalSeconds: LOOK_FOR_NOTIFICATIONS_SECONDS },
        async (jobs) => {
          // Who tells says himself that he could not.
          for (const { data, retryCount } of jobs) await handled(() => tell(data, retryCount >= TELL_TRIES));
        },
      );
      return takingFrom(boss, NOTIFICATIONS);
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: true, timeout: STOP_WITHIN_MS }),
  };
}

/** A database that is away makes each look at the queue an error, ten a second. @param now milliseconds since the epoch */
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

/** Of its connections nobody knows but pg-boss. */
function remedyOf(error: unknown): { readonly remedy?: string } {
  const fault = faultOf(error);
  return fault instanceof DatabaseUnavailable ? { remedy: fault.remedy } : {};
}

/** Where pg-boss looks after its queues it copies an error into an object, which says of itself what it was. */
function asError(thrown: unknown): unknown {
  if (thrown instanceof Error || typeof thrown !== 'object' || thrown === null || !('stack' in thrown)) return thrown;
  return Object.assign(new Error(), thrown);
}

/** @param settle does in place of a failure what is to be done, unless the worker only stops. @throws {JobFailed} */
async function handled(run: () => Promise<void>, settle?: (error: unknown) => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (settle === undefined || error instanceof Stopped) throw new JobFailed(error);
    await settle(error).catch(() => {
      throw new JobFailed(error);
    });
  }
}

function takingFrom(boss: PgBoss, queue: string): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => boss.offWork(queue) };
}

function within(sql: Sql | undefined): Pick<SendOptions, 'db'> {
  if (sql === undefined) return {};
  return { db: { executeSql: async (text: string, values?: unknown[]) => ({ rows: await sql.query(text, values) }) } };
}

/** The same job again has the same ID (a UUID of version 8, RFC 9562), and pg-boss keeps the first. */
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
