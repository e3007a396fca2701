import type { Database, Statement } from '../../../store/database.ts';
import { isHeld, LeaseLost, type Lease } from '../../../transfers/lease.ts';
import type { Group, NewRow, RowKey } from './ledger.ts';
import { groupJson, rowJson } from './rows.ts';

/** What is written together. */
export type Writes = {
  readonly opened: Group[];
  readonly rows: Map<string, NewRow>;
  readonly closed: number[];
  readonly moves: { readonly from: RowKey; readonly to: RowKey }[];
  readonly dates: (RowKey & { readonly date: number })[];
  readonly verified: (RowKey & { readonly destinationUid: number })[];
};

export function noWrites(): Writes {
  return { opened: [], rows: new Map(), closed: [], moves: [], dates: [], verified: [] };
}

export function keyOf(mailboxId: number, uid: number): string {
  return `${mailboxId}/${uid}`;
}

/**
 * Locks the lease until all is committed. Rows of disowned messages are not written.
 * @returns the keys of the others
 */
export async function commitWrites(
  database: Database,
  { transferId, epoch }: Lease,
  { opened, rows, closed, moves, dates, verified }: Writes,
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
         where id = $1 and destination_uid_validity is distinct from $2`,
      parameters: [mailboxId, first.uidValidity.toString(), first.uidNext],
    });
  if (moves.length > 0) {
    const keys = moves.map(({ from, to }) => ({ ...keyJson(from), to_mailbox: to.mailboxId, to_uid: to.uid }));
    const moved = 'json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint, to_mailbox bigint, to_uid bigint)';
    for (const text of [
      `delete from ledger l using ${moved} where l.mailbox_id = x.to_mailbox and l.uid = x.to_uid`,
      `update ledger l set mailbox_id = x.to_mailbox, uid = x.to_uid from ${moved}
         where l.mailbox_id = x.mailbox_id and l.uid = x.uid`,
    ])
      statements.push({ text, parameters: [JSON.stringify(keys)] });
  }
  const settling = rows.size > 0 || closed.length > 0 ? statements.length : -1;
  if (settling >= 0)
    statements.push({
      text: SETTLE,
      parameters: [transferId, JSON.stringify([...rows.values()].map(rowJson)), closed],
    });
  if (dates.length > 0)
    statements.push({
      text: `update ledger l set source_date = x.date
         from json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint, date bigint)
         where l.mailbox_id = x.mailbox_id and l.uid = x.uid`,
      parameters: [JSON.stringify(dates.map(({ date, ...key }) => ({ ...keyJson(key), date })))],
    });
  if (verified.length > 0)
    statements.push({
      text: `update ledger l set verified = true
         from json_to_recordset($1::json) as x(mailbox_id bigint, uid bigint, destination_uid bigint)
         where l.mailbox_id = x.mailbox_id and l.uid = x.uid and l.destination_uid = x.destination_uid`,
      parameters: [
        JSON.stringify(
          verified.map(({ destinationUid, ...key }) => ({ ...keyJson(key), destination_uid: destinationUid })),
        ),
      ],
    });
  const answers = await database.commit(statements).catch((error: unknown) => {
    throw isLeaseGone(error) ? new LeaseLost(transferId) : error;
  });
  const written = (answers[settling] ?? []) as readonly ReturnType<typeof keyJson>[];
  return new Set(written.map(({ mailbox_id: mailboxId, uid }) => keyOf(mailboxId, uid)));
}

/** The key of a row, as `json_to_recordset` takes it. */
function keyJson({ mailboxId, uid }: RowKey) {
  return { mailbox_id: mailboxId, uid };
}

function firsts(groups: readonly Group[]): Map<number, Group> {
  return new Map(groups.toReversed().map((group) => [group.mailboxId, group]));
}

/** Fails when the lease is gone, by a division by zero, so that nothing sent with it is written. */
const HOLD_LEASE = `select 1 / count(*) from
  (select 1 from transfers where ${isHeld()} for share) lease`;
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
    flags text[], stored_sha256 text, known boolean)
  join ledger_mailboxes m on m.id = x.mailbox_id
  where not exists (select 1 from ledger_disowned d where d.transfer_id = $1
    and d.destination_path = m.destination_path and d.uid_validity = x.destination_uid_validity
    and d.uid = x.destination_uid)
    and (x.known is not true or exists (select 1 from ledger before where before.mailbox_id = x.mailbox_id
      and before.uid = x.uid and before.destination_uid_validity = x.destination_uid_validity
      and before.destination_uid = x.destination_uid))
  on conflict (mailbox_id, uid) do update set fate = excluded.fate, size = excluded.size, sha256 = excluded.sha256,
    internal_date = excluded.internal_date, destination_uid_validity = excluded.destination_uid_validity,
    destination_uid = excluded.destination_uid, verified = excluded.verified, reason = excluded.reason,
    subject = coalesce(excluded.subject, ledger.subject), flags = coalesce(excluded.flags, ledger.flags),
    stored_sha256 = coalesce(excluded.stored_sha256, ledger.stored_sha256),
    settled = case when ledger.destination_uid is null then now() else ledger.settled end
  returning mailbox_id::float8 as mailbox_id, uid::float8 as uid`;
