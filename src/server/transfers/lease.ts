import type { Database, Sql } from '../store/database.ts';
import { transferOf, type Transfer, type TransferRow } from './transfer.ts';

/**
 * Another worker has taken over the transfer, or PostgreSQL was started anew; this run must stop at once and touch
 * nothing more.
 */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
  constructor(transferId: string) {
    super(`Transfer ${transferId} has to be taken anew.`);
  }
}

/**
 * The right to write for a transfer. It is valid until another worker takes the transfer, which increments the epoch.
 */
export type Lease = { readonly transferId: string; readonly epoch: number };

/**
 * A lease that is renewed continually. `mayWrite` is called synchronously before each write to a mail server, and tells
 * whether the last renewal is recent enough. A successor waits until that is certain to be over.
 */
export type HeldLease = Lease & { readonly mayWrite: () => boolean };

/**
 * A transfer to work on, with how often its owner has put it right, or for how many seconds at least another worker, or
 * a take-back, holds it; `null` if it has ended. `unreleased`: a lease has expired by the database's clock without
 * having been released.
 */
export type Taking =
  | { readonly transfer: Transfer; readonly lease: Lease; readonly stopAsked: boolean; readonly resumed: number }
  | { readonly heldForSeconds: number }
  | { readonly unreleased: string }
  | null;

/** Whether the transfer `other` is between the same mailboxes as `t`. */
const BETWEEN_THE_SAME = `other.source_email = t.source_email and other.destination_email = t.destination_email
  and (other.destination_provider = 'file_export') = (t.destination_provider = 'file_export')`;

/**
 * SQL for the time until which nobody may take the transfer `t`: the end of its own lease, and of those of other
 * transfers between the same mailboxes that were stopped or are being taken back.
 */
const LEASED_UNTIL = `(select max(other.leased_until) from transfers other where ${BETWEEN_THE_SAME})`;

/**
 * SQL for whether the transfer `t` is free. It needs the lock of {@link takeAlone}: without it, two workers that take
 * transfers between the same mailboxes would not see each other's leases.
 */
const IS_FREE = `(t.leased_until is null or t.leased_until < clock_timestamp())
  and coalesce(${LEASED_UNTIL} < clock_timestamp(), true)`;

/**
 * SQL for whether what another transfer between the same mailboxes has copied is to be taken back: otherwise `t` would
 * count it as there already, and end as complete before it is removed.
 */
const AWAITS_TAKE_BACK = `exists (select 1 from transfers other join take_backs on transfer_id = other.id
  where take_backs.finished is null and ${BETWEEN_THE_SAME})`;
/** How soon to look again whether it has been taken back. */
const TAKE_BACK_SECONDS = 5;

/**
 * Shortens leases that last more than `seconds`, which no lease is granted for. They were granted while the database's
 * clock was ahead, and if their worker died, they would lock everybody out for that long.
 */
async function shortenLeases(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql.query(
    `update transfers other set leased_until = clock_timestamp() + make_interval(secs => $2)
     from transfers t where t.id = $1 and ${BETWEEN_THE_SAME}
       and other.leased_until > clock_timestamp() + make_interval(secs => $2)`,
    [id, seconds],
  );
}

/**
 * A database that has lost its last commits, such as a promoted replica, would issue the same epoch again, while its
 * first holder may still be at work; so there is a random increment. Ledger groups are numbered by the epoch, so it
 * stays below nine million.
 */
const NEXT_EPOCH = 'epoch + 1 + case when epoch < 8000000 then floor(random() * 1000)::integer else 0 end';

/**
 * SQL for whether PostgreSQL runs since before the transfer was taken. Once it has been started anew, as a promoted
 * standby or from a backup, it may have lost commits that the run has in its memory for done.
 */
const IS_SAME_SERVER = 'coalesce(server_started = pg_postmaster_start_time(), true)';

/** SQL for whether a row of `transfers` is the one whose lease is these parameters, and the lease is still valid. */
export function isHeld(id = '$1', epoch = '$2'): string {
  return `id = ${id} and epoch = ${epoch} and ${IS_SAME_SERVER}`;
}

type Taken = TransferRow & { readonly stop_asked: Date | null; readonly resumed: number };

/** Until the end of the transaction, nobody else takes a transfer between the same mailboxes. */
const LOCK_ALL_BETWEEN = `select pg_advisory_xact_lock(hashtextextended(source_email || ' ' || destination_email, 0))
  from transfers where id = $1`;

/** Makes whoever takes a transfer between the same mailboxes wait for this transaction, and see what it writes. */
export async function lockAllBetween(sql: Sql, id: string): Promise<void> {
  await sql.query(LOCK_ALL_BETWEEN, [id]);
}

/**
 * Takes a transfer if it is free and meets the condition `isSo`, under a lock for all transfers between the same
 * mailboxes.
 */
async function takeAlone(
  database: Database,
  id: string,
  seconds: number,
  isSo: string,
  ...parameters: readonly unknown[]
): Promise<Taken | undefined> {
  const [, rows] = await database.commit([
    { text: LOCK_ALL_BETWEEN, parameters: [id] },
    {
      text: `update transfers t set epoch = ${NEXT_EPOCH}, leased_until = clock_timestamp() + make_interval(secs => $2),
          server_started = pg_postmaster_start_time()
        where id = $1 and ${isSo} and ${IS_FREE} returning *`,
      parameters: [id, seconds, ...parameters],
    },
  ]);
  return rows?.[0] as Taken | undefined;
}

/**
 * Takes a transfer, unless another worker may still be writing, or a take-back was ordered before it.
 * @param seconds until others may take it over from us
 * @param unreleased the answer to an earlier call: the lease is taken over if nobody has renewed it since. When the
 * database's clock jumps ahead, all leases expire, but workers that are alive renew theirs.
 */
export async function takeTransfer(
  database: Database,
  id: string,
  seconds: number,
  unreleased: string | null = null,
): Promise<Taking> {
  const isNobodys = `finished is null and (t.leased_until is null or t.leased_until::text = $3)
    and not ${AWAITS_TAKE_BACK}`;
  const row = await takeAlone(database, id, seconds, isNobodys, unreleased);
  if (row !== undefined)
    return {
      transfer: transferOf(row),
      lease: { transferId: id, epoch: row.epoch },
      stopAsked: row.stop_asked !== null,
      resumed: row.resumed,
    };
  await shortenLeases(database, id, seconds);
  const [held] = await database.query<{ seconds: number | null; until: string | null }>(
    `select greatest(extract(epoch from ${LEASED_UNTIL} - clock_timestamp())::float8,
         case when ${AWAITS_TAKE_BACK} then ${TAKE_BACK_SECONDS} end) as seconds, leased_until::text as until
     from transfers t where id = $1 and finished is null`,
    [id],
  );
  if (held === undefined) return null;
  const heldForSeconds = Math.max(0, held.seconds ?? 0);
  return heldForSeconds === 0 && held.until !== null ? { unreleased: held.until } : { heldForSeconds };
}

type EndedTaking = { readonly transfer: Transfer; readonly lease: Lease } | { readonly heldForSeconds: number } | null;

/** The same for an ended transfer that is to be taken back. */
export async function takeEndedTransfer(database: Database, id: string, seconds: number): Promise<EndedTaking> {
  const isToBeTakenBack = `finished is not null
    and exists (select 1 from take_backs where transfer_id = id and take_backs.finished is null)`;
  const row = await takeAlone(database, id, seconds, isToBeTakenBack);
  if (row !== undefined) return { transfer: transferOf(row), lease: { transferId: id, epoch: row.epoch } };
  await shortenLeases(database, id, seconds);
  const [held] = await database.query<{ seconds: number | null }>(
    `select extract(epoch from ${LEASED_UNTIL} - clock_timestamp())::float8 as seconds from transfers t
     where id = $1 and exists (select 1 from take_backs where transfer_id = id and take_backs.finished is null)`,
    [id],
  );
  return held === undefined ? null : { heldForSeconds: Math.max(0, held.seconds ?? 0) };
}

/**
 * Renews the lease for `seconds` from now. `stop`: it is still ours, and the owner has asked for a stop. `lost`: another
 * worker has it, or PostgreSQL was started anew.
 */
export async function confirmLease(
  sql: Sql,
  { transferId, epoch }: Lease,
  seconds: number,
): Promise<'ours' | 'stop' | 'lost'> {
  const [row] = await sql.query<{ stops: boolean }>(
    `update transfers set leased_until = clock_timestamp() + make_interval(secs => $3)
     where ${isHeld()} returning stop_asked is not null and finished is null as stops`,
    [transferId, epoch, seconds],
  );
  if (row === undefined) return 'lost';
  return row.stops ? 'stop' : 'ours';
}

/** Keeps the lease ours until the transaction ends. @throws {LeaseLost} */
export async function requireLease(sql: Sql, { transferId, epoch }: Lease): Promise<void> {
  const lease = await sql.query(`select 1 from transfers where ${isHeld()} for share`, [transferId, epoch]);
  if (lease.length === 0) throw new LeaseLost(transferId);
}

/**
 * SQL that releases the leases of the transfers `which`. What neither waits already nor rests waits then for another
 * worker, whose run ends that wait: the status must not say that it is being copied. An export's contacts may be read
 * already, and wait for its mail.
 */
const releasing = (which: string) =>
  `with released as (update transfers set leased_until = null where ${which} returning id, destination_provider)
   update operations set waiting_reason = 'queue', left_seconds = null from released
   where transfer_id = released.id and status = 'inprogress' and finished is null and waiting_reason is null
     and not (destination_provider = 'file_export' and operation = 'contactsmigration' and exists (
       select 1 from operations mail where mail.transfer_id = released.id and mail.operation = 'emailmigration'
         and mail.finished is null and coalesce(mail.waiting_reason, mail.attention_reason) is not null))`;

/** Releases the lease, so that another worker can take the transfer at once. Nothing of ours may be in progress. */
export async function releaseLease(sql: Sql, { transferId, epoch }: Lease): Promise<void> {
  await sql.query(releasing('id = $1 and epoch = $2'), [transferId, epoch]);
}

/** For an embedded database: no other process can be using it, so everyone who held a lease is dead. */
export async function releaseAllLeases(sql: Sql): Promise<void> {
  await sql.query(releasing('leased_until is not null'));
}
