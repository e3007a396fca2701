import type { Database } from '../store/database.ts';
import { CLOCKS_APART_MS, LIMITS, usedUpBy } from './limits.ts';

/** How far ahead a refused client's next sign-in to a busy mailbox can be booked, and how long its slot is kept. */
const BOOKED_AT_MOST_MS = 15 * 60_000;
const SLOT_KEPT_MS = 10 * 60_000;

/**
 * Takes one of the free sign-ins to a mailbox. When none is left, the client gets a slot booked, if one comes soon enough:
 * what it asks for in that time is then its own.
 * @param key the mailbox's, by `limitKey`
 * @param client a digest
 * @param now milliseconds since the epoch
 * @returns milliseconds to wait; 0 if it was taken
 */
export async function takeOrBook(database: Database, key: string, client: string, now: number): Promise<number> {
  const limit = LIMITS['sign-ins to a mailbox'];
  const every = limit.everySeconds * 1000;
  return database.transaction(async (sql) => {
    await sql.query('insert into limits (key, free_at) values ($1, 0) on conflict (key) do nothing', [key]);
    const [row] = await sql.query<{ free_at: number }>('select free_at from limits where key = $1 for update', [key]);
    const isPossible = row !== undefined && row.free_at <= usedUpBy(limit, now) + BOOKED_AT_MOST_MS;
    const freeAt = isPossible ? Math.max(row.free_at, now) : now;
    const [booked] = await sql.query<{ slot: number }>(
      'select slot from limit_slots where limit_key = $1 and client = $2',
      [key, client],
    );
    const isAhead = booked !== undefined && now < booked.slot;
    if (isAhead && booked.slot <= now + BOOKED_AT_MOST_MS + CLOCKS_APART_MS) return booked.slot - now;
    if (booked !== undefined) {
      await sql.query('delete from limit_slots where limit_key = $1 and client = $2', [key, client]);
      if (!isAhead && now <= booked.slot + SLOT_KEPT_MS) return 0;
    }
    const next = freeAt - (limit.burst - 1) * every;
    const ahead = next - now;
    if (ahead > BOOKED_AT_MOST_MS) return ahead;
    await sql.query('update limits set free_at = $2 where key = $1', [key, freeAt + every]);
    if (ahead <= 0) return 0;
    await sql.query('insert into limit_slots (limit_key, client, slot) values ($1, $2, $3)', [key, client, next]);
    return ahead;
  });
}

export async function purgeSlots(database: Database, now: number): Promise<void> {
  await database.query('delete from limit_slots where slot < $1', [now - SLOT_KEPT_MS]);
}
