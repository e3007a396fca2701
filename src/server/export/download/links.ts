import { timingSafeEqual } from 'node:crypto';
import { exportFileAddress } from '../../../contract/calls/export-file.ts';
import type { ExportFile } from '../../../contract/calls/status.ts';
import type { Settings } from '../../../contract/settings.ts';
import type { Database } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';
import { safeName } from '../archive/safe-name.ts';

/** What a link proves: that we gave it out, for this export and until then (Unix seconds). */
export type Proof = { readonly exportName: string; readonly expires: number; readonly signature: string };

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

type Signing = { readonly vault: Vault };
type Offering = Signing & {
  readonly database: Database;
  readonly settings: Pick<Settings, 'publicUrl' | 'legacyName'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

const SECOND_MS = 1000;

function signatureOf({ vault }: Signing, exportName: string, expires: number): string {
  return vault.digest('export link', `${exportName}\n${expires}`);
}

/** Whether the link is ours and still good; takes as long for a wrong one. */
export function isProven(
  services: Signing & Pick<Offering, 'now'>,
  { exportName, expires, signature }: Proof,
): boolean {
  const given = Buffer.from(signature);
  const right = Buffer.from(signatureOf(services, exportName, expires));
  return given.length === right.length && timingSafeEqual(given, right) && expires * SECOND_MS > services.now();
}

/** The files of a transfer's export, with signed links; none before it is finished or after its days are over. */
export async function exportFiles(services: Offering, transferId: string): Promise<ExportFile[]> {
  const files = await offered(services, 'transfer_id', transferId);
  return files.map(({ exportName, name, title, size, sha256, expires }) => {
    const until = Math.floor(expires.getTime() / SECOND_MS);
    const signature = { expires: String(until), signature: signatureOf(services, exportName, until) };
    return {
      url: `${services.settings.publicUrl}${exportFileAddress(exportName, name, signature)}`,
      name: title,
      size,
      sha256,
      expires: new Date(until * SECOND_MS).toISOString(),
    };
  });
}

/** Whether a transfer's export has been finished, whatever became of its files; `null` when the transfer is none. */
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

/** The file that a link names, if it can still be downloaded. */
export async function offeredFile(
  services: Offering,
  { exportName, expires }: Proof,
  name: string,
): Promise<OfferedFile | null> {
  const files = await offered(services, 'exports.name', exportName);
  return files.find((file) => file.name === name && Math.floor(file.expires.getTime() / SECOND_MS) === expires) ?? null;
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
    const title = `${safeName(settings.legacyName, 64)} mail ${finished.toISOString().slice(0, 10)}${part}.zip`;
    return { ...file, title };
  });
}
