import { getConnInfo } from '@hono/node-server/conninfo';
import { UNAVAILABLE_STATUS } from '../../contract/failure-code.ts';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Settings } from '../../contract/settings.ts';
import { clientNetwork } from './client-address.ts';
import { Refusal } from './refusal.ts';

/** More than the longest support message with every character escaped. */
export const BODY_LIMIT_OCTETS = 64 * 1024;
const MAINTENANCE_RETRY_SECONDS = 300;

const UNAVAILABLE = 'The migration portal is unavailable at this time, we apologize for the inconvenience.';

export function unavailable(retryAfter: number): Refusal {
  return new Refusal(UNAVAILABLE_STATUS, 'GENERAL_ERROR', UNAVAILABLE, { retryAfter });
}

export function clientOf(c: Context, settings: Settings): string {
  const address = getConnInfo(c).remote.address;
  return clientNetwork(address, c.req.header('x-forwarded-for'), settings.proxies);
}

export function maintenance(settings: Settings): MiddlewareHandler {
  return async (_c, next) => {
    if (settings.maintenance) throw unavailable(MAINTENANCE_RETRY_SECONDS);
    await next();
  };
}

/** Whether a request comes from a page of another site. Programs other than browsers send neither header. */
export function isCrossSite(c: Context, settings: Settings): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = c.req.header('origin');
  return origin !== undefined && origin !== new URL(settings.publicUrl).origin;
}

/** Whether a person has navigated here in a browser, which will display the answer. */
export function isVisit(c: Context): boolean {
  const mode = c.req.header('sec-fetch-mode');
  const isShown = mode === undefined ? (c.req.header('accept') ?? '').includes('text/html') : mode === 'navigate';
  return c.req.method === 'GET' && isShown;
}

/** For calls that change something: refuses requests from other sites, and anything but JSON, which forms can't send. */
export function ownJson(settings: Settings): MiddlewareHandler {
  return async (c, next) => {
    if (isCrossSite(c, settings))
      throw new Refusal(403, 'GENERAL_ERROR', 'This request came from another site. Nothing was changed.');
    const [type = ''] = (c.req.header('content-type') ?? '').split(';');
    if (type.trim().toLowerCase() !== 'application/json')
      throw new Refusal(415, 'GENERAL_ERROR', 'The request must be JSON (Content-Type: application/json).');
    await next();
  };
}

export const limitedBody: MiddlewareHandler = bodyLimit({
  maxSize: BODY_LIMIT_OCTETS,
  onError: () => {
    throw new Refusal(413, 'GENERAL_ERROR', `The request is longer than ${BODY_LIMIT_OCTETS} octets.`);
  },
});
