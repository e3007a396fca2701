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

/** A database that notes what it is asked, but within no transaction. */
export function notedDatabase(database: Database): { readonly database: Database; readonly asked: Statement[] } {
  const asked: Statement[] = [];
  return {
    asked,
    database: {
      ...database,
      query: <Row>(text: string, parameters: readonly unknown[] = []) => {
        asked.push({ text, parameters });
        return database.query<Row>(text, parameters);
      },
    },
  };
}

/** How many rows the steps of these statements look at in all; each is run once more. */
export async function rowsRead(
  database: Database,
  statements: readonly Statement[],
  isCounted: IsCounted = () => true,
): Promise<number> {
  let sum = 0;
  for (const { text, parameters } of statements) {
    const [row] = await database.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `explain (analyze, format json) ${text}`,
      parameters,
    );
    if (row !== undefined) sum += readIn(row['QUERY PLAN'][0].Plan, isCounted);
  }
  return sum;
}
