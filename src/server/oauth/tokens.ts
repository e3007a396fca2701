import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as client from 'openid-client';
import * as v from 'valibot';
import { OauthProvider } from '../../contract/provider.ts';
import type { Log } from '../log.ts';
import type { Database, Sql } from '../store/database.ts';
import { resealed, type Safe } from '../store/safe.ts';
import { SealError } from '../store/vault.ts';
import type { OauthClients } from './client.ts';
import type { Resource } from './profile.ts';
import { PROFILES } from './profiles.ts';

/** Tokens that no transfer keeps are erased after this time, the others after a longer time without use. */
const UNUSED_MS = 2 * 3_600_000;
const KEPT_MS = 7 * 24 * 3_600_000;
/** How long before its expiry a token is renewed, so that it lasts for a sign-in; a tenth of its life if that is shorter. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;
/** A server's refusal does not renew a token younger than this. */
const YOUNG_MS = 10_000;
/** How long a process may hold the right to refresh, and how often the others look. */
const HOLD_MS = 30_000;
const LOOK_EVERY_MS = 150;
/** Times further ahead than this were written by a wrong clock, and are ignored. */
const AHEAD_AT_MOST_MS = 60_000;
const PURGED_AT_ONCE = 100;

/** The provider no longer accepts the refresh token: the subscriber must sign in again. */
export class ConsentError extends Error {
  override name = 'ConsentError';
}

/** The provider did not answer, or not properly; the same call may work later. */
export class TokenUnavailable extends Error {
  override name = 'TokenUnavailable';
}

/** What a transfer needs of its destination's tokens. */
export type Tokens = {
  /**
   * A token that is good for a minute at least, if the provider's last so long; refreshed once however many ask, in
   * this process or another.
   * @param options `renew` if a server refused the last one; `resource` defaults to `mail`.
   * @throws {ConsentError}
   * @throws {TokenUnavailable}
   */
  accessToken(tokenId: string, options?: { renew?: boolean; resource?: Resource }): Promise<string>;
  of(tokenId: string): Promise<{ email: string; provider: OauthProvider } | null>;
  /** A transfer uses them: they stay until it forgets them, or nobody has asked for them for so many milliseconds. */
  keep(tokenId: string, forMs?: number): Promise<void>;
  /** Erases the tokens unless they are held, and has the provider revoke them if it can. */
  forget(tokenId: string): Promise<void>;
  /**
   * Within the caller's transaction, which ends what uses them: if the process dies before it can {@link forget} them, the
   * next purge erases them, unless they are held.
   */
  expire(tokenId: string, sql: Sql): Promise<void>;
  /**
   * Protects tokens from {@link forget} until then (milliseconds since the epoch) or until {@link unhold}; both within
   * the caller's transaction, so that nothing is held that nobody will let go of.
   */
  hold(tokenId: string, until: number, sql: Sql): Promise<void>;
  /** They stay as {@link keep} lets them. */
  unhold(tokenId: string, sql: Sql): Promise<void>;
  /** Erases tokens even if they are held. */
  release(tokenId: string): Promise<void>;
};

/** A provider's grant. `expiresIn` is in seconds. */
export type Granted = { readonly access: string; readonly refresh?: string; readonly expiresIn: number | undefined };

type Revocable = { readonly access?: string; readonly refresh?: string };
/** `email` is absent when it is not proven; `persons` are digests of what the provider knows them by, the newest key's first. */
type Owner = {
  readonly provider: OauthProvider;
  readonly email?: string | undefined;
  readonly persons?: readonly string[];
};

export type KeptTokens = Tokens & {
  /**
   * @param owner `browser` is a digest of the cookie of the browser that signed in.
   * @returns the ID to give to the browser.
   */
  store(owner: Owner & { readonly email: string; readonly browser: string }, granted: Granted): Promise<string>;
  /**
   * Has the provider revoke a token that is not stored, unless others of the same person are: at Google and elsewhere
   * that would end all of them, and with them a transfer that runs.
   */
  revoke(owner: Owner, granted: Revocable): Promise<void>;
  purge(): Promise<void>;
};

const Secret = v.object({
  refresh: v.optional(v.string()),
  access: v.record(v.string(), v.object({ token: v.string(), obtained: v.number(), expires: v.number() })),
});
type Secret = v.InferOutput<typeof Secret>;
type Row = { readonly provider: OauthProvider; readonly sealed: Uint8Array };

type Services = {
  readonly oauthClients: OauthClients;
  readonly database: Database;
  readonly safe: Safe;
  readonly log: Log;
  readonly now: () => number;
};

/** Whether an ID has the form of those issued by {@link openTokens}, which is opaque to browsers. */
export function isTokenForm(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

const placeOf = (id: string) => `oauth_tokens/${id}`;

/** The safe's places of all stored tokens. */
export async function placesOfTokens(sql: Sql): Promise<string[]> {
  return (await sql.query<{ id: string }>('select id from oauth_tokens')).map(({ id }) => placeOf(id));
}

/** Seals everything again after `SECRET_KEY` was replaced. */
export async function resealTokens(sql: Sql, safe: Safe): Promise<void> {
  for (const { id, sealed } of await sql.query<{ id: string; sealed: Uint8Array }>(
    'select id, sealed from oauth_tokens',
  )) {
    const anew = await resealed(safe, placeOf(id), sealed);
    if (anew !== null) await sql.query('update oauth_tokens set sealed = $2 where id = $1', [id, anew]);
  }
}

/** Assumed if a provider does not say how long a token lasts. */
const DEFAULT_LIFE_SECONDS = 3600;

export function openTokens(services: Services): KeptTokens {
  const { database, safe, log, now, oauthClients: clients } = services;
  const underWay = new Map<string, Promise<string>>();
  const seal = (id: string, secret: Secret) => safe.seal(placeOf(id), JSON.stringify(secret));

  /** Tokens that can't be opened any more count as erased. */
  async function open(id: string, sealed: Uint8Array): Promise<Secret> {
    try {
      return v.parse(Secret, JSON.parse(await safe.open(placeOf(id), sealed)));
    } catch (cause) {
      if (cause instanceof SealError) throw new ConsentError('These tokens can not be opened.', { cause });
      throw cause;
    }
  }

  async function read(id: string): Promise<Row | null> {
    const [row] = await database.query<Row>('select provider, sealed from oauth_tokens where id = $1', [id]);
    return row ?? null;
  }

  function usable(secret: Secret, resource: Resource, renew: boolean): string | null {
    const access = secret.access[resource];
    if (access === undefined) return null;
    const age = now() - access.obtained;
    if (age < -AHEAD_AT_MOST_MS) return null;
    const margin = Math.min(MARGIN_MS, (access.expires - access.obtained) * MARGIN_SHARE);
    if (access.expires - margin <= now()) return null;
    return renew && age > YOUNG_MS ? null : access.token;
  }

  async function refresh(id: string, resource: Resource, renew: boolean): Promise<string> {
    const deadline = now() + HOLD_MS;
    for (;;) {
      const until = now() + HOLD_MS;
      const [held] = await database.query<Row>(
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
      const row = await read(id);
      if (row === null) throw gone();
      const token = usable(await open(id, row.sealed), resource, renew);
      if (token !== null) return token;
      if (now() > deadline) throw new TokenUnavailable('Another process has been refreshing this token for too long.');
    }
  }

  async function refreshHeld(id: string, row: Row, resource: Resource, renew: boolean): Promise<string> {
    const secret = await open(id, row.sealed);
    const token = usable(secret, resource, renew);
    if (token !== null) return token;
    if (secret.refresh === undefined) throw gone();
    const granted = await grant(row.provider, secret.refresh, resource);
    const next = {
      refresh: granted.refresh ?? secret.refresh,
      access: { ...secret.access, [resource]: lifeOf(granted, now()) },
    };
    await database.query('update oauth_tokens set sealed = $2, expires = greatest(expires, $3::float8) where id = $1', [
      id,
      await seal(id, next),
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
      if (cause instanceof client.ResponseBodyError && REFUSALS.has(cause.error))
        throw new ConsentError('The provider takes this consent no more.', { cause });
      log.warn({ provider, err: cause }, 'a token could not be refreshed');
      throw new TokenUnavailable('The provider did not refresh the token.', { cause });
    }
  }

  async function revoke({ provider, email, persons = [] }: Owner, { access, refresh: kept }: Revocable): Promise<void> {
    const token = kept ?? access;
    if (token === undefined) return;
    const others = await database.query(
      'select 1 from oauth_tokens where provider = $1 and (email = $2 or person = any($3)) limit 1',
      [provider, email ?? null, persons],
    );
    if (others.length > 0) return;
    try {
      const configuration = await clients(provider);
      if (configuration.serverMetadata().revocation_endpoint === undefined) return;
      await client.tokenRevocation(configuration, token, {
        token_type_hint: kept === undefined ? 'access_token' : 'refresh_token',
      });
    } catch (error) {
      log.warn({ provider, err: error }, 'a token could not be revoked; it is erased here');
    }
  }

  async function erase(id: string, evenHeld: boolean): Promise<void> {
    const [row] = await database.query<Row & { email: string; person: string | null }>(
      'delete from oauth_tokens where id = $1 and ($2 or not held) returning provider, email, person, sealed',
      [id, evenHeld],
    );
    if (row === undefined) return;
    const secret = await open(id, row.sealed).catch((error: unknown) => {
      log.error({ provider: row.provider, err: error }, 'tokens are erased without being revoked');
      return null;
    });
    await safe.destroy(placeOf(id));
    if (secret === null) return;
    const access = Object.values(secret.access)[0]?.token;
    await revoke(
      { ...row, persons: row.person === null ? [] : [row.person] },
      {
        ...(access === undefined ? {} : { access }),
        ...(secret.refresh === undefined ? {} : { refresh: secret.refresh }),
      },
    );
  }

  return {
    accessToken: async (id, { renew = false, resource: wanted = 'mail' } = {}) => {
      const row = await read(id);
      if (row === null) throw gone();
      const resource = PROFILES[row.provider].scopesOf === undefined ? 'mail' : wanted;
      const token = usable(await open(id, row.sealed), resource, renew);
      if (token !== null) return token;
      const key = `${id} ${resource}`;
      const existing = underWay.get(key);
      if (existing !== undefined) return existing;
      const flight = refresh(id, resource, renew).finally(() => underWay.delete(key));
      underWay.set(key, flight);
      return flight;
    },

    of: async (id) => {
      const [row] = await database.query<{ email: string; provider: string }>(
        'select email, provider from oauth_tokens where id = $1 and expires > $2',
        [id, now()],
      );
      return row === undefined ? null : { email: row.email, provider: v.parse(OauthProvider, row.provider) };
    },

    forget: (id) => erase(id, false),
    release: (id) => erase(id, true),
    revoke,

    expire: async (id, sql) => {
      await sql.query('update oauth_tokens set expires = $2 where id = $1 and not held', [id, now()]);
    },

    hold: async (id, until, sql) => {
      await sql.query('update oauth_tokens set held = true, expires = greatest(expires, $2::float8) where id = $1', [
        id,
        until,
      ]);
    },

    unhold: async (id, sql) => {
      await sql.query(
        'update oauth_tokens set held = false, expires = least(expires, $2::float8) where id = $1 and held',
        [id, now() + KEPT_MS],
      );
    },

    store: async ({ email, provider, browser, persons = [] }, granted) => {
      const id = randomBytes(16).toString('hex');
      const secret: Secret = {
        ...(granted.refresh === undefined ? {} : { refresh: granted.refresh }),
        access: { mail: lifeOf(granted, now()) },
      };
      await database.query(
        `insert into oauth_tokens (id, provider, email, browser, person, sealed, expires)
         values ($1, $2, $3, $4, $5, $6, $7)`,
        [id, provider, email, browser, persons[0] ?? null, await seal(id, secret), now() + UNUSED_MS],
      );
      return id;
    },

    keep: async (id, forMs = KEPT_MS) => {
      await database.query('update oauth_tokens set expires = greatest(expires, $2::float8) where id = $1', [
        id,
        now() + forMs,
      ]);
    },

    purge: async () => {
      const rows = await database.query<{ id: string }>(
        `select id from oauth_tokens where expires <= $1 limit ${PURGED_AT_ONCE}`,
        [now()],
      );
      for (const { id } of rows) await erase(id, true);
    },
  };
}

/** Error codes of RFC 6749 §5.2 and OpenID Connect for when the person must consent again. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'interaction_required',
  'login_required',
  'consent_required',
  'invalid_scope',
]);

function gone(): ConsentError {
  return new ConsentError('These tokens are gone.');
}

/** A token endpoint's grant; `expiresIn` is in seconds. */
export function grantedOf(answer: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers): Granted {
  return {
    access: answer.access_token,
    expiresIn: answer.expiresIn(),
    ...(answer.refresh_token === undefined ? {} : { refresh: answer.refresh_token }),
  };
}

function lifeOf({ access, expiresIn }: Granted, now: number): Secret['access'][string] {
  return { token: access, obtained: now, expires: now + (expiresIn ?? DEFAULT_LIFE_SECONDS) * 1000 };
}
