import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import OidcProvider, { type Configuration, errors } from 'oidc-provider';
import { type OauthProvider } from '../contract/provider.ts';
import { OAUTH_PROVIDERS, isOauthProvider } from '../contract/provider-name.ts';
import { DESTINATIONS } from './destinations.ts';
import { pageHeaders } from './sandbox-page.ts';
import { consentPage, signInFailedPage, signInPage } from './sign-in-pages.ts';
import type { SignInStore } from './sign-in-store.ts';

export type SignInOptions = {
  /** The address of the sandbox's web server, such as `http://localhost:4000`. */
  readonly webUrl: string;
  /** The product's address. */
  readonly publicUrl: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly cookieKey: string;
  readonly signingKey: Readonly<Record<string, string>>;
  readonly store: SignInStore;
  readonly accepts: (provider: OauthProvider, email: string, password: string) => boolean;
  /** What the sign-in page says about passwords. */
  readonly hint: (provider: OauthProvider) => string;
};

export type SignIn = {
  /** The sign-in and consent pages. */
  readonly app: Hono<{ Bindings: HttpBindings }>;
  /** Serves the OAuth endpoints; returns false when the request is for something else. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly issuer: (provider: OauthProvider) => string;
  /** The owner and the scopes of an access token; `undefined` when it is invalid or has expired. */
  readonly bearerOf: (
    provider: OauthProvider,
    token: string,
  ) => Promise<{ email: string; scopes: string[] } | undefined>;
};

const HOUR = 3600;
const DAY = 24 * HOUR;

/** A sign-in server for each destination provider: authorization code with PKCE, refresh tokens, revocation, userinfo. */
export function makeSignIn(options: SignInOptions): SignIn {
  const { webUrl, publicUrl } = options;
  const issuer = (provider: OauthProvider) => `${webUrl}/${provider}`;
  const servers = new Map(
    OAUTH_PROVIDERS.map((key) => {
      const server = new OidcProvider(issuer(key), configurationOf(key, options));
      return [key, { server, callback: server.callback() }] as const;
    }),
  );
  const serverOf = (key: OauthProvider) => {
    const found = servers.get(key);
    if (found === undefined) throw new Error(`There is no sign-in for ${key}.`);
    return found;
  };

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.on(['GET', 'POST'], '/:provider/interaction/:uid', async (c) => {
    const key = c.req.param('provider');
    if (!isOauthProvider(key)) return c.notFound();
    const destination = DESTINATIONS[key];
    const { server } = serverOf(key);
    const { incoming, outgoing } = c.env;
    const headers = pageHeaders(new URL(publicUrl).origin);
    const form = c.req.method === 'POST' ? await c.req.parseBody({ all: true }) : {};
    const details = await interactionOf(server, incoming, outgoing);
    if (details === null)
      return c.html(signInFailedPage(destination, 'This sign-in is too old, or was finished already.'), 400, headers);
    const { params, prompt, session } = details;
    const finish = async (result: Parameters<typeof server.interactionResult>[2]) =>
      c.redirect(await server.interactionResult(incoming, outgoing, result, { mergeWithLastSubmission: true }), 303);
    if (form['action'] === 'cancel')
      return finish({ error: 'access_denied', error_description: 'The person cancelled the sign-in.' });

    const hinted = typeof params['login_hint'] === 'string' ? params['login_hint'] : '';
    if (prompt.name === 'login') {
      if (c.req.method === 'GET')
        return c.html(signInPage(destination, options.hint(key), { email: hinted, wrong: false }), 200, headers);
      const email = text(form['email']).trim().toLowerCase();
      if (!options.accepts(key, email, text(form['password'])))
        return c.html(signInPage(destination, options.hint(key), { email, wrong: true }), 401, headers);
      return finish({ login: { accountId: email } });
    }
    const accountId = session?.accountId ?? '';
    const asked = text(params['scope']).split(' ');
    const permissions = [destination.mail, destination.contacts].filter(({ scope }) => asked.includes(scope));
    if (c.req.method === 'GET') return c.html(consentPage(destination, accountId, permissions), 200, headers);
    const agreed = [form['scope'] ?? []].flat();
    const grant = new server.Grant({ accountId, clientId: options.client.id });
    for (const scope of asked)
      if (permissions.some((permission) => permission.scope === scope) && !agreed.includes(scope))
        grant.rejectOIDCScope(scope);
      else grant.addOIDCScope(scope);
    grant.addOIDCClaims(['email', 'email_verified']);
    return finish({ consent: { grantId: await grant.save() } });
  });

  return {
    app,
    issuer,
    serve: (request, response) => {
      const [, key = '', path = ''] = /^\/([a-z0-9]+)(\/.*)$/.exec(request.url ?? '') ?? [];
      if (!isOauthProvider(key) || path.startsWith('/interaction/')) return false;
      // Each sign-in starts without a session, so that a person can use another address right away.
      const begins = path.startsWith('/auth?');
      if (begins) delete request.headers.cookie;
      const url = begins ? askingForConsent(path) : path;
      // oidc-provider takes what `originalUrl` has in front of `url` as its mount path.
      Object.assign(request, { originalUrl: `/${key}${url}`, url });
      serverOf(key)
        .callback(request, response)
        .catch((error: unknown) => {
          console.error('The sandbox sign-in:', error);
          response.destroy();
        });
      return true;
    },
    bearerOf: async (provider, token) => {
      const found = await serverOf(provider).server.AccessToken.find(token);
      if (found === undefined || found.isExpired || found.accountId === undefined) return undefined;
      return { email: found.accountId, scopes: (found.scope ?? '').split(' ') };
    },
  };
}

function configurationOf(key: OauthProvider, options: SignInOptions): Configuration {
  const { client, cookieKey, signingKey, store, publicUrl } = options;
  const destination = DESTINATIONS[key];
  return {
    adapter: store.adapter(key),
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        client_name: 'San Bruno Email Data Transfer Tool',
        redirect_uris: [`${publicUrl}/api/oauth/callback/${key}/`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...signingKey, kty: signingKey['kty'] ?? 'EC' }] },
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', destination.mail.scope, destination.contacts.scope],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username'] },
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true, allowedPolicy: async (_ctx, { clientId }, token) => token.clientId === clientId },
      rpInitiatedLogout: { enabled: false },
    },
    cookies: {
      keys: [cookieKey],
      names: { session: `sandbox_${key}`, interaction: `sandbox_${key}_asking`, resume: `sandbox_${key}_resuming` },
      long: { path: `/${key}`, httpOnly: true, sameSite: 'lax' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: 60,
      IdToken: HOUR,
      Interaction: HOUR,
      Session: HOUR,
      Grant: 90 * DAY,
      RefreshToken: 90 * DAY,
    },
    issueRefreshToken: async () => true,
    expiresWithSession: async () => false,
    rotateRefreshToken: false,
    interactions: { url: (_ctx, interaction) => `/${key}/interaction/${interaction.uid}` },
    findAccount: (_ctx, email) => ({
      accountId: email,
      claims: async () => ({
        sub: createHash('sha256').update(`${key} ${email}`).digest('base64url').slice(0, 22),
        email,
        email_verified: true,
        preferred_username: email,
      }),
    }),
    renderError: async (ctx, { error, error_description: description }) => {
      ctx.type = 'html';
      ctx.set(pageHeaders());
      ctx.body = String(
        await signInFailedPage(destination, `${error}${description === undefined ? '' : `: ${description}`}`),
      );
    },
  };
}

/** Real providers have prompts that OpenID Connect lacks, and issue refresh tokens without `prompt=consent`. */
function askingForConsent(path: string): string {
  const query = new URLSearchParams(path.slice(path.indexOf('?')));
  if (query.get('prompt') !== 'none') query.set('prompt', 'consent');
  return `/auth?${query.toString()}`;
}

async function interactionOf(server: OidcProvider, request: IncomingMessage, response: ServerResponse) {
  try {
    return await server.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return null;
    throw error;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
