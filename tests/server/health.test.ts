import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { startWorkerByLine } from '../support/worker-by-line.ts';

const WITHIN = { timeout: 30_000, interval: 50 };

test(
  'a worker says whether it is alive and whether it is ready, from its first moment to its end, while its database comes and goes',
  { ...needs('postgresql'), timeout: 90_000 },
  async () => {
    let isUp = true;
    const { child, ended, line, address, ask } = await startWorkerByLine({ before: async () => isUp });
    await expect.poll(() => ask('/healthz'), WITHIN).toBe(200);
    expect(await ask('/readyz'), 'its tables are being made').toBe(503);
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
  },
);
