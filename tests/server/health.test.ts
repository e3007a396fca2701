import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { runProduct } from '../support/product.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const WITHIN = { timeout: 30_000, interval: 50 };

test(
  'a worker says whether it is alive and whether it is ready, from its first moment to its end, while its database comes and goes',
  { ...needs('postgresql'), timeout: 90_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'health-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const database = new URL(await createEmptyDatabase());
    let isUp = true;
    await using line = await startTcpProxy(Number(database.port), { before: async () => isUp });
    database.port = String(line.port);
    const port = await freePort();
    const ask = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    const worker = runProduct({
      ROLE: 'worker',
      HEALTH_PORT: String(port),
      DATABASE_URL: database.href,
      SECRET_KEY: randomBytes(32).toString('base64'),
      LEGACY_IMAP_URL: 'imaps://imap.example.com:993',
      DATA_DIR: join(folder, 'data'),
      EXPORTS_URL: join(folder, 'exports'),
    });
    onTestFinished(() => void worker.child.kill('SIGKILL'));
    await expect.poll(() => ask('/healthz'), WITHIN).toBe(200);
    expect(await ask('/readyz'), 'its tables are being made').toBe(503);
    await expect.poll(() => ask('/readyz'), WITHIN).toBe(200);
    for (const other of ['/', '/api/status/', '/api/openapi.json']) expect(await ask(other)).toBe(404);

    isUp = false;
    line.resetAll();
    expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 503]);
    isUp = true;
    await expect.poll(() => ask('/readyz'), WITHIN).toBe(200);

    worker.child.kill('SIGSTOP');
    const stuck = fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(500) });
    await expect(stuck).rejects.toThrow(/timeout/);
    worker.child.kill('SIGCONT');
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(await ask('/healthz')).toBe(0);
  },
);
