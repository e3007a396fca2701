import type { Database, Sql } from '../../../store/database.ts';
import { requireLease } from '../../../transfers/lease.ts';
import { betweenSameAccounts } from '../../../transfers/transfer.ts';

/** How many rows are taken over in one transaction. */
const ADOPTED_TOGETHER = 20_000;

/**
 * SQL for the last transfer between the same two accounts as $1 that was ended, as `that`. It has taken over what all
 * before it knew, and knows of folders renamed and UIDs changed since. It is the one whose mailboxes were noted last:
 * times are not compared, as the database's clock may have been wrong once.
 */
const lastOf = (others: string) => `
  transfers this join lateral (
    select other.* from transfers other join ledger_adoptions whole on whole.transfer_id = other.id
    where ${others} and other.finished is not null and ${betweenSameAccounts('other', 'this')}
    order by (select max(id) from ledger_mailboxes where transfer_id = other.id) desc nulls last limit 1
  ) that on true`;
const EARLIER = `${lastOf('other.id <> this.id')}
  join ledger_mailboxes theirs on theirs.transfer_id = that.id`;

const MINE = `
  join ledger_mailboxes mine on mine.transfer_id = this.id and mine.source_path = theirs.source_path
    and mine.source_uid_validity = theirs.source_uid_validity and mine.destination_path = theirs.destination_path`;

/**
 * Takes over what earlier transfers know. In parts: during a transaction the lease can't be confirmed. After a crash it
 * is repeated, and adds the rest.
 */
export async function adopt(database: Database, transferId: string, epoch: number): Promise<void> {
  const inLease = <Result>(work: (sql: Sql) => Promise<Result>) =>
    database.transaction(async (sql) => {
      await requireLease(sql, { transferId, epoch });
      return work(sql);
    });
  const mailboxes = await inLease(async (sql) => {
    const adopted = await sql.query('select 1 from ledger_adoptions where transfer_id = $1', [transferId]);
    return adopted.length > 0 ? null : adoptMailboxes(sql, transferId);
  });
  if (mailboxes === null) return;
  for (const id of mailboxes)
    for (let after: number | null = 0; after !== null;) {
      const from: number = after;
      after = await inLease((sql) => adoptRows(sql, transferId, id, from));
    }
  await inLease(async (sql) => {
    await sql.query('insert into ledger_adoptions (transfer_id) values ($1)', [transferId]);
    await sql.query(
      `insert into ledger_groups (transfer_id, number, mailbox_id, uids, sizes, dates, uid_validity, uid_next)
       select this.id, -row_number() over (order by that.created, old.number), mine.id, old.uids, old.sizes, old.dates,
         old.uid_validity, old.uid_next
       from ${EARLIER} ${MINE}
       join ledger_groups old on old.transfer_id = that.id and old.mailbox_id = theirs.id
       where this.id = $1`,
      [transferId],
    );
    await sql.query(PERHAPS_TAKEN_BACK, [transferId]);
  });
}

/**
 * What a take-back was about to remove when it broke off for good may be there or not: it is looked for, as what a
 * worker died of storing, and copied again if it is not there. Not what a later transfer has found there since.
 */
const PERHAPS_TAKEN_BACK = `
  with perhaps as (
    select theirs.destination_path, own.destination_uid_validity, own.destination_uid
    from transfers this join transfers that on ${betweenSameAccounts('that', 'this')}
    join ledger_mailboxes theirs on theirs.transfer_id = that.id
    join ledger own on own.mailbox_id = theirs.id and own.removal = 'intent'
    where this.id = $1),
  unsure as (
    delete from ledger mine using ledger_mailboxes place, perhaps
    where place.transfer_id = $1 and mine.mailbox_id = place.id and mine.fate in ('stored', 'kept')
      and place.destination_path = perhaps.destination_path
      and mine.destination_uid_validity = perhaps.destination_uid_validity
      and mine.destination_uid = perhaps.destination_uid
      and not exists (
        select 1 from transfers this join transfers that on ${betweenSameAccounts('that', 'this')}
        join ledger_mailboxes theirs on theirs.transfer_id = that.id
        join ledger found on found.mailbox_id = theirs.id and not found.earlier and found.removal is null
        where this.id = $1 and theirs.destination_path = perhaps.destination_path
          and found.destination_uid_validity = perhaps.destination_uid_validity
          and found.destination_uid = perhaps.destination_uid)
    returning mine.*)
  insert into ledger_groups (transfer_id, number, mailbox_id, uids, sizes, dates, uid_validity, uid_next)
  select $1, (select least(0, min(number)) from ledger_groups where transfer_id = $1) - row_number() over (order by mailbox_id),
    mailbox_id, array_agg(uid order by uid), array_agg(size order by uid), array_agg(internal_date order by uid),
    destination_uid_validity, min(destination_uid)
  from unsure group by mailbox_id, destination_uid_validity`;

/** @returns the IDs of all mailboxes that there are then */
async function adoptMailboxes(sql: Sql, transferId: string): Promise<readonly number[]> {
  await sql.query(
    `insert into ledger_mailboxes (transfer_id, source_path, source_uid_validity, destination_path,
       destination_uid_validity, destination_uid_next)
     select distinct on (theirs.source_path, theirs.source_uid_validity) this.id, theirs.source_path,
       theirs.source_uid_validity, theirs.destination_path, theirs.destination_uid_validity,
       theirs.destination_uid_next
     from ${EARLIER} where this.id = $1
     order by theirs.source_path, theirs.source_uid_validity, that.created desc
     on conflict do nothing`,
    [transferId],
  );
  const mailboxes = await sql.query<{ id: number }>(
    'select id::float8 as id from ledger_mailboxes where transfer_id = $1 order by id',
    [transferId],
  );
  return mailboxes.map(({ id }) => id);
}

/**
 * Takes over some rows of a mailbox, after a UID.
 * @returns the UID up to which rows are taken over; `null` when all are
 */
async function adoptRows(sql: Sql, transferId: string, mailboxId: number, after: number): Promise<number | null> {
  const [part] = await sql.query<{ until: number | null }>(
    `select min(next.uid)::float8 as until from ${EARLIER} ${MINE}
     cross join lateral (select old.uid from ledger old where old.mailbox_id = theirs.id and old.uid > $3
       order by old.uid offset ${ADOPTED_TOGETHER - 1} limit 1) next
     where this.id = $1 and mine.id = $2`,
    [transferId, mailboxId, after],
  );
  const until = part?.until ?? null;
  await sql.query(
    `insert into ledger (mailbox_id, uid, fate, size, sha256, internal_date, source_date,
       destination_uid_validity, destination_uid, verified, earlier, subject, settled)
     select distinct on (old.uid) mine.id, old.uid, old.fate, old.size, old.sha256, old.internal_date,
       old.source_date, old.destination_uid_validity, old.destination_uid, old.verified, true, old.subject, old.settled
     from ${EARLIER} ${MINE}
     join ledger old on old.mailbox_id = theirs.id and old.uid > $3 and old.uid <= coalesce($4, ${Number.MAX_SAFE_INTEGER})
       and old.fate in ('stored', 'kept', 'changed', 'twin', 'taken') and old.removal is distinct from 'removed'
     where this.id = $1 and mine.id = $2 order by old.uid, that.created desc
     on conflict do nothing`,
    [transferId, mailboxId, after, until],
  );
  return until;
}

/**
 * Whether the next transfer between the same two accounts copies again what was taken back. If the last one has not
 * completed, it may have copied only a part of that: then this transfer's rows count, too.
 */
export async function bringsBack(sql: Sql, transferId: string): Promise<boolean> {
  const found = await sql.query(
    `select 1 from ${lastOf('true')}
     join ledger_mailboxes m on m.transfer_id in (that.id, case when exists (select 1 from operations
       where transfer_id = that.id and operation = 'emailmigration' and status <> 'completed') then this.id end)
     join ledger l on l.mailbox_id = m.id and l.removal = 'removed'
     where this.id = $1 limit 1`,
    [transferId],
  );
  return found.length > 0;
}
