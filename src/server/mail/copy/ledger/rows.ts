import { createHash } from 'node:crypto';
import { storable } from '../../../store/storable.ts';
import { readablePath } from '../../imap/wire/mailbox-name.ts';
import type { Fate, Group, LedgerMailbox, NewMailbox, NewRow, Row } from './ledger.ts';

/** A mailbox's name in a form that a column can hold; different names stay different. */
export function storedPath(name: string): string {
  const plain = storable(readablePath(name));
  return plain === name
    ? name
    : `${plain} ${createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 12)}`;
}

export const MAILBOX = `id::float8 as id, source_path, source_uid_validity::text as source_uid_validity, destination_path,
  destination_uid_validity::text as destination_uid_validity, destination_uid_next::float8 as destination_uid_next, reason`;

export type MailboxRow = {
  id: number;
  source_path: string;
  source_uid_validity: string;
  destination_path: string;
  reason: string | null;
  destination_uid_validity: string | null;
  destination_uid_next: number | null;
};

/** A row of `ledger_mailboxes`. */
export function mailboxOf(row: MailboxRow): LedgerMailbox {
  const { destination_uid_validity: uidValidity, destination_uid_next: uidNext, reason } = row;
  return {
    id: row.id,
    sourcePath: row.source_path,
    sourceUidValidity: BigInt(row.source_uid_validity),
    destinationPath: row.destination_path,
    ...(uidValidity === null || uidNext === null ? {} : { destination: { uidValidity: BigInt(uidValidity), uidNext } }),
    ...(reason === null ? {} : { reason }),
  };
}

/** As `json_to_recordset` takes it in a statement: snake case, numbers beyond 2^53 as text. */
export function mailboxJson(mailbox: NewMailbox) {
  return {
    source_path: storedPath(mailbox.sourcePath),
    validity: mailbox.sourceUidValidity.toString(),
    destination_path: storedPath(mailbox.destinationPath),
    total: mailbox.total,
    reason: mailbox.reason === undefined ? undefined : storable(mailbox.reason),
  };
}

export const COLUMNS = `uid::float8 as uid, fate, size::float8 as size, encode(sha256, 'hex') as sha256,
  internal_date::float8 as date, source_date::float8 as source_date, destination_uid_validity::text as destination_uid_validity,
  destination_uid::float8 as destination_uid, verified, earlier, reason, subject`;

export type LedgerRow = {
  uid: number;
  fate: Fate;
  size: number;
  sha256: string | null;
  date: number | null;
  source_date: number | null;
  destination_uid_validity: string | null;
  destination_uid: number | null;
  verified: boolean;
  earlier: boolean;
  reason: string | null;
  subject: string | null;
};

/** A row of `ledger`. */
export function rowOf(row: LedgerRow): Row {
  const { uid, fate, size, date, verified, earlier } = row;
  return {
    uid,
    fate,
    size,
    date,
    verified,
    earlier,
    ...(row.sha256 === null ? {} : { sha256: row.sha256 }),
    ...(row.source_date === null ? {} : { sourceDate: row.source_date }),
    ...(row.destination_uid_validity === null ? {} : { destinationUidValidity: BigInt(row.destination_uid_validity) }),
    ...(row.destination_uid === null ? {} : { destinationUid: row.destination_uid }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.subject === null ? {} : { subject: row.subject }),
  };
}

export function rowJson(row: NewRow) {
  return {
    mailbox_id: row.mailboxId,
    uid: row.uid,
    fate: row.fate,
    size: row.size,
    sha256: row.sha256,
    date: row.date,
    destination_uid_validity: row.destinationUidValidity?.toString(),
    destination_uid: row.destinationUid,
    verified: row.verified,
    earlier: row.earlier,
    reason: row.reason === undefined ? undefined : storable(row.reason),
    subject: row.subject === undefined ? undefined : storable(row.subject),
    flags: row.flags,
    stored_sha256: row.storedSha256,
    known: row.isKnown,
  };
}

export type GroupRow = {
  number: number;
  mailbox_id: number;
  uids: number[];
  sizes: number[];
  dates: (number | null)[];
  uid_validity: string;
  uid_next: number;
};

export function groupOf(row: GroupRow): Group {
  return {
    id: row.number,
    mailboxId: row.mailbox_id,
    messages: row.uids.map((uid, index) => ({ uid, size: row.sizes[index] ?? 0, date: row.dates[index] ?? null })),
    uidValidity: BigInt(row.uid_validity),
    uidNext: row.uid_next,
  };
}

/** As `json_to_recordset` takes it in a statement, its messages as one array a field. */
export function groupJson(group: Group) {
  const { messages, uidValidity } = group;
  return {
    number: group.id,
    mailbox_id: group.mailboxId,
    uids: messages.map((message) => message.uid),
    sizes: messages.map((message) => message.size),
    dates: messages.map((message) => message.date),
    uid_validity: uidValidity.toString(),
    uid_next: group.uidNext,
  };
}
