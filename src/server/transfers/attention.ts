import type { Attention, AttentionReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Log } from '../log.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import {
  destroyCredential,
  insertCredentials,
  sealCredential,
  type Accounts,
  type Role,
  type Secret,
} from './credentials.ts';
import { isHeld, LeaseLost, type Lease } from './lease.ts';

const DAY_MS = 24 * 3_600_000;
/** The owner of a resting operation is reminded after so many days. */
const ASKED_AGAIN_DAYS = [2, 6];
/** A resting operation ends after so many days. */
const ENDS_AFTER_DAYS = 14;
export const ENDS_AFTER_MS = ENDS_AFTER_DAYS * DAY_MS;

/** When an operation that came to rest at this time will end. */
export function endOfRest(since: Date): Date {
  return new Date(since.getTime() + ENDS_AFTER_MS);
}

/** Why an operation rests, that is, waits for its owner; `failure` is a sentence for the subscriber. */
export type AtRest = Attention & {
  readonly status: 'authentication_error' | 'review';
  readonly failure: string;
};
type Resting = AtRest & { readonly operation: Operation; readonly since: Date };

type Announce = (
  transferId: string,
  kind: 'paused',
  options: { readonly sql?: Sql; readonly occurrence: string },
) => Promise<void>;

/** Whether the side's credential was refused, so that it is useless now. */
export function isCredentialRefused(reason: AttentionReason): boolean {
  return reason === 'password' || reason === 'consent';
}

/** The operations that are waiting for their owner. */
export async function restingOperations(sql: Sql, transferId: string): Promise<Resting[]> {
  const rows = await sql.query<{
    operation: Operation;
    status: Resting['status'];
    failure: string | null;
    side: Resting['side'];
    reason: Resting['reason'];
    since: Date;
  }>(
    `select operation, status, failure, attention_side as side, attention_reason as reason, attention_since as since
     from operations where transfer_id = $1 and finished is null and attention_since is not null order by operation desc`,
    [transferId],
  );
  return rows.map((row) => ({ ...row, failure: row.failure ?? '' }));
}

/**
 * Puts an operation to rest until its owner has fixed something, and queues a letter to the owner: one, however many
 * operations rest for the same reason. Not if the owner has put something right since the run began: it may be what was
 * refused, so the operation is to be tried again.
 * @param run how often its owner had put the transfer right when the run began
 * @param now milliseconds since the epoch; the later of this and the database's time counts, as nobody is to have less
 * time
 * @returns whether it rests
 * @throws {LeaseLost}
 */
export function putToRest(
  { database, queue }: { readonly database: Database; readonly queue: { readonly announce: Announce } },
  { transferId, epoch }: Lease,
  operation: Operation,
  { status, failure, side, reason }: AtRest,
  run: { readonly resumed: number },
  now: number,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const [held] = await sql.query<{ resumed: number }>(`select resumed from transfers where ${isHeld()} for update`, [
      transferId,
      epoch,
    ]);
    if (held === undefined) throw new LeaseLost(transferId);
    if (held.resumed !== run.resumed) return false;
    await sql.query(
      `update operations set status = $3, failure = $4, attention_side = $5, attention_reason = $6,
         attention_since = greatest(now(), $7::timestamptz),
         waiting_reason = null, waiting_until = null, waiting_since = null, idle_runs = 0, left_seconds = null
       where transfer_id = $1 and operation = $2 and finished is null`,
      [transferId, operation, status, failure, side, reason, new Date(now)],
    );
    await queue.announce(transferId, 'paused', { sql, occurrence: occurrenceOf(held.resumed, { side, reason }) });
    return true;
  });
}

/** The same for all operations that rest for one reason; a different one once that has been fixed. */
function occurrenceOf(resumed: number, { side, reason }: Attention): string {
  return `${resumed}.${side}.${reason}`;
}

/**
 * Erases the refused credentials, except those that only the contacts were refused with and the mail still needs: it
 * goes on with them once its owner has made room, for example.
 * @returns the sides whose credentials are gone
 */
export async function eraseRefused(
  database: Database,
  safe: Safe,
  { transferId, epoch }: Lease,
): Promise<readonly Role[]> {
  return database.transaction(async (sql) => {
    await sql.query('select 1 from transfers where id = $1 for update', [transferId]);
    const erased = await sql.query<{ role: Role }>(
      `delete from credentials where transfer_id = $1
         and exists (select 1 from transfers where ${isHeld()})
         and role in (select attention_side from operations where transfer_id = $1 and finished is null
           and attention_reason in ('password', 'consent'))
         and not exists (select 1 from operations where transfer_id = $1 and finished is null
           and operation = 'emailmigration'
           and (attention_side is distinct from role or attention_reason not in ('password', 'consent')))
       returning role`,
      [transferId, epoch],
    );
    // Within the transaction, before anything else can be sealed at the same place.
    for (const { role } of erased) await destroyCredential(safe, transferId, role);
    return erased.map(({ role }) => role);
  });
}

type Asking = {
  readonly database: Database;
  readonly log: Log;
  readonly queue: {
    readonly announce: Announce;
    readonly sendUnlessWaiting: (transferId: string, afterSeconds: number) => Promise<void>;
  };
};

type Waiting = Attention & { readonly id: string; readonly since: Date; readonly resumed: number };

/**
 * Reminds owners whose operations have rested for some days, and queues those that have rested for too long to be
 * ended.
 */
export async function askAgain(services: Asking, now: number): Promise<void> {
  const rows = await services.database.query<Waiting>(
    `select transfer_id as id, attention_side as side, attention_reason as reason, attention_since as since, resumed
     from operations join transfers on transfers.id = transfer_id
     where attention_since is not null and operations.finished is null`,
  );
  for (const row of rows)
    await askOwner(services, row, now).catch((error: unknown) =>
      services.log.error({ err: error, transferId: row.id }, 'an owner could not be asked again'),
    );
}

async function askOwner({ queue }: Asking, { id, since, resumed, ...attention }: Waiting, now: number): Promise<void> {
  const age = now - since.getTime();
  const day = ASKED_AGAIN_DAYS.findLast((each) => age >= each * DAY_MS);
  if (age >= ENDS_AFTER_MS) await queue.sendUnlessWaiting(id, 0);
  else if (day !== undefined)
    await queue.announce(id, 'paused', { occurrence: `${occurrenceOf(resumed, attention)}.${day}` });
}

type PuttingRight = {
  readonly database: Database;
  readonly safe: Safe;
  readonly queue: { send(transferId: string, options: { readonly sql: Sql }): Promise<void> };
};

/**
 * Resumes the operations that rest because of one side, with a new credential if there is one. Operations that rest
 * because a credential was refused are resumed only with a new one.
 * @param admit runs within the transaction if there were any; if it throws, none is resumed
 * @returns whether there were any
 */
export function putRight(
  { database, safe, queue }: PuttingRight,
  transfer: Accounts,
  side: Role,
  secret: Secret | null,
  admit: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  const { id } = transfer;
  return database.transaction(async (sql) => {
    await sql.query('select 1 from transfers where id = $1 for update', [id]);
    const released = await sql.query(
      `update operations set status = 'inprogress', failure = null, idle_runs = 0, refusal_waits = 0, trouble_waits = 0, attention_side = null,
         attention_reason = null, attention_since = null
       where transfer_id = $1 and finished is null and attention_side = $2
         and ($3 or attention_reason not in ('password', 'consent')) returning 1`,
      [id, side, secret !== null],
    );
    if (released.length === 0) return false;
    await admit(sql);
    await sql.query('update transfers set resumed = resumed + 1 where id = $1', [id]);
    if (secret !== null) {
      await sql.query('delete from credentials where transfer_id = $1 and role = $2', [id, side]);
      await insertCredentials(sql, id, side, await sealCredential(safe, transfer, side, secret));
    }
    await queue.send(id, { sql });
    return true;
  });
}
