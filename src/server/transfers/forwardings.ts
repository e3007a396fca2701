import type { Sql } from '../store/database.ts';

/** The forwarding that a transfer has set up; `null` if it wasn't ordered to set up any. */
export async function forwardingOf(
  sql: Sql,
  transferId: string,
): Promise<{ readonly sourceEmail: string; readonly to: string; readonly isOn: boolean } | null> {
  const [row] = await sql.query<{ source_email: string; destination_email: string; is_on: boolean }>(
    `select source_email, destination_email, operations.status = 'completed' and forwarding_ended is null as is_on
     from operations join transfers on transfers.id = transfer_id
     where transfer_id = $1 and operation = 'emailforwarding'`,
    [transferId],
  );
  return row === undefined ? null : { sourceEmail: row.source_email, to: row.destination_email, isOn: row.is_on };
}

/** Other transfers of the same mailbox to the same address, which share one forwarding. */
const BETWEEN_SAME = `select other.id from transfers other join transfers this on this.source_email = other.source_email
  and this.destination_email = other.destination_email where this.id = $1`;

/**
 * A mailbox has only one forwarding, so this ends any that earlier transfers have set up to another address. Those to the
 * same address are on again, if they had ended.
 */
export async function noteForwardingMoved(sql: Sql, transferId: string): Promise<void> {
  await sql.query(
    `update operations set forwarding_ended =
       case when other.destination_email = this.destination_email then null else coalesce(forwarding_ended, now()) end
     from transfers other join transfers this on this.source_email = other.source_email
     where this.id = $1 and transfer_id = other.id and operation = 'emailforwarding' and status = 'completed'`,
    [transferId],
  );
}

/** Records that forwarding is off, for this transfer and all completed ones between the same mailboxes. */
export async function noteForwardingOff(sql: Sql, transferId: string): Promise<void> {
  await sql.query(
    `update operations set forwarding_ended = coalesce(forwarding_ended, now())
     where operation = 'emailforwarding' and (transfer_id = $1 or status = 'completed' and transfer_id in (${BETWEEN_SAME}))`,
    [transferId],
  );
}
