import type { ContactsProgress, Forwarding, Progress, Skipped, TransferStatus } from '../../contract/calls/status.ts';
import type { ContactsFormat, EmailFormat } from '../../contract/export-format.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';
import type { StatusValue } from '../../contract/transfer-status.ts';
import { contactCounts, contactRemarks } from '../contacts/fates-table.ts';
import { wordsFor } from '../mail/copy/reasons.ts';
import { LeaseLost } from '../mail/copy/ledger.ts';
import type { Database, Sql } from '../store/database.ts';

export type Transfer = {
  readonly id: string;
  readonly sourceEmail: string;
  readonly sourceProvider: Provider;
  readonly sourceImap?: string;
  readonly destinationEmail: string;
  readonly destinationProvider: Provider;
  readonly destinationImap?: string;
  readonly operations: readonly Operation[];
  readonly emailFormat?: EmailFormat;
  readonly contactsFormat?: ContactsFormat;
  readonly notificationContact?: string;
  readonly inQa: boolean;
};

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

/** The most items that the status tells one by one. */
const SKIPPED_SHOWN = 1000;

export async function insertTransfer(sql: Sql, transfer: Transfer, submitKey: string): Promise<void> {
  await sql.query(
    `insert into transfers (id, submit_key, source_email, source_provider, source_imap, destination_email,
       destination_provider, destination_imap, operations, email_format, contacts_format, notification_contact, in_qa)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      transfer.id,
      submitKey,
      transfer.sourceEmail,
      transfer.sourceProvider,
      transfer.sourceImap ?? null,
      transfer.destinationEmail,
      transfer.destinationProvider,
      transfer.destinationImap ?? null,
      [...transfer.operations],
      transfer.emailFormat ?? null,
      transfer.contactsFormat ?? null,
      transfer.notificationContact ?? null,
      transfer.inQa,
    ],
  );
  for (const operation of transfer.operations)
    await sql.query('insert into operations (transfer_id, operation, started) values ($1, $2, now())', [
      transfer.id,
      operation,
    ]);
}

export async function insertCredentials(
  sql: Sql,
  id: string,
  role: 'source' | 'destination',
  sealed: Buffer,
): Promise<void> {
  await sql.query('insert into credentials (transfer_id, role, sealed) values ($1, $2, $3)', [id, role, sealed]);
}

export async function sealedCredentials(sql: Sql, id: string, role: string): Promise<Uint8Array | null> {
  const [row] = await sql.query<{ sealed: Uint8Array }>(
    'select sealed from credentials where transfer_id = $1 and role = $2',
    [id, role],
  );
  return row?.sealed ?? null;
}

/** The transfer that reads this mailbox now, if any. */
export async function runningTransfer(
  sql: Sql,
  sourceEmail: string,
): Promise<{ id: string; submitKey: string } | null> {
  const [row] = await sql.query<{ id: string; submit_key: string }>(
    'select id, submit_key from transfers where source_email = $1 and finished is null',
    [sourceEmail],
  );
  return row === undefined ? null : { id: row.id, submitKey: row.submit_key };
}

/** The newest finished transfer of the same submit whose operations all completed, and how long ago it ended. */
export async function completedTransfer(
  sql: Sql,
  submitKey: string,
): Promise<{ id: string; secondsAgo: number } | null> {
  const [row] = await sql.query<{ id: string; seconds_ago: number }>(
    `select id, extract(epoch from now() - finished)::float8 as seconds_ago from transfers t
     where submit_key = $1 and finished is not null
       and not exists (select 1 from operations o where o.transfer_id = t.id and o.status <> 'completed')
     order by created desc limit 1`,
    [submitKey],
  );
  return row === undefined ? null : { id: row.id, secondsAgo: row.seconds_ago };
}

export async function unfinishedTransfers(sql: Sql): Promise<string[]> {
  return (await sql.query<{ id: string }>('select id from transfers where finished is null order by created')).map(
    (row) => row.id,
  );
}

/** Takes a transfer over from whoever had it; `null` when it has ended. */
export async function takeTransfer(sql: Sql, id: string): Promise<{ transfer: Transfer; epoch: number } | null> {
  const [row] = await sql.query<TransferRow>(
    'update transfers set epoch = epoch + 1 where id = $1 and finished is null returning *',
    [id],
  );
  return row === undefined ? null : { transfer: transferOf(row), epoch: row.epoch };
}

/** The operations that have not ended. */
export async function openOperations(sql: Sql, id: string): Promise<Operation[]> {
  return (
    await sql.query<{ operation: Operation }>(
      `select operation from operations where transfer_id = $1 and finished is null order by operation desc`,
      [id],
    )
  ).map((row) => row.operation);
}

/** Counts a run that has moved nothing yet, and answers how many there were in a row, and what was done before. */
export async function beginRun(
  sql: Sql,
  id: string,
  operation: Operation,
): Promise<{ idleRuns: number; done: number }> {
  const [row] = await sql.query<{ idle_runs: number; done: number }>(
    `update operations set status = 'inprogress', idle_runs = idle_runs + 1
     where transfer_id = $1 and operation = $2 and finished is null returning idle_runs, done`,
    [id, operation],
  );
  return { idleRuns: row?.idle_runs ?? 0, done: row?.done ?? 0 };
}

/** Counts never fall, and `done` never exceeds `total`. */
export async function noteProgress(
  sql: Sql,
  id: string,
  operation: Operation,
  progress: { readonly done: number; readonly total: number; readonly bytes: number },
): Promise<void> {
  await sql.query(
    `update operations set
       idle_runs = case when $3::integer > done then 0 else idle_runs end,
       done = greatest(done, $3::integer),
       total = greatest(total, $4::integer, done, $3::integer),
       bytes = greatest(bytes, $5::bigint)
     where transfer_id = $1 and operation = $2 and finished is null`,
    [id, operation, progress.done, progress.total, progress.bytes],
  );
}

/** @throws {LeaseLost} when another worker has the transfer. */
export async function endOperation(
  sql: Sql,
  id: string,
  epoch: number,
  operation: Operation,
  end: OperationEnd,
): Promise<void> {
  const rows = await sql.query(
    `update operations set status = $4, failure = $5, lost = $6, duplicated = $7, changed = $8, skipped = $9::jsonb,
       finished = now(), total = case when $4 = 'completed' then coalesce(total, done) else total end
     where transfer_id = $1 and operation = $3 and finished is null
       and exists (select 1 from transfers where id = $1 and epoch = $2)
     returning 1`,
    [
      id,
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
  if (rows.length === 0) throw new LeaseLost(`Another worker has taken transfer ${id} over.`);
}

/** Ends the transfer and erases its credentials. Answers how its operations ended. */
export async function endTransfer(
  sql: Sql,
  id: string,
): Promise<{ operation: Operation; status: string; failure: string | null }[]> {
  await sql.query('update transfers set finished = now() where id = $1 and finished is null', [id]);
  await sql.query('delete from credentials where transfer_id = $1', [id]);
  return sql.query('select operation, status, failure from operations where transfer_id = $1 order by operation', [id]);
}

/** `null` when there is no such transfer. Export files are added by who holds them. */
export async function statusOf(database: Database, id: string): Promise<TransferStatus | null> {
  const rows = await database.query<OperationRow>(
    `select operations.*, destination_provider = 'file_export' as is_export, destination_email, since, ended
     from operations join transfers on transfers.id = transfer_id left join forwardings using (transfer_id)
     where transfer_id = $1`,
    [id],
  );
  if (rows.length === 0) return null;
  const status: TransferStatus = {};
  for (const row of rows) {
    if (row.operation === 'emailmigration')
      status.emailmigration = progressOf(row, row.skipped ?? (await skippedMessages(database, id)));
    if (row.operation === 'contactsmigration') status.contactsmigration = await contactsProgressOf(database, row);
    if (row.operation === 'emailforwarding') status.emailforwarding = forwardingOf(row);
  }
  return status;
}

async function skippedMessages(sql: Sql, id: string): Promise<Skipped[]> {
  const rows = await sql.query<{ mailbox: string; reason: string; subject: string | null }>(
    `select m.source_path as mailbox, l.reason, l.subject from ledger l join ledger_mailboxes m on m.id = l.mailbox_id
     where m.transfer_id = $1 and l.state = 'refused' order by m.id, l.uid limit ${SKIPPED_SHOWN}`,
    [id],
  );
  return rows.map(({ mailbox, reason, subject }) => ({
    mailbox,
    reason: wordsFor(reason),
    ...(subject === null ? {} : { subject }),
  }));
}

async function contactsProgressOf(sql: Sql, row: OperationRow): Promise<ContactsProgress> {
  const { transfer_id: id } = row;
  const contacts = await contactCounts(sql, id);
  const skipped = row.skipped ?? (await contactRemarks(sql, id, 'refused', SKIPPED_SHOWN));
  const remarks = await contactRemarks(sql, id, 'others', SKIPPED_SHOWN);
  return {
    ...progressOf(row, skipped),
    ...(contacts === null ? {} : { contacts }),
    ...(remarks.length === 0 ? {} : { remarks }),
  };
}

function forwardingOf(row: OperationRow): Forwarding {
  return {
    status: row.status,
    ...(row.failure === null ? {} : { failure: row.failure }),
    ...(row.started === null ? {} : { started: row.started.toISOString() }),
    ...(row.finished === null ? {} : { finished: row.finished.toISOString() }),
    ...(row.since === null ? {} : { to: row.destination_email, since: row.since.toISOString() }),
    ...(row.ended === null ? {} : { ended: row.ended.toISOString() }),
  };
}

function progressOf(row: OperationRow, skipped: readonly Skipped[]): Progress {
  return {
    status: row.is_export ? exportStatusOf(row.status) : row.status,
    done: row.done,
    bytes: Number(row.bytes),
    skipped: [...skipped],
    ...(row.total === null ? {} : { total: row.total }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    ...(row.lost === null ? {} : { lost: row.lost }),
    ...(row.duplicated === null ? {} : { duplicated: row.duplicated }),
    ...(row.changed === null ? {} : { changed: row.changed }),
    ...(row.started === null ? {} : { started: row.started.toISOString() }),
    ...(row.finished === null ? {} : { finished: row.finished.toISOString() }),
  };
}

/** The badges of an export know three values (`portal.md` §4). */
function exportStatusOf(status: string): StatusValue {
  switch (status) {
    case 'completed':
      return 'completed';
    case 'review':
    case 'authentication_error':
    case 'error':
      return 'error';
    default:
      return 'started';
  }
}

type OperationRow = {
  transfer_id: string;
  destination_email: string;
  /** Of forwarding. */
  since: Date | null;
  ended: Date | null;
  is_export: boolean;
  failure: string | null;
  operation: Operation;
  status: string;
  done: number;
  total: number | null;
  bytes: number | string | bigint;
  lost: number | null;
  duplicated: number | null;
  changed: number | null;
  skipped: Skipped[] | null;
  started: Date | null;
  finished: Date | null;
};

type TransferRow = {
  id: string;
  source_email: string;
  source_provider: Provider;
  source_imap: string | null;
  destination_email: string;
  destination_provider: Provider;
  destination_imap: string | null;
  operations: Operation[];
  email_format: EmailFormat | null;
  contacts_format: ContactsFormat | null;
  notification_contact: string | null;
  in_qa: boolean;
  epoch: number;
};

function transferOf(row: TransferRow): Transfer {
  return {
    id: row.id,
    sourceEmail: row.source_email,
    sourceProvider: row.source_provider,
    destinationEmail: row.destination_email,
    destinationProvider: row.destination_provider,
    operations: row.operations,
    inQa: row.in_qa,
    ...(row.source_imap === null ? {} : { sourceImap: row.source_imap }),
    ...(row.destination_imap === null ? {} : { destinationImap: row.destination_imap }),
    ...(row.email_format === null ? {} : { emailFormat: row.email_format }),
    ...(row.contacts_format === null ? {} : { contactsFormat: row.contacts_format }),
    ...(row.notification_contact === null ? {} : { notificationContact: row.notification_contact }),
  };
}
