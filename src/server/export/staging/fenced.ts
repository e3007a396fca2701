import type { Database, Sql } from '../../store/database.ts';
import { requireLease, type Lease } from '../../transfers/lease.ts';

/** The database for a worker's export: it writes only while the lease is its own, whenever it was frozen. */
export type Fenced = Pick<Sql, 'query'> & {
  readonly lease: Lease;
  /** Commits what `work` did, or nothing if it throws. @throws {LeaseLost} before it, when another worker has the transfer */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
};

export function fenced(database: Database, lease: Lease): Fenced {
  return {
    lease,
    query: (text, parameters) => database.query(text, parameters),
    write: (work) =>
      database.transaction(async (sql) => {
        await requireLease(sql, lease);
        return work(sql);
      }),
  };
}
