import type * as client from 'openid-client';
import * as v from 'valibot';
import type { OauthProvider } from '../../contract/provider.ts';
import type { Database } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import { SealError } from '../store/vault.ts';
import type { Resource } from './profile.ts';
import { ConsentError } from './token-errors.ts';

/** Assumed if a provider does not say how long a token lasts. */
const DEFAULT_LIFE_SECONDS = 3600;
/** How long before its expiry a token is renewed, so that it lasts for a sign-in; a tenth of its life if that is shorter. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;
/** A server's refusal does not renew a token younger than this. */
const YOUNG_MS = 10_000;
/** Times further ahead than this were written by a wrong clock, and are ignored. */
export const AHEAD_AT_MOST_MS = 60_000;

/** A provider's grant. `expiresIn` is in seconds. */
export type Granted = { readonly access: string; readonly refresh?: string; readonly expiresIn: number | undefined };

/** What is sealed: the tokens for each resource, in milliseconds since the epoch, and what gets new ones. */
const TokenSecret = v.object({
  refresh: v.optional(v.string()),
  access: v.record(v.string(), v.object({ token: v.string(), obtained: v.number(), expires: v.number() })),
});
export type TokenSecret = v.InferOutput<typeof TokenSecret>;

/** What a row of `oauth_tokens` says of them. */
export type StoredTokens = { readonly provider: OauthProvider; readonly sealed: Uint8Array };

/** The safe's place of stored tokens. */
export const placeOf = (id: string) => `oauth_tokens/${id}`;

export async function storedTokens(database: Database, id: string): Promise<StoredTokens | null> {
  const [row] = await database.query<StoredTokens>('select provider, sealed from oauth_tokens where id = $1', [id]);
  return row ?? null;
}

export function sealSecret(safe: Safe, id: string, secret: TokenSecret): Promise<Uint8Array> {
  return safe.seal(placeOf(id), JSON.stringify(secret));
}

/** Tokens that can't be opened any more count as erased. @throws {ConsentError} */
export async function openSecret(safe: Safe, id: string, sealed: Uint8Array): Promise<TokenSecret> {
  try {
    return v.parse(TokenSecret, JSON.parse(await safe.open(placeOf(id), sealed)));
  } catch (cause) {
    if (cause instanceof SealError) throw new ConsentError('These tokens can not be opened.', { cause });
    throw cause;
  }
}

/**
 * The token for a resource, unless it has to be refreshed first.
 * @param wanted `renew` if a server refused the last one; `now` in milliseconds since the epoch
 */
export function usable(
  secret: TokenSecret,
  { resource, renew, now }: { readonly resource: Resource; readonly renew: boolean; readonly now: number },
): string | null {
  const access = secret.access[resource];
  if (access === undefined) return null;
  const age = now - access.obtained;
  if (age < -AHEAD_AT_MOST_MS) return null;
  const margin = Math.min(MARGIN_MS, (access.expires - access.obtained) * MARGIN_SHARE);
  if (access.expires - margin <= now) return null;
  return renew && age > YOUNG_MS ? null : access.token;
}

/** A token endpoint's grant; `expiresIn` is in seconds. */
export function grantedOf(answer: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers): Granted {
  return {
    access: answer.access_token,
    expiresIn: answer.expiresIn(),
    ...(answer.refresh_token === undefined ? {} : { refresh: answer.refresh_token }),
  };
}

export function lifeOf({ access, expiresIn }: Granted, now: number): TokenSecret['access'][string] {
  return { token: access, obtained: now, expires: now + (expiresIn ?? DEFAULT_LIFE_SECONDS) * 1000 };
}
