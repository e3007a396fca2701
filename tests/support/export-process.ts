import type { Environment } from '../../src/contract/settings.ts';
import type { DatabaseAddress } from '../../src/server/store/database.ts';
import { mailUntil, openWorld, order, SUBSCRIBER } from './transfer-world.ts';

export type ExportedFiles = readonly { readonly export: string; readonly name: string }[];

/**
 * A process that can be killed: starts or resumes an export of the subscriber's mail, and exits once it has ended. Its
 * last line has the files, none if the export was stopped. Argument, as JSON: the database's address and the settings.
 */
export type ExportProcess = { readonly database: DatabaseAddress; readonly environment: Environment };

const { database, environment } = JSON.parse(process.argv[2] ?? '') as ExportProcess;
await using world = await openWorld(database, environment);
const [begun] = await world.database.query<{ id: string }>('select id from transfers where source_email = $1', [
  SUBSCRIBER,
]);
const id =
  begun?.id ??
  (
    await world.transfers.start(
      order({
        destination: { email: 'me@example.com', provider: 'file_export' },
        emailFormat: 'eml',
        contactsFormat: 'vcf',
      }),
    )
  ).id;
process.stdout.write('working\n');
// The time for which it is frozen counts as well, and the machine may be busy.
await mailUntil(world.transfers, id, ['completed', 'error'], 240_000);
const files: ExportedFiles = await world.database.query(
  'select exports.name as export, export_files.name as name from export_files join exports on exports.id = export_id',
);
process.stdout.write(`${JSON.stringify(files)}\n`);
