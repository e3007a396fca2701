import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProduct } from '../support/product.ts';
import { consent, goToYahoo, startTransfer } from './steps.ts';

describe('the primary move in Chromium (needs chromium)', needs('chromium'), () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    product = await startProduct();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });

  test('a newcomer moves a mailbox from Home to the status page, and every message arrives as it was', async () => {
    const [subscriber] = product.subscribers;
    if (subscriber === undefined) throw new Error('The start printed no subscriber.');
    const context = await browser.newContext({
      reducedMotion: 'no-preference',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).hostname !== 'localhost') elsewhere.push(request.url());
    });

    await goToYahoo(page, product.url, subscriber);
    await consent(page, subscriber);
    const id = await startTransfer(page, 'maria@mail.example', 'Move');
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    await page.getByRole('heading', { name: "We're moving your email data!" }).waitFor();
    await page.getByRole('button', { name: 'Copy transfer ID' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);

    await page.goto(product.url);
    await page.getByText('check your transfer status').click();
    const lookUp = page.getByRole('dialog', { name: 'Check your transfer status' });
    await lookUp.getByLabel('Transfer ID').fill(id);
    await lookUp.getByRole('button', { name: 'Check status' }).click();
    await page.waitForURL(`**/status?migration_id=${id}`);
    await page
      .getByRole('region', { name: 'Email transfer' })
      .getByText('Completed', { exact: true })
      .waitFor({ timeout: 90_000 });
    await page.getByRole('region', { name: 'Contacts transfer' }).getByText('Completed', { exact: true }).waitFor();

    const ports = await product.ports();
    const difference = await differenceOf(
      { port: ports['mail legacy'] ?? 0, user: subscriber.email, password: subscriber.password },
      { port: ports['mail yahoo'] ?? 0, user: subscriber.email, password: subscriber.password },
      // Yahoo has its own names for these two, by special use.
      (mailbox) => ({ Drafts: 'Draft', Junk: 'Bulk' })[mailbox] ?? mailbox,
    );
    expect(difference).toEqual({ messages: 400, lost: [], duplicated: [], changed: [] });
    await expect
      .poll(async () => subjectsFor('maria@mail.example', product), { timeout: 20_000 })
      // Nobody has shown that this address is theirs: it is told once, at the end.
      .toEqual([expect.stringMatching(/complete|finished|done/)]);
    expect(elsewhere).toEqual([]);
    await context.close();
  });
});

async function subjectsFor(address: string, product: Product): Promise<string[]> {
  const answer = await fetch(`${product.sandboxUrl}/outbox.json`);
  const { items } = (await answer.json()) as { items: { to: string[]; subject: string; received: string }[] };
  return items
    .filter((item) => item.to.includes(address))
    .toSorted((one, other) => one.received.localeCompare(other.received))
    .map((item) => item.subject);
}
