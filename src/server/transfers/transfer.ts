import type { ContactsFormat, EmailFormat } from '../../contract/export-format.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';
import type { Sql } from '../store/database.ts';

export type Transfer = {
  readonly id: string;
  readonly sourceEmail: string;
  /** Its server is named by the settings alone, never by what is stored. */
  readonly sourceProvider: 'sanbruno';
  readonly destinationEmail: string;
  readonly destinationProvider: Provider;
  readonly destinationImap?: string;
  readonly operations: readonly Operation[];
  readonly emailFormat?: EmailFormat;
  readonly contactsFormat?: ContactsFormat;
  readonly notificationContact?: string;
  readonly inQa: boolean;
  /** It was started by a daily, not ordered by anyone. */
  readonly byItself?: true;
};

/** @param tokenId the tokens that it was ordered with, if any; the destination belongs to the person who got them. */
export async function insertTransfer(sql: Sql, transfer: Transfer, submitKey: string, tokenId?: string): Promise<void> {
  await sql.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email,
       destination_provider, destination_imap, operations, email_format, contacts_format, notification_contact, in_qa,
       by_itself, destination_person)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       (select person from oauth_tokens where id = $14))`,
    [
      transfer.id,
      submitKey,
      transfer.sourceEmail,
      transfer.sourceProvider,
      transfer.destinationEmail,
      transfer.destinationProvider,
      transfer.destinationImap ?? null,
      [...transfer.operations],
      transfer.emailFormat ?? null,
      transfer.contactsFormat ?? null,
      transfer.notificationContact ?? null,
      transfer.inQa,
      transfer.byItself === true,
      tokenId ?? null,
    ],
  );
  for (const operation of transfer.operations)
    await sql.query('insert into operations (transfer_id, operation, started) values ($1, $2, now())', [
      transfer.id,
      operation,
    ]);
}

/**
 * SQL for whether two transfers, by their aliases, are between the same two accounts, however the servers were named.
 */
export function betweenSameAccounts(one: string, other: string): string {
  return `${one}.source_email = ${other}.source_email and ${one}.source_provider = ${other}.source_provider
    and ${one}.destination_email = ${other}.destination_email
    and (${one}.destination_provider = ${other}.destination_provider
        and ${one}.destination_imap is not distinct from ${other}.destination_imap
      or ${one}.destination_place = ${other}.destination_place)`;
}

/**
 * Records where the destination is, so that a later order to the same mailbox recognizes it, however its server is
 * named.
 */
export async function noteDestinationPlace(
  sql: Sql,
  { transferId, epoch }: { readonly transferId: string; readonly epoch: number },
  place: string,
): Promise<void> {
  await sql.query('update transfers set destination_place = $3 where id = $1 and epoch = $2', [
    transferId,
    epoch,
    place,
  ]);
}

/** `null` if there is no such transfer. */
export async function transferById(sql: Sql, id: string): Promise<Transfer | null> {
  const [row] = await sql.query<TransferRow>('select * from transfers where id = $1', [id]);
  return row === undefined ? null : transferOf(row);
}

/** A transfer's row. `epoch` increases with each worker that takes the transfer. */
export type TransferRow = {
  id: string;
  source_email: string;
  destination_email: string;
  destination_provider: Provider;
  destination_imap: string | null;
  operations: Operation[];
  email_format: EmailFormat | null;
  contacts_format: ContactsFormat | null;
  notification_contact: string | null;
  in_qa: boolean;
  by_itself: boolean;
  epoch: number;
};

export function transferOf(row: TransferRow): Transfer {
  return {
    id: row.id,
    sourceEmail: row.source_email,
    sourceProvider: 'sanbruno',
    destinationEmail: row.destination_email,
    destinationProvider: row.destination_provider,
    operations: row.operations,
    inQa: row.in_qa,
    ...(row.by_itself ? { byItself: true } : {}),
    ...(row.destination_imap === null ? {} : { destinationImap: row.destination_imap }),
    ...(row.email_format === null ? {} : { emailFormat: row.email_format }),
    ...(row.contacts_format === null ? {} : { contactsFormat: row.contacts_format }),
    ...(row.notification_contact === null ? {} : { notificationContact: row.notification_contact }),
  };
}
