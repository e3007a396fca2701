import type { Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** How long a client that has signed in to a mailbox is remembered. */
const KNOWN_MS = 90 * 24 * 3_600_000;

type Services = { readonly database: Sql; readonly vault: Vault; readonly now: () => number };

/** Who has signed in to which mailbox, in pairs of {@link pairOf}, of which only digests are kept. */
export type KnownClients = {
  /** Those of the pairs that are remembered, in their order; by default those of the last 90 days. */
  among(pairs: readonly string[], withinMs?: number): Promise<readonly string[]>;
  remember(mailbox: string, pairs: readonly string[]): Promise<void>;
  purge(): Promise<void>;
};

export function openKnownClients({ database, vault, now }: Services): KnownClients {
  const digestOf = (pair: string) => vault.digest('known client', pair);
  return {
    among: async (pairs, withinMs = KNOWN_MS) => {
      const rows = await database.query<{ key: string }>(
        'select key from known_clients where key = any($1) and seen > $2',
        [pairs.map(digestOf), now() - withinMs],
      );
      const keys = new Set(rows.map(({ key }) => key));
      return pairs.filter((pair) => keys.has(digestOf(pair)));
    },
    remember: async (mailbox, pairs) => {
      await database.query(
        `insert into known_clients (key, seen, mailbox) select unnest($1::text[]), $2::float8, $3
         on conflict (key) do update set seen = excluded.seen`,
        [pairs.map(digestOf), now(), vault.digest('known mailbox', mailbox)],
      );
    },
    purge: async () => {
      await database.query('delete from known_clients where seen < $1', [now() - KNOWN_MS]);
    },
  };
}

/** A mailbox and the network of a client. */
export function pairOf(mailbox: string, client: string): string {
  return `${mailbox}\n${client}`;
}

/** A mailbox and a browser, by the key in its cookie. */
export function browserPairOf(mailbox: string, browser: string): string {
  return pairOf(mailbox, `browser ${browser}`);
}
