import type { Database, Statement } from '../../store/database.ts';
import { storable } from '../../store/storable.ts';
import { LeaseLost, requireLease, type Lease } from '../../transfers/lease.ts';
import { gathered } from './gathered.ts';
import type { Group, Ledger, NewRow, Tally } from './ledger.ts';
import { adopt } from './ledger-adoption.ts';
import { PERHAPS_FOR_NOW } from './reasons.ts';
import {
  COLUMNS,
  type GroupRow,
  type LedgerRow,
  MAILBOX,
  type MailboxRow,
  groupJson,
  groupOf,
  mailboxJson,
  mailboxOf,
  storedPath,
  rowJson,
  rowOf,
} from './ledger-rows.ts';

const PAGE = 5000;
/** Groups of one lease are numbered from here on; no lease has so many. */
const NUMBERS_A_LEASE = 1e9;

/** Until a day later, what a clock of the database that was ahead has written would count against each day's octets. */
const FAR_AHEAD = "now() + interval '1 day'";

type Writes = {
  readonly opened: Group[];
  readonly rows: Map<string, NewRow>;
  readonly closed: number[];
  readonly former: Key[];
  readonly verified: Key[];
};

/** Of a row, as `json_to_recordset` takes it. */
type Key = { readonly mailbox_id: number; readonly uid: number };

export function openLedger(database: Database, { transferId, epoch }: Lease): Ledger {
  let count = 0;
  /** Answers the keys of the rows written. */
  const write = gathered(noWrites, (writes) => commit(database, transferId, epoch, writes));

  return {
    mailboxes: async () =>
      (
        await database.query<MailboxRow>(`select ${MAILBOX} from ledger_mailboxes where transfer_id = $1 order by id`, [
          transferId,
        ])
      ).map(mailboxOf),
    addMailboxes: async (mailboxes) => {
      const rows = await database.query<MailboxRow & { is_new: boolean }>(
        `insert into ledger_mailboxes (transfer_id, source_path, source_uid_validity, destination_path, total, reason)
         select id, x.source_path, x.validity, x.destination_path, x.total, x.reason
         from transfers, json_to_recordset($2::json) as x(source_path text, validity bigint, destination_path text, total integer, reason text, number bigint)
         where id = $1 and epoch = $3 order by x.number
         on conflict (transfer_id, source_path, source_uid_validity)
           do update set total = excluded.total, reason = excluded.reason
         returning ${MAILBOX}, xmax = 0 as is_new`,
        [transferId, JSON.stringify(mailboxes.map((mailbox, number) => ({ ...mailboxJson(mailbox), number }))), epoch],
      );
      const byKey = new Map(
        rows.map((row) => [`${row.source_uid_validity} ${row.source_path}`, { ...mailboxOf(row), isNew: row.is_new }]),
      );
      return mailboxes.map((given) => {
        const mailbox = byKey.get(`${given.sourceUidValidity} ${storedPath(given.sourcePath)}`);
        if (mailbox === undefined) throw lost(transferId);
        const { destinationPath, sourcePath } = given;
        const same = mailbox.destinationPath === storedPath(destinationPath);
        return { ...mailbox, sourcePath, ...(same ? { destinationPath } : {}) };
      });
    },
    rename: async (mailboxIds, sourcePath) => {
      await database.transaction(async (sql) => {
        await requireLease(sql, { transferId, epoch });
        await sql.query(
          'update ledger_mailboxes set source_path = $3 where transfer_id = $1 and id = any($2::bigint[])',
          [transferId, [...mailboxIds], storedPath(sourcePath)],
        );
      });
    },
    noteMailbox: async (mailboxId, reason) => {
      const noted = await database.query(
        `update ledger_mailboxes set reason = $2
         where id = $1 and exists (select 1 from transfers where id = $3 and epoch = $4) returning id`,
        [mailboxId, reason === null ? null : storable(reason), transferId, epoch],
      );
      if (noted.length === 0) throw lost(transferId);
    },
    adopt: () => adopt(database, transferId, epoch),
    async *rows(mailboxId) {
      for (let after = 0; ;) {
        // By the column, which an index has; `uid` alone would be what is selected under that name.
        const rows = await database.query<LedgerRow>(
          `select ${COLUMNS} from ledger where mailbox_id = $1 and uid > $2 order by ledger.uid limit ${PAGE}`,
          [mailboxId, after],
        );
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(rowOf);
        if (rows.length < PAGE) return;
        after = last.uid;
      }
    },
    groups: async () =>
      (
        await database.query<GroupRow>(
          `select number::float8 as number, mailbox_id::float8 as mailbox_id, uids::float8[] as uids,
             sizes::float8[] as sizes, dates::float8[] as dates, uid_validity::text as uid_validity,
             uid_next::float8 as uid_next
           from ledger_groups where transfer_id = $1 order by number`,
          [transferId],
        )
      ).map(groupOf),
    open: async (groups) => {
      const opened = groups.map((group) => ({ ...group, id: epoch * NUMBERS_A_LEASE + (count += 1) }));
      await write((writes) => writes.opened.push(...opened));
      return opened;
    },
    settle: async (rows, closed = [], former = []) => {
      const written = await write((writes) => {
        for (const row of rows) writes.rows.set(keyOf(row.mailboxId, row.uid), row);
        writes.closed.push(...closed);
        writes.former.push(...former.map(({ mailboxId, uid }) => ({ mailbox_id: mailboxId, uid })));
      });
      return rows.filter((row) => !written.has(keyOf(row.mailboxId, row.uid)));
    },
    forget: async (mailboxId, uids) => {
      await database.query(
        `delete from ledger using (select 1 from transfers where id = $1 and epoch = $2 for share) lease
         where mailbox_id = $3 and uid = any($4::bigint[])`,
        [transferId, epoch, mailboxId, [...uids]],
      );
    },
    forgetRefused: async () => {
      const forgotten = await database.query(
        `delete from ledger
         using (select 1 from transfers where id = $1 and epoch = $2 for share) lease, ledger_mailboxes m
         where m.transfer_id = $1 and ledger.mailbox_id = m.id and ledger.fate = 'refused' and ledger.reason = any($3)
         returning ledger.uid`,
        [transferId, epoch, [...PERHAPS_FOR_NOW]],
      );
      return forgotten.length > 0;
    },
    verified: async (mailboxId, uids) => {
      await write((writes) => writes.verified.push(...uids.map((uid) => ({ mailbox_id: mailboxId, uid }))));
    },
    claimed: async (destinationPath, uidValidity) =>
      new Set(
        (
          await database.query<{ uid: number }>(
            `select l.destination_uid::float8 as uid from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
             where m.transfer_id = $1 and m.destination_path = $2
               and l.destination_uid_validity = $3 and l.destination_uid is not null`,
            [transferId, storedPath(destinationPath), uidValidity.toString()],
          )
        ).map((row) => row.uid),
      ),
    disown: (destinationPath, uidValidity, uid) =>
      database.transaction(async (sql) => {
        const place = [transferId, storedPath(destinationPath), uidValidity.toString(), uid];
        const transfer = await sql.query('select 1 from transfers where id = $1 for update', [transferId]);
        // Its subscriber has been erased: a new order of theirs, which nothing here knows, may count on it already.
        if (transfer.length === 0) return false;
        const claims = await sql.query(
          `select 1 from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
           where m.transfer_id = $1 and m.destination_path = $2 and l.destination_uid_validity = $3
             and l.destination_uid = $4`,
          place,
        );
        if (claims.length > 0) return false;
        await sql.query(
          'insert into ledger_disowned (transfer_id, destination_path, uid_validity, uid) values ($1, $2, $3, $4) on conflict do nothing',
          place,
        );
        return true;
      }),
    disowned: async () =>
      (
        await database.query<{ path: string; validity: string; uid: number }>(
          `select destination_path as path, uid_validity::text as validity, uid::float8 as uid from ledger_disowned
           where transfer_id = $1`,
          [transferId],
        )
      ).map(({ path, validity, uid }) => ({ destinationPath: path, uidValidity: BigInt(validity), uid })),
    traffic: async (since) => {
      const [row] = await database.query<{ up: number; down: number }>(
        `select coalesce(sum(l.size) filter (where that.destination_email = this.destination_email
             and that.destination_provider = this.destination_provider), 0)::float8 as up,
           coalesce(sum(l.size) filter (where that.source_email = this.source_email
             and that.source_provider = this.source_provider), 0)::float8 as down
         from transfers this
         join transfers that on that.destination_email = this.destination_email or that.source_email = this.source_email
         join ledger_mailboxes m on m.transfer_id = that.id
         join ledger l on l.mailbox_id = m.id and not l.earlier and l.destination_uid is not null
           and l.settled > to_timestamp($2) and l.settled < ${FAR_AHEAD}
         where this.id = $1`,
        [transferId, since / 1000],
      );
      return row ?? { up: 0, down: 0 };
    },
    tally: async () => {
      const [row] = await database.query<Tally>(
        `select count(*)::integer as done,
           coalesce(sum(size) filter (where fate in ('stored', 'kept', 'changed') and not earlier), 0)::float8 as bytes,
           (count(*) filter (where fate = 'kept'))::integer as kept
         from ledger where mailbox_id in (select id from ledger_mailboxes where transfer_id = $1)`,
        [transferId],
      );
      return row ?? { done: 0, bytes: 0, kept: 0 };
    },
  };
}

function noWrites(): Writes {
  return { opened: [], rows: new Map(), closed: [], former: [], verified: [] };
}

function keyOf(mailboxId: number, uid: number): string {
  return `${mailboxId}/${uid}`;
}

function lost(transferId: string): LeaseLost {
  return new LeaseLost(transferId);
}

/** The lease is locked until all of it is committed; the rows see what was disowned before. */
async function commit(
  database: Database,
  transferId: string,
  epoch: number,
  { opened, rows, closed, former, verified }: Writes,
): Promise<ReadonlySet<string>> {
  const statements: Statement[] = [{ text: HOLD_LEASE, parameters: [transferId, epoch] }];
  if (opened.length > 0)
    statements.push({
      text: `insert into ledger_groups (transfer_id, number, mailbox_id, uids, sizes, dates, uid_validity, uid_next)
         select $1, number, mailbox_id, uids, sizes, dates, uid_validity, uid_next
         from json_to_recordset($2::json) as x(number bigint, mailbox_id bigint, uids bigint[], sizes bigint[],
           dates bigint[], uid_validity bigint, uid_next bigint)`,
      parameters: [transferId, JSON.stringify(opened.map(groupJson))],
    });
  for (const [mailboxId, first] of firsts(opened))
    statements.push({
      text: `update ledger_mailboxes set destination_uid_validity = $2, destination_uid_next = $3
         where id = $1 and destination_uid_validity is null`,
      parameters: [mailboxId, first.uidValidity.toString(), first.uidNext],
    });
  if (former.length > 0)
    statements.push({
      text: `delete from ledger l using json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint)
         where l.mailbox_id = x.mailbox_id and l.uid = x.uid`,
      parameters: [JSON.stringify(former)],
    });
  const settling = rows.size > 0 || closed.length > 0 ? statements.length : -1;
  if (settling >= 0)
    statements.push({
      text: SETTLE,
      parameters: [transferId, JSON.stringify([...rows.values()].map(rowJson)), closed],
    });
  if (verified.length > 0)
    statements.push({
      text: `update ledger l set verified = true from json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint)
         where l.mailbox_id = x.mailbox_id and l.uid = x.uid`,
      parameters: [JSON.stringify(verified)],
    });
  const answers = await database.commit(statements).catch((error: unknown) => {
    throw isLeaseGone(error) ? lost(transferId) : error;
  });
  const written = (answers[settling] ?? []) as readonly Key[];
  return new Set(written.map(({ mailbox_id: mailboxId, uid }) => keyOf(mailboxId, uid)));
}

function firsts(groups: readonly Group[]): Map<number, Group> {
  return new Map(groups.toReversed().map((group) => [group.mailboxId, group]));
}

/** Fails when the lease is gone: what is sent together with it is not written then. */
const HOLD_LEASE = `select 1 / count(*) from
  (select 1 from transfers where id = $1 and epoch = $2 for share) lease`;
const DIVISION_BY_ZERO = '22012';

function isLeaseGone(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === DIVISION_BY_ZERO;
}

const SETTLE = `
  with closed as (delete from ledger_groups where transfer_id = $1 and number = any($3::bigint[]))
  insert into ledger (mailbox_id, uid, fate, size, sha256, internal_date, destination_uid_validity, destination_uid,
    verified, earlier, reason, subject, flags, stored_sha256)
  select x.mailbox_id, x.uid, x.fate, x.size, decode(x.sha256, 'hex'), x.date, x.destination_uid_validity,
    x.destination_uid, x.verified, coalesce(x.earlier, false), x.reason, x.subject, x.flags,
    decode(x.stored_sha256, 'hex')
  from json_to_recordset($2::json) as x(mailbox_id bigint, uid bigint, fate text, size bigint, sha256 text, date bigint,
    destination_uid_validity bigint, destination_uid bigint, verified boolean, earlier boolean, reason text, subject text,
    flags text[], stored_sha256 text)
  join ledger_mailboxes m on m.id = x.mailbox_id
  where not exists (select 1 from ledger_disowned d where d.transfer_id = $1
    and d.destination_path = m.destination_path and d.uid_validity = x.destination_uid_validity
    and d.uid = x.destination_uid)
  on conflict (mailbox_id, uid) do update set fate = excluded.fate, size = excluded.size, sha256 = excluded.sha256,
    internal_date = excluded.internal_date, destination_uid_validity = excluded.destination_uid_validity,
    destination_uid = excluded.destination_uid, verified = excluded.verified, reason = excluded.reason,
    subject = coalesce(excluded.subject, ledger.subject), flags = coalesce(excluded.flags, ledger.flags),
    stored_sha256 = coalesce(excluded.stored_sha256, ledger.stored_sha256),
    settled = case when ledger.destination_uid is null then now() else ledger.settled end
  returning mailbox_id::float8 as mailbox_id, uid::float8 as uid`;
