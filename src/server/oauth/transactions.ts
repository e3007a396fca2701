import * as v from 'valibot';
import { OauthProvider } from '../../contract/provider.ts';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** How long a person may take at the provider. */
export const CONSENT_WITHIN_MS = 10 * 60_000;

/** A sign-in at a provider that was begun, by the `browser` of this name in sign-ins. */
const Transaction = v.object({
  browser: v.string(),
  provider: OauthProvider,
  purpose: v.picklist(['transfer', 'status']),
  sealed: v.instance(Uint8Array),
});
export type Transaction = v.InferOutput<typeof Transaction>;

/** The verifier of PKCE (RFC 7636), and the nonce that the ID token must have. */
const Secret = v.object({ verifier: v.string(), nonce: v.string() });
type Secret = v.InferOutput<typeof Secret>;

type Services = { readonly database: Database; readonly vault: Vault; readonly now: () => number };

/** The sign-ins from which nobody has come back yet, by their states, of which only digests are kept. */
export function openTransactions({ database, vault, now }: Services): {
  keep(state: string, transaction: Omit<Transaction, 'sealed'>, secret: Secret): Promise<void>;
  /** Finds and deletes it, as it can be used only once, and only by the same browser. */
  take(state: string, browser: string): Promise<Transaction | null>;
  /** @throws {SealError} */
  secretOf(state: string, transaction: Transaction): Secret;
  /** Ends those of these browsers. */
  end(browsers: readonly string[]): Promise<void>;
  purge(): Promise<void>;
} {
  const keyOf = (state: string) => vault.digest('oauth state', state);
  const placeOf = (state: string) => `oauth_transactions/${keyOf(state)}`;
  return {
    keep: async (state, { browser, provider, purpose }, secret) => {
      await database.query(
        `insert into oauth_transactions (state, browser, provider, purpose, sealed, expires)
         values ($1, $2, $3, $4, $5, $6)`,
        [
          keyOf(state),
          browser,
          provider,
          purpose,
          vault.seal(placeOf(state), JSON.stringify(secret)),
          now() + CONSENT_WITHIN_MS,
        ],
      );
    },
    take: async (state, browser) => {
      const [row] = await database.query(
        `delete from oauth_transactions where state = $1 and browser = $2 and expires > $3
         returning browser, provider, purpose, sealed`,
        [keyOf(state), browser, now()],
      );
      return row === undefined ? null : v.parse(Transaction, row);
    },
    secretOf: (state, { sealed }) => v.parse(Secret, JSON.parse(vault.open(placeOf(state), sealed))),
    end: async (browsers) => {
      await database.query('delete from oauth_transactions where browser = any($1)', [browsers]);
    },
    purge: async () => {
      await database.query('delete from oauth_transactions where expires <= $1', [now()]);
    },
  };
}
