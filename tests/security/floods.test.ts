import { setImmediate as turn } from 'node:timers/promises';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { mountHealth } from '../../src/server/web/health.ts';
import { LIMITS, openLimits } from '../../src/server/web/limits.ts';
import { Refusal } from '../../src/server/web/refusal.ts';
import { openWebWorld, type WebWorld } from '../support/web-world.ts';

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test('who is refused calls on and on does not keep the database busy with it', async () => {
  using asked = vi.spyOn(world.database, 'query');
  let now = 1_800_000_000_000;
  const limits = openLimits({ ...world.services, now: () => now });
  const take = () =>
    limits.take('support messages by a client', '203.0.113.7').then(
      () => 0,
      (error: unknown) => (error instanceof Refusal ? error.retryAfter : error),
    );
  const { burst, everySeconds } = LIMITS['support messages by a client'];
  for (let at = 0; at < burst; at += 1) expect(await take()).toBe(0);
  expect(await take()).toBe(everySeconds);
  const before = asked.mock.calls.length;
  for (let at = 0; at < 1000; at += 1) expect(await take()).toBe(everySeconds);
  expect(asked.mock.calls).toHaveLength(before);
  now += 10_000;
  expect(await take()).toBe(everySeconds - 10);
  now += (everySeconds - 10) * 1000;
  expect(await take(), 'when it was told to come back').toBe(0);
});

test('who was refused by a clock that is put back is asked for no longer by it', async () => {
  let now = 1_800_000_000_000;
  const limits = openLimits({ ...world.services, now: () => now });
  const take = () => limits.take('support messages by a client', '203.0.113.8');
  for (let at = 0; at < LIMITS['support messages by a client'].burst; at += 1) await take();
  await expect(take()).rejects.toThrow(Refusal);
  now -= 86_400_000;
  await take();
});

test('who asks whether the process is ready, over and over at once, keeps the database busy with one question', async () => {
  const late = Promise.withResolvers<boolean>();
  const isReady = vi.fn<() => Promise<boolean>>(() => late.promise);
  const app = new Hono();
  mountHealth(app, isReady);
  const answers = Array.from({ length: 50 }, async () => (await app.request('/readyz')).status);
  await turn();
  late.resolve(true);
  expect(await Promise.all(answers)).toEqual(answers.map(() => 200));
  expect(isReady).toHaveBeenCalledTimes(1);
  await app.request('/readyz');
  expect(isReady, 'once that is answered').toHaveBeenCalledTimes(2);
});
