import axe from 'axe-core';
import { expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { startProductOnPostgres } from '../support/product.ts';

type Axe = { readonly axe: typeof axe };

test(
  'the inspector lights the state, logs without secrets, and goes back in time, all from its own origin',
  needs('chromium'),
  async () => {
    await using product = await startProductOnPostgres({ INSPECT: 'on' });
    await using browser = await openBrowser();
    const context = await browser.newContext();
    const origins = new Set<string>();
    const faults: string[] = [];
    context.on('request', (request) => origins.add(new URL(request.url()).origin));
    context.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    const portal = await context.newPage();
    await portal.goto(product.url);
    const [viewer] = await Promise.all([
      context.waitForEvent('page'),
      portal.getByRole('button', { name: 'Open the inspector' }).click(),
    ]);
    const log = viewer.getByRole('region', { name: 'Events' });
    const [subscriber] = product.subscribers;
    await portal.getByRole('button', { name: 'Start' }).click();
    await portal.getByLabel('Email').fill(subscriber?.email ?? '');
    await portal.getByLabel('Password').fill(subscriber?.password ?? '');
    await portal.getByRole('button', { name: 'Sign in' }).click();
    await portal.getByRole('heading', { name: 'Move your mailbox' }).waitFor();

    await log.getByText('done: validate the account').waitFor();
    await viewer.locator('[data-state="destination.move.offered"].lit').waitFor({ state: 'attached' });
    expect(await viewer.content()).not.toContain(subscriber?.password);

    await log.getByRole('button', { name: 'start.press' }).click();
    await viewer.locator('[data-state="home.page.signingIn.credentials.editing"].lit').waitFor({ state: 'attached' });
    await viewer.getByRole('button', { name: 'Live' }).click();
    await viewer.locator('[data-state="destination.move.offered"].lit').waitFor({ state: 'attached' });

    await portal.reload();
    await expect.poll(() => log.getByText('The page was loaded').count()).toBe(2);
    await viewer.reload();
    await log.getByText('The page was loaded').waitFor();

    const chart = await viewer.getByRole('application').boundingBox();
    const middle = { x: (chart?.x ?? 0) + (chart?.width ?? 0) / 2, y: (chart?.y ?? 0) + (chart?.height ?? 0) / 2 };
    const opened = viewer.getByRole('region', { name: 'State' });
    await viewer.mouse.move(middle.x, middle.y);
    await viewer.mouse.down();
    await viewer.mouse.move(middle.x - 40, middle.y - 20, { steps: 4 });
    await viewer.mouse.up();
    expect(await opened.count()).toBe(0);
    await viewer.mouse.click(middle.x, middle.y);
    await opened.waitFor();
    await opened.getByRole('button', { name: 'Close' }).click();

    await viewer.setViewportSize({ width: 360, height: 740 });
    for (const name of ['Events', 'Context'])
      expect((await viewer.getByRole('region', { name }).boundingBox())?.height).toBeGreaterThan(150);

    await viewer.evaluate(axe.source);
    expect(await viewer.evaluate(async () => (await (globalThis as never as Axe).axe.run()).violations)).toEqual([]);
    expect([...origins]).toEqual([new URL(product.url).origin]);
    expect(faults).toEqual([]);
  },
);
