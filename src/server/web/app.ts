import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { askerOf } from './browser.ts';
import { calls } from './calls/all.ts';
import { RECEIPT } from '../../contract/calls/receipt.ts';
import { statusStream } from '../../contract/calls/status.ts';
import type { Settings } from '../../contract/settings.ts';
import { WORK_HEADER } from '../../contract/work.ts';
import { answerEvents, openStatusStreams } from './calls/status-events.ts';
import type { Route } from './calls/route.ts';
import { clientOf, isVisit, limitedBody, maintenance, ownJson, unavailable } from './guards.ts';
import { mountExports } from './downloads.ts';
import { securityHeaders } from './headers.ts';
import { canWrite, mountHealth } from './health.ts';
import { openApi, OPENAPI_PATH } from './openapi.ts';
import { oauthRoutes } from './oauth-routes.ts';
import { servePortal, type PortalFiles } from './portal-files.ts';
import { mountReceipts } from './receipts.ts';
import { Refusal } from './refusal.ts';
import { REFUSAL_PAGE_POLICY, refusalPage } from './refusal-page.ts';
import type { Web } from './services.ts';
import type { Visit } from './visit.ts';
import type { SecurityEvent } from '../security-log.ts';
import { DatabaseUnavailable } from '../store/database-faults.ts';

/** The longest that a call may take. The mail servers and providers behind it have shorter timeouts of their own. */
export const CALL_WITHIN_MS = 30_000;
/** About as long as the database takes to restart. */
const DATABASE_RETRY_SECONDS = 15;

/** The whole HTTP application. `portal` comes from {@link readPortalFiles}; without it, only the calls are served. */
export function createApp(web: Web, portal: PortalFiles = new Map(), stopping?: AbortSignal): Hono {
  const { settings, database, log } = web;
  const app = new Hono();

  app.use(securityHeaders(settings));
  app.use(async (c, next) => {
    const began = performance.now();
    await next();
    log.debug({ method: c.req.method, path: knownPath(c), status: c.res.status, ms: performance.now() - began });
  });
  app.onError((error, c) => {
    if (error instanceof Refusal) {
      const event = securityEventOf(error);
      if (event !== null) web.securityLog(event, { client: clientOf(c, settings), what: knownPath(c) });
      return refuse(c, error, settings);
    }
    if (error instanceof DatabaseUnavailable) {
      log.error({ method: c.req.method, path: knownPath(c), err: error }, 'the database is unavailable');
      return refuse(c, unavailable(DATABASE_RETRY_SECONDS), settings);
    }
    if (isBrokenOff(c, error)) {
      log.debug({ method: c.req.method, path: knownPath(c) }, 'a request was broken off');
      return c.body(null, 400);
    }
    log.error({ method: c.req.method, path: knownPath(c), err: error }, 'a request failed');
    return refuse(
      c,
      new Refusal(500, 'GENERAL_ERROR', 'Something went wrong on our side. Your mail is safe. Please try again later.'),
      settings,
    );
  });

  mountHealth(app, () => canWrite(database));

  app.use('/api/*', async (c, next) => {
    await next();
    c.res.headers.set('Cache-Control', 'no-store');
  });
  // Must come before the maintenance check, which answers in JSON.
  oauthRoutes(app, web);
  app.use('/api/*', maintenance(settings));
  for (const route of calls) serveCall(app, route, web);
  app.get(statusStream.path, answerEvents(web, openStatusStreams(web, stopping)));
  mountExports(app, web);
  mountReceipts(app, web);
  let description: object | undefined;
  app.get(OPENAPI_PATH, (c) => c.json((description ??= openApi(settings))));
  app.all('/api/*', (c) => {
    throw wrongMethod(c) ?? notFound();
  });
  app.all('/api', () => {
    throw notFound();
  });

  app.on(['GET', 'HEAD'], '*', (c) => {
    const elsewhere = otherLoopbackName(c, settings.publicUrl);
    return elsewhere === null ? (servePortal(c, portal) ?? c.text('Not found', 404)) : c.redirect(elsewhere);
  });
  app.notFound((c) => c.text('Not found', 404));
  return app;
}

function serveCall(app: Hono, route: Route, web: Web): void {
  const { call } = route;
  const answer = async (c: Context) => {
    const client = clientOf(c, web.settings);
    await web.limits.take(route.limit, client);
    const body: unknown = call.method === 'POST' ? await readJson(c) : undefined;
    const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(CALL_WITHIN_MS)]);
    const answering = route.answer({ query: c.req.query(), body }, web, {
      client,
      signal,
      call: call.path,
      ...solutionOf(c),
      ...askerOf(c, web.settings),
    });
    return c.json((await within(answering, signal)) as object);
  };
  if (call.method === 'GET') app.get(call.path, answer);
  else app.post(call.path, ownJson(web.settings), limitedBody, answer);
}

function solutionOf(c: Context): Pick<Visit, 'solution'> {
  const solution = c.req.header(WORK_HEADER);
  return solution === undefined ? {} : { solution };
}

async function readJson(c: Context): Promise<unknown> {
  try {
    return JSON.parse(await c.req.text());
  } catch (error) {
    if (error instanceof Refusal || isBrokenOff(c, error)) throw error;
    throw new Refusal(400, 'GENERAL_ERROR', 'The request is not JSON. Nothing was changed.', { cause: error });
  }
}

/** Whether the error means that the client disconnected before sending its whole body or getting its answer. */
function isBrokenOff(c: Context, error: unknown): boolean {
  const { incoming } = c.env as HttpBindings;
  const isAborted = c.req.raw.signal.aborted && error instanceof Error && error.name === 'AbortError';
  return isAborted || (!incoming.complete && error === incoming.errored);
}

async function within<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const refuseLate = () => {
    reject(new Refusal(502, 'GENERAL_ERROR', 'This took too long. Your mail is safe. Please try again later.'));
  };
  signal.addEventListener('abort', refuseLate, { once: true });
  try {
    return await Promise.race([answer, late]);
  } finally {
    signal.removeEventListener('abort', refuseLate);
  }
}

function refuse(c: Context, refusal: Refusal, settings: Settings): Response {
  if (refusal.retryAfter !== undefined) c.header('Retry-After', String(refusal.retryAfter));
  if (refusal.status === 405) c.header('Allow', methodsOf(c.req.path).join(', '));
  if (!isVisit(c)) return c.json(refusal.toJSON(), refusal.status);
  if (refusal.page !== undefined) return c.redirect(refusal.page, 303);
  return c.html(refusalPage(refusal, settings), refusal.status, { 'Content-Security-Policy': REFUSAL_PAGE_POLICY });
}

/** The security event for a refusal; `null` if the portal itself, or a subscriber's mistake, can cause it. */
function securityEventOf({ status, code }: Refusal): SecurityEvent | null {
  if (status === 429) return 'call refused: too many';
  if (status === 403) return 'call refused: from another site';
  if (code === 'INVALID_TOKEN') return 'call refused: not the owner';
  return [400, 405, 413, 415].includes(status) && code === 'GENERAL_ERROR' ? 'call refused: malformed' : null;
}

/** The path, for the log. Unknown paths are replaced by their route, because clients can put anything into one. */
function knownPath(c: Context): string {
  return calls.some(({ call }) => call.path === c.req.path) ? c.req.path : c.req.routePath;
}

/** Routes with a fixed path that are not in `calls`, because they don't answer in JSON. */
const OTHERS = [statusStream, { method: 'GET', path: RECEIPT }] as const;

function methodsOf(path: string): string[] {
  return [...calls.map(({ call }) => call), ...OTHERS].filter((each) => each.path === path).map(({ method }) => method);
}

function wrongMethod(c: Context): Refusal | null {
  if (methodsOf(c.req.path).length === 0) return null;
  return new Refusal(405, 'GENERAL_ERROR', 'This address does not take this method.');
}

function notFound(): Refusal {
  return new Refusal(404, 'GENERAL_ERROR', 'There is nothing at this address.');
}

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The same page at PUBLIC_URL, if it was requested by another name of this machine: cookies and session storage belong
 * to one origin, and providers redirect back to PUBLIC_URL.
 */
function otherLoopbackName(c: Context, publicUrl: string): string | null {
  const asked = URL.parse(c.req.url);
  const own = new URL(publicUrl);
  if (asked === null || asked.hostname === own.hostname || asked.port !== own.port) return null;
  if (!LOOPBACK_NAMES.includes(asked.hostname) || !LOOPBACK_NAMES.includes(own.hostname)) return null;
  return `${publicUrl}${asked.pathname}${asked.search}`;
}
