import type { PgBoss } from 'pg-boss';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { releaseAllLeases } from '../transfers/lease.ts';
import type { TransferJob } from './takers.ts';
import { TRANSFERS } from './turns.ts';

const WORKED_ON = `select id from pgboss.job where name = '${TRANSFERS}' and state = 'active'`;
/** A set difference, whose speed does not depend on PostgreSQL's statistics: with stale ones, 10,000 rows took 19 s. */
const WITHOUT_JOB = `select id from transfers join
  (select id from transfers where finished is null except select singleton_key from pgboss.job
    where name = '${TRANSFERS}' and state in ('created', 'retry', 'active')) as idle using (id)
  order by created`;
const SENT_TOGETHER = 1000;

const AHEAD = "now() + interval '1 minute'";
/**
 * Mends times that were written while a clock was ahead: when jobs are due, when workers last gave a sign of life, and
 * when pg-boss last looked for these.
 */
const FROM_AHEAD = [
  `update pgboss.job set start_after = now() + (start_after - created_on), created_on = now()
   where state in ('created', 'retry') and created_on > ${AHEAD} returning 1`,
  // Jobs that a stopped worker has returned: they may have been created long before, and are due again within the retry
  // delay.
  `update pgboss.job set start_after = now()
   where state = 'retry' and start_after > ${AHEAD} + make_interval(secs => greatest(retry_delay, retry_delay_max)) returning 1`,
  `update pgboss.job set heartbeat_on = now() where state = 'active' and heartbeat_on > ${AHEAD} returning 1`,
  `update pgboss.queue set maintain_on = least(maintain_on, now()), monitor_on = least(monitor_on, now()),
     monitor_claim_on = least(monitor_claim_on, now())
   where greatest(maintain_on, monitor_on, monitor_claim_on) > ${AHEAD} returning 1`,
];

/** Queues the unfinished transfers that nobody works on; with the embedded database, also those of a former process. */
export async function queueIdle(boss: PgBoss, database: Database): Promise<void> {
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
}

/** Mends what has been written while the database's clock was ahead. */
export async function mendTimes(database: Database, log: Log): Promise<void> {
  let mended = 0;
  for (const statement of FROM_AHEAD) mended += (await database.query(statement)).length;
  if (mended > 0)
    log.warn({ mended }, "the database's clock was ahead, and was put right: what was queued then begins now");
}
