import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { detailedStatus, statusStream } from '../../src/contract/calls/status.ts';
import { load } from '../../src/contract/calls/load.ts';
import { statusAddress } from '../../src/contract/page-address.ts';
import { status as words } from '../../src/portal/wording/status.ts';
import { openBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProductOnPostgres } from '../support/product.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openValve } from '../support/valve.ts';
import { chooseOther, signIn, startTransfer } from './steps.ts';

/** What the other mailbox takes at a time: far less than all, and less than the groups that are under way. */
const SOME_OCTETS = 20_000;
const MOVES_WITHIN_MS = 30_000;
/** However late the browser, or the page by the silence, notices that the line is lost; and room for a busy machine. */
const ASKS_WITHIN_MS = DELAYS['status silence'] + DELAYS['status pause'] + 10_000;

describe('the status page beside a transfer that runs, in Chromium (needs chromium)', needs('chromium'), () => {
  const toMailbox = openValve();
  let product: Product;
  let browser: Browser;
  let page: Page;
  /** Between the browser and the product, and between the product and the mailbox that is written. */
  let line: TcpProxy;
  let mailbox: TcpProxy;
  let asked: string[];

  beforeAll(async () => {
    const port = await freePort();
    line = await startTcpProxy(port);
    product = await startProductOnPostgres({
      PORT: String(port),
      PUBLIC_URL: `http://localhost:${line.port}`,
      // Whatever port they are reached at.
      TRUSTED_MAIL_HOSTS: '127.0.0.1,imap.mail.example',
    });
    mailbox = await startTcpProxy((await product.ports())['mail other'] ?? 0, {
      change: (direction, part) => (direction === 'to server' ? toMailbox.pass(direction, part) : part),
    });
    browser = await openBrowser();
    page = await (await browser.newContext()).newPage();
    asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  });
  afterAll(async () => {
    await browser?.close();
    await mailbox?.[Symbol.asyncDispose]();
    await product?.[Symbol.asyncDispose]();
    await line?.[Symbol.asyncDispose]();
  });

  /** Signs in and goes on to the page that starts the transfer to a mailbox, which takes {@link SOME_OCTETS}. */
  const arrive = async (to: string) => {
    const [subscriber] = product.subscribers;
    if (subscriber === undefined) throw new Error('The start printed no subscriber.');
    toMailbox.hold(SOME_OCTETS);
    await page.goto(`http://localhost:${line.port}/`);
    await signIn(page, subscriber);
    await page.waitForURL('**/destination-account');
    await chooseOther(page, { email: to, password: 'sandbox' }, `imap.mail.example:${mailbox.port}`);
  };
  const shownCount = async () => {
    const text = await page.getByRole('region', { name: 'Email transfer' }).innerText();
    return Number(/([\d,]+) of [\d,]+ messages/.exec(text)?.[1]?.replaceAll(',', '') ?? 0);
  };
  /** The count that is above `before`: a group of messages counts when it is whole, so the mailbox takes more until one is. */
  const countAbove = async (before: number) => {
    const takeMore = () => {
      toMailbox.grant(SOME_OCTETS);
      return shownCount();
    };
    await expect.poll(takeMore, { timeout: MOVES_WITHIN_MS, interval: 250 }).toBeGreaterThan(before);
    toMailbox.hold(0);
    return shownCount();
  };

  test('the count rises on an open page by the live stream, which comes back by itself after the line was cut', async () => {
    await arrive('walter@mail.example');
    // As another client of the calls may order: nobody is to be told of the end.
    await page.route(`**${load.path}`, (route) => {
      const order = route.request().postDataJSON() as { parameters: object };
      return route.continue({
        postData: { ...order, parameters: { ...order.parameters, notification_email: undefined } },
      });
    });
    const id = await startTransfer(page, 'maria@mail.example', 'Transfer');

    await page.goto(`http://localhost:${line.port}${statusAddress(id)}`);
    await page.getByRole('region', { name: 'Email transfer' }).getByText(words.when.untold).waitFor();
    expect(await page.getByText(words.when.told).count()).toBe(0);
    const first = await countAbove(0);
    asked.length = 0;
    const second = await countAbove(first);
    // Nobody asked: the count came by the stream.
    expect(asked).toEqual([]);

    line.resetAll();
    const both = [detailedStatus.path, statusStream.path];
    await expect.poll(() => asked, { timeout: ASKS_WITHIN_MS }).toEqual(both);
    await countAbove(second);
    expect(asked).toEqual(both);

    toMailbox.grant(Infinity);
    await page
      .getByRole('region', { name: 'Email transfer' })
      .getByText('Completed', { exact: true })
      .waitFor({ timeout: MOVES_WITHIN_MS });
    expect(asked.filter((path) => path === detailedStatus.path)).toHaveLength(1);
    await page.unrouteAll();
  });

  test('without cookies an open page goes on by the bearer, with all that its owner may see and do', async () => {
    await arrive('ruth@mail.example');
    const id = await startTransfer(page, 'maria@mail.example', 'Transfer');
    await page.context().clearCookies();
    asked.length = 0;
    await page.goto(`http://localhost:${line.port}${statusAddress(id)}`);
    // The stream has no more to show than numbers: the rest is asked for.
    const askedForRest = () => asked.slice(asked.indexOf(statusStream.path)).includes(detailedStatus.path);
    await expect.poll(askedForRest).toBe(true);
    for (let count = 0, round = 1; round <= 3; round += 1) {
      count = await countAbove(count);
      expect(await page.getByRole('button', { name: 'Stop the transfer' }).count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    }
    toMailbox.grant(Infinity);
    await page.getByRole('button', { name: 'Take back what was copied' }).waitFor({ timeout: MOVES_WITHIN_MS });
    expect(asked.filter((path) => path === statusStream.path)).toHaveLength(1);
  });
});
