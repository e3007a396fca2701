import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProductOnPostgres } from '../support/product.ts';
import { eachOf } from './each-of.ts';
import { consent, goToYahoo, signIn, type Subscriber } from './steps.ts';

describe('what can go wrong on the way to the move, in Chromium (needs chromium)', needs('chromium'), () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let subscriber: Subscriber;

  beforeAll(async () => {
    product = await startProductOnPostgres();
    browser = await openBrowser();
    const [, second] = product.subscribers;
    if (second === undefined) throw new Error('The start printed no second subscriber.');
    subscriber = second;
  });
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
  });
  afterEach(async () => {
    await page.context().close();
  });

  test('a wrong password is said, and the email stays in its field while the password goes', async () => {
    await page.goto(product.url);
    await signIn(page, { ...subscriber, password: 'not-the-one' });
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').getByText('Incorrect email or password.').waitFor();
    await dialog
      .getByText("If you have already moved to Yahoo, you won't be able to sign in here. Please, go to Yahoo mail.")
      .waitFor();
    expect(await dialog.getByLabel('Email', { exact: true }).inputValue()).toBe(subscriber.email);
    expect(await dialog.getByLabel('Password', { exact: true }).inputValue()).toBe('');
  });

  test('a sign-in at Yahoo that is cancelled, or has another address, comes back with its error; the right one is worth nothing in another browser, or a second time', async () => {
    const answers: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/oauth/callback/')) answers.push(request.url());
    });
    const destination = () => page.evaluate(() => sessionStorage.getItem('dstAccount'));
    const goToYahooAgain = async () => {
      await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
      await page.getByRole('dialog', { name: 'Important notice' }).getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Sandbox: Yahoo sign-in' }).waitFor();
    };
    await goToYahoo(page, product.url, subscriber);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL('**/destination-account?error=EXTERNAL_OAUTH_ERROR');
    await page.getByText('Authentication error', { exact: true }).waitFor();
    await page.getByText('An external authentication error has happened. Please, try again.').waitFor();
    expect(await destination()).not.toContain('tokenId');

    await goToYahooAgain();
    await consent(page, { email: 'somebody@yahoo.example', password: 'sandbox' });
    await page.waitForURL('**/destination-account?error=INVALID_EMAIL');
    await page.getByText('Please, use your San Bruno credentials to login into Yahoo.').waitFor();
    expect(await destination()).not.toContain('somebody@yahoo.example');

    await goToYahooAgain();
    await consent(page, subscriber);
    await page.waitForURL('**/start-migration');
    const answer = answers.at(-1);
    if (answer === undefined) throw new Error('Nothing came back to the callback.');
    await using elsewhere = await browser.newContext();
    for (const visitor of [page.request, elsewhere.request]) {
      const again = await visitor.get(answer, { maxRedirects: 0 });
      expect(again.status()).toBe(302);
      expect(again.headers()['location']).toContain('error=EXTERNAL_OAUTH_ERROR');
    }
    const stateless = await page.request.get(`${product.url}/api/oauth/callback/yahoo/?code=abc`, { maxRedirects: 0 });
    expect(stateless.headers()['location']).toContain('error=EXTERNAL_OAUTH_ERROR');
  });

  test('a session that was tampered with starts at Home', async () => {
    await page.goto(product.url);
    await signIn(page, subscriber);
    await page.waitForURL('**/destination-account');
    const session = await page.evaluate(() => Object.entries<string>(sessionStorage));
    const tamperings = [
      ['srcAccount', '{"email":"pat@sanbrunocable.example"}'],
      ['srcAccount', 'no json'],
      ['operations', '"all"'],
      ['emailExportType', 'exe'],
    ] as const;
    await eachOf(tamperings, async ([key, value], at) => {
      if (at > 0) {
        // Where no portal writes its own over it. As it was, it still leads on.
        await page.goto(`${product.url}/nothing.txt`);
        await page.evaluate((items) => {
          for (const [name, text] of items) sessionStorage.setItem(name, text);
        }, session);
        await page.goto(`${product.url}/destination-account`);
        await page.getByText(subscriber.email).waitFor();
      }
      await page.evaluate(([name, text]) => sessionStorage.setItem(name, text), [key, value] as const);
      await page.reload();
      await page.waitForURL(`${product.url}/`);
      await page.getByRole('heading', { name: 'San Bruno Email Data Transfer Tool' }).waitFor();
      expect(await page.evaluate((name) => sessionStorage.getItem(name), key)).toBeNull();
    });
  });

  test('a reload keeps the signed-in visitor on the page, and Home forgets everything once it has asked', async () => {
    await page.goto(product.url);
    await signIn(page, subscriber);
    await page.waitForURL('**/destination-account');
    await page.reload();
    await page.getByText(subscriber.email).waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    const asked = page.getByRole('dialog', { name: 'Go back to Home?' });
    await asked.getByRole('button', { name: 'Stay here' }).click();
    await asked.waitFor({ state: 'detached' });
    await page.getByText(subscriber.email).waitFor();
    expect(page.url()).toBe(`${product.url}/destination-account`);
    await page.getByRole('link', { name: 'San Bruno', exact: true }).click();
    await asked.getByRole('button', { name: 'Go to Home' }).click();
    await page.waitForURL(`${product.url}/`);
    await expect.poll(() => page.evaluate(() => Object.keys(sessionStorage))).toEqual(['currentStep']);
    await page.goBack();
    await page.waitForURL(`${product.url}/`);
  });
});

describe('maintenance in Chromium (needs chromium)', needs('chromium'), () => {
  const UNAVAILABLE = 'The migration portal is unavailable at this time, we apologize for the inconvenience.';
  const account = { email: 'tom.rivera@sanbrunocable.example', password: 'harbor-1998' };
  let product: Product;
  let browser: Browser;
  beforeAll(async () => {
    product = await startProductOnPostgres({ MAINTENANCE: 'on' });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });

  test('a visitor who is on the way to a provider, or back, sees the portal say it, and never JSON', async () => {
    await using page = await browser.newPage();
    await page.goto(product.url);
    const chosen = { email: '', provider: 'yahoo' };
    await page.evaluate(
      ([source, destination]) => {
        sessionStorage.setItem('srcAccount', JSON.stringify(source));
        sessionStorage.setItem('dstAccount', JSON.stringify(destination));
      },
      [{ ...account, provider: 'sanbruno' }, chosen],
    );
    for (const path of [
      '/api/oauth/?provider=yahoo',
      '/api/oauth-for-status/?provider=yahoo',
      '/api/oauth/callback/yahoo/?code=x&state=y',
    ]) {
      await page.goto(`${product.url}${path}`);
      await page.getByText(UNAVAILABLE).waitFor();
    }
    const again = page.waitForRequest('**/api/oauth/?provider=yahoo');
    await page.getByRole('button', { name: 'Try again' }).click();
    expect((await (await again).response())?.status()).toBe(302);
  });

  test('the portal says that it is unavailable, and tries again when asked to', async () => {
    await using page = await browser.newPage();
    await page.goto(product.url);
    await signIn(page, account);
    await page.getByText(UNAVAILABLE).waitFor();
    const again = page.waitForRequest('**/api/capabilities/');
    await page.getByRole('button', { name: 'Try again' }).click();
    expect((await (await again).response())?.status()).toBe(503);
  });
});
