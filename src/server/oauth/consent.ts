import { randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import { OAUTH_RETURN } from '../../contract/calls/oauth.ts';
import type { QueryError } from '../../contract/failure-code.ts';
import type { OauthProvider } from '../../contract/provider.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Log } from '../log.ts';
import { DatabaseUnavailable } from '../store/database-faults.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import type { OauthClients } from './client.ts';
import type { Profile } from './profile.ts';
import { PROFILES } from './profiles.ts';
import { emailIn, provenEmail, type TokenAnswer } from './proven-email.ts';
import { logProviderFault } from './provider-fault.ts';
import { openStatusHashes, type StatusOwner } from './status-hashes.ts';
import { grantedOf, type Granted } from './token-secret.ts';
import type { KeptTokens } from './tokens.ts';
import { openTransactions, type Transaction } from './transactions.ts';

export type Purpose = 'transfer' | 'status';

/** Begins the states of sign-ins for the list of transfers. No random state has a dot. */
const STATUS_MARK = 'status.';

/** What a return claims to be for: all that is known where its sign-in has expired, or can't be read. It opens nothing. */
export function claimedPurpose(query: URLSearchParams): Purpose {
  return query.get('state')?.startsWith(STATUS_MARK) === true ? 'status' : 'transfer';
}

/** A sign-in at a provider failed; `UNAVAILABLE` if it was not the person's doing. */
export class ConsentRefused extends Error {
  override name = 'ConsentRefused';
  readonly error: QueryError | 'UNAVAILABLE';
  readonly purpose: Purpose;
  constructor(error: ConsentRefused['error'], purpose: Purpose, options?: ErrorOptions) {
    super(error, options);
    this.error = error;
    this.purpose = purpose;
  }
}

export type Consent = { readonly email: string; readonly provider: OauthProvider } & (
  | { readonly purpose: 'transfer'; readonly tokenId: string; readonly contacts: '' | 'no' }
  | { readonly purpose: 'status'; readonly tokenId: string; readonly hash: string }
);

export type Consents = {
  /**
   * @param browser its cookie; only that browser can come back.
   * @returns the provider's address.
   */
  begin(provider: OauthProvider, purpose: Purpose, browser: string): Promise<URL>;
  /**
   * @param path the provider, as named in the redirect address.
   * @throws {ConsentRefused}
   */
  finish(path: string, query: URLSearchParams, browser: string | undefined): Promise<Consent>;
  /** Whether a sign-in of this browser gave the token, and for this account. */
  gave(tokenId: string, account: { email: string; provider: string }, browser: string): Promise<boolean>;
  /**
   * The address that a status hash proves, and digests of whose it is by the key and former ones, to the browser that
   * it was given to; `null` when it proves none, or does not any more.
   */
  ownerOf(hash: string, browser: string): Promise<StatusOwner | null>;
  /** The name of a browser in sign-ins, derived from its cookie. */
  nameOf(browser: string): string;
  /** Ends the sign-ins that these browsers began, by their names, what they may use of them, and their status hashes. */
  end(names: readonly string[]): Promise<void>;
  purge(): Promise<void>;
};

type Services = {
  readonly settings: Settings;
  readonly database: Database;
  readonly vault: Vault;
  readonly log: Log;
  readonly now: () => number;
  readonly tokens: KeptTokens;
  readonly oauthClients: OauthClients;
};

/** The name of a browser in sign-ins at providers: a digest of what its cookie holds. */
export function consentBrowserOf(vault: Pick<Vault, 'digest'>, browser: string): string {
  return vault.digest('oauth browser', browser);
}

/** Makes what a browser has begun and got at providers its new key's alone. */
export async function moveConsents(sql: Sql, vault: Pick<Vault, 'digest'>, former: string, key: string): Promise<void> {
  const names = [consentBrowserOf(vault, former), consentBrowserOf(vault, key)];
  for (const table of ['oauth_transactions', 'oauth_tokens', 'status_hashes'])
    await sql.query(`update ${table} set browser = $2 where browser = $1`, names);
}

export function openConsents({
  settings,
  database,
  vault,
  log,
  now,
  tokens,
  oauthClients: clients,
}: Services): Consents {
  const browserOf = (browser: string) => consentBrowserOf(vault, browser);
  const statusHashes = openStatusHashes({ database, vault, now });
  const transactions = openTransactions({ database, vault, now });

  async function exchange(transaction: Transaction, state: string, query: URLSearchParams): Promise<Consent> {
    const { provider, purpose } = transaction;
    const profile = PROFILES[provider];
    const { verifier, nonce } = transactions.secretOf(state, transaction);
    const configuration = await clients(provider);
    const answer = await client.authorizationCodeGrant(
      configuration,
      new URL(`${redirectAddress(settings, provider)}?${query.toString()}`),
      { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      purpose === 'transfer' && profile.scopesOf !== undefined
        ? { scope: scopeOf(profile, ['offline_access', ...profile.scopesOf.mail]) }
        : {},
    );
    const granted = grantedOf(answer);
    const claims: Readonly<Record<string, unknown>> = answer.claims() ?? {};
    const persons = vault.digests(
      'oauth person',
      `${provider}\n${profile.personOf?.(claims) ?? String(claims['sub'])}`,
    );
    try {
      if (purpose === 'transfer' && !hasScopes(answer.scope, profile.needed))
        throw new ConsentRefused('MISSING_SCOPE', purpose);
      const email = await provenEmail(configuration, answer, profile);
      if (email === null)
        throw new ConsentRefused(
          profile.isVerified === undefined ? 'EXTERNAL_OAUTH_ERROR' : 'ADDRESS_NOT_VERIFIED',
          purpose,
        );
      return await keep(transaction, { email, persons }, answer, granted);
    } catch (error) {
      const email = emailIn(claims, profile) ?? undefined;
      await tokens.revoke({ provider, email, persons }, granted);
      throw error;
    }
  }

  /** Keeps the tokens for a transfer; for a status request, what proves the address in their place. */
  async function keep(
    { browser, provider, purpose }: Transaction,
    { email, persons }: StatusOwner,
    { scope }: TokenAnswer,
    granted: Granted,
  ): Promise<Consent> {
    if (purpose === 'transfer') {
      const { scopes, scopesOf } = PROFILES[provider];
      const tokenId = await tokens.store({ email, provider, browser, persons }, granted);
      // If each resource has its own token, this answer covers mail only.
      return {
        purpose,
        provider,
        email,
        tokenId,
        contacts: scopesOf !== undefined || hasScopes(scope, scopes) ? '' : 'no',
      };
    }
    const hash = await statusHashes.give({ email, persons }, browser);
    await tokens.revoke({ provider, email, persons }, granted);
    // No token is kept for a status request, but the page needs an ID.
    return { purpose, provider, email, hash, tokenId: randomBytes(16).toString('hex') };
  }

  return {
    begin: async (provider, purpose, browser) => {
      const profile = PROFILES[provider];
      const configuration = await clients(provider);
      const state = `${purpose === 'status' ? STATUS_MARK : ''}${client.randomState()}`;
      const verifier = client.randomPKCECodeVerifier();
      const nonce = client.randomNonce();
      await transactions.keep(state, { browser: browserOf(browser), provider, purpose }, { verifier, nonce });
      return client.buildAuthorizationUrl(configuration, {
        ...(purpose === 'transfer' ? profile.parameters : {}),
        redirect_uri: redirectAddress(settings, provider),
        scope: scopeOf(profile, purpose === 'transfer' ? profile.scopes : []),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },

    finish: async (path, query, browser) => {
      const state = query.get('state');
      const transaction =
        state === null || browser === undefined ? null : await transactions.take(state, browserOf(browser));
      if (transaction === null || state === null)
        throw new ConsentRefused('EXTERNAL_OAUTH_ERROR', claimedPurpose(query));
      const { provider, purpose } = transaction;
      if (path !== provider) throw new ConsentRefused('EXTERNAL_OAUTH_ERROR', purpose);
      try {
        return await exchange(transaction, state, query);
      } catch (error) {
        if (error instanceof ConsentRefused) throw error;
        await logProviderFault(log, provider, error, 'a sign-in at a provider failed');
        const isOurs = error instanceof DatabaseUnavailable;
        throw new ConsentRefused(isOurs ? 'UNAVAILABLE' : 'EXTERNAL_OAUTH_ERROR', purpose, { cause: error });
      }
    },

    gave: async (tokenId, { email, provider }, browser) => {
      const rows = await database.query(
        'select 1 from oauth_tokens where id = $1 and email = $2 and provider = $3 and browser = $4 and expires > $5',
        [tokenId, email, provider, browserOf(browser), now()],
      );
      return rows.length > 0;
    },

    ownerOf: (hash, browser) => statusHashes.ownerOf(hash, browserOf(browser)),
    nameOf: browserOf,
    end: async (names) => {
      await transactions.end(names);
      // A transfer asks for its tokens by their ID alone.
      await database.query('update oauth_tokens set browser = null where browser = any($1)', [names]);
      await statusHashes.end(names);
    },

    purge: async () => {
      await transactions.purge();
      await statusHashes.purge();
    },
  };
}

/** One for each provider, so that a code can't be brought to another one's token endpoint (RFC 9700 §2.1). */
function redirectAddress({ publicUrl }: Settings, provider: OauthProvider): string {
  return `${publicUrl}${OAUTH_RETURN}${provider}/`;
}

function scopeOf({ claimScopes = [] }: Profile, scopes: readonly string[]): string {
  return ['openid', 'email', ...claimScopes, ...scopes].join(' ');
}

/**
 * An answer without `scope` grants everything requested (RFC 6749 §5.1). Microsoft may omit the resource from the
 * scopes.
 */
function hasScopes(granted: string | undefined, needed: readonly string[]): boolean {
  if (granted === undefined) return true;
  const names = granted.toLowerCase().split(' ');
  return needed.every((scope) => {
    const name = scope.toLowerCase();
    return names.includes(name) || names.includes(name.slice(name.lastIndexOf('/') + 1) || name);
  });
}
