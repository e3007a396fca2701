import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Firefox, type FirefoxPage, openFirefox } from '../support/firefox.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { type Product, startProductOnPostgres } from '../support/product.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const WITHIN = { timeout: 60_000 };
const WALTER = { email: 'walter@mail.example', password: 'sandbox' };
const NEW_PASSWORD = 'spring-2026';
const MESSAGES = 400;
/** So many are let through before the password changes. */
const SOME_MESSAGES = 40;
/** The key, as WebDriver writes it. */
const TAB = '\uE004';

describe('the product in Firefox (needs firefox and pdftotext)', needs('firefox', 'pdftotext'), () => {
  let product: Product;
  let firefox: Firefox;
  let page: FirefoxPage;

  beforeAll(async () => {
    product = await startProductOnPostgres({ TRUSTED_MAIL_HOSTS: '127.0.0.1,imap.mail.example' });
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
  /** The file that was downloaded. Until it is there, an empty one keeps its place, with a part beside it or alone. */
  const arrived = async () => {
    const [name, ...others] = await readdir(firefox.downloads);
    if (name === undefined || name.endsWith('.part') || others.length > 0) return null;
    const file = await readFile(join(firefox.downloads, name));
    return file.length > 0 ? file : null;
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
    // Firefox prints nothing of a page while it fades in.
    await expect.poll(paper, WITHIN).toContain('imap.mail.yahoo.com');
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

  /** Walter's mailbox, by a line that lets some messages through and then holds. */
  const openWalters = async () => {
    const { 'mail legacy': legacy = 0, 'mail other': port = 0 } = await product.ports();
    const opened = Promise.withResolvers<void>();
    let password = WALTER.password;
    let appends = 0;
    const line = await startTcpProxy(port, {
      change: async (direction, part) => {
        const text = part.toString('latin1');
        if (direction === 'to client')
          return Buffer.from(text.replaceAll(/ LITERAL[+-]| MULTIAPPEND| AUTH=PLAIN/g, ''), 'latin1');
        if (/^\S+ APPEND /m.test(text) && (appends += 1) > SOME_MESSAGES) await opened.promise;
        const unlocked = text.replaceAll(/(?<= LOGIN \S+ )\S+/g, (given) =>
          given.replaceAll('"', '') === password ? WALTER.password : 'refused',
        );
        return Buffer.from(unlocked, 'latin1');
      },
    });
    /** How many messages are there. */
    const held = async () => {
      await using client = await openMailClient(port, WALTER.email, WALTER.password);
      let count = 0;
      for (const each of await client.mailboxes()) count += (await client.read(each)).length;
      return count;
    };
    return {
      host: `imap.mail.example:${line.port}`,
      /** Whoever is in is put out, and nothing is held any more. */
      changePassword: () => {
        password = NEW_PASSWORD;
        line.resetAll();
        opened.resolve();
      },
      held,
      /** Nothing is under way any more: what nobody knows the outcome of would not be taken back. */
      isHeld: async () => {
        const before = await held();
        return before > SOME_MESSAGES / 2 && before === (await held());
      },
      difference: ({ email, password: secret }: Product['subscribers'][number]) =>
        differenceOf(
          { port: legacy, user: email, password: secret },
          { port, user: WALTER.email, password: WALTER.password },
          (mailbox) => mailbox.replaceAll('/', '.'),
        ),
      [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
    };
  };

  test('a transfer that a new password has stopped is put right, finished and taken back', async () => {
    await using walters = await openWalters();
    const subscriber = await begin(0);
    await page.press('Check other options to export your data');
    await page.press('Other');
    await page.fill('Email', WALTER.email);
    await page.fill('Password', WALTER.password);
    await page.press('Use a custom IMAP host');
    await page.fill('IMAP host', `${walters.host}${TAB}`);
    await page.says('We found this server.');
    await page.press('Sign in');
    await page.fill('Notification email', 'maria@mail.example');
    await page.press('Transfer');
    await page.press('Check progress');

    await expect.poll(walters.isHeld, WITHIN).toBe(true);
    walters.changePassword();
    await page.says("We can't sign in to your new mailbox");
    expect(await walters.held()).toBeLessThanOrEqual(SOME_MESSAGES);
    await page.press('Put it right');
    await page.fill('New mailbox password', NEW_PASSWORD);
    await page.press('Carry on');
    await page.says('Your transfer is done');
    expect(await walters.difference(subscriber)).toEqual({
      messages: MESSAGES,
      lost: [],
      duplicated: [],
      changed: [],
    });

    await page.press('Take back what was copied');
    await page.press('Take it back');
    await page.fill('New mailbox password', NEW_PASSWORD);
    await page.press('Take it back');
    await page.says(`${MESSAGES} messages taken back from your new mailbox.`);
    // The folders that it made are gone only then, perhaps while they are looked into.
    await expect.poll(walters.held, WITHIN).toBe(0);
    expect(complaints()).toEqual([]);
  });
});
