import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { startWorkerByLine } from '../support/worker-by-line.ts';

/** What `src/server/OPERATIONS.md` asks of an orchestrator (`terminationGracePeriodSeconds`). */
const GRACE_MS = 60_000;

test(
  'a worker whose database swallows all that it is sent ends before it would be killed',
  { ...needs('postgresql'), timeout: 180_000 },
  async () => {
    const released = Promise.withResolvers<false>();
    let isHeld = false;
    // Nor does a new connection get an answer, over which the worker would be ready again.
    const before = async () => !isHeld || (await released.promise);
    const { child, ended, output, line, ask } = await startWorkerByLine({ before });
    onTestFinished(() => released.resolve(false));
    await expect.poll(() => ask('/readyz'), { timeout: 30_000 }).toBe(200);
    isHeld = true;
    line.holdAll();
    // Now it waits for an answer: without a question under way it would stop at once.
    await expect.poll(() => ask('/readyz'), { timeout: 30_000 }).toBe(503);
    const asked = performance.now();
    child.kill('SIGTERM');
    await ended;
    expect(performance.now() - asked).toBeLessThan(GRACE_MS);
    expect(output()).toContain('is broken off');
  },
);
