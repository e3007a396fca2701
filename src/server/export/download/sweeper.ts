import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import type { Database } from '../../store/database.ts';
import { earlierTime } from '../../store/earlier-time.ts';
import type { ExportStore } from '../storage/export-store.ts';

const SWEEP_EVERY_MS = 10 * 60_000;
const EXPORT_NAME = /^[0-9a-f]{32}$/;
/** After this, what a worker was storing when its transfer ended has arrived or failed. */
const ARRIVES_WITHIN_MS = 15 * 60_000;

type Services = {
  readonly database: Database;
  readonly exports: ExportStore;
  readonly log: Log;
  /** An export's verifier is removed with it. */
  readonly verifiers: { purge(): Promise<void> };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/**
 * Deletes a finished export: from now on it is not offered, whatever happens to its files. What can't be removed now is
 * swept later.
 * @returns whether there was one
 */
export async function deleteExport(services: Services, name: string): Promise<boolean> {
  const [row] = await services.database.query<{ id: number }>(
    `update exports set deleted = $2 where name = $1 and finished is not null and deleted is null and expires > $2
     returning id::float8 as id`,
    [name, new Date(services.now())],
  );
  if (row === undefined) return false;
  await nowOrLater(services.log, () => erase(services, { id: row.id, name }));
  await services.verifiers.purge();
  return true;
}

/**
 * Deletes what there is of an export that will not be finished. What a worker has staged is swept on its machine; what
 * can't be removed now, or is still to arrive, is swept later, and until then the export is remembered.
 */
export async function removeUnfinishedExport(services: Removing, transferId: string): Promise<void> {
  const unfinished = await services.database.query<{ id: number; name: string }>(
    'select id::float8 as id, name from exports where transfer_id = $1 and finished is null',
    [transferId],
  );
  for (const one of unfinished) await nowOrLater(services.log, () => removeUnfinished(services, one));
}

type Removing = Pick<Services, 'database' | 'exports' | 'log'>;
type Named = { readonly id: number; readonly name: string };

/** An export that can't be removed does not hold up others. */
async function nowOrLater(log: Log, remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    log.error({ err: error }, 'an export could not be removed, and is tried again: can EXPORTS_URL be used?');
  }
}

/** Removes all of it but its name, by which files that arrive late are found. */
async function removeUnfinished({ database, exports }: Removing, { id, name }: Named): Promise<void> {
  await database.transaction(async (sql) => {
    for (const table of ['export_mailboxes', 'export_contacts', 'export_cards', 'export_files'])
      await sql.query(`delete from ${table} where export_id = $1`, [id]);
    await sql.query('update exports set mail_skipped = null, contacts_skipped = null where id = $1', [id]);
  });
  await rm(join(exports.staging, name), { recursive: true, force: true });
  await exports.remove(name);
}

/**
 * Deletes what nobody may have any more: exports that have expired or were deleted, those whose transfer ended without
 * them, and what belongs to no export in this machine's staging folder.
 */
export async function sweepExports(services: Services, ending?: AbortSignal): Promise<void> {
  const { database, exports, now } = services;
  const over = await database.query<{ id: number; name: string }>(
    `select id::float8 as id, name from exports
     where (expires <= $1 or deleted is not null) and id in (select export_id from export_files)`,
    [new Date(now())],
  );
  const abandoned = await database.query<Named & { readonly ended: Date }>(
    `select exports.id::float8 as id, name, transfers.finished as ended
     from exports join transfers on transfers.id = transfer_id
     where exports.finished is null and transfers.finished is not null`,
  );
  const removals = [
    ...over.map((one) => () => erase(services, one)),
    ...abandoned.map(({ ended, ...one }) => async () => {
      await removeUnfinished(services, one);
      if (now() - ended.getTime() > ARRIVES_WITHIN_MS)
        await database.query('delete from exports where id = $1', [one.id]);
    }),
  ];
  for (const remove of removals) {
    if (ending?.aborted === true) return;
    await nowOrLater(services.log, remove);
  }
  await services.verifiers.purge();
  const staged = await readdir(exports.staging).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const open = await database.query<{ name: string }>('select name from exports where finished is null');
  const names = new Set(open.map(({ name }) => name));
  for (const name of staged)
    // Only folders of exports: a starting process tries out the staging folder as well.
    if (EXPORT_NAME.test(name) && !names.has(name))
      await rm(join(exports.staging, name), { recursive: true, force: true });
}

async function erase({ database, exports, now, log }: Services, { id, name }: Named): Promise<void> {
  await exports.remove(name);
  await database.query('delete from export_files where export_id = $1', [id]);
  await database.query('update exports set deleted = coalesce(deleted, $2) where id = $1', [id, new Date(now())]);
  log.info({ export: id }, 'an export was deleted');
}

/** Sweeps periodically until it is disposed of. */
export function startExportSweeper(services: Services): AsyncDisposable {
  let round: Promise<void> = Promise.resolve();
  const ending = new AbortController();
  let isSweeping = false;
  const sweep = () => {
    if (isSweeping) return;
    isSweeping = true;
    round = earlierTime(services.database, services.now)
      .then((at) => sweepExports({ ...services, now: () => at }, ending.signal))
      .catch((error: unknown) => services.log.error({ err: error }, 'exports whose days are over could not be deleted'))
      .finally(() => {
        isSweeping = false;
      });
  };
  sweep();
  const timer = setInterval(sweep, SWEEP_EVERY_MS);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      ending.abort();
      await round;
    },
  };
}
