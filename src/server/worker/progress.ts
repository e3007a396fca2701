import type { Operation } from '../../contract/operation.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { noteProgress } from '../transfers/operations.ts';

const WRITE_EVERY_MS = 300;

export type Counts = { readonly done: number; readonly total: number; readonly bytes: number; readonly kept?: number };

/** Writes the newest counts of an operation now and then, and the last ones when it is disposed of. */
export function followProgress(
  database: Database,
  log: Log,
  transferId: string,
  operation: Operation,
): AsyncDisposable & { readonly note: (counts: Counts) => void } {
  let newest: Counts | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    timer = undefined;
    const counts = newest;
    newest = undefined;
    if (counts === undefined) return;
    writing = writing
      .then(() => noteProgress(database, transferId, operation, counts))
      .catch((error: unknown) => log.warn({ err: error, transferId }, 'the progress could not be written'));
  };
  return {
    note: (counts) => {
      newest = counts;
      timer ??= setTimeout(write, WRITE_EVERY_MS);
    },
    [Symbol.asyncDispose]: async () => {
      clearTimeout(timer);
      write();
      await writing;
    },
  };
}
