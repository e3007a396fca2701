import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import {
  credentialsIfAny,
  destroyCredential,
  insertCredentials,
  sealCredential,
  type Accounts,
  type Secret,
} from './credentials.ts';
import { isHeld, LeaseLost, lockAllBetween, type Lease } from './lease.ts';
import { betweenSameAccounts } from './transfer.ts';

type Ordering = {
  readonly database: Database;
  readonly safe: Safe;
  readonly queue: { sendTakeBack(transferId: string, options: { readonly sql: Sql }): Promise<void> };
};

/** Whether what a transfer copied is being taken back; `null` if it has not ended. */
export async function takingBack(sql: Sql, transferId: string): Promise<boolean | null> {
  const [row] = await sql.query<{ ended: boolean; running: boolean }>(
    `select finished is not null as ended,
       exists (select 1 from take_backs where transfer_id = id and take_backs.finished is null) as running
     from transfers where id = $1`,
    [transferId],
  );
  return row?.ended === true ? row.running : null;
}

/**
 * The last transfer before this one, between the same mailboxes, that has copied messages which were not all taken
 * back.
 */
export async function earlierToTakeBack(sql: Sql, transferId: string): Promise<string | null> {
  const [found] = await sql.query<{ id: string }>(
    `select other.id from transfers this join transfers other on ${betweenSameAccounts('other', 'this')}
       join operations on operations.transfer_id = other.id and operation = 'emailmigration' and bytes > 0
     where this.id = $1 and other.id <> this.id and other.created < this.created and other.finished is not null
       and not exists (select 1 from take_backs where take_backs.transfer_id = other.id
         and (take_backs.finished is null or not exists (
           select 1 from ledger_mailboxes m join ledger l on l.mailbox_id = m.id
           where m.transfer_id = other.id and not l.earlier and l.fate in ('stored', 'kept', 'changed', 'taken')
             and l.removal is distinct from 'removed')))
     order by other.created desc limit 1`,
    [transferId],
  );
  return found?.id ?? null;
}

/** Whether another order between the same mailboxes is under way, or waits: it would copy again what is taken back. */
export async function wouldBeCopiedAgain(sql: Sql, transferId: string): Promise<boolean> {
  const found = await sql.query(
    `select 1 from transfers this join transfers other on ${betweenSameAccounts('other', 'this')}
     where this.id = $1 and other.id <> this.id and other.finished is null and not other.by_itself`,
    [transferId],
  );
  return found.length > 0;
}

/**
 * Queues the take-back of what an ended transfer has copied.
 * @param admit runs within the transaction that stores it; if it throws, nothing is stored
 * @returns `false` if it is under way already
 */
export function orderTakeBack(
  { database, safe, queue }: Ordering,
  transfer: Accounts,
  secret: Secret,
  admit: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  const { id } = transfer;
  return database.transaction(async (sql) => {
    await lockAllBetween(sql, id);
    await sql.query('select 1 from transfers where id = $1 for update', [id]);
    const ordered = await sql.query(
      `insert into take_backs (transfer_id) values ($1)
       on conflict (transfer_id) do update set asked = now(), finished = null, idle_runs = 0, remark = null
         where take_backs.finished is not null returning 1`,
      [id],
    );
    if (ordered.length === 0) return false;
    await admit(sql);
    await sql.query("delete from credentials where transfer_id = $1 and role = 'destination'", [id]);
    const sealed = await sealCredential(safe, transfer, 'destination', secret);
    await insertCredentials(sql, id, 'destination', sealed);
    await queue.sendTakeBack(id, { sql });
    return true;
  });
}

/**
 * Records the start of a run, which counts as idle until it has taken something back.
 * @returns the idle runs in a row
 */
export async function beginTakeBack(sql: Sql, transferId: string): Promise<number> {
  const [row] = await sql.query<{ idle_runs: number }>(
    'update take_backs set idle_runs = idle_runs + 1 where transfer_id = $1 returning idle_runs',
    [transferId],
  );
  return row?.idle_runs ?? 0;
}

type Ending = Omit<Ordering, 'queue'> & {
  readonly tokens: { expire(tokenId: string, sql: Sql): Promise<void>; forget(tokenId: string): Promise<void> };
  readonly queue: {
    announce(
      transferId: string,
      kind: 'taken back',
      options: { readonly sql: Sql; readonly occurrence: string },
    ): Promise<void>;
  };
};

/**
 * Ends the take-back, notifies its owner, and erases its credentials.
 * @param failure a sentence for the subscriber
 * @throws {LeaseLost}
 */
export async function endTakeBack(
  { database, safe, tokens, queue }: Ending,
  { transferId, epoch }: Lease,
  failure: string | null,
): Promise<void> {
  const secret = await credentialsIfAny(database, safe, transferId, 'destination');
  await database.transaction(async (sql) => {
    const held = await sql.query(`select 1 from transfers where ${isHeld()} for update`, [transferId, epoch]);
    if (held.length === 0) throw new LeaseLost(transferId);
    const [ended] = await sql.query<{ asked: Date }>(
      'update take_backs set finished = greatest(now(), asked), remark = $2 where transfer_id = $1 returning asked',
      [transferId, failure],
    );
    await queue.announce(transferId, 'taken back', { sql, occurrence: String(ended?.asked.getTime() ?? 0) });
    await sql.query('delete from credentials where transfer_id = $1', [transferId]);
    if (secret?.kind === 'token') await tokens.expire(secret.tokenId, sql);
    await destroyCredential(safe, transferId, 'destination');
  });
  if (secret?.kind === 'token') await tokens.forget(secret.tokenId);
}
