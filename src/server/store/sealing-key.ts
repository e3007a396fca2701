import { SettingsError } from '../../contract/settings.ts';
import type { Database } from './database.ts';
import type { Vault } from './vault.ts';

/**
 * Keeps a process with another `SECRET_KEY` away from a shared database: it could open nothing, and would end every
 * transfer that it takes. With nothing sealed, the key may be changed.
 * @throws {SettingsError}
 */
export async function requireSealingKey(database: Database, vault: Vault): Promise<void> {
  const digest = vault.digest('sealing key', '');
  await database.transaction(async (sql) => {
    await sql.query('lock table sealing_key in exclusive mode');
    const [known] = await sql.query<{ digest: string }>('select digest from sealing_key');
    if (known?.digest === digest) return;
    const sealed = await sql.query('select 1 from credentials union all select 1 from oauth_tokens limit 1');
    if (known !== undefined && sealed.length > 0)
      throw new SettingsError([
        'SECRET_KEY is not the one that DATABASE_URL was sealed with, and transfers are under way or signed in. Start with that key; it can be changed when they have ended. Example: the SECRET_KEY of the processes that run already',
      ]);
    await sql.query('delete from sealing_key');
    await sql.query('insert into sealing_key (digest) values ($1)', [digest]);
  });
}
