import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import {
  FINISHED_EXPORT,
  type PortalAlone,
  scriptWire,
  servePortalAlone,
  TRANSFER_ID,
} from '../support/portal-alone.ts';

const DONE = { status: 'completed', lost: 0, duplicated: 0, changed: 0, finished: '2025-11-01T10:00:00.000Z' };
const MOVED = { emailmigration: { ...DONE, done: 12, total: 12 }, contactsmigration: { ...DONE, done: 1, total: 1 } };

describe('the portal, in Chromium (needs chromium)', needs('chromium'), () => {
  let portal: PortalAlone;
  let browser: Browser;

  beforeAll(async () => {
    portal = await servePortalAlone();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await portal?.[Symbol.asyncDispose]();
  });

  async function open(status: unknown) {
    const page = await browser.newPage();
    const wire = await scriptWire(page);
    wire.answer('/api/v2/status/', { json: status });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    await page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
    return page;
  }

  test('a transfer that is done says so in title and steps, what arrived, that nothing is missing, and what is next', async () => {
    await using page = await open(MOVED);
    await expect.poll(() => page.title()).toMatch(/^Your transfer is done/);
    const steps = page.getByRole('navigation', { name: 'Progress' });
    expect(await steps.getByText('Running').count()).toBe(1);
    expect(await steps.getByLabel('Done').count()).toBe(4);
    await page.getByText('12 messages arrived.').waitFor();
    await page.getByText('1 contact arrived.').waitFor();
    await page.getByText('Nothing is missing, and nothing is there twice.').waitFor();
    await page.getByText('does not follow you to a new mailbox').waitFor();
    expect(await page.getByRole('link', { name: 'Open Yahoo Mail' }).getAttribute('href')).toMatch(/^https:/);
    await page.getByRole('button', { name: 'Print this page' }).waitFor();
  });

  test('an empty mailbox that is done has nothing to count', async () => {
    await using page = await open({ emailmigration: { ...DONE, done: 0, total: 0 } });
    await page.getByText('There were no messages to copy.').waitFor();
    expect(await page.getByText(/0 of 0|0\s?%/).count()).toBe(0);
  });

  test('an export offers its download first and its deletion last', async () => {
    await using page = await open(FINISHED_EXPORT.json);
    const main = page.getByRole('main');
    const names = await main.locator('a.button, button').allInnerTexts();
    expect(names.at(0)).toMatch(/^Download /);
    expect(names.at(-1)).toBe('Delete my export now');
  });

  test.each([
    ['is lost', {}, '.first-paint-late'],
    ['is turned off', { javaScriptEnabled: false }, 'noscript h2'],
  ] as const)('a page whose script %s has its title, the phone number and what to do', async (_how, options, place) => {
    await using context = await browser.newContext(options);
    await using page = await context.newPage();
    await page.route('**/*.js', (route) => route.abort());
    await page.goto(portal.url);
    await page.getByRole('heading', { level: 1, name: 'San Bruno Email Data Transfer Tool' }).waitFor();
    await page.locator(place).waitFor();
    expect(await page.getByText('650 555 0100').isVisible()).toBe(true);
  });

  test('an empty sign-in leads the focus to the email and puts "Error:" into the title until it is mended', async () => {
    await using page = await browser.newPage();
    await scriptWire(page);
    await page.goto(portal.url);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.title()).toBe('Error: San Bruno Email Data Transfer Tool');
    expect(await page.getByLabel('Email').evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.title()).toBe('San Bruno Email Data Transfer Tool');
  });
});
