import { createHash } from 'node:crypto';
import type { SendOptions } from 'pg-boss';
import * as v from 'valibot';
import { UsPhone } from '../../contract/transfer.ts';
import { Stopped } from '../stopped.ts';
import type { Log } from '../log.ts';
import { Unanswered } from '../notifications/letters.ts';
import { keyOf, type NotificationJob, type Notifier } from '../notifications/notifier.ts';
import { DatabaseUnavailable, embeddedFaultOf, faultOf } from '../store/database-faults.ts';
import type { Database, Sql } from '../store/database.ts';
import { earlierTime } from '../store/earlier-time.ts';
import { handled, JobFailed } from './job-failed.ts';
import { NOTIFICATIONS, startQueues, TELL_TRIES, TELLING, TEXTS } from './job-queues.ts';
import { mendTimes, queueIdle } from './queue-mending.ts';
import { openTakers, type TransferJob } from './takers.ts';
import { openTurns, TAKE_BACKS, TRANSFERS } from './turns.ts';

/**
 * The first pause, doubling each time, before a job that failed outside of a step is tried again, for as long as it
 * takes an operator to fix the cause.
 */
const FIRST_AGAIN_SECONDS = 1;
const LAST_AGAIN_SECONDS = 1800;
/** The same after an outage of the database: if it can store the job, it is back. */
const LAST_AGAIN_AFTER_CRASH_SECONDS = 10;
const STOP_WITHIN_MS = 30_000;
/**
 * Transfers that another worker seems to have go before waiting ones: otherwise a dead worker's transfers would wait
 * behind all orders.
 */
const HELD_PRIORITY = 1;
/**
 * A job due up to this much later is as good as one due now; this also allows for a difference between this machine's
 * clock and the database's.
 */
const SOON_MS = 60_000;

const LOOK_FOR_NOTIFICATIONS_SECONDS = 2;
/** So many letters, or SMS, to as many people go out together: over one of them a mail server may take minutes. */
const TOLD_AT_ONCE = 4;
/** Errors of the queue with the same code are logged once within this time. */
const TOLD_AGAIN_MS = 60_000;

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
   * Queues a transfer that has paused, behind waiting ones, with the same exception: two jobs would each queue another
   * one, and together use up its tries in half the time.
   */
  sendAfterPause(transferId: string, afterSeconds: number): Promise<void>;
  /**
   * Has the subscriber or support notified if the given transaction commits: of each kind of news, or each occurrence
   * of it, once per transfer.
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
  /** Takes letters and SMS, of each mailbox's owner one at a time; if `tell` throws, the notification is tried again later. */
  workOnNotifications(tell: Notifier['tell']): Promise<AsyncDisposable>;
};

/** @throws {DatabaseUnavailable}, {@link SettingsError} when it can't be used */
export async function openJobQueue({ database, log }: { database: Database; log: Log }): Promise<JobQueue> {
  const boss = await startQueues(database, toldNowAndThen(log, Date.now));
  /** Turns errors of pg-boss's own connections into the same ones as those of ours. */
  const throwFault = (error: unknown): never => {
    if (error instanceof DatabaseUnavailable || new JobFailed(error).code === null) throw error;
    throw database.kind === 'postgres' ? faultOf(error) : embeddedFaultOf(error);
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
    const options: SendOptions = {
      singletonKey: transferId,
      ...(afterSeconds === undefined ? {} : { startAfter: Math.ceil(afterSeconds) }),
      ...within(sql),
    };
    await boss.send(queue, job, options).catch(throwFault);
    if (afterSeconds === undefined) void (sql?.committed ?? Promise.resolve()).then(() => takers.wake(queue));
  };
  const send: JobQueue['send'] = (transferId, options) => sendTo(TRANSFERS, transferId, options);
  const sendOnce = async (
    queue: string,
    transferId: string,
    afterSeconds: number,
    options: Pick<SendOptions, 'priority'> = {},
  ) => {
    const jobs = await boss.findJobs<TransferJob>(queue, { key: transferId, queued: true }).catch(throwFault);
    // By a clock that is far ahead, everything would be due soon.
    const soon = (await earlierTime(database, Date.now)) + afterSeconds * 1000 + SOON_MS;
    if (jobs.some(({ startAfter }) => startAfter.getTime() <= soon)) return;
    // A job that waits for later is brought forward, because a second one would run in addition.
    const job: TransferJob = { transferId };
    const when: SendOptions = { singletonKey: transferId, startAfter: Math.ceil(afterSeconds), ...options };
    await boss.upsert(queue, job, when).catch(throwFault);
  };
  /**
   * Queues a failed job for later. The operator is told when it begins to fail, or fails in another way than before.
   */
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
  const takers = openTakers({
    boss,
    turns: openTurns({ database, log }),
    settle: (queue, job, { error, isTurnOver, lasted }) => {
      const { transferId } = job;
      if (isTurnOver) return sendTo(queue, transferId);
      if (error instanceof Stopped) throw error;
      // After a long run, failures no longer count as in a row.
      return putOff(queue, lasted > LAST_AGAIN_SECONDS * 1000 ? { transferId } : job, error);
    },
  });
  return {
    send,
    sendTakeBack: (transferId, options) => sendTo(TAKE_BACKS, transferId, options),
    workOnTakeBacks: (run) => takers.workOn(TAKE_BACKS, 1, run),
    sendTakeBackAgain: (transferId, afterSeconds) => sendOnce(TAKE_BACKS, transferId, afterSeconds),
    sendUnlessWaiting: (transferId, afterSeconds) =>
      sendOnce(TRANSFERS, transferId, afterSeconds, { priority: HELD_PRIORITY }),
    sendAfterPause: (transferId, afterSeconds) => sendOnce(TRANSFERS, transferId, afterSeconds),
    announce: async (transferId, kind, { sql, occurrence } = {}) => {
      const job: NotificationJob = { transferId, kind, ...(occurrence === undefined ? {} : { occurrence }) };
      const id = onceIdOf(job);
      const { queue, group } = await wayOf(sql ?? database, job, id);
      await boss.send(queue, job, { id, group, ...within(sql) }).catch(throwFault);
    },
    resume: () => queueIdle(boss, database),
    mendTimes: () => mendTimes(database, log),
    workOnTransfers: (atOnce, run) => takers.workOn(TRANSFERS, atOnce, run),
    workOnNotifications: async (tell) => {
      for (const queue of TELLING)
        await boss.work<NotificationJob>(
          queue,
          {
            batchSize: 1,
            pollingIntervalSeconds: LOOK_FOR_NOTIFICATIONS_SECONDS,
            localConcurrency: TOLD_AT_ONCE,
            localGroupConcurrency: 1,
          },
          async (jobs) => {
            // The notifier has logged the failure.
            for (const { id, data, retryCount } of jobs)
              await handled(
                () => tell(data, retryCount >= TELL_TRIES),
                (error) => countUnanswered(database, { queue, id, before: data.unanswered ?? 0 }, error),
              );
          },
        );
      return {
        [Symbol.asyncDispose]: async () => {
          await Promise.all(TELLING.map((queue) => boss.offWork(queue)));
        },
      };
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: true, timeout: STOP_WITHIN_MS }),
  };
}

/** With the job, so that no other process, and no restart, begins at nothing. Always throws the error. */
async function countUnanswered(
  database: Database,
  { queue, id, before }: { readonly queue: string; readonly id: string; readonly before: number },
  error: unknown,
): Promise<never> {
  const counted = { unanswered: before + 1 } satisfies Partial<NotificationJob>;
  if (error instanceof Unanswered)
    await database.query('update pgboss.job set data = data || $3::jsonb where name = $1 and id = $2', [
      queue,
      id,
      JSON.stringify(counted),
    ]);
  throw error;
}

/**
 * Limits how often errors of the queue are logged: while the database is away, each poll fails, ten times a second.
 * @param now milliseconds since the epoch
 */
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

/** The remedy for an error of pg-boss's own connections. */
function remedyOf(error: unknown): { readonly remedy?: string } {
  const fault = faultOf(error);
  return fault instanceof DatabaseUnavailable ? { remedy: fault.remedy } : {};
}

/** During its maintenance, pg-boss copies an error into a plain object, which keeps only its name. */
function asError(thrown: unknown): unknown {
  if (thrown instanceof Error || typeof thrown !== 'object' || thrown === null || !('stack' in thrown)) return thrown;
  return Object.assign(new Error(), thrown);
}

function within(sql: Sql | undefined): Pick<SendOptions, 'db'> {
  if (sql === undefined) return {};
  return { db: { executeSql: async (text: string, values?: unknown[]) => ({ rows: await sql.query(text, values) }) } };
}

/**
 * The queue, and of whose notifications one goes out at a time. It is the queue that has it already, so that it is
 * dropped: an ID is known to one queue only, and the contact may have been another one then, or the version one without
 * this queue.
 */
async function wayOf(
  sql: Sql,
  { transferId, kind }: NotificationJob,
  id: string,
): Promise<{ readonly queue: string; readonly group: { readonly id: string } }> {
  if (kind === 'review') return { queue: NOTIFICATIONS, group: { id: transferId } };
  const [transfer] = await sql.query<{ contact: string | null; queue: string | null; first: string }>(
    `select notification_contact as contact,
       (select name from pgboss.job where name = any($2) and id = $3 limit 1) as queue,
       (select first.id from transfers first where first.source_email = transfers.source_email
         order by created limit 1) as first
     from transfers where id = $1`,
    [transferId, TELLING, id],
  );
  return {
    queue: transfer?.queue ?? (v.is(UsPhone, transfer?.contact) ? TEXTS : NOTIFICATIONS),
    // A mailbox's first transfer stands for its owner, whose address stays in no job.
    group: { id: transfer?.first ?? transferId },
  };
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
