import type { Skipped } from '../../../../contract/calls/status.ts';
import type { Sql } from '../../../store/database.ts';
import type { FolderProgress } from '../../../transfers/status.ts';
import { wordsFor } from './reasons.ts';

/** A message that is not in the new mailbox as it was sent, or a mailbox that is not there as a whole. */
const LEFT_OUT = `l.fate in ('refused', 'lost', 'changed', 'taken') and (l.reason is not null or l.fate = 'lost')`;

/**
 * What was left out, mailboxes first, with the reasons in words. Neither mailboxes nor messages take more than half of
 * the room if the others need it.
 */
export async function skippedMessages(sql: Sql, transferId: string, atMost: number): Promise<Skipped[]> {
  const rows = await sql.query<{ ofFolder: boolean; mailbox: string; reason: string; subject: string | null }>(
    `(select true as "ofFolder", source_path as mailbox, reason, null as subject from ledger_mailboxes
      where transfer_id = $1 and reason is not null group by source_path, reason order by min(id) limit $2)
     union all
     (select false, m.source_path, coalesce(l.reason, l.fate), l.subject
      from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
      where m.transfer_id = $1 and ${LEFT_OUT} order by m.id, l.uid limit $2)`,
    [transferId, atMost],
  );
  const folders = rows.filter(({ ofFolder }) => ofFolder);
  const messages = rows.filter(({ ofFolder }) => !ofFolder);
  const room = Math.max(Math.ceil(atMost / 2), atMost - messages.length);
  return [...folders.slice(0, room), ...messages].slice(0, atMost).map(({ mailbox, reason, subject }) => ({
    mailbox,
    reason: wordsFor(reason),
    ...(subject === null ? {} : { subject }),
  }));
}

/**
 * The mailboxes that are not there as a whole, with the reasons in words; once each, however many UIDVALIDITYs it has
 * had.
 */
export async function foldersLeft(sql: Sql, transferId: string): Promise<{ folder: string; reason: string }[]> {
  const rows = await sql.query<{ folder: string; reason: string }>(
    `select source_path as folder, reason from ledger_mailboxes
     where transfer_id = $1 and reason is not null group by source_path, reason order by min(id)`,
    [transferId],
  );
  return rows.map(({ folder, reason }) => ({ folder, reason: wordsFor(reason) }));
}

/** How many messages were left out. */
export async function countSkippedMessages(sql: Sql, transferId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::float8 as count from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
     where m.transfer_id = $1 and ${LEFT_OUT}`,
    [transferId],
  );
  return row?.count ?? 0;
}

/**
 * How far the folders are, in the order of work. A folder with several UIDVALIDITYs has one entry, and counts the rows
 * of the latest, but for what was deleted at the source; one that was left before anybody could count it has none.
 */
export function foldersOf(sql: Sql, transferId: string): Promise<FolderProgress[]> {
  return sql.query<FolderProgress>(
    `select name, least(done, total) as done, total, least(settled, total) as settled, least(gone, total) as gone from (
       select m.source_path as name, min(m.id) as first,
         (array_agg(m.total order by m.source_uid_validity <> 0 desc, m.id desc))[1] as total,
         max(m.id) filter (where m.source_uid_validity <> 0) as mailbox
       from ledger_mailboxes m where m.transfer_id = $1 and m.total is not null group by m.source_path
       having max(m.total) > 0 or bool_or(m.source_uid_validity <> 0)) folders,
     lateral (select (count(*) filter (where fate <> 'gone'))::integer as settled,
         (count(*) filter (where fate = 'gone'))::integer as gone,
         (count(*) filter (where fate <> 'gone' and not (${LEFT_OUT})))::integer as done
       from ledger l where l.mailbox_id = mailbox) counts
     order by first`,
    [transferId],
  );
}

/** What is known of the messages at the destination, by this transfer or an earlier one. */
export type Arrivals = {
  /** How many were read back and are what was sent. */
  readonly compared: number;
  /** How many an earlier transfer had brought, or the destination keeps once with an equal one. */
  readonly present: number;
  /** How many of these were taken back since, with the transfer that had brought them. */
  readonly presentTakenBack: number;
  /** How many that were there before have been moved or deleted by their owner since; they are not copied again. */
  readonly moved: number;
  /** How many this transfer has brought, whatever their owner has done with them since. */
  readonly copied: number;
};

/** What this transfer has brought and is not reported as left out, whatever its owner has done with it since. */
export const COPIED = `not l.earlier and l.fate in ('stored', 'kept', 'changed', 'taken') and not (${LEFT_OUT})`;

/** A mailbox that the source had, as this transfer has listed it. */
const LISTED = 'm.total is not null';

/** How many of a transfer's messages were read back, were there before, and were copied; zeros when it has none. */
export async function arrivalsOf(sql: Sql, transferId: string): Promise<Arrivals> {
  const present = `(l.earlier and l.fate <> 'taken' or l.fate = 'twin') and ${LISTED} and not (${LEFT_OUT})`;
  const [row] = await sql.query<Arrivals>(
    `select (count(*) filter (where l.verified and ${LISTED}))::integer as compared,
       (count(*) filter (where ${present}))::integer as present,
       (count(*) filter (where ${present} and l.removal = 'removed'))::integer as "presentTakenBack",
       (count(*) filter (where l.earlier and l.fate = 'taken' and ${LISTED} and not (${LEFT_OUT})))::integer as moved,
       (count(*) filter (where ${COPIED}))::integer as copied
     from ledger l join ledger_mailboxes m on m.id = l.mailbox_id where m.transfer_id = $1`,
    [transferId],
  );
  return row ?? { compared: 0, present: 0, presentTakenBack: 0, moved: 0, copied: 0 };
}
