import type { Sql } from '../store/database.ts';
import { transferOf, type Transfer, type TransferRow } from './transfer.ts';

/** Another worker has taken the transfer over; this one must stop at once and touch nothing more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
  constructor(transferId: string) {
    super(`Another worker has taken transfer ${transferId} over.`);
  }
}

/** The right to write of a transfer. It is good until another worker takes the transfer, which raises the epoch. */
export type Lease = { readonly transferId: string; readonly epoch: number };

/** Takes a transfer over from whoever had it; `null` when it has ended. */
export async function takeTransfer(sql: Sql, id: string): Promise<{ transfer: Transfer; lease: Lease } | null> {
  const [row] = await sql.query<TransferRow>(
    'update transfers set epoch = epoch + 1 where id = $1 and finished is null returning *',
    [id],
  );
  return row === undefined ? null : { transfer: transferOf(row), lease: { transferId: id, epoch: row.epoch } };
}
