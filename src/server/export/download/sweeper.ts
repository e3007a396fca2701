import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import type { Database } from '../../store/database.ts';
import type { ExportStore } from '../storage/export-store.ts';

const SWEEP_EVERY_MS = 10 * 60_000;

type Services = {
  readonly database: Database;
  readonly exports: ExportStore;
  readonly log: Log;
  /** What opens an export goes with it. */
  readonly verifiers: { purge(): Promise<void> };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** Deletes a finished export: from now on it is not offered, whatever becomes of its files. @returns whether there was one */
export async function deleteExport(services: Services, name: string): Promise<boolean> {
  const [row] = await services.database.query<{ id: number }>(
    `update exports set deleted = $2 where name = $1 and finished is not null and deleted is null and expires > $2
     returning id::float8 as id`,
    [name, new Date(services.now())],
  );
  if (row === undefined) return false;
  await erase(services, { id: row.id, name });
  await services.verifiers.purge();
  return true;
}

/** Deletes what there is of an export that will not be finished. What a worker has staged is swept on its machine. */
export async function removeUnfinishedExport(
  { database, exports }: Pick<Services, 'database' | 'exports'>,
  transferId: string,
): Promise<void> {
  const unfinished = await database.query<{ id: number; name: string }>(
    'select id::float8 as id, name from exports where transfer_id = $1 and finished is null',
    [transferId],
  );
  for (const { id, name } of unfinished) await removeUnfinished({ database, exports }, id, name);
}

async function removeUnfinished(
  { database, exports }: Pick<Services, 'database' | 'exports'>,
  id: number,
  name: string,
): Promise<void> {
  await exports.remove(name);
  await rm(join(exports.staging, name), { recursive: true, force: true });
  await database.query('delete from exports where id = $1', [id]);
}

/**
 * Deletes what nobody may have any more: exports whose days are over or that were deleted, those whose transfer ended
 * without them, and what lies in this machine's staging folder for none.
 */
export async function sweepExports(services: Services): Promise<void> {
  const { database, exports, now } = services;
  const over = await database.query<{ id: number; name: string }>(
    `select id::float8 as id, name from exports
     where (expires <= $1 or deleted is not null) and id in (select export_id from export_files)`,
    [new Date(now())],
  );
  for (const gone of over) await erase(services, gone);
  const abandoned = await database.query<{ id: number; name: string }>(
    `select exports.id::float8 as id, name from exports join transfers on transfers.id = transfer_id
     where exports.finished is null and transfers.finished is not null`,
  );
  for (const { id, name } of abandoned) await removeUnfinished(services, id, name);
  await services.verifiers.purge();
  const staged = await readdir(exports.staging).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const open = await database.query<{ name: string }>('select name from exports where finished is null');
  const names = new Set(open.map(({ name }) => name));
  for (const name of staged)
    if (!names.has(name)) await rm(join(exports.staging, name), { recursive: true, force: true });
}

async function erase(
  { database, exports, now, log }: Services,
  { id, name }: { id: number; name: string },
): Promise<void> {
  await exports.remove(name);
  await database.query('delete from export_files where export_id = $1', [id]);
  await database.query('update exports set deleted = coalesce(deleted, $2) where id = $1', [id, new Date(now())]);
  log.info({ export: id }, 'an export was deleted');
}

/** Sweeps now and then until it is disposed of. */
export function startExportSweeper(services: Services): AsyncDisposable {
  let round: Promise<void> = Promise.resolve();
  const sweep = () => {
    round = sweepExports(services).catch((error: unknown) =>
      services.log.error({ err: error }, 'exports whose days are over could not be deleted'),
    );
  };
  sweep();
  const timer = setInterval(sweep, SWEEP_EVERY_MS);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await round;
    },
  };
}
