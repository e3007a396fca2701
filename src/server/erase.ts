import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { domainToASCII, domainToUnicode } from 'node:url';
import type { Email } from '../contract/email.ts';
import { type Settings, SettingsError } from '../contract/settings.ts';
import { type ExportStore, FileGoneError, StoreError } from './export/storage/export-store.ts';
import { openExportStore } from './export/storage/open-export-store.ts';
import { openLog } from './log.ts';
import { openOauthClients } from './oauth/client.ts';
import { openTokens } from './oauth/tokens.ts';
import { faultIn, holdDataFolder } from './store/data-folder.ts';
import { neverUsed, openDatabaseBeside, overwriteDeleted } from './store/database.ts';
import { openSealingBeside } from './sealing.ts';
import { eraseSubscriber, filesOf } from './transfers/retention.ts';

const NO_FOLDER = {
  secretKey: () => Promise.reject(new Error('Settings with DATABASE_URL have a SECRET_KEY.')),
};

/**
 * Erases a subscriber from the database that the settings name. The embedded one belongs to one process, so the product
 * must be stopped for it, and its files are written anew; with a PostgreSQL it may run.
 * @returns how many transfers were erased
 * @throws {DataFolderError}
 * @throws {SettingsError} when the product has never used this database, or in another version, or uses it with another key,
 *   or keeps its files elsewhere, or they can't be removed
 */
export async function eraseFromServer(settings: Settings, subscriber: Email): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const { databaseUrl, dataDir } = settings;
  const embedded = join(dataDir, 'database');
  // A new one would be made there, in which nothing is known of anybody.
  if (databaseUrl === undefined && !existsSync(embedded)) throw neverUsed('pglite');
  const folder = databaseUrl === undefined ? opened.use(await holdDataFolder(dataDir)) : NO_FOLDER;
  const log = openLog(settings.logLevel);
  const address = databaseUrl === undefined ? { folder: embedded } : { url: databaseUrl };
  const database = opened.use(await openDatabaseBeside(address));
  const { vault, safe } = await openSealingBeside({ settings, database, folder }).catch((error: unknown) => {
    throw faultIn(dataDir, error);
  });
  const now = Date.now;
  const exports = openExportStore(settings);
  const spellings = spellingsOf(subscriber);
  for (const each of spellings) await requireFiles(exports, await filesOf(database, each));
  const tokens = openTokens({ oauthClients: openOauthClients({ settings, now }), database, safe, log, now });
  let count = 0;
  for (const each of spellings)
    count += await eraseSubscriber({ database, safe, vault, log, tokens, exports }, each).catch(filesStay);
  await overwriteDeleted(database);
  return count;
}

/** The address as calls name it, and with its domain in letters and as DNS has it: either may have been typed. */
function spellingsOf(email: Email): ReadonlySet<string> {
  const end = email.lastIndexOf('@') + 1;
  const [local, domain] = [email.slice(0, end), email.slice(end)];
  return new Set([email, `${local}${domainToASCII(domain)}`, `${local}${domainToUnicode(domain)}`]);
}

/** What is erased already stays so, and the next try goes on from there. @throws {SettingsError} for files that stay */
function filesStay(error: unknown): never {
  if (!(error instanceof StoreError)) throw error;
  throw new SettingsError(
    [
      'EXPORTS_URL has files of this subscriber that could not be removed, and not everything was erased. Let this program write and delete there, and give the command again. Example: EXPORTS_URL=/srv/exports',
    ],
    { cause: error },
  );
}

/** Otherwise they would stay where they are, and nobody would know whose they were. @throws {SettingsError} */
async function requireFiles(
  exports: ExportStore,
  files: readonly { readonly exportName: string; readonly name: string }[],
): Promise<void> {
  for (const { exportName, name } of files) {
    try {
      const octets = await exports.read(exportName, name, { start: 0, end: 0 }, new AbortController().signal);
      await octets.cancel();
    } catch (error) {
      if (!(error instanceof FileGoneError || error instanceof StoreError)) throw error;
      throw new SettingsError(
        [
          `EXPORTS_URL is not where the product keeps files of this subscriber, or can't be read, and nothing was erased. Give the product's own; if that has lost them, it forgets them when their EXPORT_DAYS are over. Example: EXPORTS_URL=/srv/exports`,
        ],
        { cause: error },
      );
    }
  }
}
