import { randomBytes } from 'node:crypto';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** How long the proof of an address gives access to its list of transfers. */
export const STATUS_HASH_MS = 2 * 3_600_000;

/** Whose list of transfers a status hash opens. */
export type StatusOwner = { readonly email: string; readonly persons: readonly string[] };

type Services = { readonly database: Database; readonly vault: Vault; readonly now: () => number };

/** What proves an address for its list of transfers, to the browser that it was given to; only digests are kept. */
export function openStatusHashes({ database, vault, now }: Services): {
  /** @param browser its name in sign-ins */
  give(owner: StatusOwner, browser: string): Promise<string>;
  /** `null` when the hash proves none, or does not any more. */
  ownerOf(hash: string, browser: string): Promise<StatusOwner | null>;
  /** Ends those of these browsers. */
  end(browsers: readonly string[]): Promise<void>;
  purge(): Promise<void>;
} {
  const keyOf = (hash: string) => vault.digest('status hash', hash);
  return {
    give: async ({ email, persons }, browser) => {
      const hash = randomBytes(32).toString('hex');
      await database.query(
        'insert into status_hashes (hash, email, expires, browser, persons) values ($1, $2, $3, $4, $5)',
        [keyOf(hash), email, now() + STATUS_HASH_MS, browser, persons],
      );
      return hash;
    },
    ownerOf: async (hash, browser) => {
      const [row] = await database.query<{ email: string; persons: string[] | null }>(
        'select email, persons from status_hashes where hash = $1 and browser = $2 and expires > $3',
        [keyOf(hash), browser, now()],
      );
      return row === undefined ? null : { email: row.email, persons: row.persons ?? [] };
    },
    end: async (browsers) => {
      await database.query('delete from status_hashes where browser = any($1)', [browsers]);
    },
    purge: async () => {
      await database.query('delete from status_hashes where expires <= $1', [now()]);
    },
  };
}
