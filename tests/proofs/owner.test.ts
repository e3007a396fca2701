import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFile } from 'node:fs/promises';
import { statusAddress } from '../../src/contract/page-address.ts';
import { openBrowser } from '../support/browser.ts';
import { openMailClient, quoted } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProductOnPostgres } from '../support/product.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openValve } from '../support/valve.ts';
import { chooseOther, signIn, startTransfer } from '../e2e/steps.ts';

const WALTER = { email: 'walter@mail.example', password: 'sandbox' };
const MESSAGES = 400;
const WITHIN = { timeout: 60_000 };

/** Before it is held: the sign-ins, and some messages. */
const SOME_OCTETS = 400_000;

function without(part: Buffer, what: RegExp, instead: string): Buffer {
  return Buffer.from(part.toString('latin1').replaceAll(what, instead), 'latin1');
}

describe('a transfer in the hands of its owner, in Chromium (needs chromium)', needs('chromium'), () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  /** What the product reaches the new mailbox by in the first walk. */
  let mailbox: TcpProxy;
  const toMailbox = openValve();
  /** It tells nobody its folders. */
  let refuses = true;
  const lists = new Set<string>();

  beforeAll(async () => {
    product = await startProductOnPostgres({
      TRUSTED_MAIL_HOSTS: '127.0.0.1,imap.mail.example',
      // Late enough for new mail to be brought once a day.
      ACCESS_END: new Date(Date.now() + 90 * 24 * 3_600_000).toISOString(),
    });
    mailbox = await startTcpProxy((await product.ports())['mail other'] ?? 0, {
      change: async (direction, part) => {
        if (direction === 'to client') return refusing(without(part, / LITERAL[+-]| MULTIAPPEND/g, ''));
        for (const [, tag = ''] of part.toString('latin1').matchAll(/^(\S+) LIST /gm)) lists.add(tag);
        return toMailbox.pass(direction, part);
      },
    });
    browser = await openBrowser();
    page = await (await browser.newContext()).newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await mailbox?.[Symbol.asyncDispose]();
    await product?.[Symbol.asyncDispose]();
  });

  const refusing = (part: Buffer): Buffer =>
    Buffer.from(
      part
        .toString('latin1')
        .replaceAll(/^(\S+) OK /gm, (line, tag: string) =>
          lists.delete(tag) && refuses ? `${tag} NO [NOPERM] ` : line,
        ),
      'latin1',
    );
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

  /** What is there already is not copied again. */
  const emptied = async () => {
    const [, { port, user, password }] = await sides();
    await using client = await openMailClient(port, user, password);
    for (const each of await client.mailboxes()) {
      await client.command(`SELECT ${quoted(each)}`);
      await client.command('UID STORE 1:* +FLAGS (\\Deleted)');
      await client.command('EXPUNGE');
    }
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

    await using _closing = { [Symbol.asyncDispose]: () => other.close() };
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
    await button('Take back what was copied').click();
    await confirm('Take it back');
    await type('New mailbox password', WALTER.password);
    await confirm('Take it back');
    await expect.poll(held, WITHIN).toBe(0);
    // A browser without a screen has no tab in front, so that none ever comes there.
    await other.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
    await other.getByText(`${MESSAGES} messages taken back from your new mailbox.`).waitFor(WITHIN);
    await other.getByRole('heading', { level: 1, name: 'Your transfer', exact: true }).waitFor();

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

    // All of it is there, so what is asked for here is only what comes later.
    await button('Bring new mail once a day').click();
    await type('San Bruno password', subscriber.password);
    await type('New mailbox password', WALTER.password);
    await confirm('Turn it on');
    await page.getByText('This is on. We look for new mail again on').waitFor(WITHIN);
    await mail().getByText('There was nothing new to copy.').waitFor(WITHIN);
    await page.getByText('is brought to your new mailbox once a day').waitFor();
    expect(await button('Take back what was copied').count()).toBe(0);
    await page.reload();
    await button('Stop bringing new mail').click();
    await confirm('Turn it off');
    await button('Bring new mail once a day').waitFor(WITHIN);
    expect(await held()).toBe(MESSAGES);

    await page.goBack();
    await mail().getByText('Completed', { exact: true }).waitFor(WITHIN);
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

  // What each dialog does by itself is shown by `transfer-life.test.ts`.
  test('is put right, stopped and taken back in two tabs at once, with Back and a reload in each dialog', async () => {
    const [subscriber] = product.subscribers;
    if (subscriber === undefined) throw new Error('The start printed no subscriber.');
    toMailbox.grant(Infinity);
    await emptied();
    const before = await held();
    await page.goto(product.url);
    await signIn(page, subscriber);
    await page.waitForURL('**/destination-account');
    await chooseOther(page, WALTER, `imap.mail.example:${mailbox.port}`);
    const id = await startTransfer(page, 'maria@mail.example', 'Transfer');
    const status = `${product.url}${statusAddress(id)}`;
    await page.goto(status);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await using _closing = { [Symbol.asyncDispose]: () => other.close() };
    const other = await page.context().newPage();
    await other.goto(status);

    /** Back and Forward, and a reload, each leave the dialog and keep the page. */
    const leave = async (name: string) => {
      for (const away of [async () => page.goBack().then(() => page.goForward()), () => page.reload()]) {
        await button(name).click(WITHIN);
        await page.getByRole('dialog').waitFor();
        await away();
        await button(name).waitFor(WITHIN);
        expect(await page.getByRole('dialog').count()).toBe(0);
      }
    };
    const openInBoth = async (name: string) => {
      for (const tab of [page, other]) {
        await tab.getByRole('button', { name, exact: true }).click(WITHIN);
        await tab.getByRole('dialog').waitFor();
      }
    };
    const inOther = (name: string) => other.getByRole('dialog').getByRole('button', { name, exact: true }).click();

    await leave('Put it right');
    await openInBoth('Put it right');
    const attention = page.getByRole('heading', { name: 'Your new mailbox said no' });
    await attention.waitFor();
    refuses = false;
    asked.length = 0;
    toMailbox.hold(SOME_OCTETS);
    await inOther('Try again now');
    await other.getByText('We are trying again now').waitFor();
    await page.getByText('This has been put right already.').waitFor(WITHIN);
    await attention.waitFor({ state: 'hidden' });
    expect(asked, 'the first tab has it by the stream').toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await expect.poll(async () => (await held()) - before, WITHIN).toBeGreaterThan(10);

    await leave('Stop the transfer');
    await openInBoth('Stop the transfer');
    // Each would soon hear of the other's, and have nothing to press any more.
    await Promise.all(
      [page, other].map((tab) =>
        tab.getByRole('dialog').getByRole('button', { name: 'Stop it now' }).dispatchEvent('click'),
      ),
    );
    await page.getByText('Your transfer is stopped').waitFor(WITHIN);
    for (const tab of [page, other])
      await tab.getByRole('region', { name: 'Email transfer' }).getByText('Stopped', { exact: true }).waitFor();
    toMailbox.grant(Infinity);
    expect((await held()) - before).toBeLessThan(MESSAGES);

    await leave('Take back what was copied');
    await openInBoth('Take back what was copied');
    for (const tab of [page, other]) {
      const dialog = tab.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Take it back', exact: true }).click();
      await dialog.getByLabel('New mailbox password', { exact: true }).fill(WALTER.password);
    }
    // The dialog is gone before the page asks how it stands: only after that answer has it nothing more to ask.
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/v2/status/', WITHIN);
    await confirm('Take it back');
    await answered;
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    asked.length = 0;
    await inOther('Take it back');
    await mail()
      .getByText(/messages taken back from your new mailbox/)
      .waitFor(WITHIN);
    await expect.poll(held, WITHIN).toBe(before);
    await page.getByText('Here is the status of your transfer.').waitFor(WITHIN);
    expect(asked.filter((path) => path !== '/api/v2/status/events/')).toEqual([]);
  });
});
