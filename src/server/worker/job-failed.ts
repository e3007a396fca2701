/** pg-boss keeps an error with its job for months, so what a server said, which may contain an address, is left out. */
export class JobFailed extends Error {
  override name = 'JobFailed';
  readonly code: string | null;
  constructor(error: unknown) {
    super('The job failed.');
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    this.code = /^[A-Z0-9_]{1,32}$/.test(code) ? code : null;
  }
}

/**
 * @param settle handles a failure
 * @throws {JobFailed} if there is none, or it fails
 */
export async function handled(run: () => Promise<void>, settle?: (error: unknown) => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    try {
      if (settle === undefined) throw error;
      await settle(error);
    } catch {
      throw new JobFailed(error);
    }
  }
}
