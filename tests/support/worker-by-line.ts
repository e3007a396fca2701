import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createEmptyDatabase } from './fresh-database.ts';
import { freePort } from './free-port.ts';
import { runProduct } from './product.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Starts a worker of the product until the test is over; `line` is the proxy in front of its PostgreSQL. */
export async function startWorkerByLine(options: NonNullable<Parameters<typeof startTcpProxy>[1]> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = new URL(await createEmptyDatabase());
  const line: TcpProxy = await startTcpProxy(Number(database.port), options);
  onTestFinished(() => line[Symbol.asyncDispose]());
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
  const address = (path: string) => `http://127.0.0.1:${port}${path}`;
  /** The HTTP status of the answer; 0 without one. */
  const ask = (path: string) =>
    fetch(address(path)).then(
      ({ status }) => status,
      () => 0,
    );
  return { ...worker, line, address, ask };
}
