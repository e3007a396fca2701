import { exportFileAddress } from '../../../contract/calls/export-file.ts';
import type { ExportFile } from '../../../contract/calls/status.ts';
import type { Settings } from '../../../contract/settings.ts';
import type { Database } from '../../store/database.ts';
import { safeName } from '../names/safe-name.ts';

/** A file that can be downloaded. `title` is the name it is saved under. */
export type OfferedFile = {
  readonly exportId: number;
  readonly exportName: string;
  readonly name: string;
  readonly title: string;
  readonly size: number;
  readonly sha256: string;
  readonly expires: Date;
};

type Offering = {
  readonly database: Database;
  readonly settings: Pick<Settings, 'publicUrl' | 'legacyName'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

const SECOND_MS = 1000;
/** `2026-11-25`, which sorts; the date in its README. */
const DAY = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: 'America/Los_Angeles' });

/** The files of a transfer's export; none before it is finished or after it has expired. */
export async function exportFiles(services: Offering, transferId: string): Promise<ExportFile[]> {
  const files = await offered(services, 'transfer_id', transferId);
  return files.map(({ exportName, name, title, size, sha256, expires }) => ({
    url: `${services.settings.publicUrl}${exportFileAddress(exportName, name)}`,
    name: title,
    size,
    sha256,
    expires: new Date(Math.floor(expires.getTime() / SECOND_MS) * SECOND_MS).toISOString(),
  }));
}

/** The transfer that an export belongs to; `null` if there is no such export. */
export async function transferOfExport(database: Database, exportName: string): Promise<string | null> {
  const [row] = await database.query<{ id: string }>('select transfer_id as id from exports where name = $1', [
    exportName,
  ]);
  return row?.id ?? null;
}

/**
 * Whether a transfer's export has been finished, whatever happened to its files; `null` if the transfer is not an
 * export.
 */
export async function exportStanding(
  database: Database,
  transferId: string,
): Promise<'unfinished' | 'finished' | null> {
  const [row] = await database.query<{ finished: boolean }>(
    `select exports.finished is not null as finished
     from transfers left join exports on transfer_id = transfers.id
     where transfers.id = $1 and destination_provider = 'file_export'`,
    [transferId],
  );
  if (row === undefined) return null;
  return row.finished ? 'finished' : 'unfinished';
}

/** The file of that name, if it can still be downloaded. */
export async function offeredFile(services: Offering, exportName: string, name: string): Promise<OfferedFile | null> {
  const files = await offered(services, 'exports.name', exportName);
  return files.find((file) => file.name === name) ?? null;
}

async function offered(
  { database, settings, now }: Offering,
  column: 'transfer_id' | 'exports.name',
  value: string,
): Promise<OfferedFile[]> {
  const rows = await database.query<Omit<OfferedFile, 'title'> & { finished: Date }>(
    `select exports.id::float8 as "exportId", exports.name as "exportName", export_files.name as name,
       size::float8 as size, sha256, expires, finished
     from exports join export_files on export_id = exports.id
     where ${column} = $1 and finished is not null and deleted is null and expires > $2 order by part`,
    [value, new Date(now())],
  );
  return rows.map(({ finished, ...file }, at) => {
    const part = rows.length === 1 ? '' : ` part ${at + 1} of ${rows.length}`;
    const title = `${safeName(settings.legacyName, 64)} mail ${DAY.format(finished)}${part}.zip`;
    return { ...file, title };
  });
}
