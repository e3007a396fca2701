import type { Database, Sql } from '../store/database.ts';
import { transferOf, type Transfer, type TransferRow } from './transfer.ts';

/** Another worker has taken the transfer over; this one must stop at once and touch nothing more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
  constructor(transferId: string) {
    super(`Another worker has taken transfer ${transferId} over.`);
  }
}

/** The right to write for a transfer. It is good until another worker takes the transfer, which raises the epoch. */
export type Lease = { readonly transferId: string; readonly epoch: number };

/**
 * A lease that is confirmed again and again. `mayWrite` is asked without waiting before each write to a mail server:
 * whether the last confirmation is recent enough. A successor waits until it can not be.
 */
export type HeldLease = Lease & { readonly mayWrite: () => boolean };

/**
 * A transfer to work on, or for how many seconds at least another worker has it; `null` when it has ended. `unreleased`:
 * a lease has run out by the database's clock, and nobody gave it back.
 */
export type Taking =
  | { readonly transfer: Transfer; readonly lease: Lease; readonly stopAsked: boolean }
  | { readonly heldForSeconds: number }
  | { readonly unreleased: string }
  | null;

/** Whether the transfer `other` is between the same mailboxes as `t`. */
const BETWEEN_THE_SAME = `other.source_email = t.source_email and other.destination_email = t.destination_email
  and (other.destination_provider = 'file_export') = (t.destination_provider = 'file_export')`;

/**
 * SQL for the time until which nobody may take the transfer `t`: its own lease, and those of other transfers between
 * the same mailboxes that were stopped or are being taken back.
 */
const LEASED_UNTIL = `(select max(other.leased_until) from transfers other where ${BETWEEN_THE_SAME})`;

/**
 * A lock for {@link takeAlone}: without it, of two workers that take transfers between the same mailboxes, neither
 * would see the other's lease.
 */
const IS_FREE = `(t.leased_until is null or t.leased_until < clock_timestamp())
  and coalesce(${LEASED_UNTIL} < clock_timestamp(), true)`;

/**
 * No lease is given for longer than this, in seconds. One that would last longer was given when the database's clock
 * was ahead, and does not count: after its worker's death it would keep everybody out for as long as that.
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
 * A database that has forgotten its last commits, as a replica that is promoted, would give the same epoch again, and who
 * has it may be at work still. Ledger groups are numbered by it: it stays below nine million.
 */
const NEXT_EPOCH = 'epoch + 1 + case when epoch < 8000000 then floor(random() * 1000)::integer else 0 end';

type Taken = TransferRow & { readonly stop_asked: Date | null };

/**
 * Takes a transfer that is free and meets the condition `isSo`, while nobody else takes one between the same mailboxes.
 */
async function takeAlone(
  database: Database,
  id: string,
  seconds: number,
  isSo: string,
  ...parameters: readonly unknown[]
): Promise<Taken | undefined> {
  const [, rows] = await database.commit([
    {
      text: `select pg_advisory_xact_lock(hashtextextended(source_email || ' ' || destination_email, 0))
        from transfers where id = $1`,
      parameters: [id],
    },
    {
      text: `update transfers t set epoch = ${NEXT_EPOCH}, leased_until = clock_timestamp() + make_interval(secs => $2)
        where id = $1 and ${isSo} and ${IS_FREE} returning *`,
      parameters: [id, seconds, ...parameters],
    },
  ]);
  return rows?.[0] as Taken | undefined;
}

/**
 * Takes a transfer, unless another worker may still be writing.
 * @param seconds until it may be taken over from us
 * @param unreleased what an earlier call has answered: the lease is taken over if nobody has confirmed it since. A clock
 * of the database that jumps ahead ends all leases, and whoever is at work confirms theirs again and again.
 */
export async function takeTransfer(
  database: Database,
  id: string,
  seconds: number,
  unreleased: string | null = null,
): Promise<Taking> {
  const isNobodys = 'finished is null and (t.leased_until is null or t.leased_until::text = $3)';
  const row = await takeAlone(database, id, seconds, isNobodys, unreleased);
  if (row !== undefined)
    return {
      transfer: transferOf(row),
      lease: { transferId: id, epoch: row.epoch },
      stopAsked: row.stop_asked !== null,
    };
  await shortenLeases(database, id, seconds);
  const [held] = await database.query<{ seconds: number | null; until: string | null }>(
    `select extract(epoch from ${LEASED_UNTIL} - clock_timestamp())::float8 as seconds, leased_until::text as until
     from transfers t where id = $1 and finished is null`,
    [id],
  );
  if (held === undefined) return null;
  const heldForSeconds = Math.max(0, held.seconds ?? 0);
  return heldForSeconds === 0 && held.until !== null ? { unreleased: held.until } : { heldForSeconds };
}

type EndedTaking = { readonly transfer: Transfer; readonly lease: Lease } | { readonly heldForSeconds: number } | null;

/** The same for a transfer that has ended, whose copy is to be taken back. */
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

/** Confirms the lease for so many seconds from now. `stop`: it is still ours, and the owner has asked for a stop. */
export async function confirmLease(
  sql: Sql,
  { transferId, epoch }: Lease,
  seconds: number,
): Promise<'ours' | 'stop' | 'lost'> {
  const [row] = await sql.query<{ stops: boolean }>(
    `update transfers set leased_until = clock_timestamp() + make_interval(secs => $3)
     where id = $1 and epoch = $2 returning stop_asked is not null and finished is null as stops`,
    [transferId, epoch, seconds],
  );
  if (row === undefined) return 'lost';
  return row.stops ? 'stop' : 'ours';
}

/** Keeps the lease ours until the transaction ends. @throws {LeaseLost} */
export async function requireLease(sql: Sql, { transferId, epoch }: Lease): Promise<void> {
  const lease = await sql.query('select 1 from transfers where id = $1 and epoch = $2 for share', [transferId, epoch]);
  if (lease.length === 0) throw new LeaseLost(transferId);
}

/** Lets the next worker take the transfer at once: nothing of ours is under way any more. */
export async function releaseLease(sql: Sql, { transferId, epoch }: Lease): Promise<void> {
  await sql.query('update transfers set leased_until = null where id = $1 and epoch = $2', [transferId, epoch]);
}

/** For an embedded database, which no other process can have: whoever held a lease is dead. */
export async function releaseAllLeases(sql: Sql): Promise<void> {
  await sql.query('update transfers set leased_until = null where leased_until is not null');
}
