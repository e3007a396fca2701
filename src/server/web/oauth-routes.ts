import type { Context, Hono } from 'hono';
import { browserOf } from './browser.ts';
import { OAUTH_RETURN, OAUTH_START, OAUTH_START_FOR_STATUS } from '../../contract/calls/oauth.ts';
import { oauthReturnAddress } from '../../contract/page-address.ts';
import type { CallFailureCode, QueryError } from '../../contract/failure-code.ts';
import type { OauthProvider } from '../../contract/provider.ts';
import { isOauthProvider, providerOf } from '../../contract/provider-name.ts';
import { clientOf, isCrossSite } from './guards.ts';
import { Refusal } from './refusal.ts';
import type { Web } from './services.ts';
import { DatabaseUnavailable } from '../store/database-faults.ts';
import { claimedPurpose, ConsentRefused, type Consent, type Purpose } from '../oauth/consent.ts';

const STARTS = [
  [OAUTH_START, 'transfer'],
  [OAUTH_START_FOR_STATUS, 'status'],
] as const satisfies readonly (readonly [string, Purpose])[];

const OAUTH_RETURN_PATH = `${OAUTH_RETURN}:provider/` as const;

/**
 * The two start routes and the callback. They are browser navigations, so every refusal redirects to the portal's
 * callback page: visitors would see JSON as it is, so nothing below these paths answers it. `UNAVAILABLE` corresponds
 * to a call's 503.
 */
export function oauthRoutes(app: Hono, web: Web): void {
  app.get(OAUTH_RETURN_PATH, (c) => finish(c, web));
  for (const [address, purpose] of STARTS) {
    app.get(address, (c) => start(c, web, purpose));
    app.all(`${address}*`, (c) => refuse(c, purpose, closed(web) ?? 'OTHER'));
    app.all(address.slice(0, -1), (c) => refuse(c, purpose, closed(web) ?? 'OTHER'));
  }
}

async function start(c: Context, web: Web, purpose: Purpose): Promise<Response> {
  const provider = providerOf(c.req.query('provider') ?? '');
  if (!isOauthProvider(provider)) return refuse(c, purpose, closed(web) ?? 'UNSUPPORTED_PROVIDER');
  if (closed(web) !== null) return refuse(c, purpose, 'UNAVAILABLE', provider);
  if (web.settings.providers[provider].client === undefined)
    return refuse(c, purpose, 'PROVIDER_NOT_SUPPORTED', provider);
  if (isCrossSite(c, web.settings)) return refuse(c, purpose, 'EXTERNAL_OAUTH_ERROR', provider);
  try {
    await web.limits.take('consents by a client', clientOf(c, web.settings));
    return c.redirect((await web.consents.begin(provider, purpose, browserOf(c, web.settings).keep())).href, 302);
  } catch (error) {
    return refuse(c, purpose, codeOf(error, c, web, provider), provider);
  }
}

async function finish(c: Context, web: Web): Promise<Response> {
  const path = c.req.param('provider') ?? '';
  const provider = isOauthProvider(path) ? path : undefined;
  const query = new URL(c.req.url).searchParams;
  try {
    if (closed(web) !== null) return refuse(c, claimedPurpose(query), 'UNAVAILABLE', provider);
    await web.limits.take('consents by a client', clientOf(c, web.settings));
    const consent = await web.consents.finish(path, query, browserOf(c, web.settings).key);
    const { email: mailbox, provider: what } = consent;
    web.securityLog('consent accepted', { mailbox, client: clientOf(c, web.settings), what });
    return succeed(c, consent);
  } catch (error) {
    if (error instanceof ConsentRefused) {
      const what = provider === undefined ? error.error : `${provider}: ${error.error}`;
      web.securityLog('consent refused', { client: clientOf(c, web.settings), what });
      return refuse(c, error.purpose, error.error, provider);
    }
    return refuse(c, claimedPurpose(query), codeOf(error, c, web, provider), provider);
  }
}

function closed({ settings }: Web): 'UNAVAILABLE' | null {
  return settings.maintenance ? 'UNAVAILABLE' : null;
}

function codeOf(error: unknown, c: Context, web: Web, provider: OauthProvider | undefined): CallFailureCode {
  if (error instanceof Refusal) {
    web.securityLog('call refused: too many', { client: clientOf(c, web.settings), what: c.req.routePath });
    return error.code;
  }
  web.log.error({ provider, err: error }, 'a sign-in at a provider failed on our side');
  return error instanceof DatabaseUnavailable ? 'UNAVAILABLE' : 'EXTERNAL_OAUTH_ERROR';
}

function succeed(c: Context, consent: Consent): Response {
  return c.redirect(oauthReturnAddress(consent.purpose, consent), 302);
}

function refuse(c: Context, purpose: Purpose, error: CallFailureCode | QueryError, provider?: string): Response {
  // 303 turns a form's POST into a GET.
  const status = c.req.method === 'GET' || c.req.method === 'HEAD' ? 302 : 303;
  return c.redirect(oauthReturnAddress(purpose, { error, ...(provider === undefined ? {} : { provider }) }), status);
}
