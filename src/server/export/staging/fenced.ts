import type { Database, Sql } from '../../store/database.ts';
import { requireLease, type Lease } from '../../transfers/lease.ts';

/**
 * The database as a worker's export uses it: writes succeed only while the worker holds the lease, even after a freeze.
 */
export type Fenced = Pick<Sql, 'query'> & {
  readonly lease: Lease;
  /** Commits what `work` did, or nothing if it throws. @throws {LeaseLost} if another worker has taken the transfer */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
};

export function fenced(database: Database, lease: Lease): Fenced {
  return {
    lease,
    query: (text, parameters) => database.query(text, parameters),
    write: (work) =>
      database.transaction(async (sql) => {
        const result = await work(sql);
        // Only now: while the row is locked here the lease can't be confirmed, and a large mailbox takes a while.
        await requireLease(sql, lease);
        return result;
      }),
  };
}
