import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { receiptAddress } from '../../src/contract/calls/receipt.ts';
import { IS_PROOF, sampleOf } from '../folders.ts';
import { openBrowser } from '../support/browser.ts';
import { openMailClient } from '../support/mail-client.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProduct, startProductOnPostgres } from '../support/product.ts';
import { run } from '../support/run.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { signIn, startTransfer, type Subscriber } from './steps.ts';

const FINISHES_WITHIN_MS = 60_000;
/** What an export leaves free of a disk, in megabytes. */
const RESERVE_MB = 512;

describe('an export, from Home to files on the disk, in Chromium (needs chromium)', needs('chromium'), () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'export-e2e-'));
    product = await (IS_PROOF ? startProduct() : startProductOnPostgres());
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    page = await (await browser.newContext({ acceptDownloads: true })).newPage();
  });
  afterEach(async () => {
    await page.context().close();
  });

  const subscriber = (name: string, { subscribers } = product): Subscriber => {
    const found = subscribers.find(({ email }) => email.startsWith(name));
    if (found === undefined) throw new Error(`The start printed no ${name}.`);
    return found;
  };

  /** From Home to the status page of a download in these formats. */
  async function order(person: Subscriber, url: string, email: string, contacts: string): Promise<string> {
    await page.goto(url);
    await signIn(page, person);
    await page.waitForURL('**/destination-account');
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const form = page.getByRole('form', { name: 'Download as files' });
    await form.getByLabel('Email format').selectOption(email);
    await form.getByLabel('Contacts format').selectOption(contacts);
    await form.getByRole('button', { name: 'Download', exact: true }).click();
    const id = await startTransfer(page, 'me@mail.example', 'Download');
    await page.getByRole('link', { name: 'Check progress' }).click();
    await page.waitForURL(`**/status?migration_id=${id}`);
    return id;
  }
  const files = () => page.getByRole('region', { name: 'Your files' });
  const isComplete = () => files().getByText('Your export is now complete').waitFor({ timeout: FINISHES_WITHIN_MS });

  /** Presses the link of the only file, as a person does. @returns the file on the disk */
  async function saved(name: string): Promise<string> {
    const [download] = await Promise.all([page.waitForEvent('download'), files().getByRole('link').click()]);
    expect(download.suggestedFilename()).toMatch(/^San Bruno mail \d{4}-\d{2}-\d{2}\.zip$/);
    const file = join(folder, `${name}.zip`);
    await download.saveAs(file);
    return file;
  }

  /** The digests of all messages of a sandbox mailbox, read by a client that shares nothing with the product. */
  async function digestsAtSource({ email, password }: Subscriber): Promise<string[]> {
    const { 'mail legacy': port = 0 } = await product.ports();
    await using mail = await openMailClient(port, email, password);
    const digests: string[] = [];
    for (const mailbox of await mail.mailboxes())
      for (const { sha256 } of await mail.read(mailbox)) digests.push(sha256);
    return digests.toSorted();
  }

  const FORMATS = [
    ['eml', 'csv', 'tom', ['contacts/google.csv', 'contacts/outlook-com.csv', 'contacts/outlook.csv']],
    ['eml', 'vcf', 'ines', ['contacts/contacts.vcf']],
    ['mbox', 'csv', 'paul', ['contacts/google.csv', 'contacts/outlook-com.csv', 'contacts/outlook.csv']],
    ['mbox', 'vcf', 'walter', ['contacts/contacts.vcf']],
    ['eml', 'pst', 'walter', ['contacts/contacts.pst']],
    ['pst', 'pst', 'ines', ['mail/San Bruno.pst']],
  ] as const;

  test.each(sampleOf(FORMATS, FORMATS.length))(
    'as %s and %s has every message once, unchanged, and is whole',
    { tags: 'sampled', ...needs('unzip') },
    async (email, contacts, name, expected) => {
      await order(subscriber(name), product.url, email, contacts);
      await isComplete();
      const file = await saved(`${name}-${email}-${contacts}`);
      await run('unzip', ['-tqq', file]);
      const digest = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      await files().getByText('Checksum (SHA-256)').click();
      await files().getByText(digest, { exact: true }).waitFor();

      const place = join(folder, `${name}-${email}-${contacts}`);
      await run('unzip', ['-q', file, '-d', place]);
      await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: place });
      const listed = (await readFile(join(place, 'manifest.jsonl'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; path: string; sha256: string });
      const messages = listed.filter(({ type }) => type === 'message');
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.map(({ sha256 }) => sha256).toSorted()).toEqual(await digestsAtSource(subscriber(name)));
      const contactFiles = new Set(listed.filter(({ type }) => type === 'contact').map(({ path }) => path));
      expect([...contactFiles].toSorted()).toEqual(expected);
      const endings = (await readdir(join(place, 'mail'), { recursive: true })).map((path) => path.split('.').at(-1));
      expect(endings).toContain(email);
    },
  );

  test('is offered in every format', async () => {
    await page.goto(product.url);
    await signIn(page, subscriber('maria'));
    await page.waitForURL('**/destination-account');
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByLabel('Contacts format').waitFor();
    const values = (label: string) =>
      page
        .getByLabel(label)
        .getByRole('option')
        .evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value).filter((value) => value !== ''));
    expect(await values('Email format')).toEqual(['eml', 'mbox', 'pst']);
    expect(await values('Contacts format')).toEqual(['csv', 'vcf', 'pst']);
  });

  test(
    'whose sign-in is over while the page is open is asked for again by the link of its files',
    { tags: 'proof' },
    async () => {
      const id = await order(subscriber('ines'), product.url, 'eml', 'csv');
      await isComplete();
      await page.context().clearCookies();
      // Whatever the page that is open writes into it until then.
      await page.addInitScript(() => sessionStorage.clear());
      await files().getByRole('link').click();
      await page.getByText('To download them, press “Show more” and sign in.').waitFor();
      expect(page.url()).toBe(`${product.url}/status?migration_id=${id}`);
    },
  );

  test('is deleted by "Delete my export now": the files, the link and the page say so', { tags: 'proof' }, async () => {
    await order(subscriber('maria'), product.url, 'eml', 'vcf');
    await isComplete();
    const link = (await files().getByRole('link').getAttribute('href')) ?? '';
    const url = new URL(link, product.url).href;
    const [, exportName = ''] = /exports\/([^/]+)\//.exec(link) ?? [];
    expect((await page.request.head(url)).status()).toBe(200);
    expect(await readdir(join(product.folder, 'exports'))).toContain(exportName);

    await page.getByRole('button', { name: 'Delete my export now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete these files?' });
    await dialog.getByRole('button', { name: 'Keep' }).click();
    expect((await page.request.head(url)).status()).toBe(200);
    await page.getByRole('button', { name: 'Delete my export now' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await files().getByText('The files have been deleted.').waitFor();
    expect(await files().getByRole('link').allInnerTexts()).toEqual(['Start a new download']);
    expect(await page.getByRole('button', { name: 'Delete my export now' }).count()).toBe(0);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Your transfer is done');
    expect((await page.request.get(url)).status()).toBe(404);
    expect(await readdir(join(product.folder, 'exports'))).not.toContain(exportName);
  });

  test(
    'on a full disk is paused, tells subscriber and operator so, and offers nothing',
    { tags: 'proof', ...needs('the right to mount a disk') },
    async () => {
      await using disk = await mountSmallDisk(RESERVE_MB + 100);
      const { root } = disk;
      await disk.fill('what others left there', 200_000_000);
      await using full = await startProductOnPostgres({ EXPORTS_URL: root });
      const id = await order(subscriber('tom', full), full.url, 'eml', 'csv');
      const mail = page.getByRole('region', { name: 'Email transfer' });
      await expect
        .poll(() => mail.textContent(), { timeout: FINISHES_WITHIN_MS })
        .toContain('We have no room on our side right now.');
      await mail.getByText("We'll carry on as soon as we can. You don't need to do anything.").waitFor();
      expect(await mail.getByText('It will not start again by itself.').count()).toBe(0);
      await files().getByText('Your export is still in progress').waitFor();
      expect(await page.getByText(/Error|interrupted|stopped/).count()).toBe(0);
      expect(await files().getByRole('link').count()).toBe(0);
      const told = (await (await page.request.get(`${full.url}/api/v2/status/?job_id=${id}`)).json()) as object;
      expect(told).toMatchObject({
        files: 'coming',
        emailmigration: { status: 'started', waiting: { reason: 'disk' } },
      });
      expect(told).not.toHaveProperty('exports');
      expect(full.output()).toContain('the disk of DATA_DIR, of EXPORTS_URL or of the database is full');
      expect(full.output()).toContain(`"transferId":"${id}","folder":`);
      expect((await readdir(root, { recursive: true })).filter((name) => name.endsWith('.zip'))).toEqual([]);
    },
  );

  test(
    'has its list of messages in its files, and no receipt that says that there are none',
    { tags: 'proof' },
    async () => {
      const id = await order(subscriber('tom'), product.url, 'eml', 'vcf');
      await isComplete();
      expect(await page.getByRole('button', { name: 'Download the receipt' }).count()).toBe(0);
      const receipt = await page.request.get(`${product.url}${receiptAddress(id, 'json')}`);
      const { copied, how_compared: compared } = (await receipt.json()) as { copied: number; how_compared: string };
      expect(copied).toBe(12);
      expect(compared).toContain('manifest.csv');
    },
  );
});
