import { randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import * as v from 'valibot';
import { OauthProvider } from '../../contract/provider.ts';
import type { Sql } from '../store/database.ts';
import { earlierTime } from '../store/earlier-time.ts';
import { resealed, type Safe } from '../store/safe.ts';
import type { Resource } from './profile.ts';
import { PROFILES } from './profiles.ts';
import { KEPT_MS, openRefreshing, type TokenServices } from './refreshing.ts';
import { gone } from './token-errors.ts';
import {
  type Granted,
  lifeOf,
  openSecret,
  placeOf,
  sealSecret,
  storedTokens,
  type StoredTokens,
  usable,
  type TokenSecret,
} from './token-secret.ts';

/** Tokens that no transfer keeps are erased after this time, the others after {@link KEPT_MS}. */
const UNUSED_MS = 2 * 3_600_000;
const PURGED_AT_ONCE = 100;

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

type Revocable = { readonly access?: string; readonly refresh?: string };
/**
 * `email` is absent when it is not proven; `persons` are digests of what the provider knows them by, the newest key's
 * first.
 */
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

/** Whether an ID has the form of those issued by {@link openTokens}, which is opaque to browsers. */
export function isTokenForm(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

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

export function openTokens(services: TokenServices): KeptTokens {
  const { database, safe, log, now, oauthClients: clients } = services;
  const refresh = openRefreshing(services);
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
    const [row] = await database.query<StoredTokens & { email: string; person: string | null }>(
      'delete from oauth_tokens where id = $1 and ($2 or not held) returning provider, email, person, sealed',
      [id, evenHeld],
    );
    if (row === undefined) return;
    const secret = await openSecret(safe, id, row.sealed).catch((error: unknown) => {
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
      const row = await storedTokens(database, id);
      if (row === null) throw gone();
      const resource = PROFILES[row.provider].scopesOf === undefined ? 'mail' : wanted;
      const token = usable(await openSecret(safe, id, row.sealed), { resource, renew, now: now() });
      if (token !== null) return token;
      return refresh(id, resource, renew);
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
      const secret: TokenSecret = {
        ...(granted.refresh === undefined ? {} : { refresh: granted.refresh }),
        access: { mail: lifeOf(granted, now()) },
      };
      await database.query(
        `insert into oauth_tokens (id, provider, email, browser, person, sealed, expires)
         values ($1, $2, $3, $4, $5, $6, $7)`,
        [id, provider, email, browser, persons[0] ?? null, await sealSecret(safe, id, secret), now() + UNUSED_MS],
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
      const at = await earlierTime(database, now);
      let found = PURGED_AT_ONCE;
      while (found === PURGED_AT_ONCE) {
        const rows = await database.query<{ id: string }>(
          `select id from oauth_tokens where expires <= $1 limit ${PURGED_AT_ONCE}`,
          [at],
        );
        for (const { id } of rows) await erase(id, true);
        found = rows.length;
      }
    },
  };
}
