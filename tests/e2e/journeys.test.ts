import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { PAGES, type Product, startProductOnPostgres } from '../support/product.ts';
import { chooseOther, consent, fillSupport, goToYahoo, signIn, startTransfer, type Subscriber } from './steps.ts';

const FINISHES_WITHIN_MS = 60_000;
const PROVEN = 'We compared both sides: no message is missing, duplicated or changed.';

/** `300 of 1,000`, with other words around it, as numbers. */
function countsIn(text: string): [done: number, total: number] {
  const [, done = '', total = ''] = /([\d,]+) of ([\d,]+)/.exec(text) ?? [];
  return [Number(done.replaceAll(',', '')), Number(total.replaceAll(',', ''))];
}

describe('every way through the product, in Chromium (needs chromium)', needs('chromium'), () => {
  let product: Product;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    product = await startProductOnPostgres();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    page = await (await browser.newContext({ reducedMotion: 'no-preference' })).newPage();
  });
  afterEach(async () => {
    await page.context().close();
  });

  const subscriber = (name: string): Subscriber => {
    const found = product.subscribers.find(({ email }) => email.startsWith(name));
    if (found === undefined) throw new Error(`The start printed no ${name}.`);
    return found;
  };
  /** Each of them may sign in five times and then once a minute. */
  const arrive = async (name: string) => {
    await page.goto(product.url);
    await signIn(page, subscriber(name));
    await page.waitForURL('**/destination-account');
  };
  const choose = async (provider: string) => {
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await page.getByRole('button', { name: provider, exact: true }).click();
  };
  const signInAt = async (provider: string, email: string) => {
    await page.getByRole('heading', { name: `Sandbox: ${provider} sign-in` }).waitFor();
    await consent(page, { email, password: 'sandbox' });
  };
  const finish = async (contact: string, action: 'Transfer' | 'Download') => {
    const id = await startTransfer(page, contact, action);
    await page.getByRole('link', { name: 'Check progress' }).click();
    await page.waitForURL(`**/status?migration_id=${id}`);
    await page
      .getByRole('region', { name: 'Email transfer' })
      .getByText('Completed', { exact: true })
      .waitFor({ timeout: FINISHES_WITHIN_MS });
    return id;
  };

  /** The counts of the folders, together, are those above them, once the page has had time to draw them. */
  const foldersAddUp = async () => {
    const card = page.getByRole('region', { name: 'Email transfer' });
    await card.getByText('Folder by folder').click();
    const sums = async () => {
      const counts = (await card.locator('.folders .soft').allInnerTexts()).map(countsIn);
      expect(counts.length).toBeGreaterThan(1);
      return counts.reduce(([done, total], [more, ofMore]) => [done + more, total + ofMore], [0, 0]);
    };
    await expect.poll(sums).toEqual(countsIn(await card.locator('.status-count').innerText()));
  };

  test('a transfer to Gmail goes by way of the terms, to its end', async () => {
    await arrive('tom');
    await choose('Gmail');
    await page.waitForURL('**/accept-google-terms');
    await page.getByRole('heading', { name: "Our privacy statement for Google's services" }).waitFor();
    await page.getByRole('button', { name: 'Accept' }).click();
    await signInAt('Gmail', 'Tom.Rivera@gmail.com');
    await page.waitForURL('**/start-migration');
    await page.getByRole('heading', { name: 'Transfer your data' }).waitFor();
    await page.getByText('tom.rivera@gmail.com').waitFor();
    await page.getByText('Messages, folders and contacts').waitFor();
    await finish('tom@mail.example', 'Transfer');
    await page.getByText(PROVEN).waitFor();
    expect(await page.getByText(/could not be copied|not in your new mailbox/).count()).toBe(0);
  });

  test('a transfer to Outlook runs to its end, and is found again by a sign-in there', async () => {
    await arrive('ines');
    await choose('Outlook');
    await signInAt('Outlook', 'ines@outlook.com');
    const id = await finish('ines@mail.example', 'Transfer');
    await page.getByText(PROVEN).waitFor();
    await page.getByRole('region', { name: 'Contacts transfer' }).getByText('Completed', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByText('check your transfer status').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Outlook' }).click();
    await signInAt('Outlook', 'ines@outlook.com');
    await page.waitForURL('**/status-from-email');
    await page
      .getByText('For older transfers, please use the transfer ID provided in the notification email.')
      .waitFor();
    await page.getByText(id).waitFor();
    await page.getByRole('link', { name: 'See its status' }).click();
    await page.waitForURL(`**/status?migration_id=${id}`);
    expect(await page.getByRole('region', { name: 'Email transfer' }).innerText()).toContain('Completed');
  });

  test('contacts that AOL was not allowed to take are not promised, and can be allowed after all', async () => {
    await arrive('paul');
    await choose('AOL');
    await page.getByLabel('Email', { exact: true }).fill('paul@aol.com');
    await page.getByLabel('Password', { exact: true }).fill('sandbox');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('Read, add and change your contacts').uncheck();
    await page.getByRole('button', { name: 'Agree' }).click();
    await page.waitForURL('**/start-migration');
    await page.getByText('Messages and folders', { exact: true }).waitFor();
    await page.getByText('because you did not allow it at AOL').waitFor();
    await page.getByRole('button', { name: 'Allow contacts' }).click();
    await signInAt('AOL', 'paul@aol.com');
    await page.waitForURL('**/start-migration');
    await page.getByText('Messages, folders and contacts').waitFor();
    expect(await page.getByRole('button', { name: 'Allow contacts' }).count()).toBe(0);
  });

  test('a transfer to any other mailbox signs in by password, and takes no contacts', async () => {
    const { 'mail other': port } = await product.ports();
    await arrive('walter');
    await chooseOther(page, { email: 'walter@mail.example', password: 'sandbox' }, `imap.mail.example:${port}`);
    await page.waitForURL('**/start-migration');
    await page.getByText('Messages and folders', { exact: true }).waitFor();
    const first = await finish('walter.p@mail.example', 'Transfer');
    await page.getByText(PROVEN).waitFor();
    expect(await page.getByRole('region', { name: 'Contacts transfer' }).count()).toBe(0);
    await foldersAddUp();

    await page.getByRole('button', { name: 'Copy what is new' }).click();
    await page.getByLabel('San Bruno password', { exact: true }).fill(subscriber('walter').password);
    await page.getByLabel('New mailbox password', { exact: true }).fill('sandbox');
    await page.getByRole('button', { name: 'Start copying' }).click();
    await page.waitForURL((url) => !url.search.includes(first));
    await page.getByText('There was nothing new to copy.').waitFor({ timeout: FINISHES_WITHIN_MS });
    await foldersAddUp();
    await page.getByRole('link', { name: 'open the transfer before this one' }).click();
    await page.waitForURL(`**/status?migration_id=${first}`);
    await page.getByText(first).waitFor();
    await page.getByText(/^[\d,]+ messages copied/).waitFor();
    expect(await page.getByRole('link', { name: 'open the transfer before this one' }).count()).toBe(0);
  });

  test('another address whose provider signs in by OAuth is sent there, without its password', async () => {
    await arrive('walter');
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await page.getByRole('button', { name: 'Other', exact: true }).click();
    const form = page.getByRole('form', { name: 'Another provider' });
    await form.getByLabel('Email', { exact: true }).fill('walter@outlook.com');
    await form.getByText("You will sign in at Outlook. We don't need your password here.").waitFor();
    expect(await form.getByLabel('Password', { exact: true }).count()).toBe(0);
    await form.getByRole('button', { name: 'Sign in', exact: true }).click();
    await signInAt('Outlook', 'walter@outlook.com');
    await page.waitForURL('**/start-migration');
    expect(await page.evaluate(() => sessionStorage.getItem('dstAccount'))).toContain('"provider":"office365"');
  });

  test('a download makes files of both formats, whose links give them', async () => {
    await arrive('tom');
    await choose('Download');
    const form = page.getByRole('form', { name: 'Download as files' });
    const button = form.getByRole('button', { name: 'Download', exact: true });
    expect(await form.getByLabel('Email format').inputValue()).toBe('eml');
    await form.getByLabel('Email format').selectOption('mbox');
    await form.getByLabel('Contacts format').selectOption('csv');
    await button.click();
    await page.waitForURL('**/start-migration');
    await page.getByText('Messages and folders as MBOX, contacts as CSV').waitFor();
    await finish('tom@mail.example', 'Download');
    const files = page.getByRole('region', { name: 'Your files' });
    await files.getByText('Your export is now complete').waitFor();
    const links = await files
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      const file = await page.request.get(new URL(link, product.url).href);
      expect(file.status()).toBe(200);
      expect((await file.body()).length).toBeGreaterThan(0);
    }
  });

  test('permissions that were not given lead to the page that explains them, and back', async () => {
    await arrive('tom');
    await choose('Gmail');
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByLabel('Email', { exact: true }).fill('tom@gmail.com');
    await page.getByLabel('Password', { exact: true }).fill('sandbox');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('contacts').uncheck();
    await page.getByRole('button', { name: 'Agree' }).click();
    await page.waitForURL('**/check-email-scopes');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL('**/destination-account');
    expect(await page.evaluate(() => sessionStorage.getItem('dstAccount'))).not.toContain('tokenId');
  });

  test('an account that was made before goes on to Yahoo without a message', async () => {
    await goToYahoo(page, product.url, subscriber('walter'));
    await consent(page, subscriber('walter'));
    await page.waitForURL('**/start-migration');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('heading', { name: 'Move your email account to Yahoo Mail' }).waitFor();
  });

  test.each([
    [
      'ines',
      'Transfer is already in progress',
      "You have already started a transfer to Yahoo. Please, wait until it's completed.",
    ],
    ['paul', 'Transfer is already completed', 'Go to Yahoo mail'],
  ])('%s, whose account is past its beginning, is told: %s', async (name, title, content) => {
    await arrive(name);
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    const message = page.getByRole('status').filter({ hasText: title });
    await message.getByText(content).waitFor();
    expect(await message.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual(
      name === 'paul' ? [PAGES.DESTINATION_MAIL_URL] : [],
    );
    expect(new URL(page.url()).pathname).toBe('/destination-account');
  });

  test('a call after the sign-in carries its token as a bearer, and the cookies', async () => {
    await arrive('paul');
    await page.context().addCookies([{ name: 'seen', value: 'yes', url: product.url }]);
    const token = await page.evaluate(() => sessionStorage.getItem('jwt'));
    await page.getByRole('link', { name: 'Contact support' }).click();
    await fillSupport(page, { email: subscriber('paul').email, issue: 'Where are my letters of 2005?' });
    const asked = page.waitForRequest('**/api/v2/support-form/');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('status').getByText('Your message has been sent successfully.').waitFor();
    const headers = await (await asked).allHeaders();
    expect(token).toMatch(/^\S{16,}$/);
    expect(headers['authorization']).toBe(`Bearer ${token ?? ''}`);
    expect(headers['cookie']).toContain('seen=yes');
  });

  test('who signs out leaves a bearer and a cookie that open nothing of the mailbox', async () => {
    await arrive('tom');
    const { email } = subscriber('tom');
    const token = (await page.evaluate(() => sessionStorage.getItem('jwt'))) ?? '';
    const call = (path: string, data: object) =>
      page.request.post(`${product.url}${path}`, { data, headers: { authorization: `Bearer ${token}` } });
    expect((await call('/api/validate-token/', { token })).status()).toBe(200);
    const header = page.getByRole('banner');
    await header.getByRole('button', { name: 'Sign out', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign out?' });
    await dialog.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('status').getByText('You are signed out').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await header.getByRole('button', { name: 'Sign out', exact: true }).count()).toBe(0);
    const marks = ['currentStep', 'signedOut'];
    expect((await page.evaluate(() => Object.keys(sessionStorage))).filter((key) => !marks.includes(key))).toEqual([]);
    expect((await call('/api/validate-token/', { token })).status()).toBe(401);
    // A transfer of the same mailbox that another browser orders is none of this one's, whose cookie is sent along.
    const other = await browser.newContext();
    const ordered = await other.request.post(`${product.url}/api/load/`, {
      data: {
        source_account: { ...subscriber('tom'), provider: 'sanbruno' },
        destination_account: { email: 'tom@mail.example', provider: 'file_export' },
        operations: ['emailmigration', 'contactsmigration'],
        parameters: {},
        file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
      },
    });
    const { jobid } = (await ordered.json()) as { jobid: string };
    const stop = await call('/api/v2/transfers/cancel/', { job_id: jobid });
    expect([stop.status(), await stop.json()]).toMatchObject([401, { error: 'INVALID_TOKEN' }]);
    const status = await page.request.get(`${product.url}/api/v2/status/?job_id=${jobid}`);
    expect(await status.json()).toMatchObject({ limited: true });
    expect(await page.evaluate(() => document.body.innerText)).not.toContain(email);
    await other.close();
    await page.goBack();
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
  });

  test('a sign-out takes the password from the other tabs of the browser, and from one that is at a provider', async () => {
    await arrive('tom');
    const away = await page.context().newPage();
    await away.goto(product.url);
    await signIn(away, subscriber('tom'));
    await away.waitForURL('**/destination-account');
    await away.getByRole('button', { name: 'Check other options to export your data' }).click();
    await away.getByRole('button', { name: 'AOL', exact: true }).click();
    await away.getByRole('heading', { name: 'Sandbox: AOL sign-in' }).waitFor();
    const third = await page.context().newPage();
    await third.goto(product.url);
    await signIn(third, subscriber('ruth'));
    await third.waitForURL('**/destination-account');
    await third.getByRole('banner').getByRole('button', { name: 'Sign out', exact: true }).click();
    const dialog = third.getByRole('dialog', { name: 'Sign out?' });
    await dialog.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('status').getByText('This page is signed out').waitFor();
    await away.goBack();
    await away.getByRole('button', { name: 'Start', exact: true }).waitFor();
    for (const tab of [page, away, third]) {
      expect(new URL(tab.url()).pathname).toBe('/');
      expect(await tab.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(subscriber('tom').password);
    }
  });

  test('who forgot to sign out at another computer sees it and ends it from here', async () => {
    const other = await browser.newContext();
    const signed = await other.request.post(`${product.url}/api/validate/`, {
      data: { ...subscriber('ines'), provider: 'sanbruno' },
    });
    expect(signed.status()).toBe(200);
    const { token } = (await signed.json()) as { token: string };
    const isGood = async () =>
      (await other.request.post(`${product.url}/api/validate-token/`, { data: { token } })).ok();
    await arrive('ines');
    await page.getByRole('banner').getByRole('button', { name: 'Sign out', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign out?' });
    await dialog.getByText(/You are signed in on \d+ other browser/).waitFor();
    for (const text of await dialog.getByRole('listitem').allInnerTexts())
      expect(text).toMatch(/^Signed in on \w+\s\d+ at .+, last used on \w+\s\d+ at /);
    expect(await isGood()).toBe(true);
    await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('status').getByText('You are signed out everywhere').waitFor();
    expect(await isGood()).toBe(false);
    await other.close();
  });

  test('who signs out without a line to the server is told so, and the browser has forgotten', async () => {
    await arrive('ines');
    await page.getByRole('link', { name: 'Contact support' }).click();
    await page.route('**/api/v2/sign-out/', (route) => route.abort());
    await page.getByRole('banner').getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText("We couldn't finish signing you out").waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await page.evaluate(() => sessionStorage.getItem('srcAccount') ?? sessionStorage.getItem('jwt'))).toBeNull();
    expect(await page.getByText('You are signed out').count()).toBe(0);
  });

  test('a letter to support arrives', async () => {
    await page.goto(`${product.url}/support-form`);
    await fillSupport(page, {
      email: subscriber('maria').email,
      contact: 'maria@mail.example',
      id: 'a'.repeat(32),
      issue: 'Where are my letters of 2004?',
    });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('status').getByText('Your message has been sent successfully.').waitFor();
    await page.getByText('maria@mail.example').waitFor();
    const reference = await page.getByRole('region', { name: 'Your reference number' }).locator('.code').innerText();
    expect(reference).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    const outbox = (await (await fetch(`${product.sandboxUrl}/outbox.json`)).json()) as { items: { text: string }[] };
    const letter = outbox.items.find(({ text }) => text.includes('Where are my letters of 2004?'));
    expect(letter?.text).toContain(`Transfer ID: ${'a'.repeat(32)}`);
    expect(outbox.items.filter(({ text }) => text.includes(reference))).toHaveLength(2);
    await page.getByRole('button', { name: 'Write another message' }).click();
    expect(await page.getByLabel('Describe your issue').inputValue()).toBe('');
  });

  test('a transfer to AOL runs to its end', { tags: 'proof' }, async () => {
    await arrive('paul');
    await choose('AOL');
    await signInAt('AOL', 'paul@aol.com');
    await finish('paul@mail.example', 'Transfer');
    await page.getByText(PROVEN).waitFor();
    expect(await page.getByRole('region', { name: 'Contacts transfer' }).innerText()).toContain('Completed');
  });
});
