import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORK_HEADER } from '../../src/contract/work.ts';
import { LIMITS, limitKey, openLimits } from '../../src/server/web/limits.ts';
import { PRICE } from '../../src/server/web/sign-in-limits.ts';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { builtPortal } from '../support/portal-alone.ts';
import { fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';
import { signIn } from './steps.ts';

const ANN = { email: `ann@${LEGACY_DOMAIN}`, password: 'correct horse' };

describe('the owner of a mailbox under attack, in Chromium (needs chromium)', needs('chromium'), () => {
  let world: WebWorld;
  beforeAll(async () => {
    world = await openWebWorld({ portalFolder: await builtPortal() });
    world.passwords.set(ANN.email, ANN.password);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('signs in for the first time with nothing to click or to read, while the work is at its dearest', async () => {
    const limits = openLimits(world.services);
    for (let at = 0; at < LIMITS['price of a mailbox'].burst; at += 1)
      await limits.takeAll([['price of a mailbox', ANN.email]]);
    for (let at = 0; at < LIMITS['sign-ins to a mailbox'].burst; at += 1)
      await world.post(
        '/api/validate/',
        { ...ANN, password: 'guess', provider: 'sanbruno' },
        fromClient(`198.51.100.${at}`),
      );
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().includes('429')) faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(error.message));
      const asked: { status: number; worked: boolean }[] = [];
      page.on('requestfinished', (request) => {
        void (async () => {
          if (!request.url().endsWith('/api/validate/')) return;
          const status = (await request.response())?.status() ?? 0;
          asked.push({ status, worked: WORK_HEADER in request.headers() });
        })();
      });
      // The page keeps a copy: the browser has a body for a moment only after the page has read it.
      await page.addInitScript(() => {
        const { fetch: ask } = globalThis;
        globalThis.fetch = async (...given) => {
          const answer = await ask(...given);
          if (answer.status === 429) Object.assign(globalThis, { refusal: await answer.clone().json() });
          return answer;
        };
      });
      await page.goto(world.url);
      await signIn(page, ANN);
      const began = performance.now();
      await page.waitForURL('**/destination-account');
      expect(await page.evaluate(() => Reflect.get(globalThis, 'refusal') as unknown)).toMatchObject({
        challenge: { tries: PRICE.most },
      });
      console.log(`The dearest work took ${((performance.now() - began) / 1000).toFixed(1)} s.`);
      await expect
        .poll(() => asked)
        .toEqual([
          { status: 429, worked: false },
          { status: 200, worked: true },
        ]);
      expect(faults).toEqual([]);
      expect(
        await world.database.query('select 1 from limits where key = $1 and free_at > 0', [
          limitKey(world.services.vault, ['sign-ins with work to a mailbox', ANN.email]),
        ]),
      ).toHaveLength(1);
    } finally {
      await browser.close();
    }
  });
});
