import type { Database, Sql } from '../../store/database.ts';
import { requireLease, type Lease } from '../../transfers/lease.ts';

/** The database for a worker's export: it writes only while the lease is its own, whenever it was frozen. */
export type Fenced = Pick<Sql, 'query'> & {
  readonly lease: Lease;
  /** Commits what `work` did, or nothing if it throws. @throws {LeaseLost} when another worker has the transfer by then */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
};

export function fenced(database: Database, lease: Lease): Fenced {
  return {
    lease,
    query: (text, parameters) => database.query(text, parameters),
    write: (work) =>
      database.transaction(async (sql) => {
        const result = await work(sql);
        // Not before: as long as it is held here nobody confirms it, and work on a large mailbox takes its time.
        await requireLease(sql, lease);
        return result;
      }),
  };
}
