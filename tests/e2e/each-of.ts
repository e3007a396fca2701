/** Goes through the cases of a table on one page, as a load of the page takes longer than a case. What fails names its case. */
export async function eachOf<Case>(
  cases: readonly Case[],
  check: (one: Case, at: number) => Promise<void>,
): Promise<void> {
  for (const [at, one] of cases.entries()) {
    try {
      await check(one, at);
    } catch (error) {
      throw new Error(`Case ${at + 1}, ${JSON.stringify(one)}: ${String(error)}`, { cause: error });
    }
  }
}
