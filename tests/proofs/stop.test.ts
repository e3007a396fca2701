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

/** What the README asks of an orchestrator (`terminationGracePeriodSeconds`). */
const GRACE_MS = 60_000;

test(
  'a worker whose database swallows all that it is sent ends before it would be killed',
  { ...needs('postgresql'), timeout: 180_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stop-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const database = new URL(await createEmptyDatabase());
    await using line = await startTcpProxy(Number(database.port));
    database.port = String(line.port);
    const port = await freePort();
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
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(ask, { timeout: 30_000 }).toBe(200);
    line.holdAll();
    const asked = performance.now();
    worker.child.kill('SIGTERM');
    await worker.ended;
    expect(performance.now() - asked).toBeLessThan(GRACE_MS);
    expect(worker.output()).toContain('is broken off');
  },
);
