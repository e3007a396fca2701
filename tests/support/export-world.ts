import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contact } from '../../src/server/contacts/contact.ts';
import type { Skipped } from '../../src/contract/calls/status.ts';
import type { ContactReader, Reading } from '../../src/server/contacts/contact-store.ts';
import {
  stageContacts,
  stageMail,
  writeArchives,
  type ExportServices,
  type MailExport,
} from '../../src/server/export/export.job.ts';
import type { ContactsFormat, EmailFormat } from '../../src/contract/export-format.ts';
import type { Clock } from '../../src/server/clock.ts';
import { openFolderStore } from '../../src/server/export/storage/folder-store.ts';
import type { ExportLimits } from '../../src/server/export/staging/export-limits.ts';
import type { ExportStore } from '../../src/server/export/storage/export-store.ts';
import { openLog } from '../../src/server/log.ts';
import type { Database } from '../../src/server/store/database.ts';
import type { Lease } from '../../src/server/transfers/lease.ts';
import { endOperation } from '../../src/server/transfers/operations.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { FRESH, openTestDatabase } from './fresh-database.ts';
import type { MemoryAccount } from './memory-mailbox.ts';

/** A clock on which all waits are over at once. */
const SOON: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (_, run) => {
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  },
};

export type ExportWorld = AsyncDisposable & {
  readonly database: Database;
  /** The folder of finished exports. */
  readonly root: string;
  readonly services: ExportServices;
  newTransfer(formats?: { email?: EmailFormat; contacts?: ContactsFormat }): Promise<string>;
  exportMail(
    transferId: string,
    account: MemoryAccount,
    changes?: Partial<MailExport> & { services?: ExportServices },
  ): Promise<readonly Skipped[]>;
  /** Ends the mail of a transfer whose archive is written, as its worker does: from then on its status has the files. */
  endMail(transferId: string): Promise<void>;
  /** @param others what else is read of the address book */
  exportContacts(transferId: string, contacts: readonly Contact[], others?: readonly Reading[]): Promise<void>;
  /** The paths of the finished files. */
  files(transferId: string): Promise<string[]>;
};

export async function openExportWorld(
  options: {
    limits?: Partial<ExportLimits>;
    database?: Database;
    root?: string;
    store?: ExportStore;
    now?: () => number;
    exportDays?: number;
  } = {},
): Promise<ExportWorld> {
  await using opening = new AsyncDisposableStack();
  const database = options.database ?? opening.use(await openTestDatabase(FRESH));
  const scratch = await mkdtemp(join(tmpdir(), 'export-'));
  opening.defer(() => rm(scratch, { recursive: true, force: true }));
  const root = options.root ?? join(scratch, 'exports');
  const services: ExportServices = {
    database,
    settings: { exportDays: options.exportDays ?? 7, legacyName: 'San Bruno' },
    log: openLog('silent'),
    exports: options.store ?? openFolderStore(root),
    now: options.now ?? (() => Date.now()),
    limits: { diskReserve: 0, ...options.limits },
  };
  const lifetime = opening.move();
  const quiet = { signal: new AbortController().signal, onProgress: () => {} };
  return {
    database,
    root,
    services,
    newTransfer: async ({ email = 'eml', contacts = 'vcf' } = {}) => {
      const id = randomBytes(16).toString('hex');
      await insertTransfer(
        database,
        {
          id,
          sourceEmail: `${id}@sanbruno.example`,
          sourceProvider: 'sanbruno',
          destinationEmail: 'me@example.com',
          destinationProvider: 'file_export',
          operations: ['emailmigration', 'contactsmigration'],
          emailFormat: email,
          contactsFormat: contacts,
          inQa: false,
        },
        id,
      );
      return id;
    },
    exportMail: async (transferId, { source }, { services: other = services, ...changes } = {}) => {
      const work: MailExport = {
        ...quiet,
        transferId,
        lease: leaseOf(transferId),
        format: 'eml',
        contactsFormat: 'vcf',
        source,
        clock: SOON,
        // As if it had waited as often as it may.
        refusalWaits: 9,
        troubleWaits: 99,
        ...changes,
      };
      await stageMail(other, work);
      return writeArchives(other, work);
    },
    endMail: (transferId) => endOperation(database, leaseOf(transferId), 'emailmigration', { status: 'completed' }),
    exportContacts: async (transferId, contacts, others = []) => {
      const reader: ContactReader = {
        survey: async () => ({ total: contacts.length, uids: new Set(contacts.map(({ uid }) => uid)) }),
        async *contacts() {
          for (const contact of contacts) yield { kind: 'contact', contact };
          yield* others;
        },
      };
      await stageContacts(services, { ...quiet, transferId, lease: leaseOf(transferId), reader });
    },
    files: async (transferId) =>
      (
        await database.query<{ export: string; name: string }>(
          `select exports.name as export, export_files.name as name from export_files join exports on id = export_id
           where transfer_id = $1 order by part`,
          [transferId],
        )
      ).map((row) => join(root, row.export, row.name)),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** The lease of a transfer that nobody has taken. */
function leaseOf(transferId: string): Lease {
  return { transferId, epoch: 0 };
}
