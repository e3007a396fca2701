import { setTimeout as pause } from 'node:timers/promises';
import * as client from 'openid-client';
import type { OauthProvider } from '../../contract/provider.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import type { OauthClients } from './client.ts';
import type { Resource } from './profile.ts';
import { PROFILES } from './profiles.ts';
import { errorCodeOf, logProviderFault } from './provider-fault.ts';
import { ConsentError, gone, TokenUnavailable } from './token-errors.ts';
import {
  AHEAD_AT_MOST_MS,
  type Granted,
  grantedOf,
  lifeOf,
  openSecret,
  sealSecret,
  storedTokens,
  type StoredTokens,
  usable,
} from './token-secret.ts';

/** How long tokens stay without use, once a transfer has used them. */
export const KEPT_MS = 7 * 24 * 3_600_000;
/** How long a process may hold the right to refresh, and how often the others look. */
const HOLD_MS = 30_000;
const LOOK_EVERY_MS = 150;

/**
 * Error codes of RFC 6749 §5.2, OpenID Connect and Yahoo (in capitals, https://developer.yahoo.com/oauth2/guide/errors/)
 * for when the person must consent again.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'interaction_required',
  'login_required',
  'consent_required',
  'invalid_scope',
  'invalid_refresh_token',
  'token_expired',
  'account_not_authorized',
]);

/** @throws {ConsentError} @throws {TokenUnavailable} */
export type Refresh = (id: string, resource: Resource, renew: boolean) => Promise<string>;

/** What tokens are kept, refreshed and revoked with. */
export type TokenServices = {
  readonly oauthClients: OauthClients;
  readonly database: Database;
  readonly safe: Safe;
  readonly log: Log;
  readonly now: () => number;
};

/** Refreshes stored tokens, once however many ask at the same time, in this process or another. */
export function openRefreshing({ database, safe, log, now, oauthClients: clients }: TokenServices): Refresh {
  const underWay = new Map<string, Promise<string>>();

  async function refresh(id: string, resource: Resource, renew: boolean): Promise<string> {
    const deadline = now() + HOLD_MS;
    for (;;) {
      const until = now() + HOLD_MS;
      const [held] = await database.query<StoredTokens>(
        `update oauth_tokens set refreshing_until = $2
         where id = $1 and (refreshing_until <= $3 or refreshing_until > $4) returning provider, sealed`,
        [id, until, now(), now() + HOLD_MS + AHEAD_AT_MOST_MS],
      );
      if (held !== undefined) {
        try {
          return await refreshHeld(id, held, resource, renew);
        } finally {
          await database.query('update oauth_tokens set refreshing_until = 0 where id = $1 and refreshing_until = $2', [
            id,
            until,
          ]);
        }
      }
      await pause(LOOK_EVERY_MS);
      const row = await storedTokens(database, id);
      if (row === null) throw gone();
      const token = usable(await openSecret(safe, id, row.sealed), { resource, renew, now: now() });
      if (token !== null) return token;
      if (now() > deadline) throw new TokenUnavailable('Another process has been refreshing this token for too long.');
    }
  }

  async function refreshHeld(id: string, row: StoredTokens, resource: Resource, renew: boolean): Promise<string> {
    const secret = await openSecret(safe, id, row.sealed);
    const token = usable(secret, { resource, renew, now: now() });
    if (token !== null) return token;
    if (secret.refresh === undefined) throw gone();
    const granted = await grant(row.provider, secret.refresh, resource);
    const next = {
      refresh: granted.refresh ?? secret.refresh,
      access: { ...secret.access, [resource]: lifeOf(granted, now()) },
    };
    await database.query('update oauth_tokens set sealed = $2, expires = greatest(expires, $3::float8) where id = $1', [
      id,
      await sealSecret(safe, id, next),
      now() + KEPT_MS,
    ]);
    return granted.access;
  }

  async function grant(provider: OauthProvider, refreshToken: string, resource: Resource): Promise<Granted> {
    const scopes = PROFILES[provider].scopesOf?.[resource];
    try {
      const answer = await client.refreshTokenGrant(
        await clients(provider),
        refreshToken,
        scopes === undefined ? {} : { scope: scopes.join(' ') },
      );
      return grantedOf(answer);
    } catch (cause) {
      if (REFUSALS.has((await errorCodeOf(cause)) ?? ''))
        throw new ConsentError('The provider takes this consent no more.', { cause });
      await logProviderFault(log, provider, cause, 'a token could not be refreshed');
      throw new TokenUnavailable('The provider did not refresh the token.', { cause });
    }
  }

  return async (id, resource, renew) => {
    const key = `${id} ${resource}`;
    const existing = underWay.get(key);
    if (existing !== undefined) return existing;
    const flight = refresh(id, resource, renew).finally(() => underWay.delete(key));
    underWay.set(key, flight);
    return flight;
  };
}
