import type { Skipped, WaitingReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import { SKIPPED_SHOWN, type StatusValue } from '../../contract/transfer-status.ts';
import type { Sql } from '../store/database.ts';
import { isHeld, LeaseLost, type Lease } from './lease.ts';

export type EndStatus = Extract<StatusValue, 'completed' | 'review' | 'authentication_error'>;

/** The result of the final comparison. */
export type Measured = { readonly lost: number; readonly duplicated: number; readonly changed: number };

/** How an operation ended; unless it is `completed`, `failure` is a sentence for the subscriber. */
export type OperationEnd = {
  readonly status: EndStatus;
  readonly failure?: string;
  readonly measured?: Measured;
  /** How many the destination keeps in a form of its own, also of folders that the last run did not count. */
  readonly kept?: number;
  /** What an export left out; other transfers have this in the ledger and in the outcomes of contacts. */
  readonly skipped?: readonly Skipped[];
};

/** Counts since the beginning of the transfer. */
export type Counts = {
  readonly done: number;
  readonly total: number;
  readonly bytes: number;
  readonly kept?: number;
  /** The estimated number of seconds until it is done, if there is an estimate. */
  readonly left?: number | undefined;
};

/** SQL for whether the lease, the statement's first two parameters, is still valid. */
const HELD = `exists (select 1 from transfers where ${isHeld()})`;

/** The operations that have not ended. */
export async function openOperations(sql: Sql, id: string): Promise<Operation[]> {
  return (
    await sql.query<{ operation: Operation }>(
      `select operation from operations where transfer_id = $1 and finished is null order by operation desc`,
      [id],
    )
  ).map((row) => row.operation);
}

/** What a transfer has moved since its beginning; contacts count as messages. */
export async function movedBy(sql: Sql, id: string): Promise<{ readonly messages: number; readonly octets: number }> {
  const [row] = await sql.query<{ messages: number; octets: number }>(
    `select coalesce(sum(done), 0)::float8 as messages, coalesce(sum(bytes), 0)::float8 as octets
     from operations where transfer_id = $1`,
    [id],
  );
  return row ?? { messages: 0, octets: 0 };
}

/** What is due within this time of one another is done in the same run. */
const TOGETHER_SECONDS = 1;
/** No wait is longer than this. */
const LONGEST_WAIT_SECONDS = 25 * 3600;

/**
 * The operations that have to wait on while the transfer runs for another one, and for how many seconds more: each run
 * would count against them, and their servers may have asked for the wait. Waits are noted and compared by the
 * database's clock, because a worker's may be wrong. A wait that was noted while that clock was ahead begins anew.
 */
export async function waitingOperations(sql: Sql, id: string): Promise<Map<Operation, number>> {
  await sql.query(
    `update operations set waiting_until = now() + (waiting_until - waiting_noted), waiting_noted = now(),
       waiting_since = least(waiting_since, now())
     where transfer_id = $1 and finished is null and waiting_noted > now() + interval '1 minute'`,
    [id],
  );
  const rows = await sql.query<{ operation: Operation; seconds: number }>(
    `select operation, coalesce(extract(epoch from waiting_until - now())::float8, 0) as seconds
     from operations where transfer_id = $1 and finished is null and attention_since is null`,
    [id],
  );
  const due = Math.max(0, Math.min(...rows.map(({ seconds }) => seconds))) + TOGETHER_SECONDS;
  return new Map(
    rows
      .filter(({ seconds }) => seconds > due && seconds <= LONGEST_WAIT_SECONDS)
      .map(({ operation, seconds }) => [operation, seconds]),
  );
}

/** How far an operation was when a run began, and how many runs in a row have moved nothing, including this one. */
export type RunBegun = {
  readonly idleRuns: number;
  readonly refusalWaits: number;
  readonly troubleWaits: number;
  readonly waitingSince: Date | null;
  readonly done: number;
  readonly bytes: number;
};

/**
 * Records the start of a run, which counts as idle until it has moved something.
 * @throws {LeaseLost}
 */
export async function beginRun(sql: Sql, { transferId, epoch }: Lease, operation: Operation): Promise<RunBegun> {
  const [row] = await sql.query<RunBegun>(
    `update operations set status = 'inprogress', failure = null, idle_runs = idle_runs + 1, left_seconds = null,
       waiting_reason = null, waiting_until = null
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD}
     returning idle_runs as "idleRuns", refusal_waits as "refusalWaits",
       trouble_waits as "troubleWaits", waiting_since as "waitingSince", done, bytes::float8 as bytes`,
    [transferId, epoch, operation],
  );
  if (row === undefined) throw new LeaseLost(transferId);
  return row;
}

/** Records that a run did what there was to do, even if it has moved nothing. Ignored if the lease has been lost. */
export async function noteNotIdle(sql: Sql, { transferId, epoch }: Lease, operation: Operation): Promise<void> {
  await sql.query(
    `update operations set idle_runs = 0
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD}`,
    [transferId, epoch, operation],
  );
}

/** Records progress. Counts never decrease, and `done` never exceeds `total`. Ignored if the lease has been lost. */
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
 * Why an operation is paused, and until when (milliseconds since the epoch), if that is known. `waited`: it waits to
 * retry what a server has refused, or was in trouble with, which it does only so many times each. `counts`: the run
 * counts as that many idle ones even if the other side is busy. `idle`: how it was when the run began, which has moved
 * nothing whatever its progress says.
 */
export type Waiting = {
  readonly reason: WaitingReason;
  readonly until?: number;
  readonly waited?: 'refusalWaits' | 'troubleWaits';
  readonly counts?: number;
  readonly idle?: Pick<RunBegun, 'idleRuns' | 'waitingSince'>;
};

/**
 * After so many runs the pauses are at their longest. Further runs don't count against an operation that waits for a
 * busy server, which has at least been reached, or for the operator to make room.
 */
const LONGEST_PAUSE_AFTER_RUNS = 12;

/** An owner is notified of a wait that lasts, or will last, this long. */
const LONG_WAIT = '6 hours';

/**
 * Records that the operation is paused, and will continue by itself. Waiting for a provider's limit, or to retry what
 * was refused, doesn't count as an idle run; waiting for a busy server, or for the operator to make room, only counts
 * so often. The times are noted by the database's clock, which all workers share.
 * @param now milliseconds since the epoch, by the clock that has told until when
 * @returns since when it has been waiting, if that is long; otherwise `null`
 * @throws {LeaseLost}
 */
export async function noteWaiting(
  sql: Sql,
  { transferId, epoch }: Lease,
  operation: Operation,
  { reason, until, waited, counts, idle }: Waiting,
  now: number,
): Promise<number | null> {
  const [row] = await sql.query<{ since: Date; is_long: boolean }>(
    `update operations set left_seconds = null, waiting_reason = $4,
       waiting_until = now() + make_interval(secs => $5::float8), waiting_noted = now(),
       waiting_since = coalesce($9::timestamptz, waiting_since, now()),
       refusal_waits = refusal_waits + case when $6::text = 'refusalWaits' then 1 else 0 end,
       trouble_waits = trouble_waits + case when $6::text = 'troubleWaits' then 1 else 0 end,
       idle_runs = case when $4 = 'provider_limit' or $6::text is not null then 0 when $4 in ('busy', 'disk') and $7::integer is null then least(idle_runs, ${LONGEST_PAUSE_AFTER_RUNS}) else coalesce($8::integer, idle_runs) + coalesce($7, 1) - 1 end
     where transfer_id = $1 and operation = $3 and finished is null and ${HELD}
     returning waiting_since as since, greatest(now(), waiting_until) - waiting_since >= interval '${LONG_WAIT}' as is_long`,
    [
      transferId,
      epoch,
      operation,
      reason,
      until === undefined ? null : (until - now) / 1000,
      waited ?? null,
      counts ?? null,
      idle?.idleRuns ?? null,
      idle?.waitingSince?.toISOString() ?? null,
    ],
  );
  if (row === undefined) throw new LeaseLost(transferId);
  return row.is_long ? row.since.getTime() : null;
}

/**
 * Ends an operation, never before its start (here and wherever else an end is recorded): the clock may have been set
 * back.
 * @throws {LeaseLost} if another worker has the transfer.
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
       kept = coalesce($10::integer, kept), total = case when $4 = 'completed' then coalesce(total, done) else total end
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
      end.kept ?? null,
    ],
  );
  if (rows.length === 0) throw new LeaseLost(transferId);
}

type Ended = {
  readonly allCompleted: boolean;
  /** The owner had to fix something first. */
  readonly wasPutRight: boolean;
  /** A daily has started it, and nobody has ordered the same since. */
  readonly isUnordered: boolean;
};

/**
 * Ends the transfer and erases its credentials, in the caller's transaction.
 * @throws {LeaseLost}
 */
export async function endTransfer(sql: Sql, { transferId, epoch }: Lease): Promise<Ended> {
  const [ended] = await sql.query<{ resumed: number; by_itself: boolean }>(
    `update transfers set finished = greatest(now(), created)
     where ${isHeld()} and finished is null
     returning resumed, by_itself`,
    [transferId, epoch],
  );
  if (ended === undefined) throw new LeaseLost(transferId);
  await sql.query('delete from credentials where transfer_id = $1', [transferId]);
  const failed = await sql.query("select 1 from operations where transfer_id = $1 and status <> 'completed' limit 1", [
    transferId,
  ]);
  return { allCompleted: failed.length === 0, wasPutRight: ended.resumed > 0, isUnordered: ended.by_itself };
}
