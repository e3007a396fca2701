import type { Sql } from '../store/database.ts';

/**
 * To be called when a run begins: a run before it in which memory was short, and which was not ended, has killed its
 * worker. What kills a worker from outside is no fault of a transfer and is not counted.
 * @returns how often that has happened to the transfer.
 */
export async function countDeaths(sql: Sql, transferId: string): Promise<number> {
  const [row] = await sql.query<{ deaths: number }>(
    `update transfers set deaths = deaths + case when short_of_memory then 1 else 0 end, short_of_memory = false
     where id = $1 returning deaths`,
    [transferId],
  );
  return row?.deaths ?? 0;
}

/** Notes that memory is short while these transfers run: if their worker dies now, they may be the reason. */
export async function noteShortage(sql: Sql, transferIds: readonly string[]): Promise<void> {
  await sql.query('update transfers set short_of_memory = true where id = any($1) and finished is null', [
    [...transferIds],
  ]);
}

/** Takes that back: the worker has outlived its run of this transfer. */
export async function noteSurvival(sql: Sql, transferId: string): Promise<void> {
  await sql.query('update transfers set short_of_memory = false where id = $1', [transferId]);
}
