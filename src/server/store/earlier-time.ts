import type { Sql } from './database.ts';

/**
 * The earlier of this machine's time and the database's, in milliseconds since the epoch. What can't be undone is done by
 * it, so that one of the two that is far ahead erases nothing too soon.
 */
export async function earlierTime(sql: Sql, now: () => number): Promise<number> {
  const [row] = await sql.query<{ at: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as at');
  return Math.min(now(), row?.at ?? Infinity);
}
