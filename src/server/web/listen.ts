import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createApp } from './app.ts';
import { closeServer, listen } from './listening.ts';
import { readPortalFiles } from './portal-files.ts';
import type { Web } from './services.ts';
import { earlierTime } from '../store/earlier-time.ts';
import { eraseEnded } from '../transfers/retention.ts';
import { limitSockets, openFilesAtMost } from './sockets.ts';
import { createBoundedServer } from './bounded-server.ts';

const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const PURGE_EVERY_MS = 10 * 60_000;

export type RunningWeb = AsyncDisposable & { readonly port: number };

export type WebOptions = {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** The built portal; `null` serves the calls only. */
  readonly portalFolder: string | null;
  /** Folders of earlier builds, for pages that were opened before an upgrade. */
  readonly earlierPortals?: readonly string[];
  /** Stops accepting requests and ends the open streams; dispose of the result to wait for the end. */
  readonly signal?: AbortSignal;
};

/** @throws {AddressInUseError} */
export async function startWeb(web: Web, options: WebOptions): Promise<RunningWeb> {
  const { host, port, portalFolder, earlierPortals, signal } = options;
  const stopping = new AbortController();
  const portal = portalFolder === null ? new Map() : await readPortalFiles(portalFolder, earlierPortals);
  const app = createApp(web, portal, stopping.signal);
  // Load balancers such as HAProxy may use HTTP/1.0 without a Host header.
  const answer = getRequestListener(app.fetch, { hostname: new URL(web.settings.publicUrl).host });
  const server = createBoundedServer((request, response) => void answer(request, response));
  server.headersTimeout = HEADERS_WITHIN_MS;
  server.requestTimeout = REQUEST_WITHIN_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  limitSockets(server, web.settings.proxies, await openFilesAtMost());
  await listen(server, host, port);
  let isPurging = false;
  const purgeUnlessPurging = async () => {
    if (isPurging) return;
    isPurging = true;
    await purge(web);
    isPurging = false;
  };
  const purging = setInterval(() => void purgeUnlessPurging(), PURGE_EVERY_MS).unref();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopping.abort();
    stopped ??= closeServer(server);
    clearInterval(purging);
    return stopped;
  };
  signal?.addEventListener('abort', () => void stop(), { once: true });
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: stop };
}

/** Erases expired data. */
async function purge({
  settings,
  database,
  limits,
  signInLimits,
  sessions,
  consents,
  tokens,
  verifiers,
  announcements,
  log,
  now,
}: Web): Promise<void> {
  try {
    await limits.purge();
    await signInLimits.purge();
    await sessions.purge();
    await consents.purge();
    await verifiers.purge();
    await announcements.purge();
    const at = await earlierTime(database, now);
    while ((await eraseEnded(database, settings.retentionDays, at)) > 0);
    // Last, as providers are asked to revoke each.
    await tokens.purge();
  } catch (error) {
    log.error({ err: error }, 'expired data could not be erased');
  }
}
