import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFile } from 'node:fs/promises';
import { statusAddress } from '../../src/contract/page-address.ts';
import { openBrowser } from '../support/browser.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProduct } from '../support/product.ts';
import { chooseOther, signIn, startTransfer } from './steps.ts';

const WALTER = { email: 'walter@mail.example', password: 'sandbox' };
const MESSAGES = 400;
const WITHIN = { timeout: 60_000 };

describe('a transfer in the hands of its owner, in Chromium (needs chromium)', needs('chromium'), () => {
  let product: Product;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    product = await startProduct();
    browser = await openBrowser();
    page = await (await browser.newContext()).newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  const type = (label: string, text: string) => page.getByRole('dialog').getByLabel(label, { exact: true }).fill(text);
  const mail = () => page.getByRole('region', { name: 'Email transfer' });
  const sides = async () => {
    const ports = await product.ports();
    const [subscriber = WALTER] = product.subscribers;
    return [
      { port: ports['mail legacy'] ?? 0, user: subscriber.email, password: subscriber.password },
      { port: ports['mail other'] ?? 0, user: WALTER.email, password: WALTER.password },
    ] as const;
  };
  const difference = async () => differenceOf(...(await sides()), (mailbox) => mailbox.replaceAll('/', '.'));
  /** How many messages the new mailbox holds. */
  const held = async () => {
    const [, { port, user, password }] = await sides();
    await using client = await openMailClient(port, user, password);
    let count = 0;
    for (const each of await client.mailboxes()) count += (await client.read(each)).length;
    return count;
  };

  test('is taken back, run again to its end, and has a receipt, by the buttons of the status page', async () => {
    const [subscriber] = product.subscribers;
    if (subscriber === undefined) throw new Error('The start printed no subscriber.');
    await page.goto(product.url);
    await signIn(page, subscriber);
    await page.waitForURL('**/destination-account');
    await chooseOther(page, WALTER);
    const id = await startTransfer(page, 'maria@mail.example', 'Transfer');
    await page.goto(`${product.url}${statusAddress(id)}`);
    await mail().getByText('Completed', { exact: true }).waitFor(WITHIN);
    expect(await held()).toBe(MESSAGES);

    await button('Take back what was copied').click();
    await confirm('Take it back');
    await type('New mailbox password', WALTER.password);
    await confirm('Take it back');
    await expect.poll(held, WITHIN).toBe(0);

    await page.reload();
    await button('Copy what is new').click();
    await type('San Bruno password', subscriber.password);
    await type('New mailbox password', WALTER.password);
    await confirm('Start copying');
    await page.waitForURL((url) => url.searchParams.get('migration_id') !== id);
    await mail().getByText('Completed', { exact: true }).waitFor(WITHIN);
    expect(await difference()).toEqual({
      messages: MESSAGES,
      lost: [],
      duplicated: [],
      changed: [],
    });

    await button('Download the receipt').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('link', { name: /CSV/ }).click(),
    ]);
    const receipt = await readFile(await download.path(), 'utf8');
    expect(receipt.split('\n').filter((line) => /,[0-9a-f]{64},/.test(line.replaceAll('"', '')))).toHaveLength(
      MESSAGES,
    );
  });
});
