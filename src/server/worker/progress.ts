import type { Operation } from '../../contract/operation.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import type { Lease } from '../transfers/lease.ts';
import { noteProgress, type Counts } from '../transfers/operations.ts';

const WRITE_EVERY_MS = 300;

/** Writes the latest counts of an operation periodically, and the last ones when it is disposed of. */
export function followProgress(
  database: Database,
  log: Log,
  lease: Lease,
  operation: Operation,
): AsyncDisposable & { readonly note: (counts: Counts) => void; readonly flush: () => Promise<void> } {
  let newest: Counts | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    timer = undefined;
    const counts = newest;
    newest = undefined;
    if (counts === undefined) return;
    writing = writing
      .then(() => noteProgress(database, lease, operation, counts))
      .catch((error: unknown) =>
        log.warn({ err: error, transferId: lease.transferId }, 'the progress could not be written'),
      );
  };
  const flush = async () => {
    clearTimeout(timer);
    write();
    await writing;
  };
  return {
    note: (counts) => {
      newest = counts;
      timer ??= setTimeout(write, WRITE_EVERY_MS);
    },
    flush,
    [Symbol.asyncDispose]: flush,
  };
}
