import type { Database, Statement } from '../../src/server/store/database.ts';

type PlanNode = {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
};

/** How many rows the steps of a plan look at, from a node downwards. */
function readIn(node: PlanNode, isCounted: IsCounted): number {
  const left = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = isCounted(node['Relation Name']) ? (node['Actual Rows'] + left) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, each) => sum + readIn(each, isCounted), own);
}

/** By the table that a step reads; others, such as joins, read none. */
type IsCounted = (table: string | undefined) => boolean;

/** What was asked together: one statement, or those of a commit. */
type Asked = readonly Statement[];

/** A database that notes what it is asked, but within no transaction. */
export function notedDatabase(database: Database): { readonly database: Database; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    database: {
      ...database,
      query: <Row>(text: string, parameters: readonly unknown[] = []) => {
        asked.push([{ text, parameters }]);
        return database.query<Row>(text, parameters);
      },
      commit: (statements) => {
        asked.push(statements);
        return database.commit(statements);
      },
    },
  };
}

/** How many rows the steps of these statements look at in all; each is run once more. */
export async function rowsRead(
  database: Database,
  asked: readonly Asked[],
  isCounted: IsCounted = () => true,
): Promise<number> {
  let sum = 0;
  for (const together of asked)
    await database.transaction(async (sql) => {
      for (const { text, parameters } of together) {
        const [row] = await sql.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
          `explain (analyze, format json) ${text}`,
          parameters,
        );
        if (row !== undefined) sum += readIn(row['QUERY PLAN'][0].Plan, isCounted);
      }
    });
  return sum;
}
