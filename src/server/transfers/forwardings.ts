import type { Sql } from '../store/database.ts';

/**
 * A transfer, and those of the same mailbox to the same address, which share one forwarding; the address of an export is
 * nobody's.
 */
const BETWEEN_SAME = `select other.id from transfers other join transfers this on this.source_email = other.source_email
  and (this.id = other.id
    or this.destination_email = other.destination_email and this.destination_provider <> 'file_export')
  where this.id = $1`;

/**
 * `since` is missing before it has been tried. `copies`: whether a copy stays in the old mailbox; missing if that is
 * not known.
 */
type Forwarding = {
  readonly sourceEmail: string;
  readonly to: string;
  readonly isOn: boolean;
  readonly since?: Date;
  readonly copies?: boolean;
};

/**
 * The forwarding that is on between a transfer's mailboxes, by whichever transfer it was set up, or else the one that
 * this one was ordered to set up; `null` if there is neither.
 */
export async function forwardingOf(sql: Sql, transferId: string): Promise<Forwarding | null> {
  const isOn = "operations.status = 'completed' and forwarding_ended is null";
  const [row] = await sql.query<{
    source: string;
    to: string;
    on: boolean;
    since: Date | null;
    copies: boolean | null;
  }>(
    `select source_email as source, destination_email as to, ${isOn} as on, operations.finished as since,
       forwarding_copies as copies
     from operations join transfers on transfers.id = transfer_id
     where operation = 'emailforwarding' and transfer_id in (${BETWEEN_SAME}) and (transfer_id = $1 or ${isOn})
     order by ${isOn} desc, transfer_id = $1 desc, operations.finished limit 1`,
    [transferId],
  );
  if (row === undefined) return null;
  const { source: sourceEmail, to, on, since, copies } = row;
  return { sourceEmail, to, isOn: on, ...(since === null ? {} : { since }), ...(copies === null ? {} : { copies }) };
}

/**
 * Records that a transfer has set up forwarding. A mailbox has only one, so this ends those that earlier transfers have
 * set up to another address; one to the same address that had ended stays over, because this one goes on from now.
 * @param copies whether a copy of what is forwarded stays in the old mailbox
 */
export async function noteForwardingSet(sql: Sql, transferId: string, copies: boolean): Promise<void> {
  await sql.query(
    // A mailbox has one script, so this holds for all transfers that forward to this address.
    `update operations set forwarding_copies = $2,
       forwarding_ended = case when transfer_id = $1 then null else forwarding_ended end
     where operation = 'emailforwarding' and transfer_id in (${BETWEEN_SAME})
       and (transfer_id = $1 or status = 'completed' and forwarding_ended is null)`,
    [transferId, copies],
  );
  await sql.query(
    `update operations set forwarding_ended = now()
     from transfers other join transfers this on this.source_email = other.source_email
       and this.destination_email <> other.destination_email
     where this.id = $1 and transfer_id = other.id and operation = 'emailforwarding' and status = 'completed'
       and forwarding_ended is null`,
    [transferId],
  );
}

/** Records that forwarding is off, for this transfer and all completed ones between the same mailboxes. */
export async function noteForwardingOff(sql: Sql, transferId: string): Promise<void> {
  await sql.query(
    `update operations set forwarding_ended = coalesce(forwarding_ended, now())
     where operation = 'emailforwarding' and transfer_id in (${BETWEEN_SAME})
       and (transfer_id = $1 or status = 'completed')`,
    [transferId],
  );
}
