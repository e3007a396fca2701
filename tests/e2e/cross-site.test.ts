import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const ID = '0123456789abcdef0123456789abcdef';
/** What would change something, and needs no secret of the visitor: who is at their network has signed in. */
const CALLS = {
  '/api/v2/sign-out/': { everywhere: true },
  '/api/v2/support-form/': { email_address: ANN, issue: 'Please help me.' },
  '/api/v2/san-bruno-set-migration-started/': { email: ANN },
  '/api/v2/san-bruno-create-account/': { email: ANN, password: PASSWORD },
  '/api/load/': {
    source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
    destination_account: { email: 'export@file.example', provider: 'file_export' },
    operations: ['emailmigration', 'contactsmigration'],
    parameters: {},
    file_export_parameters: { email_format: 'eml', contacts_format: 'csv' },
  },
} as const;

describe('a page of another site, in Chromium (needs chromium)', needs('chromium'), () => {
  const lifetime = new AsyncDisposableStack();
  let world: WebWorld;
  let browser: Browser;
  let port: number;

  beforeAll(async () => {
    world = lifetime.use(await openWebWorld({ providers: ['yahoo'] }));
    world.passwords.set(ANN, PASSWORD);
    const elsewhere = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>');
    });
    elsewhere.listen(0);
    await once(elsewhere, 'listening');
    lifetime.defer(() => {
      elsewhere.closeAllConnections();
      elsewhere.close();
    });
    ({ port } = elsewhere.address() as AddressInfo);
    browser = await openBrowser();
    lifetime.defer(() => browser.close());
  }, 60_000);
  afterAll(() => lifetime.disposeAsync());

  /** A browser whose visitor has signed in at the portal, and begun a sign-in at a provider. */
  async function visitor(): Promise<BrowserContext> {
    const context = await browser.newContext();
    await context.request.get(`${world.url}/api/oauth/?provider=yahoo`, { maxRedirects: 0 });
    const data = { email: ANN, password: PASSWORD, provider: 'sanbruno' };
    expect((await context.request.post(`${world.url}/api/validate/`, { data })).status()).toBe(200);
    await world.database.query('delete from oauth_transactions');
    return context;
  }

  const changes = async () => ({
    mails: world.outbox.length,
    provisioning: world.provisioning.requests.length,
    transfers: (await world.database.query('select 1 from transfers')).length,
    consents: (await world.database.query('select 1 from oauth_transactions')).length,
    sessions: (await world.database.query('select 1 from sessions')).length,
  });

  const ORIGINS = ['http://127.0.0.1', 'http://localhost'] as const;

  test.each(ORIGINS)(
    'on %s at another port posts by forms, scripts, beacons and images, and nothing happens',
    async (origin) => {
      const context = await visitor();
      const before = await changes();
      const page = await context.newPage();
      const answers: number[] = [];
      context.on('response', (response) => {
        if (response.url().startsWith(`${world.url}/api/`)) answers.push(response.status());
      });
      await page.goto(`${origin}:${port}/`);
      for (const [path, body] of Object.entries(CALLS)) {
        const outcomes = await page.evaluate(
          async ([address, text]) => {
            const ask = (init: RequestInit) =>
              fetch(address, { method: 'POST', credentials: 'include', body: text, ...init }).then(
                ({ type, status }) => `${type} ${status}`,
                () => 'failed',
              );
            const json = { 'content-type': 'application/json' };
            navigator.sendBeacon(address, new Blob([text], { type: 'text/plain' }));
            navigator.sendBeacon(address, new Blob([text], { type: 'application/json' }));
            return Promise.all([
              ask({ mode: 'no-cors' }),
              ask({ mode: 'no-cors', headers: json }),
              ask({ mode: 'no-cors', headers: { 'content-type': 'text/plain;application/json' } }),
              ask({ mode: 'cors' }),
              ask({ mode: 'cors', headers: json }),
            ]);
          },
          [`${world.url}${path}`, JSON.stringify(body)] as const,
        );
        // Nothing of an answer can be read, and most requests fail altogether.
        for (const outcome of outcomes) expect(outcome).toMatch(/^(?:failed|opaque 0)$/);
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
          await page.evaluate(
            ([address, text, enctype]) => {
              const form = document.createElement('form');
              Object.assign(form, { action: address, method: 'post', enctype });
              const field = document.createElement('input');
              // As text/plain it is sent as `name=value`: the name begins the JSON, and the value ends it.
              field.name = `${text.slice(0, -1)},"x":"`;
              field.value = '"}';
              form.append(field);
              document.body.append(form);
              form.submit();
            },
            [`${world.url}${path}`, JSON.stringify(body), type] as const,
          );
          await page.waitForURL(`${world.url}${path}`);
          expect(await page.locator('body').innerText()).toContain('This request came from another site.');
          await page.goto(`${origin}:${port}/`);
        }
      }
      await page.evaluate(
        async (sources) => {
          for (const [tag, src] of sources)
            await new Promise((resolve) => {
              const element = document.createElement(tag);
              for (const event of ['load', 'error']) element.addEventListener(event, resolve);
              element.src = src;
              document.body.append(element);
            });
        },
        [
          ['img', `${world.url}/api/oauth/?provider=yahoo`],
          ['script', `${world.url}/api/v2/status/?job_id=${ID}`],
          ['iframe', `${world.url}/api/oauth-for-status/?provider=yahoo`],
        ] as const,
      );
      expect(await changes()).toEqual(before);
      expect(answers.length).toBeGreaterThan(Object.keys(CALLS).length * 3);
      expect(answers.filter((status) => status === 200)).toEqual([]);
      await context.close();
    },
    120_000,
  );

  test('begins no sign-in at a provider by leading the visitor there', async () => {
    const context = await visitor();
    const before = await changes();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('/api/oauth/')),
      page.evaluate((address) => location.assign(address), `${world.url}/api/oauth/?provider=yahoo`),
    ]);
    expect(answer.headers()['location']).toBe('/oauth-callback?error=EXTERNAL_OAUTH_ERROR&provider=yahoo');
    expect(await changes()).toEqual(before);
    await context.close();
  });

  test('has no such limits on the portal’s own page', async () => {
    const context = await visitor();
    const before = await changes();
    const page = await context.newPage();
    await page.goto(`${world.url}/healthz`);
    for (const [path, body] of Object.entries(CALLS)) {
      const status = await page.evaluate(
        async ([address, text]) =>
          (await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text }))
            .status,
        [path, JSON.stringify(body)] as const,
      );
      expect([path, status]).toEqual([path, 200]);
    }
    expect(await changes()).toMatchObject({
      // The message to support, and the copy of it for who wrote it.
      mails: before.mails + 2,
      provisioning: before.provisioning + 2,
      transfers: before.transfers + 1,
    });
    await context.close();
  });
});
