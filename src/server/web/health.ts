import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Settings } from '../../contract/settings.ts';
import type { Sql } from '../store/database.ts';
import { createBoundedServer } from './bounded-server.ts';
import { securityHeaders } from './headers.ts';
import { closeServer, listen } from './listening.ts';
import { limitSockets, openFilesAtMost } from './sockets.ts';

const READY_WITHIN_MS = 2000;

/** Health checks for load balancers and orchestrators: `/healthz` for liveness, `/readyz` for readiness. */
export function mountHealth(app: Hono, isReady: () => Promise<boolean>): void {
  app.get('/healthz', (c) => c.json({ ok: true }));
  // Anybody may ask, as often as they like.
  let underWay: Promise<boolean> | undefined;
  app.get('/readyz', async (c) => {
    underWay ??= isReady().finally(() => {
      underWay = undefined;
    });
    const ok = await underWay;
    return c.json({ ok }, ok ? 200 : 503);
  });
}

/** Whether the database accepts writes, and answers in time. */
export function canWrite(database: Sql): Promise<boolean> {
  return Promise.race([
    // Changes nothing, but fails if the database is read-only.
    database.query('delete from limits where false').then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => {
      setTimeout(resolve, READY_WITHIN_MS, false).unref();
    }),
  ]);
}

export type Health = AsyncDisposable & {
  /** From now on, and until the answer is disposed of, the process is ready whenever its database is. */
  readonly started: (database: Sql) => Disposable;
};

/**
 * Answers `/healthz` and `/readyz` on `HEALTH_PORT` from the very start: while the process starts, however long its
 * migrations take, it is alive but not ready. Without that setting, it doesn't listen.
 * @throws {AddressInUseError}
 */
export async function startHealth(settings: Settings): Promise<Health> {
  const { healthPort } = settings;
  let running: Sql | null = null;
  const health = (stop: () => Promise<void>): Health => ({
    started: (database) => {
      running = database;
      return { [Symbol.dispose]: () => (running = null) };
    },
    [Symbol.asyncDispose]: stop,
  });
  if (healthPort === undefined) return health(async () => {});
  const app = new Hono();
  app.use(securityHeaders(settings));
  mountHealth(app, async () => running !== null && canWrite(running));
  app.notFound((c) => c.text('Not found', 404));
  const answer = getRequestListener(app.fetch, { hostname: 'localhost' });
  const server = createBoundedServer((request, response) => void answer(request, response));
  limitSockets(server, settings.proxies, await openFilesAtMost());
  await listen(server, settings.host, healthPort, 'HEALTH_PORT');
  return health(() => closeServer(server));
}
