import { join } from 'node:path';
import type { Settings } from '../contract/settings.ts';
import { openExportStore } from './export/storage/open-export-store.ts';
import { openLog } from './log.ts';
import { openOauthClients } from './oauth/client.ts';
import { openTokens } from './oauth/tokens.ts';
import { holdDataFolder } from './store/data-folder.ts';
import { openDatabase, overwriteDeleted } from './store/database.ts';
import { openSealingBeside } from './sealing.ts';
import { eraseSubscriber } from './transfers/retention.ts';

const NO_FOLDER = {
  secretKey: () => Promise.reject(new Error('Settings with DATABASE_URL have a SECRET_KEY.')),
};

/**
 * Erases a subscriber from the database that the settings name. The embedded one belongs to one process, so the product
 * must be stopped for it, and its files are written anew; with a PostgreSQL it may run.
 * @throws {DataFolderError}
 * @throws {SettingsError} when the key is not the one of this database
 */
export async function eraseFromServer(settings: Settings, subscriber: string): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const { databaseUrl, dataDir } = settings;
  const folder = databaseUrl === undefined ? opened.use(await holdDataFolder(dataDir)) : NO_FOLDER;
  const log = openLog(settings.logLevel);
  const address = databaseUrl === undefined ? { folder: join(dataDir, 'database') } : { url: databaseUrl };
  const database = opened.use(await openDatabase(address, log));
  const { vault, safe } = await openSealingBeside({ settings, database, folder });
  const now = Date.now;
  const tokens = openTokens({ oauthClients: openOauthClients({ settings, now }), database, safe, log, now });
  // Awaited here, before what it works on is closed.
  const count = await eraseSubscriber(
    { database, safe, vault, log, tokens, exports: openExportStore(settings) },
    subscriber,
  );
  await overwriteDeleted(database);
  return count;
}
