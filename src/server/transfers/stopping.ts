import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import { credentialsIfAny, destroyCredentials } from './credentials.ts';
import type { Lease } from './lease.ts';
import { betweenSameAccounts } from './transfer.ts';

/**
 * How long a worker that was asked to stop may take to settle what is in progress; then the transfer is taken from it.
 */
const STOPPED_WITHIN_MS = 4500;
const LOOK_EVERY_MS = 150;

export type Stopping = {
  readonly database: Database;
  readonly safe: Safe;
  readonly queue: { announce(transferId: string, kind: 'stopped', options: { sql: Sql }): Promise<void> };
  readonly tokens: { expire(tokenId: string, sql: Sql): Promise<void>; forget(tokenId: string): Promise<void> };
};

/**
 * Stops a transfer, whichever worker has it: 5 s later nothing more is written to its destination. What is there stays.
 * @param wait waits for so many milliseconds
 * @returns whether it was stopped; otherwise it had already ended, or ended by itself in the meantime
 */
export async function stopTransfer(
  services: Stopping,
  id: string,
  wait: (milliseconds: number) => Promise<void>,
): Promise<boolean> {
  const { database } = services;
  const asked = await database.query(
    'update transfers set stop_asked = coalesce(stop_asked, now()) where id = $1 and finished is null returning 1',
    [id],
  );
  if (asked.length === 0) return false;
  for (let waited = 0; waited < STOPPED_WITHIN_MS; waited += LOOK_EVERY_MS) {
    const [standing] = await database.query<{ ended: boolean; held: boolean }>(
      `select finished is not null as ended, coalesce(leased_until > clock_timestamp(), false) as held
       from transfers where id = $1`,
      [id],
    );
    if (standing === undefined || standing.ended) break;
    if (!standing.held) break;
    await wait(LOOK_EVERY_MS);
  }
  await endStopped(services, id, null);
  // It may have ended by itself first.
  const stopped = await database.query('select 1 from operations where transfer_id = $1 and cancelled', [id]);
  return stopped.length > 0;
}

/**
 * Stops a running run of the daily between a transfer's mailboxes; it has its own copy of the credentials.
 * @returns whether there was any
 */
export async function stopDailyRun(
  services: Stopping,
  id: string,
  wait: (milliseconds: number) => Promise<void>,
): Promise<boolean> {
  const runs = await services.database.query<{ id: string }>(
    `select run.id from transfers run join transfers this on ${betweenSameAccounts('run', 'this')}
     where this.id = $1 and run.by_itself and run.finished is null`,
    [id],
  );
  for (const run of runs) await stopTransfer(services, run.id, wait);
  return runs.length > 0;
}

/**
 * Ends a transfer that its owner stopped. Operations that have ended stay as they are. Does nothing if all of them
 * have, or if the given lease is no longer valid; without a lease, the transfer is taken from its worker. That worker's
 * lease stands until it expires: until then, what was in flight may still arrive.
 * @returns whether it ended
 */
export async function endStopped(
  { database, safe, queue, tokens }: Stopping,
  id: string,
  lease: Lease | null,
): Promise<boolean> {
  const destination = await credentialsIfAny(database, safe, id, 'destination');
  const isEnded = await database.transaction(async (sql) => {
    const [run] = await sql.query<{ by_itself: boolean }>(
      `select by_itself from transfers where id = $1 and finished is null and ($2::integer is null or epoch = $2)
       for update`,
      [id, lease?.epoch ?? null],
    );
    if (run === undefined) return false;
    const stopped = await sql.query(
      `update operations set status = 'review', cancelled = true, failure = null, finished = greatest(now(), started),
         waiting_reason = null, waiting_until = null, attention_side = null, attention_reason = null,
         attention_since = null, left_seconds = null
       where transfer_id = $1 and finished is null returning 1`,
      [id],
    );
    // It is about to end by itself, and its owner hears how.
    if (stopped.length === 0) return false;
    await sql.query(
      `update transfers set finished = greatest(now(), created), epoch = epoch + case when $2::boolean then 1 else 0 end
       where id = $1`,
      [id, lease === null],
    );
    await sql.query('delete from credentials where transfer_id = $1', [id]);
    if (destination?.kind === 'token') await tokens.expire(destination.tokenId, sql);
    // A run that nobody ordered ends with its daily: its owner knows.
    if (!run.by_itself) await queue.announce(id, 'stopped', { sql });
    return true;
  });
  if (!isEnded) return false;
  await destroyCredentials(safe, id);
  if (destination?.kind === 'token') await tokens.forget(destination.tokenId);
  return true;
}
