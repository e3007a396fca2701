import type { PgBoss } from 'pg-boss';
import type { Log } from '../log.ts';
import type { Database, Sql } from '../store/database.ts';
import { releaseAllLeases, unfinishedTransfers } from '../transfers/operations.ts';

export const TRANSFERS_QUEUE = 'transfers';
export type TransferJob = { readonly transferId: string };

/** A worker that does not say for so long that it is alive has died; another one takes its job. */
const HEARTBEAT_SECONDS = 10;
const SUPERVISE_SECONDS = 5;
/** pg-boss lets no job run longer; a transfer that does is given back and taken again. */
const JOB_SECONDS = 24 * 3600 - 60;
const RETRY_SECONDS = 1;
/** Deaths of workers are no fault of a transfer. What is counted against it is in `operations.idle_runs`. */
const RETRIES = 100_000;
const KEPT_SECONDS = 3600;
const STOP_WITHIN_MS = 30_000;

/** The queue of transfers, on the product's own database. */
export type JobQueue = AsyncDisposable & {
  readonly boss: PgBoss;
  /** Puts a transfer in the queue, within a transaction if one is given. */
  send(transferId: string, options?: { sql?: Sql; afterSeconds?: number }): Promise<void>;
  /** Puts a transfer in the queue for later, unless it waits there already. */
  sendUnlessWaiting(transferId: string, afterSeconds: number): Promise<void>;
  /**
   * Puts every unfinished transfer back that nobody works on. With the embedded database that is all of them:
   * no other process can hold one. To be called before this process works on any.
   */
  resume(): Promise<void>;
};

export async function openJobQueue({ database, log }: { database: Database; log: Log }): Promise<JobQueue> {
  const boss = database.queue({
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', (error) => log.error({ err: error }, 'the job queue had an error'));
  await boss.start();
  await boss.createQueue(TRANSFERS_QUEUE, {
    policy: 'standard',
    retryLimit: RETRIES,
    retryDelay: RETRY_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: JOB_SECONDS,
    deleteAfterSeconds: KEPT_SECONDS,
  });
  // What pg-boss keeps of a queue is read on its first use: within a transaction on PGlite that would wait for itself.
  await boss.findJobs(TRANSFERS_QUEUE, { key: '' });
  const send: JobQueue['send'] = async (transferId, { sql, afterSeconds } = {}) => {
    const job: TransferJob = { transferId };
    await boss.send(TRANSFERS_QUEUE, job, {
      singletonKey: transferId,
      ...(afterSeconds === undefined ? {} : { startAfter: Math.ceil(afterSeconds) }),
      ...(sql === undefined
        ? {}
        : {
            db: { executeSql: async (text: string, values?: unknown[]) => ({ rows: await sql.query(text, values) }) },
          }),
    });
  };
  return {
    boss,
    send,
    sendUnlessWaiting: async (transferId, afterSeconds) => {
      const jobs = await boss.findJobs<TransferJob>(TRANSFERS_QUEUE, { key: transferId });
      if (!jobs.some((job) => job.state === 'created' || job.state === 'retry'))
        await send(transferId, { afterSeconds });
    },
    resume: async () => {
      if (database.kind === 'pglite') await releaseAllLeases(database);
      for (const transferId of await unfinishedTransfers(database)) {
        const jobs = await boss.findJobs<TransferJob>(TRANSFERS_QUEUE, { key: transferId });
        const active = jobs.filter((job) => job.state === 'active').map((job) => job.id);
        const waiting = jobs.some((job) => job.state === 'created' || job.state === 'retry');
        if (active.length > 0 && database.kind === 'pglite') await boss.fail(TRANSFERS_QUEUE, active);
        else if (active.length === 0 && !waiting) await send(transferId);
      }
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: true, timeout: STOP_WITHIN_MS }),
  };
}
