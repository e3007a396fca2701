import type { Sql } from '../store/database.ts';

/**
 * To be called at the start of a run. If memory was short in the previous run and that run never ended, it has killed
 * its worker. Workers killed from outside aren't the transfer's fault and aren't counted.
 * @returns how many workers the transfer has killed.
 */
export async function countDeaths(sql: Sql, transferId: string): Promise<number> {
  const [row] = await sql.query<{ deaths: number }>(
    `update transfers set deaths = deaths + case when short_of_memory then 1 else 0 end, short_of_memory = false
     where id = $1 returning deaths`,
    [transferId],
  );
  return row?.deaths ?? 0;
}

/** Records that memory is short while these transfers run: if their worker dies now, they may be the reason. */
export async function noteShortage(sql: Sql, transferIds: readonly string[]): Promise<void> {
  await sql.query('update transfers set short_of_memory = true where id = any($1) and finished is null', [
    [...transferIds],
  ]);
}

/** Withdraws that record: the worker has survived its run of these transfers, or the shortage. */
export async function noteSurvival(sql: Sql, transferIds: readonly string[]): Promise<void> {
  await sql.query('update transfers set short_of_memory = false where id = any($1)', [[...transferIds]]);
}
