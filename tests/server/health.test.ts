import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { runServer } from '../../src/server/main.ts';
import { holdDataFolder } from '../../src/server/store/data-folder.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { startWorkerByLine } from '../support/worker-by-line.ts';

const WITHIN = { timeout: 30_000, interval: 50 };

test(
  'a worker says whether it is alive and whether it is ready, from its first moment to its end, while its database comes and goes',
  { ...needs('postgresql'), timeout: 90_000 },
  async () => {
    let isUp = true;
    const [making, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { child, ended, line, address, ask, output } = await startWorkerByLine({
      before: async () => isUp,
      change: async (direction, part) => {
        if (direction === 'to client' || !part.includes('create table')) return part;
        making.resolve();
        await seen.promise;
        return part;
      },
    });
    await making.promise;
    expect([await ask('/healthz'), await ask('/readyz')], 'its tables are being made').toEqual([200, 503]);
    seen.resolve();
    await expect.poll(() => ask('/readyz'), WITHIN).toBe(200);
    for (const other of ['/', '/api/status/', '/api/openapi.json']) expect(await ask(other)).toBe(404);

    isUp = false;
    line.resetAll();
    expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 503]);
    isUp = true;
    await expect.poll(() => ask('/readyz'), WITHIN).toBe(200);

    child.kill('SIGSTOP');
    const stuck = fetch(address('/healthz'), { signal: AbortSignal.timeout(500) });
    await expect(stuck).rejects.toThrow(/timeout/);
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(await ask('/healthz')).toBe(0);
    expect(output()).toMatch(/^Listening on http/m);
  },
);

test(
  'a process that finishes what is under way before it stops is alive, and not ready any more',
  needs('postgresql'),
  async () => {
    const path = await mkdtemp(join(tmpdir(), 'health-'));
    onTestFinished(() => rm(path, { recursive: true, force: true }));
    const [port, healthPort] = [await freePort(), await freePort()];
    const settings = readSettings({
      ROLE: 'web',
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      DATABASE_URL: await createEmptyDatabase(),
      SECRET_KEY: randomBytes(32).toString('base64'),
      LEGACY_IMAP_URL: 'imaps://imap.example.com:993',
      DATA_DIR: join(path, 'data'),
      LOG_LEVEL: 'silent',
    });
    await using folder = await holdDataFolder(settings.dataDir);
    const server = await runServer({ settings, folder, portalFolder: null, onBroken: () => {} });
    const ask = async (name: string) => (await fetch(`http://127.0.0.1:${healthPort}/${name}`)).status;
    expect(await ask('readyz')).toBe(200);
    const caller = connect(port, '127.0.0.1');
    caller.write('POST /api/capabilities/ HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n');
    await once(caller, 'data');
    const stopped = server[Symbol.asyncDispose]();
    expect([await ask('healthz'), await ask('readyz')]).toEqual([200, 503]);
    caller.end('{}');
    await stopped;
    await expect(ask('healthz')).rejects.toThrow('fetch failed');
  },
);
