import type { Skipped, WaitingReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import { SKIPPED_SHOWN, type StatusValue } from '../../contract/transfer-status.ts';
import type { Sql } from '../store/database.ts';
import { LeaseLost, type Lease } from './lease.ts';

export type EndStatus = Extract<StatusValue, 'completed' | 'review' | 'authentication_error'>;

/** What the final comparison measured. */
export type Measured = { readonly lost: number; readonly duplicated: number; readonly changed: number };

/** How an operation ended; `failure` is a sentence for the subscriber whenever it is not `completed`. */
export type OperationEnd = {
  readonly status: EndStatus;
  readonly failure?: string;
  readonly measured?: Measured;
  /** What an export did not take; transfers have the ledger and the fates of contacts for that. */
  readonly skipped?: readonly Skipped[];
};

/** Counts since the beginning of the transfer. */
export type Counts = {
  readonly done: number;
  readonly total: number;
  readonly bytes: number;
  readonly kept?: number;
  /** Seconds until it is likely to be done, when that can be said. */
  readonly left?: number | undefined;
};

/** A condition on `transfers` for a statement whose first two parameters are the lease. */
const HELD = 'exists (select 1 from transfers where id = $1 and epoch = $2)';

/** The operations that have not ended. */
export async function openOperations(sql: Sql, id: string): Promise<Operation[]> {
  return (
    await sql.query<{ operation: Operation }>(
      `select operation from operations where transfer_id = $1 and finished is null order by operation desc`,
      [id],
    )
  ).map((row) => row.operation);
}

/** How far an operation was when a run began, and how many runs have moved nothing, this one included. */
export type RunBegun = {
  readonly idleRuns: number;
  readonly refusalWaits: number;
  readonly done: number;
  readonly bytes: number;
};

/**
 * Counts a run that has moved nothing yet.
 * @throws {LeaseLost}
 */
export async function beginRun(sql: Sql, { transferId, epoch }: Lease, operation: Operation): Promise<RunBegun> {
  const [row] = await sql.query<RunBegun>(
    `update operations set status = 'inprogress', failure = null, idle_runs = idle_runs + 1, left_seconds = null,
       waiting_reason = null, waiting_until = null
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD}
     returning idle_runs as "idleRuns", refusal_waits as "refusalWaits", done, bytes::float8 as bytes`,
    [transferId, epoch, operation],
  );
  if (row === undefined) throw new LeaseLost(transferId);
  return row;
}

/** Counts never fall, and `done` never exceeds `total`. Those of a worker that has lost the transfer change nothing. */
export async function noteProgress(
  sql: Sql,
  { transferId, epoch }: Lease,
  operation: Operation,
  { done, total, bytes, kept, left }: Counts,
): Promise<void> {
  await sql.query(
    `update operations set
       idle_runs = case when $4::integer > done or $6::bigint > bytes then 0 else idle_runs end,
       done = greatest(done, $4::integer),
       total = greatest(total, $5::integer, done, $4::integer),
       bytes = greatest(bytes, $6::bigint),
       kept = greatest(kept, $7::integer),
       left_seconds = $8::integer,
       waiting_since = case when $4::integer > done or $6::bigint > bytes then null else waiting_since end,
       left_noted = now()
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD}`,
    [transferId, epoch, operation, done, total, bytes, kept ?? null, left ?? null],
  );
}

/**
 * Why an operation does not go on now, and until when (milliseconds since the epoch), if that is known. `refused`: it waits
 * for what a server has refused, which it does so often only. `counted`: each run counts, however busy the other side is.
 */
export type Waiting = {
  readonly reason: WaitingReason;
  readonly until?: number;
  readonly refused?: true;
  readonly counted?: true;
};

/**
 * A server that asks for pauses was reached, and room is made by the operator: after so many runs the pauses are at their
 * longest, and more don't count against the operation.
 */
const LONGEST_PAUSE_AFTER_RUNS = 12;

/** An owner is told of a wait that lasts, or will last, for so long. */
const LONG_WAIT_MS = 6 * 3_600_000;

/**
 * The operation goes on by itself, but not now. A provider's limit is no idle run, nor is what waits for what was refused; of a
 * server that is busy, and of what the operator has to make room for, only so many are.
 * @param now milliseconds since the epoch
 * @returns since when it has waited, if that is long; else `null`
 * @throws {LeaseLost}
 */
export async function noteWaiting(
  sql: Sql,
  { transferId, epoch }: Lease,
  operation: Operation,
  { reason, until, refused, counted }: Waiting,
  now: number,
): Promise<number | null> {
  const [row] = await sql.query<{ since: Date }>(
    `update operations set left_seconds = null, waiting_reason = $4, waiting_until = to_timestamp($5::float8),
       waiting_since = coalesce(waiting_since, $6),
       refusal_waits = refusal_waits + $7::integer,
       idle_runs = case when $4 = 'provider_limit' or $7 > 0 then 0 when $4 in ('busy', 'disk') and not $8::boolean then least(idle_runs, ${LONGEST_PAUSE_AFTER_RUNS}) else idle_runs end
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD} returning waiting_since as since`,
    [
      transferId,
      epoch,
      operation,
      reason,
      until === undefined ? null : until / 1000,
      new Date(now),
      refused === true ? 1 : 0,
      counted === true,
    ],
  );
  if (row === undefined) throw new LeaseLost(transferId);
  const since = row.since.getTime();
  return Math.max(now, until ?? now) - since >= LONG_WAIT_MS ? since : null;
}

/**
 * No end is before its beginning, here and wherever else one is noted: the clock may have been put back.
 * @throws {LeaseLost} when another worker has the transfer.
 */
export async function endOperation(
  sql: Sql,
  { transferId, epoch }: Lease,
  operation: Operation,
  end: OperationEnd,
): Promise<void> {
  const rows = await sql.query(
    `update operations set status = $4, failure = $5, lost = $6, duplicated = $7, changed = $8, skipped = $9::jsonb,
       attention_side = null, attention_reason = null, attention_since = null, left_seconds = null,
       waiting_reason = null, waiting_until = null, waiting_since = null, finished = greatest(now(), started),
       total = case when $4 = 'completed' then coalesce(total, done) else total end
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD}
     returning 1`,
    [
      transferId,
      epoch,
      operation,
      end.status,
      end.failure ?? null,
      end.measured?.lost ?? null,
      end.measured?.duplicated ?? null,
      end.measured?.changed ?? null,
      end.skipped === undefined ? null : JSON.stringify(end.skipped.slice(0, SKIPPED_SHOWN)),
    ],
  );
  if (rows.length === 0) throw new LeaseLost(transferId);
}

/** Whether every operation completed, and whether its owner had to put something right before. */
type Ended = { readonly allCompleted: boolean; readonly wasPutRight: boolean };

/**
 * Ends the transfer and erases its credentials, in the caller's transaction.
 * @throws {LeaseLost}
 */
export async function endTransfer(sql: Sql, { transferId, epoch }: Lease): Promise<Ended> {
  const [ended] = await sql.query<{ resumed: number }>(
    'update transfers set finished = greatest(now(), created) where id = $1 and epoch = $2 and finished is null returning resumed',
    [transferId, epoch],
  );
  if (ended === undefined) throw new LeaseLost(transferId);
  await sql.query('delete from credentials where transfer_id = $1', [transferId]);
  const failed = await sql.query("select 1 from operations where transfer_id = $1 and status <> 'completed' limit 1", [
    transferId,
  ]);
  return { allCompleted: failed.length === 0, wasPutRight: ended.resumed > 0 };
}
