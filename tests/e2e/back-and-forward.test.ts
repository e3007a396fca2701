import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { IS_PROOF, sampleOf } from '../folders.ts';
import {
  enter,
  pagesElsewhere,
  type SessionName,
  SUBSCRIBER,
  TRANSFER_ID,
  type Wire,
} from '../support/portal-alone.ts';
import { needs } from '../support/needs.ts';
import { fillOther, fillSignIn, signIn } from './steps.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { stopTheClock } from './stop-the-clock.ts';

const TOOL = 'San Bruno Email Data Transfer Tool';
const ROUNDS = IS_PROOF ? 2 : 1;

/** A page, what is done on it, and the page that it leads to: Back and Forward go between the two. */
type Way = readonly [SessionName, string, string, (page: Page) => Promise<void>, string, string];
const press = (name: string) => (on: Page) => on.getByRole('button', { name, exact: true }).click();
const follow = (name: string | RegExp) => (on: Page) => on.getByRole('link', { name, exact: true }).click();
const choose = (name: string) => async (on: Page) => {
  await press('Check other options to export your data')(on);
  await press(name)(on);
};
const DESTINATION = ['/destination-account', 'Move your mailbox to Yahoo Mail'] as const;
const OTHER = ['/destination-account?way=other', 'Another provider'] as const;
const DOWNLOAD = ['/destination-account?way=download', 'Download as files'] as const;
const STATUS = [`/status?migration_id=${TRANSFER_ID}`, 'Your transfer'] as const;
const WAYS: readonly Way[] = [
  ['nobody', '/', TOOL, follow('Contact support'), '/support-form', 'Contact support'],
  ['nobody', '/support-form', 'Contact support', follow('Home'), '/', TOOL],
  ['signedIn', ...DESTINATION, choose('Gmail'), '/accept-google-terms', 'Before you go to Google'],
  ['signedIn', ...DESTINATION, choose('Other'), ...OTHER],
  ['signedIn', ...DESTINATION, choose('Download'), ...DOWNLOAD],
  ['signedIn', ...DOWNLOAD, press('Back'), ...DESTINATION],
  ['signedIn', ...DESTINATION, follow('Contact support'), '/support-form', 'Contact support'],
  [
    'signedIn',
    ...OTHER,
    (on) => fillOther(on, { email: 'maria@mail.example', password: 'sandbox' }),
    '/start-migration',
    'Transfer your data',
  ],
  [
    'signedIn',
    ...DOWNLOAD,
    async (on) => {
      await on.getByLabel('Email format').selectOption('eml');
      await on.getByLabel('Contacts format').selectOption('csv');
      await on.getByRole('form').getByRole('button', { name: 'Download', exact: true }).click();
    },
    '/start-migration',
    'Transfer your data',
  ],
  ['signedIn', '/accept-google-terms', 'Before you go to Google', press('Back'), ...DESTINATION],
  [
    'gmailWithoutTerms',
    '/accept-google-terms',
    'Before you go to Google',
    press('Accept'),
    '/start-migration',
    'Transfer your data',
  ],
  ['signedIn', '/check-email-scopes', 'We need both permissions', press('Next'), ...DESTINATION],
  ['gmail', '/start-migration', 'Transfer your data', press('Back'), ...DESTINATION],
  [
    'gmail',
    `/complete?migration_id=${TRANSFER_ID}`,
    "We're moving your email data!",
    follow('Check progress'),
    ...STATUS,
  ],
  ['status', '/status-from-email', 'Your transfers', follow(/^See its status/), ...STATUS],
  ['nobody', ...STATUS, follow('contact support'), '/support-form', 'Contact support'],
  ['nobody', '/status', 'Your transfer', follow('Go to Home'), '/', TOOL],
];

describe('Back and Forward, in Chromium (needs chromium)', needs('chromium'), () => {
  let page: Page;
  let wire: Wire;
  const { portal, arrive } = portalInChromium({}, (opened) => {
    ({ page, wire } = opened);
  });

  const source = () => page.evaluate(() => sessionStorage.getItem('srcAccount'));
  const standsAt = async (address: string, heading: string) => {
    await page.waitForURL(`${portal.url}${address}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };

  test.each(sampleOf(WAYS, 2))(
    'with "%s" Back and Forward go between %s (%s) and where it leads',
    { tags: 'sampled' },
    async (...way) => {
      const [session, from, heading, act, to, next] = way;
      await enter(page, portal.url, from, session);
      await standsAt(from, heading);
      const kept = await source();
      await act(page);
      await standsAt(to, next);
      for (let round = 0; round < ROUNDS; round += 1) {
        await page.goBack();
        await standsAt(from, heading);
        await page.goForward();
        await standsAt(to, next);
      }
      const home = from === '/' || to === '/';
      expect(await source()).toBe(home ? null : kept);
      expect(wire.asked.filter(({ path }) => /load|create-account|set-migration|support-form/.test(path))).toEqual([]);
      await page.reload();
      await standsAt(to, next);
    },
  );

  test.each([
    ['Privacy policy', '/privacy'],
    ['Terms of service', '/terms'],
  ])('one Back from "%s" leads to where the visitor was, with what was typed', async (name, to) => {
    await pagesElsewhere(page);
    await page.clock.install();
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await follow(name)(page);
    await page.waitForURL(`https://www.sanbrunocable.example${to}`);
    await page.goBack();
    await standsAt('/start-migration', 'Transfer your data');
    expect(await page.getByLabel('Notification email').inputValue()).toBe('maria@mail.example');
    // Nor does it lead away again by itself.
    await page.clock.runFor(1_000);
    await standsAt('/start-migration', 'Transfer your data');
  });

  test('a page that is left stays as it was until the next one is there', async () => {
    await page.addInitScript(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        const isOpen = document.querySelector('[aria-expanded=true]') !== null;
        const step = document.querySelector('.steps [aria-current]')?.textContent ?? 'none';
        const heading = document.querySelector('#main h1')?.textContent;
        seen.push(`${heading}, step ${step}${isOpen ? ', opened' : ''}`);
      }).observe(document, { attributes: true, childList: true, subtree: true });
    });
    const seen = () => page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    await arrive('/destination-account', 'signedIn');
    await follow('Contact support')(page);
    await standsAt('/support-form', 'Contact support');
    expect((await seen()).filter((what) => what.endsWith('opened'))).toEqual([]);
    const steps = (await seen())
      .filter((what) => what.startsWith('Move your mailbox'))
      .map((what) => what.split(', ')[1]);
    expect(new Set(steps)).toEqual(new Set(['step Yahoo Mail']));
    await arrive(OTHER[0], 'signedIn');
    await fillOther(page, { email: 'maria@mail.example', password: 'sandbox' });
    await standsAt('/start-migration', 'Transfer your data');
    const headings = (await seen())
      .map((what) => what.split(', ')[0])
      .filter((what) => what !== 'undefined' && what !== TOOL);
    expect(new Set(headings)).toEqual(new Set(['Another provider', 'Transfer your data']));
    await page.clock.install();
    await stopTheClock(page);
    await arrive('/privacy-policy');
    await page.getByRole('link', { name: 'Contact support' }).press('Enter');
    await standsAt('/support-form', 'Contact support');
    expect((await seen()).filter((what) => what.startsWith('Terms'))).toEqual([]);
  });

  test('Back leads to where the visitor was on the page, and the page that is left does not move', async () => {
    const at = () => page.evaluate(() => scrollY);
    await page.setViewportSize({ width: 360, height: 640 });
    await arrive('/');
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    const below = await at();
    await follow('Contact support')(page);
    await standsAt('/support-form', 'Contact support');
    expect(await at()).toBe(0);
    await page.evaluate(async () => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      // What was scrolled before is told before the next frame.
      await new Promise(requestAnimationFrame);
      addEventListener('scroll', () => seen.push(document.title));
    });
    await page.goBack();
    await standsAt('/', TOOL);
    await expect.poll(at).toBe(below);
    await expect.poll(() => page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)).toEqual([TOOL]);
  });

  const SUPPORT = ['/support-form', 'Contact support'] as const;
  test.each([
    ['nobody', ...SUPPORT, follow('Home'), '/', TOOL, press('check your transfer status')],
    [
      'signedIn',
      '/check-email-scopes',
      'We need both permissions',
      press('Next'),
      ...DESTINATION,
      press('Go to Yahoo Mail'),
    ],
    [
      'gmailWithoutTerms',
      '/accept-google-terms',
      'Before you go to Google',
      press('Accept'),
      '/start-migration',
      'Transfer your data',
      follow('Home'),
    ],
  ] as const)('with "%s", who came from %s (%s): Back closes a dialog, and leaves no trace', async (...way) => {
    const [session, from, heading, act, at, title, open] = way;
    await arrive(from, session);
    await act(page);
    await standsAt(at, title);
    const places = await page.evaluate(() => history.length);
    const dialog = page.getByRole('dialog');
    await open(page);
    await dialog.waitFor();
    // Unlike `page.goBack`, this waits for no other page.
    await page.evaluate(() => history.back());
    await dialog.waitFor({ state: 'detached' });
    await standsAt(at, title);
    expect(await page.evaluate(() => history.length)).toBe(places);
    await page.reload();
    await standsAt(at, title);
    expect(await dialog.count()).toBe(0);
    await page.goBack();
    await standsAt(from, heading);
    await page.goForward();
    await standsAt(at, title);
    expect(await dialog.count()).toBe(0);
  });

  test.each([
    ['nobody', '/', TOOL, press('Start')],
    ['signedIn', ...DESTINATION, press('Go to Yahoo Mail')],
    ['gmail', '/start-migration', 'Transfer your data', follow('Home')],
  ] as const)('with "%s", whose first view is %s (%s): Back closes a dialog and stays', async (...way) => {
    const [session, at, title, open] = way;
    await arrive(at, session);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    const dialog = page.getByRole('dialog');
    const closeBy = [() => page.evaluate(() => history.back()), () => page.keyboard.press('Escape')];
    for (const close of closeBy) {
      await open(page);
      await dialog.waitFor();
      await close();
      await dialog.waitFor({ state: 'detached' });
      await standsAt(at, title);
    }
    // Nothing of it is left for Back to leave.
    await page.evaluate(() => history.back());
    await page.waitForURL(`${portal.url}/nothing.txt`);
    expect(await dialog.count()).toBe(0);
  });

  test('where a dialog of the first view leads on, one Back leads back to it, and nothing fades as it closes', async () => {
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await arrive('/');
    await page.evaluate(() => {
      const start = document.startViewTransition.bind(document);
      Object.assign(globalThis, { fades: 0 });
      document.startViewTransition = (update) => {
        (globalThis as unknown as { fades: number }).fades += 1;
        return start(update);
      };
    });
    const places = await page.evaluate(() => history.length);
    await press('Start')(page);
    await page.getByRole('dialog').waitFor();
    await page.evaluate(() => history.back());
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await signIn(page, SUBSCRIBER);
    await standsAt(...DESTINATION);
    expect(await page.evaluate(() => [(globalThis as unknown as { fades: number }).fades, history.length])).toEqual([
      1,
      places + 1,
    ]);
    await page.goBack();
    await standsAt('/', TOOL);
  });

  test('Forward leaves a dialog as well, with what was typed there', async () => {
    await arrive(SUPPORT[0]);
    await follow('Home')(page);
    await standsAt('/', TOOL);
    await follow('Contact support')(page);
    await standsAt(...SUPPORT);
    await page.goBack();
    await fillSignIn(page, SUBSCRIBER);
    await page.goForward();
    await standsAt(...SUPPORT);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goBack();
    await press('Start')(page);
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('');
  });

  test('Back just after the sign-in leads on as well, and the next one to the page before', async () => {
    await page.clock.install();
    await arrive(SUPPORT[0]);
    await follow('Home')(page);
    await standsAt('/', TOOL);
    const submit = await fillSignIn(page, SUBSCRIBER);
    await stopTheClock(page);
    await submit.click();
    await page.getByText('You are signed in.').waitFor();
    await page.evaluate(() => history.back());
    await standsAt(...DESTINATION);
    await page.goBack();
    await standsAt(...SUPPORT);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('Back from what stands in for a page that is unavailable leads to that page, and nothing is forgotten', async () => {
    await arrive('/check-email-scopes', 'signedIn');
    await press('Next')(page);
    await standsAt(...DESTINATION);
    const kept = await source();
    wire.answer('/api/v2/san-bruno-create-account/', { status: 503, json: {} });
    await press('Go to Yahoo Mail')(page);
    await press('Continue')(page);
    await standsAt(DESTINATION[0], "We'll be back soon");
    await page.evaluate(() => history.back());
    await standsAt(...DESTINATION);
    expect(await source()).toBe(kept);
    await page.goBack();
    await standsAt('/check-email-scopes', 'We need both permissions');
  });

  test('Back while the page of a provider does not come leads to the other ways, and nothing is forgotten', async () => {
    await arrive('/check-email-scopes', 'signedIn');
    await press('Next')(page);
    await standsAt(...DESTINATION);
    const kept = await source();
    // The browser stays where it is, as when its Stop is pressed.
    await page.route('**/api/oauth/**', (route) => route.fulfill({ status: 204 }));
    await choose('Outlook')(page);
    await page.getByText('One moment, please…').waitFor();
    await page.evaluate(() => history.back());
    await page.getByText('One moment, please…').waitFor({ state: 'detached' });
    await standsAt(...DESTINATION);
    expect(await page.getByRole('button', { name: 'Outlook', exact: true }).isVisible()).toBe(true);
    expect(await source()).toBe(kept);
  });

  test('who skips to the content goes Back to the page before', async () => {
    await arrive('/');
    await follow('Contact support')(page);
    await standsAt('/support-form', 'Contact support');
    await page.getByRole('link', { name: 'Skip to the page' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await standsAt('/support-form', 'Contact support');
    await page.goBack();
    await standsAt('/', TOOL);
  });

  test('Back from the form of another way finds the ways open', async () => {
    await arrive('/destination-account', 'signedIn');
    await choose('Other')(page);
    await standsAt(...OTHER);
    await page.goBack();
    await standsAt(...DESTINATION);
    expect(await page.getByRole('button', { name: 'Gmail', exact: true }).isVisible()).toBe(true);
  });

  test('Back from a transfer that was just ordered keeps its ID in sight', async () => {
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await page.getByRole('button', { name: 'Transfer', exact: true }).click();
    await standsAt(`/complete?migration_id=${TRANSFER_ID}`, "We're moving your email data!");
    await page.goBack();
    await page.getByRole('button', { name: 'Copy transfer ID' }).waitFor();
    await standsAt(`/complete?migration_id=${TRANSFER_ID}`, "We're moving your email data!");
    expect(await page.getByText(TRANSFER_ID).isVisible()).toBe(true);
  });
});
