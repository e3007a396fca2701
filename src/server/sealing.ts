import { join } from 'node:path';
import type { Settings } from '../contract/settings.ts';
import type { Log } from './log.ts';
import { resealTokens } from './oauth/tokens.ts';
import type { DataFolder } from './store/data-folder.ts';
import type { Database } from './store/database.ts';
import { openFolderSafe, openSharedSafe, type Safe } from './store/safe.ts';
import { requireKnownKey, requireSealingKey } from './store/sealing-key.ts';
import { openVault, type Vault } from './store/vault.ts';
import { resealCredentials } from './transfers/credentials.ts';
import { resealDailies } from './transfers/dailies.ts';
import { resealVerifiers } from './transfers/verifiers.ts';

type Sealing = {
  readonly settings: Pick<Settings, 'secretKey' | 'formerSecretKeys' | 'databaseUrl' | 'dataDir'>;
  readonly database: Database;
  readonly folder: Pick<DataFolder, 'secretKey'>;
};

type Opened = { readonly vault: Vault; readonly safe: Safe };

/**
 * Opens the keys that secrets are sealed with, and seals anew what was sealed with a former key.
 * @throws {SettingsError} when the key is not the one of this database
 */
export async function openSealing(sealing: Sealing & { readonly log: Pick<Log, 'warn'> }): Promise<Opened> {
  const { vault, safe } = await opened(sealing);
  const isAnother = await requireSealingKey(sealing.database, vault, async (sql) => {
    await resealCredentials(sql, safe);
    await resealDailies(sql, safe);
    await resealTokens(sql, safe);
    await resealVerifiers(sql, vault);
  });
  if (isAnother)
    sealing.log.warn(
      'SECRET_KEY is not the one that this database was last used with. A process that still runs with that one must be given this one: neither can open what the other seals.',
    );
  return { vault, safe };
}

/**
 * The same for a command that runs beside the product: it neither records the key nor seals anything anew.
 * @throws {SettingsError} when the key is not the one of this database
 */
export async function openSealingBeside(sealing: Sealing): Promise<Opened> {
  const both = await opened(sealing);
  await requireKnownKey(sealing.database, both.vault);
  return both;
}

async function opened({ settings, folder }: Sealing): Promise<Opened> {
  const { secretKey, formerSecretKeys, databaseUrl, dataDir } = settings;
  const key = secretKey === undefined ? await folder.secretKey() : Buffer.from(secretKey, 'base64');
  const vault = openVault(
    key,
    formerSecretKeys.map((former) => Buffer.from(former, 'base64')),
  );
  const safe = databaseUrl === undefined ? await openFolderSafe(vault, join(dataDir, 'keys')) : openSharedSafe(vault);
  return { vault, safe };
}
