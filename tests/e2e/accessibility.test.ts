import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHROMIUM, openBrowser } from '../support/browser.ts';
import {
  enter,
  FINISHED_EXPORT,
  type PortalAlone,
  scriptWire,
  servePortalAlone,
  type SessionName,
  SUBSCRIBER,
  TRANSFER_ID,
  type Wire,
} from '../support/portal-alone.ts';
import { chooseOther, signIn } from './steps.ts';

const SCHEMES = [
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
] as const;
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const SMALLEST_TARGET_PX = 24;
const STATUS = `/status?migration_id=${TRANSFER_ID}`;
const UNAVAILABLE = 'The migration portal is unavailable at this time';

/** Something to look at: where it is, and how it comes about. */
type Sight = {
  readonly name: string;
  readonly at: string;
  readonly session?: SessionName;
  readonly wire?: (wire: Wire) => void;
  readonly act?: (page: Page) => Promise<void>;
  readonly shows: string;
};

const options = (page: Page) => page.getByRole('button', { name: 'Check other options to export your data' }).click();
const option = (name: string) => async (page: Page) => {
  await options(page);
  await page.getByRole('button', { name, exact: true }).click();
};
const notice = (page: Page) => page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
const other = (page: Page) => chooseOther(page, { email: 'maria@mail.example', password: 'sandbox' });

const SIGHTS: readonly Sight[] = [
  { name: 'Home', at: '/', shows: 'Good to know before you start' },
  { name: 'Home with an error', at: '/?error=EXTERNAL_OAUTH_ERROR', shows: 'Authentication error' },
  {
    name: 'the sign-in',
    at: '/',
    act: (page) => page.getByRole('button', { name: 'Start', exact: true }).click(),
    shows: 'Sign in to get started',
  },
  {
    name: 'the sign-in with errors at its fields',
    at: '/',
    act: (page) => signIn(page, { email: 'maria', password: '' }),
    shows: 'Invalid password. Please try again.',
  },
  {
    name: 'the sign-in that is refused',
    at: '/',
    wire: (wire) => wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } }),
    act: (page) => signIn(page, SUBSCRIBER),
    shows: 'If you have already moved to Yahoo',
  },
  {
    name: 'the look-up with an error',
    at: '/',
    act: async (page) => {
      await page.getByText('check your transfer status').click();
      await page.getByRole('button', { name: 'Check status' }).click();
    },
    shows: 'Invalid migration ID',
  },
  { name: 'the destination', at: '/destination-account', session: 'signedIn', shows: 'You keep your email address' },
  {
    name: 'the destination with an error',
    at: '/destination-account?error=INVALID_EMAIL',
    session: 'signedIn',
    shows: 'Please, use your San Bruno credentials to login into Yahoo.',
  },
  { name: 'the notice', at: '/destination-account', session: 'signedIn', act: notice, shows: 'Important notice' },
  {
    name: 'an account that has moved',
    at: '/destination-account',
    session: 'signedIn',
    wire: (wire) =>
      wire.answer('/api/v2/san-bruno-create-account/', {
        status: 409,
        json: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED' },
      }),
    act: async (page) => {
      await notice(page);
      await page.getByRole('button', { name: 'Continue' }).click();
    },
    shows: 'Transfer is already completed',
  },
  {
    name: 'the other ways',
    at: '/destination-account',
    session: 'signedIn',
    act: options,
    shows: 'Take your mail and contacts to another provider',
  },
  {
    name: 'another provider, refused',
    at: '/destination-account',
    session: 'signedIn',
    wire: (wire) => wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } }),
    act: other,
    shows: 'Incorrect credentials',
  },
  {
    name: 'another provider with a wrong host',
    at: '/destination-account',
    session: 'signedIn',
    act: async (page) => {
      await option('Other')(page);
      await page.getByLabel('Use a custom IMAP host').check();
      await page.getByLabel('IMAP host', { exact: true }).fill('no host');
      await page.getByLabel('IMAP host', { exact: true }).blur();
    },
    shows: 'Invalid IMAP. Please enter a valid IMAP address.',
  },
  {
    name: 'the download',
    at: '/destination-account',
    session: 'signedIn',
    act: option('Download'),
    shows: 'Download as files',
  },
  { name: "Google's terms", at: '/accept-google-terms', session: 'signedIn', shows: 'Before you go to Google' },
  { name: 'the missing scopes', at: '/check-email-scopes', session: 'signedIn', shows: 'We need both permissions' },
  { name: 'the start of the move', at: '/start-migration', session: 'move', shows: 'a US phone number' },
  {
    name: 'the start with a wrong contact',
    at: '/start-migration',
    session: 'move',
    act: (page) => page.getByLabel('Notification email').fill('555'),
    shows: 'Please, enter a valid phone number in the following format: XXX XXX XXXX',
  },
  {
    name: 'the start that failed',
    at: '/start-migration',
    session: 'gmail',
    wire: (wire) => wire.answer('/api/load/', { status: 500, json: {} }),
    act: async (page) => {
      await page.getByLabel('Notification email').fill('maria@mail.example');
      await page.getByText('We will write to').waitFor();
      await page.getByRole('button', { name: 'Transfer', exact: true }).click();
    },
    shows: 'Your transfer has not started',
  },
  { name: 'the running transfer', at: `/complete?migration_id=${TRANSFER_ID}`, session: 'gmail', shows: TRANSFER_ID },
  { name: 'the status', at: STATUS, shows: '3 of 12 messages' },
  {
    name: 'the status of a finished export',
    at: STATUS,
    wire: (wire) => wire.answer('/api/v2/status/', FINISHED_EXPORT),
    shows: 'Your export is now complete',
  },
  {
    name: 'the deletion of an export',
    at: STATUS,
    wire: (wire) => wire.answer('/api/v2/status/', FINISHED_EXPORT),
    act: (page) => page.getByRole('button', { name: 'Delete my export now' }).click(),
    shows: 'Delete these files?',
  },
  { name: 'a status that is not found', at: '/status', shows: 'Your transfer ID has not been found' },
  { name: 'the list of an address', at: '/status-from-email', session: 'status', shows: 'For older transfers' },
  { name: 'an empty list', at: '/status-from-email', shows: 'Your transfers have not been found' },
  {
    name: 'the support form with errors',
    at: '/support-form',
    act: async (page) => {
      await page.getByLabel('Contact email').fill('maria');
      await page.getByLabel('Transfer ID').fill('x');
      await page.getByLabel('San Bruno email').fill('maria@gmail.com');
    },
    shows: 'Please, enter a valid sanbrunocable.example email address.',
  },
  {
    name: 'the portal that is unavailable',
    at: STATUS,
    wire: (wire) => wire.answer('/api/v2/status/', { status: 503, json: {} }),
    shows: UNAVAILABLE,
  },
  {
    name: 'a page that waits',
    at: STATUS,
    wire: (wire) => wire.answer('/api/v2/status/', 'silence'),
    shows: 'We look up your transfer…',
  },
];

describe.skipIf(CHROMIUM === null)('for everybody, in Chromium (needs chromium)', () => {
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

  const arrive = (path: string, session: SessionName = 'nobody') => enter(page, portal.url, path, session);
  const violations = async () => {
    const run = page.evaluate(
      (tags) => (globalThis as unknown as { axe: typeof axe }).axe.run(document, { runOnly: tags }),
      WCAG,
    );
    // It waits by the page's own clock, which stands still.
    const turn = () => page.clock.runFor(1).then(() => 'running');
    while ((await Promise.race([run.then(() => 'done'), turn()])) === 'running');
    const { violations: found } = await run;
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ')}`);
  };
  const tooSmall = () =>
    page.evaluate(
      (least) =>
        [...document.querySelectorAll<HTMLElement>('button, input, select, textarea, a, summary, [tabindex="0"]')]
          .filter((target) => target.closest('dialog') !== null || document.querySelector('dialog[open]') === null)
          .filter((target) => target.checkVisibility({ visibilityProperty: true }) && target.className !== 'skip')
          // WCAG 2.2, 2.5.8: a target within a sentence, and one whose label is part of it.
          .filter((target) => !(target.parentElement?.matches('p') && getComputedStyle(target).display === 'inline'))
          .map((target) => ({ target: target.closest('label') ?? target, html: target.outerHTML.slice(0, 90) }))
          .filter(({ target }) => {
            const { width, height } = target.getBoundingClientRect();
            return width < least || height < least;
          })
          .map(({ html }) => html),
      SMALLEST_TARGET_PX,
    );
  const sideways = () =>
    page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return Math.max(0, scrollWidth - clientWidth);
    });
  const focused = () => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');

  test.each(SIGHTS)('$name is found without fault, in every scheme and at every size', async (sight) => {
    sight.wire?.(wire);
    // What clears by itself stays as long as it is looked at.
    await page.clock.install({ time: '2025-11-01T10:00:00Z' });
    await arrive(sight.at, sight.session);
    await sight.act?.(page);
    await page.getByText(sight.shows).first().waitFor();
    await page.clock.pauseAt(new Date((await page.evaluate(() => Date.now())) + 1_000));
    await page.evaluate(axe.source);
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ ...scheme, reducedMotion: 'reduce' });
      expect({ ...scheme, violations: await violations() }).toEqual({ ...scheme, violations: [] });
    }
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
    for (const [width, text] of [
      [1280, '100%'],
      [320, '100%'],
      [1280, '200%'],
      [320, '200%'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate((size) => (document.documentElement.style.fontSize = size), text);
      expect({ width, text, sideways: await sideways() }).toEqual({ width, text, sideways: 0 });
      expect(await tooSmall()).toEqual([]);
    }
    expect(await page.getByText(sight.shows).first().isVisible()).toBe(true);
  });

  test('with less motion nothing moves, but for what is being waited for', async () => {
    wire.answer('/api/v2/status/', 'silence');
    await arrive(STATUS);
    const moving = () =>
      page.evaluate(() =>
        document
          .getAnimations()
          .filter(({ playState, effect }) => {
            const { duration = 0 } = effect?.getComputedTiming() ?? {};
            return playState === 'running' && Number(duration) > 1;
          })
          .filter(
            ({ effect }) =>
              effect instanceof KeyframeEffect && effect.getKeyframes().some((frame) => 'transform' in frame),
          ),
      );
    await page.getByText('We look up your transfer…').waitFor();
    expect(await moving()).toEqual([]);
    await arrive('/');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    expect(await moving()).toEqual([]);
  });

  test('the focus goes into each modal, and back to what opened it, by Escape, by its button and by its background', async () => {
    await arrive('/');
    const start = page.getByRole('button', { name: 'Start', exact: true });
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Close' }).click(),
      () => page.mouse.click(5, 5),
    ]) {
      await start.click();
      const email = page.getByRole('dialog').getByLabel('Email', { exact: true });
      await expect.poll(() => email.evaluate((field) => field === document.activeElement)).toBe(true);
      await close();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(focused).toBe('Start');
    }
    await page.getByText('check your transfer status').click();
    await page.getByRole('dialog').getByLabel('Transfer ID').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('check your transfer status');
  });

  test('the focus stays within an open modal, and what is behind it cannot be reached', async () => {
    await arrive('/destination-account', 'signedIn');
    await notice(page);
    await page.getByRole('dialog').waitFor();
    const seen = new Set<boolean>();
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press('Tab');
      seen.add(
        await page.evaluate(() => {
          const { activeElement } = document;
          return activeElement === document.body || activeElement?.closest('dialog') !== null;
        }),
      );
    }
    expect([...seen]).toEqual([true]);
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('Go to Yahoo Mail');
  });

  test('the whole move passes with the keyboard alone, and each new page has the focus at its heading', async () => {
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 40; presses += 1) {
        await page.keyboard.press('Tab');
        const found = await page.evaluate(() => {
          const element = document.activeElement as HTMLInputElement | null;
          return element?.labels?.[0]?.textContent.trim() ?? element?.textContent.trim() ?? '';
        });
        if (found.startsWith(name)) return;
      }
      throw new Error(`Tab never came to "${name}".`);
    };
    await page.goto(portal.url);
    await expect.poll(focused).toBe('San Bruno Email Data Transfer Tool');
    await tabTo('Start');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type(SUBSCRIBER.email);
    await tabTo('Password');
    await page.keyboard.type(SUBSCRIBER.password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/destination-account');
    await expect.poll(focused).toBe('Move your mailbox to Yahoo Mail');
    await tabTo('Go to Yahoo Mail');
    await page.keyboard.press('Space');
    await page.getByRole('dialog').waitFor();
    await tabTo('Continue');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/api/oauth/?provider=yahoo');
    await page.goto(`${portal.url}/oauth-callback?token_id=${TRANSFER_ID}&email=${SUBSCRIBER.email}`);
    await expect.poll(focused).toBe('Move your email account to Yahoo Mail');
    await tabTo('Notification email or phone number');
    await page.keyboard.type('650 253 0000');
    await page.getByText('We will send a text message to 650 253 0000.').waitFor();
    await tabTo('Move');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/complete?migration_id=*');
    await expect.poll(focused).toBe("We're moving your email data!");
    await tabTo('See how it goes');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/status?migration_id=*');
    await expect.poll(focused).toBe('Your transfer');
  });

  test('a password can be shown, hidden and pasted', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await arrive('/');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const field = page.getByLabel('Password', { exact: true });
    await field.focus();
    await page.evaluate(() => navigator.clipboard.writeText('garden-2005'));
    await page.keyboard.press('Control+V');
    expect(await field.inputValue()).toBe('garden-2005');
    expect(await field.getAttribute('type')).toBe('password');
    await page.getByRole('button', { name: 'Show password' }).click();
    expect(await field.getAttribute('type')).toBe('text');
    await page.getByRole('button', { name: 'Hide password' }).click();
    expect(await field.getAttribute('type')).toBe('password');
    expect(await field.getAttribute('autocomplete')).toBe('current-password');
  });

  test('at 767 px the layout is that of a phone, from 768 px on that of a desk', async () => {
    await arrive('/destination-account', 'signedIn');
    const summary = page.getByText('Step 2 of 4: Yahoo Mail');
    const go = page.getByRole('button', { name: 'Go to Yahoo Mail' });
    const look = async (width: number) => {
      await page.setViewportSize({ width, height: 800 });
      const [main, button] = [await page.getByRole('main').boundingBox(), await go.boundingBox()];
      return {
        summary: await summary.isVisible(),
        wholeWidth: main?.width === width,
        left: main?.x,
        go: button?.width,
      };
    };
    // A phone: a summary of the steps above the page, which has the whole width, as has the button.
    expect(await look(767)).toEqual({ summary: true, wholeWidth: true, left: 0, go: 767 - 2 * 16 });
    const desk = await look(768);
    expect(desk).toMatchObject({ summary: false, wholeWidth: false });
    expect(desk.left).toBeGreaterThan(200);
    expect(desk.go).toBeLessThan(400);
    const steps = page.getByRole('navigation', { name: 'Progress' }).getByRole('listitem');
    expect((await steps.allInnerTexts()).map((text) => text.trim())).toEqual([
      'Start',
      'Yahoo Mail',
      'Transfer',
      'Running',
    ]);
  });
});
