import type { Database, Statement } from './database.ts';

/**
 * Without statistics of a table that has just grown, PostgreSQL takes what is left of a large mailbox for a few rows, and
 * reads and sorts all of them anew for each page.
 */
const ALONG_AN_INDEX: Statement = {
  text: `select set_config(name, 'off', true)
    from unnest(array['enable_sort', 'enable_bitmapscan', 'enable_seqscan']) as name`,
};

/** A page of rows in the order of an index, along which they are read whatever the statistics say. */
export async function pageByIndex<Row>(
  database: Pick<Database, 'commit'>,
  text: string,
  parameters: readonly unknown[],
): Promise<readonly Row[]> {
  const [, rows = []] = await database.commit([ALONG_AN_INDEX, { text, parameters }]);
  return rows as readonly Row[];
}
