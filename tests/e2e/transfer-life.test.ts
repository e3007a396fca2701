import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import {
  enter,
  type PortalAlone,
  scriptWire,
  servePortalAlone,
  SUBSCRIBER,
  TRANSFER_ID,
  type Wire,
} from '../support/portal-alone.ts';
import {
  COMPARING,
  FORWARDED,
  FULL,
  movedTo,
  NEEDS_CONSENT,
  NEEDS_PASSWORD,
  RUNNING,
  STOPPED,
  WAITING,
} from './owned-transfer.ts';

const STATUS = `/status?migration_id=${TRANSFER_ID}`;
const NEW_ID = 'f'.repeat(32);
const TOKEN = 'a'.repeat(43);
const BACK = `/oauth-callback?${new URLSearchParams({ token_id: TOKEN, email: 'maria@gmail.com', provider: 'google' }).toString()}`;
const call = (name: string) => `/api/v2/transfers/${name}/`;
const OK = { json: { ok: true } };
const MOVED = movedTo('other');

/** A button of the status page, what its dialog asks, and what is sent in the end. */
type Walk = {
  readonly button: string;
  readonly status: TransferStatus;
  /** The fields of the dialog, each with what is typed there. */
  readonly fields: Readonly<Record<string, string>>;
  readonly confirm: string;
  readonly path: string;
  readonly sent: object;
  /** What the page says when it is done. */
  readonly said: string;
  readonly refused: string;
};

const WALKS: readonly Walk[] = [
  {
    button: 'Stop the transfer',
    status: RUNNING,
    fields: {},
    confirm: 'Stop it now',
    path: call('cancel'),
    sent: {},
    said: 'Your transfer is stopped',
    refused: 'Your transfer was not stopped',
  },
  {
    button: 'Put it right',
    status: NEEDS_PASSWORD,
    fields: { 'San Bruno password': 'new-secret' },
    confirm: 'Carry on',
    path: call('resume'),
    sent: { side: 'source', password: 'new-secret' },
    said: 'Thank you. We carry on now',
    refused: 'That did not work',
  },
  {
    button: 'Put it right',
    status: FULL,
    fields: {},
    confirm: 'Try again now',
    path: call('resume'),
    sent: { side: 'destination' },
    said: 'Thank you. We carry on now',
    refused: 'That did not work',
  },
  {
    button: 'Take back what was copied',
    status: STOPPED,
    fields: {},
    confirm: 'Take it back',
    path: call('take-back'),
    sent: {},
    said: 'We are taking it back',
    refused: 'Nothing was taken back',
  },
  {
    button: 'Copy what is new',
    status: MOVED,
    fields: { 'San Bruno password': SUBSCRIBER.password, 'New mailbox password': 'sandbox' },
    confirm: 'Start copying',
    path: call('again'),
    sent: { source_account: { password: SUBSCRIBER.password }, destination_account: { password: 'sandbox' } },
    said: NEW_ID,
    refused: 'That did not work',
  },
  {
    button: 'Stop forwarding',
    status: FORWARDED,
    fields: { 'San Bruno password': SUBSCRIBER.password },
    confirm: 'Turn it off',
    path: call('forwarding-off'),
    sent: { password: SUBSCRIBER.password },
    said: 'Forwarding is off',
    refused: 'Forwarding is still on',
  },
];

describe('the life of a transfer, in Chromium (needs chromium)', needs('chromium'), () => {
  let portal: PortalAlone;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let wire: Wire;

  beforeAll(async () => {
    portal = await servePortalAlone();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await portal?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    context = await browser.newContext({ reducedMotion: 'reduce' });
    page = await context.newPage();
    wire = await scriptWire(page);
  });
  afterEach(async () => {
    await context.close();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const inDialog = (name: string) => dialog().getByRole('button', { name, exact: true });
  const focused = () => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');
  const show = async (status: TransferStatus) => {
    wire.answer('/api/v2/status/', { json: status });
    await enter(page, portal.url, STATUS);
    await page.getByText(TRANSFER_ID).waitFor();
  };
  const open = async ({ button: name, status }: Pick<Walk, 'button' | 'status'>) => {
    await show(status);
    await button(name).click();
    await dialog().waitFor();
  };
  const fill = async ({ fields }: Walk) => {
    for (const [label, text] of Object.entries(fields)) await dialog().getByLabel(label, { exact: true }).fill(text);
  };

  test.each(WALKS)(
    '"$button" ("$confirm") asks, is given up by Escape, and is done once by its button',
    async (walk) => {
      wire.answer(walk.path, walk.button === 'Copy what is new' ? { json: { jobid: NEW_ID } } : OK);
      await open(walk);
      const [first] = Object.keys(walk.fields);
      const goal =
        first === undefined ? dialog().getByRole('heading', { level: 2 }) : dialog().getByLabel(first, { exact: true });
      await expect.poll(() => goal.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'detached' });
      await expect.poll(focused).toBe(walk.button);

      await page.keyboard.press('Enter');
      await dialog().waitFor();
      await fill(walk);
      expect(wire.askedFor(walk.path)).toEqual([]);
      await inDialog(walk.confirm).click();
      await page.getByText(walk.said).first().waitFor();
      await dialog().waitFor({ state: 'detached' });
      expect(wire.askedFor(walk.path).map(({ body }) => body)).toEqual([{ job_id: TRANSFER_ID, ...walk.sent }]);
      await expect.poll(focused).toMatch(/^Your transfer/);
    },
  );

  test.each(WALKS)('"$button" ("$confirm") that the server refuses says so in its dialog', async (walk) => {
    wire.answer(walk.path, { status: 502, json: { error: 'GENERAL_ERROR', message: '' } });
    await open(walk);
    await fill(walk);
    await inDialog(walk.confirm).click();
    await dialog().getByRole('alert').getByText(walk.refused).waitFor();
    expect(await dialog().evaluate((element) => element.contains(document.activeElement))).toBe(true);
    for (const label of Object.keys(walk.fields))
      expect(await dialog().getByLabel(label, { exact: true }).inputValue()).toBe('');
  });

  test.each(WALKS)('"$button" ("$confirm") that another tab was quicker with shows how it stands', async (walk) => {
    await open(walk);
    await fill(walk);
    wire.answer(walk.path, { status: 409, json: { error: 'OPERATION_NOT_ALLOWED', message: '' } });
    wire.answer('/api/v2/status/', { json: movedTo('google') });
    await inDialog(walk.confirm).click();
    await page.getByRole('alert').getByText('Something has changed').waitFor();
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
  });

  test.each(WALKS.filter(({ fields }) => Object.keys(fields).length > 0))(
    '"$button" ("$confirm") without a password leads the focus to its field',
    async (walk) => {
      await open(walk);
      await inDialog(walk.confirm).click();
      await dialog().getByText('Invalid password. Please try again.').waitFor();
      const [first = ''] = Object.keys(walk.fields);
      const field = dialog().getByLabel(first, { exact: true });
      await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
      await expect.poll(() => page.title()).toMatch(/^Error: /);
      expect(wire.askedFor(walk.path)).toEqual([]);
    },
  );

  test('a dialog is left by Back, and a reload shows the page without it', async () => {
    await show(MOVED);
    await page.getByRole('link', { name: 'Contact support' }).first().click();
    await page.waitForURL('**/support-form');
    await page.goBack();
    await button('Copy what is new').click();
    await dialog().getByLabel('San Bruno password', { exact: true }).fill('secret');
    await page.goForward();
    await page.waitForURL('**/support-form');
    await dialog().waitFor({ state: 'detached' });
    await page.goBack();
    await button('Copy what is new').click();
    expect(await dialog().getByLabel('San Bruno password', { exact: true }).inputValue()).toBe('');
    await page.reload();
    await button('Copy what is new').waitFor();
    expect(await dialog().count()).toBe(0);
  });

  test('a new sign-in at the provider comes back to this transfer and puts it right', async () => {
    await open({ button: 'Put it right', status: NEEDS_CONSENT });
    await inDialog('Sign in to Gmail').click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    expect(page.url()).toBe(`${portal.url}/api/oauth/?provider=google`);
    wire.answer(call('resume'), OK);
    await page.goto(`${portal.url}${BACK}`);
    await page.getByText('Thank you. We carry on now').waitFor();
    expect(page.url()).toBe(`${portal.url}${STATUS}`);
    expect(wire.askedFor(call('resume')).map(({ body }) => body)).toEqual([{ job_id: TRANSFER_ID, token_id: TOKEN }]);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(TOKEN);
  });

  test('a sign-in to another mailbox is refused, and offered again in its dialog', async () => {
    await open({ button: 'Put it right', status: NEEDS_CONSENT });
    await inDialog('Sign in to Gmail').click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    wire.answer(call('resume'), { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } });
    await page.goto(`${portal.url}${BACK}`);
    await dialog().getByRole('alert').getByText('check that it is the same mailbox').waitFor();
    await inDialog('Sign in to Gmail').waitFor();
  });

  test('a sign-in that was given up comes back to the dialog that it was begun in', async () => {
    await open({ button: 'Put it right', status: NEEDS_CONSENT });
    await inDialog('Sign in to Gmail').click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    await page.goto(`${portal.url}/oauth-callback?error=EXTERNAL_OAUTH_ERROR&provider=google`);
    await dialog().getByRole('alert').getByText('Authentication error', { exact: true }).waitFor();
    expect(wire.askedFor(call('resume'))).toEqual([]);
  });

  test('Back from the provider shows the transfer, and its return is not taken any more', async () => {
    await open({ button: 'Put it right', status: NEEDS_CONSENT });
    await inDialog('Sign in to Gmail').click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    await page.goBack();
    await button('Put it right').waitFor();
    await page.goto(`${portal.url}${BACK}`);
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
    expect(wire.askedFor(call('resume'))).toEqual([]);
  });

  test('what is new is copied to Gmail after a sign-in there and the San Bruno password', async () => {
    await open({ button: 'Copy what is new', status: movedTo('google') });
    expect(await dialog().getByLabel('San Bruno password').count()).toBe(0);
    await inDialog('Sign in to Gmail').click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    wire.answer(call('again'), { json: { jobid: NEW_ID } });
    await page.goto(`${portal.url}${BACK}`);
    await dialog().getByLabel('San Bruno password', { exact: true }).fill(SUBSCRIBER.password);
    await inDialog('Start copying').click();
    await page.waitForURL(`**/status?migration_id=${NEW_ID}`);
    expect(wire.askedFor(call('again')).map(({ body }) => body)).toEqual([
      {
        job_id: TRANSFER_ID,
        source_account: { password: SUBSCRIBER.password },
        destination_account: { token_id: TOKEN },
      },
    ]);
  });

  test('what was copied is taken back with the password that the server wants', async () => {
    wire.answer(call('take-back'), ({ body }) =>
      'password' in (body as object) ? OK : { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } },
    );
    await open({ button: 'Take back what was copied', status: STOPPED });
    await inDialog('Take it back').click();
    const field = dialog().getByLabel('New mailbox password', { exact: true });
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await field.fill('sandbox');
    await page.keyboard.press('Enter');
    await page.getByText('We are taking it back').waitFor();
    expect(wire.askedFor(call('take-back')).map(({ body }) => body)).toEqual([
      { job_id: TRANSFER_ID },
      { job_id: TRANSFER_ID, password: 'sandbox' },
    ]);
  });

  test('the receipt is there to read, and as two files', async () => {
    await open({ button: 'Download the receipt', status: MOVED });
    const links = await dialog()
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(
      ['html', 'csv', 'json'].map((format) => `/api/v2/transfers/receipt/?job_id=${TRANSFER_ID}&format=${format}`),
    );
  });

  test('who has shown nothing is offered nothing, and all of it after a sign-in', async () => {
    wire.answer('/api/v2/status/', ({ headers }) => ({
      json: headers['authorization'] === 'Bearer jwt' ? NEEDS_PASSWORD : { ...NEEDS_PASSWORD, limited: true },
    }));
    wire.answer('/api/validate/', { json: { ok: true, token: 'jwt' } });
    await enter(page, portal.url, STATUS);
    await button('Show more').waitFor();
    for (const name of ['Stop the transfer', 'Put it right', 'Download the receipt'])
      expect(await button(name).count()).toBe(0);
    await button('Show more').click();
    await dialog().getByLabel('Email', { exact: true }).fill(SUBSCRIBER.email);
    await dialog().getByLabel('Password', { exact: true }).fill(SUBSCRIBER.password);
    await inDialog('Sign in').click();
    for (const name of ['Stop the transfer', 'Put it right', 'Download the receipt']) await button(name).waitFor();
  });

  test('a transfer that runs says how far it is, folder by folder, and how long it still takes', async () => {
    await show(RUNNING);
    await page.getByText('300 of 1,000 messages').waitFor();
    await page.getByText('300 messages copied (4 MB).').waitFor();
    await page.getByText('About 20 minutes left.').waitFor();
    await page.getByText('Folder by folder').click();
    expect(await page.locator('.folders li').allInnerTexts()).toEqual([
      expect.stringMatching(/^INBOX\s+200 of 200$/),
      expect.stringMatching(/^Garden\s+100 of 800$/),
    ]);
  });

  test('the comparison is a step of its own rather than 100 %', async () => {
    await show(COMPARING);
    await page.getByText('Checking what arrived: 300 of 400').waitFor();
    expect(await page.getByText(/100\s?%/).count()).toBe(0);
    const bar = page.getByRole('progressbar', { name: 'Messages checked' });
    expect(await bar.evaluate((element) => (element as HTMLProgressElement).position)).toBe(0.75);
  });

  test('a transfer that waits says why, and one that was stopped what to do next', async () => {
    await show(WAITING);
    await page.getByText('The mail server is busy and has asked us to wait.').waitFor();
    await page.getByText("We'll carry on as soon as we can. You don't need to do anything.").waitFor();
    await show(STOPPED);
    await page.getByText('You stopped this transfer.').waitFor();
    await page.getByRole('link', { name: 'Start a new transfer' }).click();
    await page.getByRole('heading', { level: 1, name: 'San Bruno Email Data Transfer Tool' }).waitFor();
  });
});
