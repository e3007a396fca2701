import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { FINISHED_EXPORT, type SessionName, SUBSCRIBER, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import { IS_PROOF, sampleOf } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { LIFE_SIGHTS, type Sight } from './life-sights.ts';
import { chooseOther, fillSupport, lookUpTransfer, signIn, startTransfer } from './steps.ts';
import { stopTheClock } from './stop-the-clock.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { isInSight } from './sight.ts';

const SCHEMES = [
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
] as const;
/** What `theme.css` makes of the browser's own size, and twice that. */
const [PLAIN, TWICE] = ['112.5%', '225%'];
const SIZES = [
  [1280, PLAIN],
  [320, PLAIN],
  [1280, TWICE],
] as const;
const NARROWEST = [320, TWICE] as const;
/** One for each sight, which it has by its number. */
const inTurn = <One>(all: readonly One[], number: number) => all.slice(number % all.length).slice(0, 1);
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const SMALLEST_TARGET_PX = 24;
const TOOL = 'San Bruno Email Data Transfer Tool';
const STATUS = `/status?migration_id=${TRANSFER_ID}`;
const UNAVAILABLE = 'The migration portal is unavailable at this time';

const options = (page: Page) => page.getByRole('button', { name: 'Check other options to export your data' }).click();
const option = (name: string) => async (page: Page) => {
  await options(page);
  await page.getByRole('button', { name, exact: true }).click();
};
const notice = (page: Page) => page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
const lookUp = (page: Page) => lookUpTransfer(page, TRANSFER_ID);
const goOn = async (page: Page) => {
  await notice(page);
  await page.getByRole('button', { name: 'Continue' }).click();
};
const writeToSupport = async (page: Page) => {
  await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
  await page.getByRole('button', { name: 'Send' }).click();
};
const skipped = [{ mailbox: 'INBOX', reason: 'The message is too large.', subject: 'Wedding' }];
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
  {
    name: 'the look-up that failed',
    at: '/',
    wire: (wire) => wire.answer('/api/v2/status/', { status: 500, json: {} }),
    act: lookUp,
    shows: 'Unknown error, please try again later!',
  },
  {
    name: 'the sign-in that takes long',
    at: '/',
    wire: (wire) => wire.answer('/api/validate/', 'silence'),
    act: async (page) => {
      // "Signing in…" stands there for two calls, of which only the second takes long.
      const asked = page.waitForRequest('**/api/validate/');
      await signIn(page, SUBSCRIBER);
      await asked;
      await page.clock.runFor(10_500);
    },
    shows: 'This is taking longer than usual…',
  },
  {
    name: 'Home without a line',
    at: '/',
    act: (page) => page.context().setOffline(true),
    shows: 'You are offline.',
  },
  {
    name: 'a page whose script is lost',
    at: '/',
    act: async (page) => {
      await page.route(/\/assets\/destination[^/]*\.js/, (route) => route.abort('connectionreset'));
      await signIn(page, SUBSCRIBER);
      await page.getByRole('button', { name: 'Try again' }).waitFor();
    },
    shows: UNAVAILABLE,
  },
  {
    name: 'a session whose script is lost',
    at: '/destination-account',
    session: 'signedIn',
    act: async (page) => {
      await page.route('**/assets/stored-session-*.js', (route) => route.abort('connectionreset'));
      await page.route('**/destination-account', (route) =>
        route.request().method() === 'HEAD' ? route.abort('connectionreset') : route.continue(),
      );
      await page.reload();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
    },
    shows: UNAVAILABLE,
  },
  { name: 'the way to the privacy policy', at: '/privacy-policy', shows: 'One moment, please…', passing: true },
  { name: 'the way to the terms of service', at: '/terms-of-service', shows: 'One moment, please…', passing: true },
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
    name: 'an account that is moving',
    at: '/destination-account',
    session: 'signedIn',
    wire: (wire) =>
      wire.answer('/api/v2/san-bruno-create-account/', {
        status: 409,
        json: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' },
      }),
    act: goOn,
    shows: 'Transfer is already in progress',
  },
  {
    name: 'an account that could not be made',
    at: '/destination-account',
    session: 'signedIn',
    wire: (wire) => wire.answer('/api/v2/san-bruno-create-account/', { status: 502, json: {} }),
    act: goOn,
    shows: 'An error has happened while setting up your Yahoo account',
  },
  {
    name: 'another provider that is not supported',
    at: '/destination-account',
    session: 'signedIn',
    wire: (wire) => wire.answer('/api/capabilities/', { status: 404, json: { error: 'PROVIDER_NOT_SUPPORTED' } }),
    act: async (page) => {
      await option('Other')(page);
      await page.getByLabel('Email', { exact: true }).fill('maria@mail.example');
    },
    shows: 'This provider is not supported.',
  },
  {
    name: 'another provider that signs in by OAuth',
    at: '/destination-account',
    session: 'signedIn',
    act: async (page) => {
      await option('Other')(page);
      await page.getByLabel('Email', { exact: true }).fill('maria@outlook.com');
    },
    shows: 'You will sign in at Outlook.',
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
    shows: 'We have not heard back',
  },
  { name: 'the running transfer', at: `/complete?migration_id=${TRANSFER_ID}`, session: 'gmail', shows: TRANSFER_ID },
  {
    name: 'the ID that could not be copied',
    at: `/complete?migration_id=${TRANSFER_ID}`,
    session: 'gmail',
    act: async (page) => {
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      });
      await page.getByRole('button', { name: 'Copy transfer ID' }).click();
    },
    shows: 'Your browser did not let us copy it.',
  },
  { name: 'the status', at: STATUS, shows: '3 of 12 messages' },
  {
    name: 'the status of a transfer that stopped',
    at: STATUS,
    wire: (wire) =>
      wire.answer('/api/v2/status/', {
        json: {
          emailmigration: { status: 'authentication_error', done: 3, total: 12, failure: 'The password is refused.' },
          contactsmigration: { status: 'error' },
        },
      }),
    shows: 'The password is refused.',
  },
  {
    name: 'the status of a transfer that left a message behind',
    at: STATUS,
    wire: (wire) =>
      wire.answer('/api/v2/status/', {
        json: {
          emailmigration: {
            status: 'completed',
            done: 11,
            total: 12,
            lost: 0,
            duplicated: 0,
            changed: 0,
            skipped,
            finished: '2025-11-01T09:00:00Z',
          },
        },
      }),
    act: (page) => page.locator('summary', { hasText: '1 message is not in your new mailbox' }).click(),
    shows: 'no other message is missing',
  },
  {
    name: 'the status that could not be fetched',
    at: STATUS,
    wire: (wire) => wire.answer('/api/v2/status/', { status: 500, json: {} }),
    shows: 'Your status has not been found',
  },
  {
    name: 'the export that could not be deleted',
    at: STATUS,
    wire: (wire) => {
      wire.answer('/api/v2/status/', FINISHED_EXPORT);
      wire.answer(`/api/exports/${TRANSFER_ID}/delete/`, { status: 500, json: {} });
    },
    act: async (page) => {
      await page.getByRole('button', { name: 'Delete my export now' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    },
    shows: 'The files could not be deleted',
  },
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
    name: 'the support form',
    at: '/support-form',
    act: (page) => page.getByLabel('Transfer ID').focus(),
    shows: 'To send, fill in',
  },
  { name: 'the letter that was sent', at: '/support-form', act: writeToSupport, shows: 'sent successfully' },
  {
    name: 'the letter that was not sent',
    at: '/support-form',
    wire: (wire) => wire.answer('/api/v2/support-form/', { status: 502, json: {} }),
    act: writeToSupport,
    shows: 'There was an error submitting your message',
  },
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
    shows: 'Looking up your transfer…',
  },
];

describe('for everybody, in Chromium (needs chromium)', needs('chromium'), () => {
  let context: BrowserContext;
  let page: Page;
  let wire: Wire;
  const { portal, arrive } = portalInChromium({ reducedMotion: 'reduce', clock: '2025-11-01T10:00:00Z' }, (opened) => {
    ({ context, page, wire } = opened);
  });
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
  /** Firefox has no paragraph for one that lays its parts out in a row: bare text there is passed over by Orca. */
  const bareTexts = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('p')]
        .filter((paragraph) => /flex|grid/.test(getComputedStyle(paragraph).display))
        .flatMap(({ childNodes }) => [...childNodes])
        .filter((node) => node.nodeType === Node.TEXT_NODE)
        .map(({ textContent }) => textContent),
    );
  const sideways = () =>
    page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return Math.max(0, scrollWidth - clientWidth);
    });
  const focused = () => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');

  const LOOKED_AT = [...SIGHTS, ...LIFE_SIGHTS];

  // The stories have every state of every page, and axe looks at each, light and dark.
  test.each((IS_PROOF ? LOOKED_AT : sampleOf(LOOKED_AT, 24)).map((sight, number) => ({ ...sight, number })))(
    '$name is found without fault, in the schemes and at the sizes that are its turn',
    { tags: 'sampled' },
    async (sight) => {
      sight.wire?.(wire);
      // What clears by itself stays as long as it is looked at.
      if (sight.passing) await stopTheClock(page);
      await arrive(sight.at, sight.session);
      await sight.act?.(page);
      await page.getByText(sight.shows).first().waitFor();
      if (!sight.passing) await stopTheClock(page);
      expect(await bareTexts()).toEqual([]);
      await page.evaluate(axe.source);
      for (const scheme of inTurn(SCHEMES, sight.number)) {
        await page.emulateMedia({ ...scheme, reducedMotion: 'reduce' });
        expect({ ...scheme, violations: await violations() }).toEqual({ ...scheme, violations: [] });
      }
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
      for (const [width, text] of [...(IS_PROOF ? SIZES : inTurn(SIZES, sight.number)), NARROWEST]) {
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate((size) => (document.documentElement.style.fontSize = size), text);
        expect({ width, text, sideways: await sideways() }).toEqual({ width, text, sideways: 0 });
        expect(await tooSmall()).toEqual([]);
      }
      const isShown = await page.getByText(sight.shows).first().isVisible();
      expect(isShown ? sight.shows : await page.locator('body').innerText()).toBe(sight.shows);
    },
  );

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
    await page.getByText('Looking up your transfer…').waitFor();
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
    await tabTo('Check progress');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/status?migration_id=*');
    await expect.poll(focused).toBe('Your transfer');
  });

  test('a download passes with the keyboard alone', async () => {
    await arrive('/destination-account', 'signedIn');
    const focusOn = (name: string) => page.getByRole('button', { name, exact: true }).focus();
    await focusOn('Check other options to export your data');
    await page.keyboard.press('Enter');
    await focusOn('Download');
    await page.keyboard.press('Space');
    const formats = page.getByRole('combobox');
    await formats.first().waitFor();
    await expect.poll(focused).toBe('Download as files');
    await page.keyboard.press('Tab');
    await page.keyboard.type('MBOX');
    await page.keyboard.press('Tab');
    await page.keyboard.type('CSV');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Transfer your data');
    await page.getByText('Messages and folders as MBOX, contacts as CSV').waitFor();
  });

  test('the focus is not lost with what had it: the button of a form, and a password that is not needed', async () => {
    await arrive('/destination-account', 'signedIn');
    await option('Other')(page);
    await expect.poll(focused).toBe('Another provider');
    await page.getByLabel('Email', { exact: true }).fill('maria@outlook.com');
    await page.getByLabel('Password', { exact: true }).focus();
    await page.getByText('You will sign in at Outlook.').waitFor();
    await expect.poll(focused).toBe("You will sign in at Outlook. We don't need your password here.");
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('Sign in');
  });

  /** Where a visitor comes from, what is done there, and the heading of the page that it leads to. */
  const PASSAGES: readonly (readonly [string, SessionName, string, (page: Page) => Promise<void>, string])[] = [
    ['Home', 'nobody', '/', (p) => p.getByRole('link', { name: 'Contact support' }).click(), 'Contact support'],
    ['support', 'nobody', '/support-form', (p) => p.getByRole('link', { name: 'Home', exact: true }).click(), TOOL],
    ['the choice of Gmail', 'signedIn', '/destination-account', option('Gmail'), 'Before you go to Google'],
    [
      'the scopes',
      'signedIn',
      '/check-email-scopes',
      (p) => p.getByRole('button', { name: 'Next' }).click(),
      'Move your mailbox to Yahoo Mail',
    ],
    ['another provider', 'signedIn', '/destination-account', other, 'Transfer your data'],
    [
      'the start',
      'other',
      '/start-migration',
      async (p) => {
        await startTransfer(p, 'maria.k@mail.example', 'Transfer');
      },
      "We're moving your email data!",
    ],
    [
      'the list',
      'status',
      '/status-from-email',
      (p) => p.getByRole('link', { name: 'See its status' }).click(),
      'Your transfer',
    ],
    ['the look-up', 'nobody', '/', lookUp, 'Your transfer'],
  ];

  test.each(sampleOf(PASSAGES, 3))(
    'from %s the focus goes to the heading of the next page, whose title it is',
    { tags: 'sampled' },
    async (...passage) => {
      const [, session, at, act, heading] = passage;
      await arrive(at, session);
      await act(page);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await expect.poll(focused).toBe(heading);
      const title = heading === TOOL ? TOOL : `${heading} – ${TOOL}`;
      // The status page's begins with how the transfer stands.
      await expect.poll(() => page.title()).toMatch(new RegExp(`^(?:25% – )?${title}$`));
    },
  );

  test.each([
    ["Google's terms", '/accept-google-terms', 'gmailWithoutTerms', 'Back'],
    ['the scopes', '/check-email-scopes', 'choosingGmail', 'Next'],
    ['the start', '/start-migration', 'other', 'Back'],
  ] as const)(
    'who comes back from %s has the other ways in sight, and the focus there',
    async (_, at, session, name) => {
      await page.setViewportSize({ width: 360, height: 740 });
      await arrive(at, session);
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(focused).toBe('Check other options to export your data');
      for (const way of ['Gmail', 'Download'])
        await expect.poll(() => isInSight(page.getByRole('button', { name: way, exact: true }))).toBe(true);
      // The second press of a double one is not taken by the way that is under the pointer now.
      const body = page.locator('.disclosure-body');
      expect(await body.evaluate((each) => getComputedStyle(each).animationName)).toBe('settle');
    },
  );

  test('who comes back from a provider without agreeing has the message in sight', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await arrive('/destination-account?error=EXTERNAL_OAUTH_ERROR', 'choosingGmail');
    const told = page.getByRole('alert').getByText('If you came back without agreeing, that is fine.');
    await expect.poll(() => isInSight(told)).toBe(true);
    await expect.poll(focused).toBe('Move your mailbox to Yahoo Mail');
  });

  test('the focus goes to the heading of the page that is unavailable, and back to that of the page', async () => {
    wire.answer('/api/v2/support-form/', { status: 503, json: {} });
    await arrive('/support-form');
    await writeToSupport(page);
    await expect.poll(focused).toBe("We'll be back soon");
    wire.reset();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('status').getByText('Your message has been sent successfully.').waitFor();
    await expect.poll(focused).toBe('We have your message');
  });

  test.each([
    [
      'the sign-in',
      '/',
      'nobody',
      (p: Page) => p.getByRole('button', { name: 'Start', exact: true }).click(),
      'current-password',
    ],
    ['another provider', '/destination-account', 'signedIn', option('Other'), 'off'],
  ] as const)('a password for %s can be shown, hidden and pasted', async (_, at, session, open, autocomplete) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await arrive(at, session);
    await open(page);
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
    expect(await field.getAttribute('autocomplete')).toBe(autocomplete);
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
    await expect.poll(() => look(767)).toEqual({ summary: true, wholeWidth: true, left: 0, go: 767 - 2 * 16 });
    await expect.poll(() => look(768)).toMatchObject({ summary: false, wholeWidth: false });
    const desk = await look(768);
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
