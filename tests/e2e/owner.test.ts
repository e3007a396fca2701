import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFile } from 'node:fs/promises';
import { statusAddress } from '../../src/contract/page-address.ts';
import { openBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProduct } from '../support/product.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openValve } from '../support/valve.ts';
import { chooseOther, signIn, startTransfer } from './steps.ts';

const WALTER = { email: 'walter@mail.example', password: 'sandbox' };
const MESSAGES = 400;
/** What the other mailbox takes before it is held: the sign-in, and some messages. */
const SOME_OCTETS = 1_000_000;
const WITHIN = { timeout: 60_000 };

describe('a transfer in the hands of its owner, in Chromium (needs chromium)', needs('chromium'), () => {
  const toMailbox = openValve();
  let product: Product;
  let browser: Browser;
  let page: Page;
  let mailbox: TcpProxy;

  beforeAll(async () => {
    product = await startProduct({
      PORT: String(await freePort()),
      // Whatever port they are reached at.
      TRUSTED_MAIL_HOSTS: '127.0.0.1,imap.mail.example',
    });
    mailbox = await startTcpProxy((await product.ports())['mail other'] ?? 0, {
      change: (direction, part) => (direction === 'to server' ? toMailbox.pass(direction, part) : part),
    });
    browser = await openBrowser();
    page = await (await browser.newContext()).newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await mailbox?.[Symbol.asyncDispose]();
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
  /** What the new mailbox lacks of the old one. */
  const missing = async () => (await differenceOf(...(await sides()))).lost.length;

  test('is stopped, taken back, run again to its end, and has a receipt, by the buttons of the status page', async () => {
    const [subscriber] = product.subscribers;
    if (subscriber === undefined) throw new Error('The start printed no subscriber.');
    toMailbox.grant(SOME_OCTETS);
    await page.goto(product.url);
    await signIn(page, subscriber);
    await page.waitForURL('**/destination-account');
    await chooseOther(page, WALTER, `imap.mail.example:${mailbox.port}`);
    const id = await startTransfer(page, 'maria@mail.example', 'Transfer');
    await page.goto(`${product.url}${statusAddress(id)}`);
    await mail()
      .getByText(new RegExp(`[1-9]\\d* of ${MESSAGES} messages`))
      .waitFor(WITHIN);

    await button('Stop the transfer').click();
    await confirm('Stop it now');
    await page.getByText('Your transfer is stopped').waitFor();
    toMailbox.grant(Infinity);
    const held = await missing();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(MESSAGES);

    await button('Take back what was copied').click();
    await confirm('Take it back');
    await type('New mailbox password', WALTER.password);
    await confirm('Take it back');
    await expect.poll(missing, WITHIN).toBe(MESSAGES);

    await page.reload();
    await button('Copy what is new').click();
    await type('San Bruno password', subscriber.password);
    await type('New mailbox password', WALTER.password);
    await confirm('Start copying');
    await page.waitForURL((url) => url.searchParams.get('migration_id') !== id);
    await mail().getByText('Completed', { exact: true }).waitFor(WITHIN);
    expect(await differenceOf(...(await sides()))).toEqual({
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
