import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Firefox, type FirefoxPage, openFirefox } from '../support/firefox.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProductOnPostgres } from '../support/product.ts';

const WITHIN = { timeout: 60_000 };

describe('the product in Firefox (needs firefox and pdftotext)', needs('firefox', 'pdftotext'), () => {
  let product: Product;
  let firefox: Firefox;
  let page: FirefoxPage;

  beforeAll(async () => {
    product = await startProductOnPostgres();
    firefox = await openFirefox();
    page = await firefox.newPage();
  });
  afterAll(async () => {
    await firefox?.[Symbol.asyncDispose]();
    await product?.[Symbol.asyncDispose]();
  });

  const fillSignIn = async ({ email, password }: Product['subscribers'][number]) => {
    await page.fill('Email', email);
    await page.fill('Password', password);
    await page.press('Sign in');
  };
  const begin = async (which: number) => {
    const subscriber = product.subscribers[which];
    if (subscriber === undefined) throw new Error('The start printed no subscriber.');
    await page.goto(product.url);
    await page.press('Start');
    await fillSignIn(subscriber);
    await page.at(/\/destination-account$/);
    return subscriber;
  };
  const openStatus = async () => {
    const complete = await page.at(/\/complete\?/);
    await page.press('Check progress');
    await page.says('Your transfer is done');
    return complete.searchParams.get('migration_id') ?? '';
  };
  /** The file that was downloaded. Until it is there, an empty one keeps its place, with another beside it. */
  const arrived = async () => {
    const files = await Promise.all(
      (await readdir(firefox.downloads)).map((name) => readFile(join(firefox.downloads, name))),
    );
    return files.length === 1 && files[0] !== undefined && files[0].length > 0 ? files[0] : null;
  };
  const paper = async () => execFileSync('pdftotext', ['-', '-'], { input: await page.print(), encoding: 'utf8' });
  /** The sandbox's own pages have no icon. */
  const complaints = () => firefox.errors.filter((text) => !text.includes('/favicon.ico'));

  test('a mailbox is moved to Yahoo, and its page follows it to the end', async () => {
    const subscriber = await begin(0);
    await page.press('Go to Yahoo Mail');
    await page.press('Continue');
    await page.says('Sandbox: Yahoo sign-in');
    await fillSignIn(subscriber);
    await page.press('Agree');
    await page.at(/\/start-migration$/);
    await page.fill('Notification email or phone number', 'maria@mail.example');
    await page.press('Move');
    await openStatus();
    await page.says('We compared both sides: no message is missing, duplicated or changed.');
    expect(await paper()).toMatch(new RegExp(`From\\s+${subscriber.email}\\s`));
    await page.press('Set up your phone and computer');
    await page.says('Set up Yahoo Mail on your phone and computer');
    expect(await paper()).toContain('imap.mail.yahoo.com');
    await page.press('Sign out');
    await page.says('You are signed out');
    expect(complaints()).toEqual([]);
  });

  test('a mailbox is downloaded as files', async () => {
    await begin(1);
    await page.press('Check other options to export your data');
    await page.press('Download');
    await page.says('Download as files');
    await page.press('Download');
    await page.at(/\/start-migration$/);
    await page.fill('Notification email', 'tom@mail.example');
    await page.press('Download');
    const id = await openStatus();
    const answer = await fetch(`${product.url}/api/v2/status/?job_id=${id}`);
    expect(await answer.json()).toMatchObject({ files: 'there' });
    await page.press('Download San Bruno mail …');
    await expect.poll(arrived, WITHIN).not.toBeNull();
    const digest = createHash('sha256')
      .update((await arrived()) ?? '')
      .digest('hex');
    await page.press('Checksum (SHA-256)');
    await page.says(digest);
    expect(complaints()).toEqual([]);
  });

  test('Back from the privacy policy leads to where the visitor was, who is still signed in', async () => {
    await begin(2);
    await page.press('Privacy policy');
    await page.at(/\/privacy$/);
    await page.goBack();
    await page.at(/\/destination-account$/);
    await page.says('You keep your email address');
    await page.says('Sign out');
    expect(complaints()).toEqual([]);
  });
});
