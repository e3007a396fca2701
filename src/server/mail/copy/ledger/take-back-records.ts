import type { Database, Sql } from '../../../store/database.ts';
import { pageByIndex } from '../../../store/page-by-index.ts';
import { isHeld, LeaseLost, requireLease, type Lease } from '../../../transfers/lease.ts';
import { betweenSameAccounts } from '../../../transfers/transfer.ts';
import { gathered } from './gathered.ts';

/** A message that a transfer has appended; `sha256` (hex) is of its octets at the destination. */
export type Appended = {
  readonly mailboxId: number;
  readonly uid: number;
  readonly destinationUid: number;
  readonly uidValidity: bigint;
  readonly sha256: string;
  readonly flags: readonly string[];
  /** An earlier try was about to take it back. */
  readonly intent: boolean;
};

/** `validities`: the UIDVALIDITYs under which messages were put there; empty if there were none. */
export type MadeFolder = { readonly path: string; readonly validities: readonly bigint[] };

/** What is known of what a transfer has put at its destination. Writes carry the lease. @throws {LeaseLost} */
export type TakeBackRecords = {
  /** The mailboxes of the destination that have messages of the transfer. */
  paths(): Promise<readonly string[]>;
  /** How many there are in one of them that are not taken back. */
  count(path: string): Promise<number>;
  /** At most so many messages in one of them that are not taken back, after a given source mailbox and UID. */
  page(path: string, after: Pick<Appended, 'mailboxId' | 'uid'>, atMost: number): Promise<readonly Appended[]>;
  /** Commits that these are about to be taken back. */
  intend(messages: readonly Appended[]): Promise<void>;
  removed(messages: readonly Appended[]): Promise<void>;
  /** Notes that they stay after all. */
  spare(messages: readonly Appended[]): Promise<void>;
  folders(): Promise<readonly MadeFolder[]>;
  folderRemoved(path: string): Promise<void>;
};

/**
 * SQL for the rows of `made_folders` that go with $1 once they are empty: its own, and those of transfers between the
 * same accounts that were taken back before and had to leave them, because this one had put messages there, or below.
 */
const TO_GO = `(transfer_id = $1 or transfer_id in (
    select that.id from transfers this join transfers that on ${betweenSameAccounts('that', 'this')}
    where this.id = $1 and exists (select 1 from take_backs where transfer_id = that.id))
  and exists (select 1 from ledger_mailboxes place where place.transfer_id = $1
    and starts_with(place.destination_path, made_folders.path)
    and exists (select 1 from ledger l where l.mailbox_id = place.id and not l.earlier and l.removal = 'removed')))`;

const OWN = `not l.earlier and l.fate in ('stored', 'kept') and l.removal is distinct from 'removed'
  and l.destination_uid is not null`;

/** Uses the ledger's index: a query over several mailboxes would read and sort a large one anew for each page. */
async function pageOf(
  database: Database,
  mailboxId: number,
  after: number,
  atMost: number,
): Promise<readonly Appended[]> {
  const rows = await pageByIndex<{
    uid: number;
    destination_uid: number;
    uid_validity: string;
    sha256: string | null;
    flags: string[] | null;
    intent: boolean;
  }>(
    database,
    `select l.uid::float8 as uid, l.destination_uid::float8 as destination_uid,
       l.destination_uid_validity::text as uid_validity, l.flags, l.removal is not null as intent,
       encode(case when l.fate = 'stored' then l.sha256 else l.stored_sha256 end, 'hex') as sha256
     from ledger l where l.mailbox_id = $1 and l.uid > $2 and ${OWN} and l.flags is not null
       and case when l.fate = 'stored' then l.sha256 else l.stored_sha256 end is not null
     order by l.uid limit $3`,
    [mailboxId, after, atMost],
  );
  return rows.map((row) => ({
    mailboxId,
    uid: row.uid,
    destinationUid: row.destination_uid,
    uidValidity: BigInt(row.uid_validity),
    sha256: row.sha256 ?? '',
    flags: row.flags ?? [],
    intent: row.intent,
  }));
}

export function openTakeBackRecords(database: Database, lease: Lease): TakeBackRecords {
  const { transferId } = lease;
  async function held(work: (sql: Sql) => Promise<void>): Promise<void> {
    await database.transaction(async (sql) => {
      await requireLease(sql, lease);
      await work(sql);
    });
  }
  const mark = (messages: readonly Appended[], removal: 'intent' | null) =>
    held(async (sql) => {
      await sql.query(
        `update ledger l set removal = $2 from json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint)
         where l.mailbox_id = x.mailbox_id and l.uid = x.uid`,
        [JSON.stringify(messages.map(({ mailboxId, uid }) => ({ mailbox_id: mailboxId, uid }))), removal],
      );
    });
  return {
    paths: async () =>
      (
        await database.query<{ path: string }>(
          `select distinct m.destination_path as path from ledger_mailboxes m
           where m.transfer_id = $1 and exists (select 1 from ledger l where l.mailbox_id = m.id and ${OWN})
           order by path`,
          [transferId],
        )
      ).map(({ path }) => path),
    count: async (path) => {
      const [row] = await database.query<{ count: number }>(
        `select count(*)::integer as count from ledger_mailboxes m join ledger l on l.mailbox_id = m.id
         where m.transfer_id = $1 and m.destination_path = $2 and ${OWN}`,
        [transferId, path],
      );
      return row?.count ?? 0;
    },
    page: async (path, after, atMost) => {
      const mailboxes = await database.query<{ id: number }>(
        `select id::float8 as id from ledger_mailboxes
         where transfer_id = $1 and destination_path = $2 and id >= $3 order by id`,
        [transferId, path, after.mailboxId],
      );
      for (const { id } of mailboxes) {
        const page = await pageOf(database, id, id === after.mailboxId ? after.uid : 0, atMost);
        if (page.length > 0) return page;
      }
      return [];
    },
    intend: (messages) => mark(messages, 'intent'),
    spare: (messages) => mark(messages, null),
    // Also in the ledgers of other transfers between the same accounts, so that the message can be copied again.
    removed: (messages) =>
      held(async (sql) => {
        await sql.query(
          `update ledger l set removal = 'removed'
           from json_to_recordset($2::json) as x(mailbox_id bigint, uid bigint)
           join ledger own on own.mailbox_id = x.mailbox_id and own.uid = x.uid
           join ledger_mailboxes place on place.id = own.mailbox_id
           join transfers this on this.id = $1
           join transfers that on ${betweenSameAccounts('that', 'this')}
           join ledger_mailboxes theirs on theirs.transfer_id = that.id
             and theirs.destination_path = place.destination_path
           where l.mailbox_id = theirs.id and l.destination_uid = own.destination_uid
             and l.destination_uid_validity = own.destination_uid_validity`,
          [transferId, JSON.stringify(messages.map(({ mailboxId, uid }) => ({ mailbox_id: mailboxId, uid })))],
        );
        await sql.query('update take_backs set idle_runs = 0 where transfer_id = $1', [transferId]);
      }),
    folders: async () => {
      const made = await database.query<{ path: string }>(
        `select distinct path, length(path) from made_folders where ${TO_GO} order by length(path) desc, path`,
        [transferId],
      );
      if (made.length === 0) return [];
      const paths = made.map(({ path }) => path);
      const put = await database.query<{ path: string; validity: string }>(
        `select place.destination_path as path, l.destination_uid_validity::text as validity
         from transfers this join transfers that on ${betweenSameAccounts('that', 'this')}
         join ledger_mailboxes place on place.transfer_id = that.id join ledger l on l.mailbox_id = place.id
         where this.id = $1 and place.destination_path = any($2) and not l.earlier
           and l.destination_uid_validity is not null
         group by place.destination_path, l.destination_uid_validity`,
        [transferId, paths],
      );
      const validities = Map.groupBy(put, ({ path }) => path);
      return paths.map((path) => ({
        path,
        validities: (validities.get(path) ?? []).map(({ validity }) => BigInt(validity)),
      }));
    },
    folderRemoved: (path) =>
      held(async (sql) => {
        await sql.query(`delete from made_folders where ${TO_GO} and path = $2`, [transferId, path]);
      }),
  };
}

/** Notes the folders that a transfer makes. @throws {LeaseLost} */
export function noteMadeFolders(database: Database, { transferId, epoch }: Lease): (path: string) => Promise<void> {
  const note = gathered<Set<string>, void>(
    () => new Set(),
    async (paths) => {
      const noted = await database.query(
        `insert into made_folders (transfer_id, path)
         select id, unnest($3::text[]) from transfers where ${isHeld()}
         on conflict (transfer_id, path) do update set path = excluded.path returning 1`,
        [transferId, epoch, [...paths]],
      );
      if (noted.length === 0) throw new LeaseLost(transferId);
    },
  );
  return (path) => note((paths) => paths.add(path));
}

/** How many messages of a transfer were taken back, and how many of those that it appended were not. */
export type TakenBack = {
  readonly removed: number;
  readonly goesOn: boolean;
  readonly left: number;
  /** How many more had been moved or deleted before the transfer had compared them. */
  readonly moved: number;
  /** How many more were on their way when the transfer ended, and may have arrived. */
  readonly unsure: number;
  /** A sentence for its owner about what was not taken back. */
  readonly remark: string | null;
};

/** `null` if no take back was asked for. */
export async function takenBack(sql: Sql, transferId: string): Promise<TakenBack | null> {
  const [row] = await sql.query<TakenBack>(
    `select count(l.uid) filter (where l.removal = 'removed')::integer as removed,
       t.finished is null as "goesOn", t.remark,
       count(l.uid) filter (where l.removal is distinct from 'removed' and l.fate <> 'taken')::integer as left,
       count(l.uid) filter (where l.removal is distinct from 'removed' and l.fate = 'taken')::integer as moved,
       (select coalesce(sum(cardinality(uids)), 0) from ledger_groups where transfer_id = $1)::integer as unsure
     from take_backs t
     left join ledger_mailboxes m on m.transfer_id = t.transfer_id
     left join ledger l on l.mailbox_id = m.id and not l.earlier and l.fate in ('stored', 'kept', 'changed', 'taken')
     where t.transfer_id = $1 group by t.transfer_id, t.finished, t.remark`,
    [transferId],
  );
  return row ?? null;
}
