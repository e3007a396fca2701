import { randomBytes } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { OAUTH_RETURN, OAUTH_START, OAUTH_START_FOR_STATUS } from '../../contract/calls/oauth.ts';
import type { FailureCode } from '../../contract/failure-code.ts';
import { isOauthProvider, providerOf } from '../../contract/provider-name.ts';
import { clientOf, isCrossSite } from '../guards.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { CONSENT_WITHIN_MS, ConsentRefused, type Consent, type Purpose } from './consent.ts';

const PAGES = { transfer: '/oauth-callback', status: '/oauth-callback-for-status' } as const;
const COOKIE = 'oauth';
const BROWSER = /^[0-9a-f]{32}$/;

export const OAUTH_RETURN_PATH = `${OAUTH_RETURN}:provider/` as const;

/** The two starts and the return: a browser's redirects, whose every refusal ends at the portal's callback page. */
export function oauthRoutes(app: Hono, web: Web): void {
  app.get(OAUTH_START, (c) => start(c, web, 'transfer'));
  app.get(OAUTH_START_FOR_STATUS, (c) => start(c, web, 'status'));
  app.get(OAUTH_RETURN_PATH, (c) => finish(c, web));
}

async function start(c: Context, web: Web, purpose: Purpose): Promise<Response> {
  const provider = providerOf(c.req.query('provider') ?? '');
  if (!isOauthProvider(provider)) return refuse(c, purpose, 'UNSUPPORTED_PROVIDER');
  if (web.settings.providers[provider].client === undefined)
    return refuse(c, purpose, 'PROVIDER_NOT_SUPPORTED', provider);
  if (isCrossSite(c, web.settings)) return refuse(c, purpose, 'EXTERNAL_OAUTH_ERROR', provider);
  try {
    await web.limits.take('consents by a client', clientOf(c, web.settings));
    return c.redirect((await web.consents.begin(provider, purpose, browserKey(c, web))).href, 302);
  } catch (error) {
    if (error instanceof Refusal) return refuse(c, purpose, error.code, provider);
    web.log.error({ provider, err: error }, 'a provider could not be reached for a sign-in');
    return refuse(c, purpose, 'EXTERNAL_OAUTH_ERROR', provider);
  }
}

async function finish(c: Context, web: Web): Promise<Response> {
  const path = c.req.param('provider') ?? '';
  try {
    await web.limits.take('consents by a client', clientOf(c, web.settings));
    const query = new URL(c.req.url).searchParams;
    return succeed(c, await web.consents.finish(path, query, browserOf(c, web)));
  } catch (error) {
    const provider = isOauthProvider(path) ? path : undefined;
    if (error instanceof ConsentRefused) return refuse(c, error.purpose, error.error, provider);
    if (error instanceof Refusal) return refuse(c, 'transfer', error.code, provider);
    throw error;
  }
}

function succeed(c: Context, consent: Consent): Response {
  const query = new URLSearchParams({
    token_id: consent.tokenId,
    email: consent.email,
    ...(consent.purpose === 'status' ? { hash: consent.hash } : {}),
    provider: consent.provider,
  });
  return c.redirect(`${PAGES[consent.purpose]}?${query.toString()}`, 302);
}

function refuse(c: Context, purpose: Purpose, error: FailureCode | 'OTHER', provider?: string): Response {
  const query = new URLSearchParams({ error, ...(provider === undefined ? {} : { provider }) });
  return c.redirect(`${PAGES[purpose]}?${query.toString()}`, 302);
}

/** What binds a sign-in to this browser; kept, so that two tabs can sign in at once. */
function browserKey(c: Context, web: Web): string {
  const browser = browserOf(c, web) ?? randomBytes(16).toString('hex');
  const secure = isSecure(web);
  setCookie(c, COOKIE, browser, {
    httpOnly: true,
    sameSite: 'Lax',
    path: '/',
    maxAge: CONSENT_WITHIN_MS / 1000,
    ...(secure ? { secure, prefix: 'host' } : {}),
  });
  return browser;
}

function browserOf(c: Context, web: Web): string | undefined {
  const value = isSecure(web) ? getCookie(c, COOKIE, 'host') : getCookie(c, COOKIE);
  return value !== undefined && BROWSER.test(value) ? value : undefined;
}

function isSecure({ settings }: Web): boolean {
  return settings.publicUrl.startsWith('https://');
}
