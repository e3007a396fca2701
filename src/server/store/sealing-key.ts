import { SettingsError } from '../../contract/settings.ts';
import { type Database, neverUsed, type Sql } from './database.ts';
import type { Vault } from './vault.ts';

/** The tables of everything that stays sealed for longer than a sign-in takes. */
const SEALED = ['credentials', 'daily_credentials', 'oauth_tokens', 'export_verifiers'] as const;

/**
 * Refuses to start with a `SECRET_KEY` other than the database's: such a process could open nothing, and would end
 * every transfer that it takes. The key may be changed if nothing is sealed, or if the previous one is among the former
 * keys.
 * @param reseal seals everything again after a change of key, so that no former key is needed to open it.
 * @returns whether the key took the place of one that this process does not know
 * @throws {SettingsError}
 */
export async function requireSealingKey(
  database: Database,
  vault: Vault,
  reseal: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  const [digest, ...former] = vault.digests('sealing key', '');
  return database.transaction(async (sql) => {
    await sql.query('lock table sealing_key in exclusive mode');
    const [known] = await sql.query<{ digest: string }>('select digest from sealing_key');
    if (known?.digest === digest) return false;
    const isUnknown = known !== undefined && !former.includes(known.digest);
    if (known !== undefined && !isUnknown) await reseal(sql);
    if (isUnknown && (await isAnythingSealed(sql)))
      throw new SettingsError([
        'SECRET_KEY is not the one that this database was sealed with, and something there still needs that one: a transfer, a sign-in or files for download. Start with it, or name it among the former ones (if it is lost for good: src/server/SECURITY.md, “Cryptography and keys”). Example: FORMER_SECRET_KEYS=…',
      ]);
    await sql.query('delete from sealing_key');
    await sql.query('insert into sealing_key (digest) values ($1)', [digest]);
    return isUnknown;
  });
}

/**
 * Refuses a `SECRET_KEY` other than the database's, and a database without one, and changes nothing: for a command that
 * works beside the product. With another key it would find nothing that is kept under a keyed digest.
 * @throws {SettingsError}
 */
export async function requireKnownKey(database: Database, vault: Vault): Promise<void> {
  const [known] = await database.query<{ digest: string }>('select digest from sealing_key');
  if (known === undefined) throw neverUsed(database.kind);
  if (!vault.digests('sealing key', '').includes(known.digest))
    throw new SettingsError([
      'SECRET_KEY is not the one that the product uses with this database. Give that one. Example: SECRET_KEY_FILE=/run/secrets/secret_key',
    ]);
}

async function isAnythingSealed(sql: Sql): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from (${SEALED.map((table) => `select 1 from ${table}`).join(' union all ')}) as sealed limit 1`,
  );
  return rows.length > 0;
}
