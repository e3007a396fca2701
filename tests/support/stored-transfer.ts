import type { Sql } from '../../src/server/store/database.ts';
import { transferById, type Transfer } from '../../src/server/transfers/transfer.ts';

/** A transfer that is stored. */
export async function storedTransfer(sql: Sql, id: string): Promise<Transfer> {
  const transfer = await transferById(sql, id);
  if (transfer === null) throw new Error(`There is no transfer ${id}.`);
  return transfer;
}
