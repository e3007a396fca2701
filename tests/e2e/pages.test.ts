import type { BrowserContext, Page, Request } from 'playwright';
import { afterEach, describe, expect, test } from 'vitest';
import { FINISHED_EXPORT, type SessionName, SUBSCRIBER, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import { sampleOf } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { eachOf } from './each-of.ts';
import { fillSupport, signIn, startTransfer } from './steps.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { stopTheClock } from './stop-the-clock.ts';

const TOOL = 'San Bruno Email Data Transfer Tool';
const HOME = ['/', TOOL, '1'] as const;
const KEYS = [
  'allowContactsMigration',
  'checkSanBrunoOnOauthCallback',
  'contactsExportType',
  'currentStep',
  'dstAccount',
  'emailExportType',
  'emailHash',
  'googleTermsAccepted',
  'jwt',
  'notificationContact',
  'operations',
  'srcAccount',
];

/** Who asks for what, and where they stand then: address, heading, `currentStep`. */
const VISITS: readonly (readonly [SessionName, string, string, string, string | null])[] = [
  ['nobody', '/', ...HOME],
  ['signedIn', '/', ...HOME],
  ['nobody', '/no-such-page', ...HOME],
  ['signedIn', '/destination-account/more', ...HOME],
  ['nobody', '/destination-account', ...HOME],
  ['signedIn', '/destination-account', '/destination-account', 'Move your mailbox to Yahoo Mail', '2'],
  ['signedIn', '/destination-account/', '/destination-account/', 'Move your mailbox to Yahoo Mail', '2'],
  ['nobody', '/start-migration', ...HOME],
  ['signedIn', '/start-migration', ...HOME],
  ['gmailWithoutTerms', '/start-migration', '/accept-google-terms', 'Before you go to Google', '2'],
  ['gmail', '/start-migration', '/start-migration', 'Transfer your data', '3'],
  ['move', '/start-migration', '/start-migration', 'Move your email account to Yahoo Mail', '3'],
  ['other', '/start-migration', '/start-migration', 'Transfer your data', '3'],
  ['download', '/start-migration', '/start-migration', 'Transfer your data', '3'],
  ['nobody', `/complete?migration_id=${TRANSFER_ID}`, ...HOME],
  ['signedIn', `/complete?migration_id=${TRANSFER_ID}`, ...HOME],
  ['gmail', '/complete', ...HOME],
  [
    'gmail',
    `/complete?migration_id=${TRANSFER_ID}`,
    `/complete?migration_id=${TRANSFER_ID}`,
    "We're moving your email data!",
    '4',
  ],
  [
    'download',
    `/complete?migration_id=${TRANSFER_ID}`,
    `/complete?migration_id=${TRANSFER_ID}`,
    "We're moving your email data!",
    '4',
  ],
  ['nobody', `/oauth-callback?token_id=${TRANSFER_ID}&email=maria@gmail.com`, ...HOME],
  [
    'choosingGmail',
    `/oauth-callback?token_id=${TRANSFER_ID}&email=Maria@Gmail.com`,
    '/start-migration',
    'Transfer your data',
    '3',
  ],
  [
    'gmail',
    '/oauth-callback?error=EXTERNAL_OAUTH_ERROR',
    '/destination-account?error=EXTERNAL_OAUTH_ERROR',
    'Move your mailbox to Yahoo Mail',
    '2',
  ],
  ['gmail', '/oauth-callback?error=MISSING_SCOPE', '/check-email-scopes', 'We need both permissions', '2'],
  [
    'choosingMove',
    `/oauth-callback?token_id=${TRANSFER_ID}&email=else@yahoo.example`,
    '/destination-account?error=INVALID_EMAIL',
    'Move your mailbox to Yahoo Mail',
    '2',
  ],
  [
    'gmail',
    '/oauth-callback?email=maria@gmail.com',
    '/destination-account?error=OTHER',
    'Move your mailbox to Yahoo Mail',
    '2',
  ],
  ['nobody', '/oauth-callback-for-status?error=EXTERNAL_OAUTH_ERROR', '/?error=EXTERNAL_OAUTH_ERROR', TOOL, '1'],
  ['nobody', `/oauth-callback-for-status?token_id=${TRANSFER_ID}`, '/?error=OTHER', TOOL, '1'],
  [
    'nobody',
    `/oauth-callback-for-status?token_id=${TRANSFER_ID}&email=maria@gmail.com&hash=${'b'.repeat(64)}`,
    '/status-from-email',
    'Your transfers',
    '4',
  ],
  ['nobody', '/accept-google-terms', ...HOME],
  ['signedIn', '/accept-google-terms', '/accept-google-terms', 'Before you go to Google', '2'],
  ['nobody', '/check-email-scopes', ...HOME],
  ['signedIn', '/check-email-scopes', '/check-email-scopes', 'We need both permissions', '2'],
  ['gmail', '/destination-account?error=MISSING_SCOPE', '/check-email-scopes', 'We need both permissions', '2'],
  ['nobody', `/status?migration_id=${TRANSFER_ID}`, `/status?migration_id=${TRANSFER_ID}`, 'Your transfer', '4'],
  ['nobody', '/status', '/status', 'Your transfer', '4'],
  ['nobody', '/status-from-email', '/status-from-email', 'Your transfers', '4'],
  ['status', '/status-from-email', '/status-from-email', 'Your transfers', '4'],
  ['nobody', '/support-form', '/support-form', 'Contact support', null],
];

/** Of a transfer that nobody knows it is not said that it runs. */
const NOT_FOUND = ['/status', '/status-from-email'];
const titleOf = (heading: string) => (heading === TOOL ? TOOL : `${heading} – ${TOOL}`);
const running = (done: number) => ({ emailmigration: { status: 'inprogress', done, total: 12 } });
const numbers = (done: number) => ({ ...running(done), limited: true });
const local = (length: number) => 'a'.repeat(length);
const long = (length: number) =>
  `${local(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(length - 65 - 122 - 8)}.example`;

/** What an address can is asked for as it is typed, and again once the line is back; the rest when a button is pressed. */
const isPressed = ({ path }: { readonly path: string }) => path !== '/api/capabilities/';

/** The errors that a browser throws where its storage is full or blocked. */
const full = () => {
  Storage.prototype.setItem = () => {
    throw new DOMException('full', 'QuotaExceededError');
  };
};
const blocked = () => {
  for (const kind of ['sessionStorage', 'localStorage'])
    Object.defineProperty(globalThis, kind, {
      get: () => {
        throw new DOMException('blocked', 'SecurityError');
      },
    });
};

describe('pages and what is kept, in Chromium (needs chromium)', needs('chromium'), () => {
  let context: BrowserContext;
  let page: Page;
  let wire: Wire;
  const crashes: string[] = [];
  const { portal, arrive } = portalInChromium({}, (opened) => {
    ({ context, page, wire } = opened);
    page.on('pageerror', (error) => crashes.push(String(error)));
  });
  afterEach(() => {
    expect(crashes.splice(0)).toEqual([]);
  });
  const stored = (key: string) => page.evaluate((name) => sessionStorage.getItem(name), key);
  const allStored = () => page.evaluate(() => Object.fromEntries(Object.entries<string>(sessionStorage)));
  const standsAt = async (address: string, heading: string) => {
    await page.waitForURL(`${portal.url}${address}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
  /** A script is gone until the portal has been loaded anew so many times. @returns how many times it has been */
  const lose = async (script: string, until = 1): Promise<() => number> => {
    let loads = 0;
    page.on('request', (request) => (loads += request.isNavigationRequest() ? 1 : 0));
    await page.route(new RegExp(`/assets/${script}-[^/]*\\.js`), (route) =>
      loads < until ? route.fulfill({ status: 404, body: 'Not found' }) : route.continue(),
    );
    return () => loads;
  };

  test.each(sampleOf(VISITS, 8))(
    '%s at %s stands at %s, and still does after a reload',
    { tags: 'sampled' },
    async (session, path, ...place) => {
      const [address, heading, step] = place;
      await arrive(path, session);
      await standsAt(address, heading);
      // The status page's title begins with how the transfer stands.
      await expect.poll(() => page.title()).toMatch(new RegExp(`^(?:25% – )?${titleOf(heading)}$`));
      await expect.poll(() => stored('currentStep')).toBe(step);
      const steps = page.getByRole('navigation', { name: 'Progress' });
      const isLost = session === 'nobody' && NOT_FOUND.includes(path);
      // What is not found has been looked for before, under the same heading.
      await expect.poll(() => steps.locator('[aria-current=step]').count()).toBe(step === null || isLost ? 0 : 1);
      await page.reload();
      await standsAt(address, heading);
      expect(wire.askedFor('/api/load/')).toEqual([]);
      const more = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key !== 'currentStep'));
      await expect.poll(async () => address === '/' && (await more()).length > 0).toBe(false);
    },
  );

  test.each([
    ['signedIn', "Google's page asks for two permissions"],
    ['choosingGmail', 'You signed in, but at least one box'],
  ] as const)('with "%s" the page about permissions says no more than what is known: "%s…"', async (session, lead) => {
    await arrive('/check-email-scopes', session);
    const told = page.locator('.lead');
    expect(await told.innerText()).toContain(lead);
    await page.reload();
    expect(await told.innerText()).toContain(lead);
  });

  test('Back and Forward lead through the whole move without a wrong page, a dead end or a second submit', async () => {
    await page.goto(portal.url);
    await signIn(page, SUBSCRIBER);
    await standsAt('/destination-account', 'Move your mailbox to Yahoo Mail');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/api/oauth/?provider=yahoo');
    await page.goto(`${portal.url}/oauth-callback?token_id=${TRANSFER_ID}&email=${SUBSCRIBER.email}`);
    await standsAt('/start-migration', 'Move your email account to Yahoo Mail');
    const id = await startTransfer(page, 'maria@mail.example', 'Move');
    await standsAt(`/complete?migration_id=${id}`, "We're moving your email data!");
    await page.getByRole('link', { name: 'Check progress' }).click();
    await standsAt(`/status?migration_id=${id}`, 'Your transfer');

    await page.goBack();
    await standsAt(`/complete?migration_id=${id}`, "We're moving your email data!");
    // The password went with the order, so there is no page before; on Home the transfer's ID would be forgotten.
    await page.goBack();
    await standsAt(`/complete?migration_id=${id}`, "We're moving your email data!");
    expect(wire.askedFor('/api/load/')).toHaveLength(1);
    expect(wire.askedFor('/api/v2/san-bruno-set-migration-started/')).toHaveLength(1);
    // In the place of that page stands this one too.
    await page.goForward();
    await standsAt(`/complete?migration_id=${id}`, "We're moving your email data!");
    await page.goForward();
    await standsAt(`/status?migration_id=${id}`, 'Your transfer');
    expect(await stored('srcAccount')).not.toContain(SUBSCRIBER.password);
  });

  test.each([
    ['has ended', { status: 'completed', finished: '2025-11-01T10:00:00.000Z' }, 'Your transfer has ended.'],
    [
      'needs its owner',
      { status: 'authentication_error', attention: { side: 'source', reason: 'password' } },
      'Your transfer is waiting for you.',
    ],
  ])('a page that says that a transfer has started says so no longer when it %s', async (_, emailmigration, said) => {
    await arrive(`/complete?migration_id=${TRANSFER_ID}`, 'gmail');
    const begun = page.getByText('Your transfer has started.');
    await begun.waitFor();
    wire.answer('/api/v2/status/', { json: { emailmigration } });
    // Another tab was looked at in the meantime.
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await page.getByText(said, { exact: true }).waitFor();
    expect(await begun.count()).toBe(0);
    expect(await page.getByText(/let you know/).count()).toBe(0);
    expect(await page.getByText(TRANSFER_ID).isVisible()).toBe(true);
  });

  test('however often the button is pressed, one transfer is asked for, and the pre-move call comes before it', async () => {
    await arrive('/start-migration', 'move');
    await page.getByLabel('Notification email or phone number').fill('650 253 0000');
    await page.getByText('We will send a text message to 650 253 0000.').waitFor();
    await page.getByRole('button', { name: 'Move', exact: true }).evaluate((button: HTMLElement) => {
      for (let press = 0; press < 5; press += 1) button.click();
    });
    await page.waitForURL('**/complete?migration_id=*');
    const posts = wire.asked.filter(({ method }) => method === 'POST');
    expect(posts.map(({ path }) => path)).toEqual(['/api/v2/san-bruno-set-migration-started/', '/api/load/']);
    expect(posts[0]?.query.get('in_qa')).toBe('false');
    expect(posts[1]?.body).toEqual({
      source_account: { ...SUBSCRIBER, provider: 'sanbruno' },
      destination_account: { email: SUBSCRIBER.email, provider: 'yahoo', token_id: TRANSFER_ID },
      operations: ['emailmigration', 'contactsmigration'],
      parameters: { notification_email: '+16502530000', in_qa: false },
    });
  });

  test('a transfer elsewhere is asked for without a pre-move call', async () => {
    await arrive('/start-migration', 'other');
    await startTransfer(page, 'maria@mail.example', 'Transfer');
    expect(wire.asked.filter(({ method }) => method === 'POST').map(({ path }) => path)).toEqual(['/api/load/']);
    expect(wire.askedFor('/api/load/')[0]?.body).toMatchObject({
      destination_account: { email: 'maria@mail.example', provider: 'other', password: 'sandbox' },
      operations: ['emailmigration'],
    });
  });

  test('the session is kept under the keys of the specification and no other, and no secret stands in an address', async () => {
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    wire.answer('/api/validate/', { json: { ok: true, token: 'bearer-canary' } });
    await page.goto(portal.url);
    await signIn(page, SUBSCRIBER);
    await standsAt('/destination-account', 'Move your mailbox to Yahoo Mail');
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByLabel('Email format').selectOption('eml');
    await page.getByLabel('Contacts format').selectOption('vcf');
    await page.getByRole('form').getByRole('button', { name: 'Download', exact: true }).click();
    await startTransfer(page, 'maria@mail.example', 'Download');
    const keys = await page.evaluate(() => Object.keys(sessionStorage));
    expect(KEYS).toEqual(expect.arrayContaining(keys));
    expect(keys).toEqual(
      expect.arrayContaining(['srcAccount', 'dstAccount', 'jwt', 'emailExportType', 'contactsExportType']),
    );
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    expect(await stored('jwt')).toBe('bearer-canary');
    expect(wire.askedFor('/api/load/')[0]?.headers['authorization']).toBe('Bearer bearer-canary');
    expect(wire.askedFor('/api/load/')[0]?.body).toMatchObject({
      destination_account: { email: 'maria@mail.example', provider: 'file_export' },
      file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
    });
    for (const address of addresses) expect(address).not.toMatch(/garden-2005|bearer-canary/);
    expect(new Set(addresses.map((address) => new URL(address).host))).toEqual(new Set([new URL(portal.url).host]));
  });

  const TOKENS = [
    ['that is good stays', { json: { ok: true } }, 'old'],
    ['that cannot be checked for a lost line stays', 'drop', 'old'],
    ['whose check is never answered stays', 'silence', 'old'],
    ['that is refused goes', { status: 401, json: { error: 'INVALID_TOKEN' } }, null],
    ['whose check fails with 500 stays', { status: 500, json: { error: 'GENERAL_ERROR' } }, 'old'],
    ['whose check fails with 503 stays', { status: 503, text: 'closed', type: 'text/plain' }, 'old'],
    ['whose check is answered by another shape stays', { json: 'surprise' }, 'old'],
    ['whose check is answered by a page stays', { text: '<h1>Captive portal</h1>', type: 'text/html' }, 'old'],
    ['whose refusal has a code that nobody knows stays', { status: 418, json: { error: 'TEAPOT' } }, 'old'],
  ] as const;

  const settled = (path: string) => {
    const isIt = (request: Request) => new URL(request.url()).pathname === path;
    const ends = [page.waitForEvent('requestfinished', isIt), page.waitForEvent('requestfailed', isIt)];
    return Promise.any(ends);
  };

  test.each(sampleOf(TOKENS, 3))(
    'a token in local storage %s, and is asked about once',
    { tags: 'sampled' },
    async (_, answer, left) => {
      wire.answer('/api/validate-token/', answer);
      await page.goto(`${portal.url}/nothing.txt`);
      await page.evaluate(() => localStorage.setItem('token', 'old'));
      // What the token stays after has to have come: it is there before, too.
      const answered = answer !== 'silence' && settled('/api/validate-token/');
      await page.goto(portal.url);
      await answered;
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByRole('dialog').waitFor();
      await expect.poll(() => page.evaluate(() => localStorage.getItem('token'))).toBe(left);
      expect(wire.askedFor('/api/validate-token/').map(({ body }) => body)).toEqual([{ token: 'old' }]);
    },
  );

  test.each([
    ['full', full],
    ['blocked', blocked],
  ])('with a storage that is %s the way to the transfer is open all the same', async (_, spoil) => {
    await page.addInitScript(spoil);
    await page.goto(portal.url);
    await signIn(page, SUBSCRIBER);
    await standsAt('/destination-account', 'Move your mailbox to Yahoo Mail');
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByLabel('Email format').selectOption('mbox');
    await page.getByLabel('Contacts format').selectOption('csv');
    await page.getByRole('form').getByRole('button', { name: 'Download', exact: true }).click();
    await startTransfer(page, 'maria@mail.example', 'Download');
    expect(wire.askedFor('/api/load/')).toHaveLength(1);
    await page.reload();
    await standsAt('/', TOOL);
  });

  test('offline, the page says so and keeps what was typed; back online, it goes on by itself', async () => {
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').waitFor();
    await context.setOffline(true);
    await page
      .getByRole('status')
      .getByText('You are offline. What you typed is kept, and your mail is safe.')
      .waitFor();
    wire.answer('/api/v2/domain-validation/', 'drop');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
    wire.reset();
    await context.setOffline(false);
    await page.getByText('We will write to maria@mail.example.').waitFor();
    expect(await page.getByText('You are offline.').count()).toBe(0);
  });

  /** A call that is lost while the visitor is offline: what is filled in, what is pressed then, and what is said at its end. */
  const LOST: readonly (readonly [
    string,
    string,
    (page: Page) => Promise<void>,
    string,
    string,
    readonly string[],
    isReading: boolean,
  ])[] = [
    [
      'the sign-in',
      '/',
      async (on) => {
        await on.getByRole('button', { name: 'Start', exact: true }).click();
        await on.getByLabel('Email', { exact: true }).fill(SUBSCRIBER.email);
        await on.getByLabel('Password', { exact: true }).fill(SUBSCRIBER.password);
      },
      'Sign in',
      'You are signed in',
      ['/api/validate/'],
      false,
    ],
    [
      'the look-up',
      '/',
      async (on) => {
        await on.getByText('check your transfer status').click();
        await on.getByLabel('Transfer ID').fill(TRANSFER_ID);
      },
      'Check status',
      '3 of 12 messages',
      [],
      true,
    ],
    [
      'a letter to support',
      '/support-form',
      (on) => fillSupport(on, { email: SUBSCRIBER.email, issue: 'Where is my mail?' }),
      'Send',
      'Your message has been sent successfully.',
      ['/api/v2/support-form/'],
      false,
    ],
  ];

  /** Back online: what was asked for until the visitor says so, and then that they do. */
  const goOn = async () => {
    await page.getByRole('heading', { level: 1, name: 'You are back online' }).waitFor();
    const unasked = [...wire.asked];
    await page.getByRole('button', { name: 'Try again' }).click();
    return unasked;
  };

  test.each(LOST)('offline, %s waits, and goes through once when it is asked to', async (_, at, fill, ...rest) => {
    const [press, said, posted, isReading] = rest;
    await arrive(at);
    await fill(page);
    await context.setOffline(true);
    await page.getByRole('button', { name: press, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
    await page.getByRole('status').getByText('You are offline.').waitFor();
    expect(await page.getByText('The migration portal is unavailable').count()).toBe(0);
    wire.asked.length = 0;
    await context.setOffline(false);
    const unasked = isReading ? [] : await goOn();
    await page.getByText(said).first().waitFor();
    expect(unasked.filter(isPressed)).toEqual([]);
    const posts = wire.asked.filter(({ method }) => method === 'POST').filter(isPressed);
    expect(posts.map(({ path }) => path)).toEqual(posted);
  });

  test('offline, Continue neither speaks of the portal nor goes to Yahoo by itself', async () => {
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    wire.answer('/api/v2/san-bruno-create-account/', 'drop');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
    wire.reset();
    await context.setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'You are back online' }).waitFor();
    expect(wire.asked).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    expect(wire.askedFor('/api/v2/san-bruno-create-account/')).toHaveLength(1);
  });

  test('offline, the way to a provider stays in the portal', async () => {
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Check other options to export your data' }).click();
    await context.setOffline(true);
    await page.getByRole('button', { name: 'AOL' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'A provider' }).waitFor();
    expect(wire.asked.filter(({ path }) => path === '/api/oauth/')).toHaveLength(1);
  });

  test('offline, the question before Home is asked on the page, which keeps what was typed', async () => {
    await arrive('/destination-account?way=other', 'signedIn');
    const email = page.getByLabel('Email', { exact: true });
    await email.fill('maria@mail.example');
    const scripts = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    await expect.poll(scripts).toContainEqual(expect.stringContaining('/leave-wizard-'));
    await page.route('**/assets/leave-wizard-*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('button', { name: 'Stay here' }).click();
    expect(await email.inputValue()).toBe('maria@mail.example');
  });

  test('offline, a page whose script is missing waits as well, and comes when the line is back', async () => {
    // What an earlier test has fetched.
    await (await context.newCDPSession(page)).send('Network.clearBrowserCache');
    await page.goto(portal.url);
    await page.getByRole('heading', { level: 1, name: TOOL }).waitFor();
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('status').getByText('You are offline.').waitFor();
    await context.setOffline(false);
    await page.getByRole('heading', { level: 1, name: TOOL }).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('dialog', { name: 'Sign in to get started' }).waitFor();
    expect(await page.getByText('You are offline.').count()).toBe(0);
  });

  test('offline, a link to a file stays on the page and says why', async () => {
    wire.answer('/api/v2/status/', FINISHED_EXPORT);
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    const link = page.getByRole('link', { name: 'Download mail.zip' });
    await link.waitFor();
    await context.setOffline(true);
    await page.getByRole('status').getByText('You are offline.').waitFor();
    await link.press('Enter');
    await page.getByRole('alert').getByText('Please try this again when you are back online.').waitFor();
    expect(await link.evaluate((file) => file === document.activeElement)).toBe(true);
    await context.setOffline(false);
    await expect.poll(() => page.getByText('You are offline.').count()).toBe(0);
  });

  test.each<[string, string, () => Promise<void>, () => Promise<void>]>([
    [
      'without a line',
      'You are offline',
      () => context.setOffline(true),
      // It comes by itself.
      () => context.setOffline(false),
    ],
    [
      'while a proxy says that the portal is away',
      "We'll be back soon",
      async () => {
        await page.route('**/*', (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }));
      },
      async () => {
        const asked = page.waitForResponse((response) => response.request().method() === 'HEAD');
        await page.getByRole('button', { name: 'Try again' }).click();
        await asked;
        await page.unroute('**/*');
        await page.getByRole('button', { name: 'Try again' }).click();
      },
    ],
  ])('%s a page that was never seen waits within the portal, and comes', async (_, heading, lose, find) => {
    await (await context.newCDPSession(page)).send('Network.clearBrowserCache');
    await page.goto(portal.url);
    await page.getByRole('heading', { level: 1, name: TOOL }).waitFor();
    await lose();
    await page.getByRole('link', { name: 'Contact support' }).click();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/support-form');
    await find();
    await standsAt('/support-form', 'Contact support');
  });

  test.each([
    ['button', 'Start', 'home-sign-in'],
    ['button', 'check your transfer status', 'home-look-up'],
    ['link', 'Contact support', 'support'],
  ] as const)('while the script behind the %s "%s" is fetched the page says so', async (role, name, script) => {
    const loading = Promise.withResolvers<void>();
    await page.route(new RegExp(`/assets/${script}-[^/]*\\.js`), async (route) => {
      await loading.promise;
      await route.continue();
    });
    await page.clock.install();
    await arrive('/');
    await stopTheClock(page);
    await page.getByRole(role, { name, exact: true }).click();
    const overlay = page.getByRole('status', { name: 'Loading', exact: true });
    await page.clock.runFor(300);
    expect(await overlay.count()).toBe(0);
    const isSaid = async (text: string, after: number) => {
      await page.clock.runFor(after);
      return overlay.getByText(text).isVisible();
    };
    await expect.poll(() => isSaid('One moment, please…', 200)).toBe(true);
    await expect.poll(() => isSaid('This is taking longer than usual…', 2_000)).toBe(true);
    loading.resolve();
    await overlay.waitFor({ state: 'detached' });
    await page.getByRole('textbox').first().waitFor();
  });

  test('a page whose script cannot be loaded is not blank, and comes when it can', async () => {
    await page.goto(portal.url);
    let broken = true;
    await page.route(/\/assets\/(?:destination|start-migration)[^/]*\.js/, (route) =>
      broken ? route.abort('connectionreset') : route.continue(),
    );
    await signIn(page, SUBSCRIBER);
    await page.waitForURL('**/destination-account');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect((await page.locator('body').innerText()).length).toBeGreaterThan(100);
    broken = false;
    await again.click();
    await standsAt('/destination-account', 'Move your mailbox to Yahoo Mail');
  });

  test.each([
    ['once', 1],
    ['twice', 2],
  ])('a page whose script is lost %s comes by itself, and again when that happens later', async (_, times) => {
    let losses = times;
    await page.route(/\/assets\/destination[^/]*\.js/, (route) => {
      if (losses === 0) return route.continue();
      losses -= 1;
      return route.abort('connectionreset');
    });
    await page.goto(portal.url);
    await signIn(page, SUBSCRIBER);
    await standsAt('/destination-account', 'Move your mailbox to Yahoo Mail');
    const marks = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('reloaded')));
    await expect.poll(marks).toEqual([]);
    losses = times;
    await page.reload();
    await standsAt('/destination-account', 'Move your mailbox to Yahoo Mail');
    expect(losses).toBe(0);
    await expect.poll(marks).toEqual([]);
  });

  test('a page that was chosen offline comes by itself once the browser is online, also if its first answer was lost too', async () => {
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await page.getByRole('button', { name: 'Transfer', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: "We're moving your email data!" }).waitFor();
    const lost = page.waitForEvent('requestfailed', (request) => request.method() === 'HEAD');
    await context.setOffline(true);
    await page.getByText('Check progress').click();
    await lost;
    await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
    await context.setOffline(false);
    await page.getByText('3 of 12 messages').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  describe('of a page that was opened before an upgrade', () => {
    test.each([
      ['Start', 'home-sign-in', 'Sign in to get started'],
      ['check your transfer status', 'home-look-up', 'Check your transfer status'],
    ])('what is behind "%s" comes after the portal has been loaded anew', async (name, script, title) => {
      await arrive('/');
      const loads = await lose(script);
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(loads).toBe(1);
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog', { name: title }).waitFor();
      expect(loads()).toBe(1);
    });

    test('a message on Home comes, and the question before it', async () => {
      await lose('banner', 2);
      await page.goto(`${portal.url}/?error=OTHER`);
      await page.getByRole('alert').waitFor();
      await arrive('/destination-account', 'signedIn');
      const loads = await lose('leave-wizard', 2);
      await page.reload();
      const home = page.getByRole('link', { name: 'Home', exact: true });
      await home.click();
      await expect.poll(loads).toBe(2);
      await home.click();
      await page.getByRole('button', { name: 'Stay here' }).waitFor();
    });

    test.each([
      ['Start', 'Email', SUBSCRIBER.email],
      ['check your transfer status', 'Transfer ID', TRANSFER_ID],
    ])('what is typed behind "%s" after it stays, and is answered', async (name, label, text) => {
      await arrive('/');
      const calls = page.waitForResponse(/\/assets\/calls-/);
      await page.getByRole('button', { name, exact: true }).click();
      await (await calls).finished();
      const loads = await lose('calls');
      const field = page.getByRole('dialog').getByLabel(label, { exact: true });
      await field.fill(text);
      await field.press('Enter');
      await expect.poll(() => wire.asked.length).toBeGreaterThan(0);
      expect(loads()).toBe(0);
    });

    test('what is typed stays, and is answered, also if the script of the calls did not come with the form', async () => {
      await page.goto(portal.url);
      let loads = 0;
      let losses = 1;
      page.on('request', (request) => (loads += request.isNavigationRequest() ? 1 : 0));
      await page.route(/\/assets\/calls-/, (route) => {
        losses -= 1;
        return losses < 0 ? route.continue() : route.abort('connectionreset');
      });
      const lost = page.waitForEvent('requestfailed');
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await lost;
      const field = page.getByRole('dialog').getByLabel('Email', { exact: true });
      await field.fill(SUBSCRIBER.email);
      await field.press('Enter');
      await expect.poll(() => wire.asked.length).toBeGreaterThan(0);
      expect(loads).toBe(0);
    });

    test('a message to support is kept, and sent when that is asked for again', async () => {
      await arrive('/support-form');
      const loads = await lose('calls', 2);
      await page.reload();
      const issue = 'Some of my folders are missing.';
      await fillSupport(page, { email: SUBSCRIBER.email, issue });
      await page.getByRole('button', { name: 'Send' }).click();
      await expect.poll(loads).toBe(2);
      await expect.poll(() => page.getByLabel('Describe your issue').inputValue()).toBe(issue);
      expect(wire.askedFor('/api/v2/support-form/')).toEqual([]);
      await page.getByRole('button', { name: 'Send' }).click();
      await expect.poll(() => wire.askedFor('/api/v2/support-form/').length).toBe(1);
    });

    test('what the next version lacks too is waited for, and comes by "Try again"', async () => {
      const loads = await lose('calls', 3);
      await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      // It is not loaded anew over and over.
      expect(loads()).toBe(2);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('3 of 12 messages').waitFor();
      expect(loads()).toBe(3);
    });
  });

  describe('a session whose script can not be fetched', () => {
    const RETURN = `/oauth-callback?token_id=${TRANSFER_ID}&email=maria@gmail.com`;
    const SCRIPT = '**/assets/stored-session-*.js';

    test('is kept while the portal is away, and goes on when it is there', async () => {
      await arrive('/destination-account', 'choosingGmail');
      await page.getByRole('button', { name: 'Go to Yahoo Mail' }).waitFor();
      const before = await allStored();
      await page.route(SCRIPT, (route) => route.abort('connectionreset'));
      const asked: string[] = [];
      await page.route(`**${RETURN.slice(0, 15)}*`, (route) => {
        const method = route.request().method();
        asked.push(method);
        return method === 'HEAD' ? route.abort('connectionreset') : route.continue();
      });
      await page.goto(`${portal.url}${RETURN}`);
      await page.getByRole('heading', { level: 1, name: "We'll be back soon" }).waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => asked).toEqual(['GET', 'HEAD', 'HEAD']);
      expect(await allStored()).toMatchObject(before);
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).click();
      await standsAt('/start-migration', 'Transfer your data');
    });

    test('is kept when the script went with an earlier version: the portal is loaded anew', async () => {
      await arrive('/destination-account', 'choosingGmail');
      let losses = 2;
      await page.route(SCRIPT, (route) => {
        losses -= 1;
        return losses < 0 ? route.continue() : route.fulfill({ status: 404, body: 'Not found' });
      });
      await page.goto(`${portal.url}${RETURN}`);
      await standsAt('/start-migration', 'Transfer your data');
      expect(losses).toBe(-1);
    });
  });

  /** Statuses that a stream sends one after the other, and then what it is told to `send`; `sent` tells when it has. */
  const stream = async (...statuses: readonly object[]) => {
    await page.addInitScript(
      (all) => {
        const Stream = class extends EventTarget {
          constructor() {
            super();
            Object.assign(globalThis, { openStream: this });
            for (const [at, data] of all.entries())
              setTimeout(
                () => {
                  this.dispatchEvent(new MessageEvent('status', { data }));
                  if (at + 1 === all.length) document.documentElement.dataset['sent'] = '';
                },
                200 + at * 100,
              );
          }
          close() {}
        };
        Object.assign(globalThis, { EventSource: Stream });
      },
      statuses.map((status) => JSON.stringify(status)),
    );
    return {
      sent: () => page.locator('html[data-sent]').waitFor({ state: 'attached' }),
      send: (status: object) =>
        page.evaluate((data) => {
          const { openStream } = globalThis as unknown as { openStream: EventTarget };
          openStream.dispatchEvent(new MessageEvent('status', { data }));
        }, JSON.stringify(status)),
    };
  };
  const follow = async () => {
    await arrive('/support-form');
    await page.evaluate(() => sessionStorage.setItem('jwt', 'known'));
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
  };
  const asked = () => wire.askedFor('/api/v2/status/');

  describe('where the stream shows only numbers', () => {
    test('as cookies are blocked, a transfer is followed by the bearer', async () => {
      await stream(numbers(7));
      wire.answer('/api/v2/status/', ({ headers }) => {
        const done = asked().length === 1 ? 3 : 8;
        return { json: headers['authorization'] === 'Bearer known' ? running(done) : numbers(done) };
      });
      await follow();
      await page.getByText('8 of 12 messages').waitFor();
      expect(await page.getByRole('button', { name: 'Stop the transfer' }).count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    });

    test('whoever is signed in to another mailbox sees them, and more is asked for once', async () => {
      const { send } = await stream(numbers(4));
      wire.answer('/api/v2/status/', () => ({ json: numbers(asked().length === 1 ? 3 : 5) }));
      await follow();
      // Sent while more is asked for, they would be asked for as well.
      await page.getByText('5 of 12 messages').waitFor();
      await send(numbers(6));
      await send(numbers(7));
      await page.getByText('7 of 12 messages').waitFor();
      // At first, and when the stream began.
      expect(asked()).toHaveLength(2);
    });

    test('more is not asked for before the last answer is there, however long it takes', async () => {
      const { sent } = await stream(numbers(4), numbers(5), numbers(6), numbers(7));
      wire.answer('/api/v2/status/', async () => {
        const which = asked().length;
        if (which === 2) await sent();
        return { json: running(which) };
      });
      await follow();
      await page.getByText('3 of 12 messages').waitFor();
      expect(asked()).toHaveLength(3);
    });

    test('the end is shown as soon as it is told', async () => {
      const ended = { emailmigration: { status: 'completed', done: 12, total: 12 } };
      wire.answer('/api/v2/status/events/', {
        text: `event: status\ndata: ${JSON.stringify({ ...ended, limited: true })}\n\nevent: end\ndata: null\n\n`,
        type: 'text/event-stream',
      });
      wire.answer('/api/v2/status/', () => ({ json: asked().length === 1 ? running(3) : ended }));
      await follow();
      await page.getByText('Your transfer is done').waitFor();
      // Not lost, and asked for after a pause.
      expect(asked()).toHaveLength(2);
    });
  });

  test.each([true, false])(
    'whether files can be downloaded is said: with cookies allowed, %s',
    async (cookieEnabled) => {
      await page.addInitScript((allowed) => {
        Object.defineProperty(navigator, 'cookieEnabled', { value: allowed });
      }, cookieEnabled);
      wire.answer('/api/v2/status/', FINISHED_EXPORT);
      await arrive(`/status?migration_id=${TRANSFER_ID}`);
      await page.getByText('Download mail.zip').waitFor();
      expect(await page.getByText('This browser blocks cookies').count()).toBe(cookieEnabled ? 0 : 1);
    },
  );

  test('on a page that the browser has translated, the button beside a password still says what it does', async () => {
    await page.goto(portal.url);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('button', { name: 'Show password' }).evaluate((button) => {
      // A translation puts elements of its own in the place of texts.
      const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
      const found: Node[] = [];
      while (texts.nextNode() !== null) found.push(texts.currentNode);
      for (const text of found) {
        const translated = document.createElement('font');
        translated.textContent = text.nodeValue;
        text.parentNode?.replaceChild(translated, text);
      }
    });
    const button = page.locator('.password-show');
    await button.click();
    expect(await button.innerText()).toMatch(/^Hide/);
    await button.click();
    expect(await button.innerText()).toMatch(/^Show/);
  });

  describe('addresses and numbers', () => {
    test('a contact is judged rightly, however long and in whatever script', { tags: 'sampled' }, async () => {
      await arrive('/start-migration', 'gmail');
      const field = page.getByLabel('Notification email');
      const accepted = page.getByText(/^We will write to/);
      const refused = page.getByText(/^Please, enter a valid email address\.$/);
      const cases = [
        ['254 characters', long(254), true],
        ['255 characters', long(255), false],
        ['a local part of 64', `${local(64)}@mail.example`, true],
        ['a local part of 65', `${local(65)}@mail.example`, false],
        ['letters of other scripts', 'jürgen.петров@müller.example', true],
        ['a blank inside', 'maria keller@mail.example', false],
        ['an accent that is a character of its own', 'jose\u0301@mail.example', true],
        ['two at signs', 'maria@@mail.example', false],
        ['blanks pasted around it', '  maria@mail.example\t', true],
        ['no dot in its domain', 'maria@mail', false],
        ['capitals', 'Maria.Keller@Mail.Example', true],
        ['a dot too many', 'maria..keller@mail.example', false],
        ['a name, as mail programs copy it', '"Keller, Maria" <maria@mail.example>', true],
        ['two of these', 'Maria <maria@mail.example>, Tom <tom@mail.example>', false],
        ['a link to it', 'mailto:maria@mail.example?subject=Hello', true],
        ['the comma of a list', 'maria@mail.example,', true],
        ['the full stop of a sentence', 'maria@mail.example.', true],
        ['blanks beside its sign', 'maria @ mail.example', true],
        ['more than an address', 'maria@mail.example, or call', false],
      ] as const;
      await eachOf(sampleOf(cases, 3), async ([, email, good]) => {
        wire.asked.length = 0;
        await field.fill(email);
        await expect.poll(() => accepted.count()).toBe(good ? 1 : 0);
        await expect.poll(() => refused.count()).toBe(good ? 0 : 1);
        expect(wire.askedFor('/api/v2/domain-validation/')).toHaveLength(good ? 1 : 0);
      });
    });

    const SIGN_INS = [
      ['a local part of 64', `${local(64)}@sanbruno.example`, true],
      ['blanks pasted around it', ` ${SUBSCRIBER.email} `, true],
      ['a local part of 65', `${local(65)}@sanbruno.example`, false],
      ['capitals', SUBSCRIBER.email.toUpperCase(), true],
      ['unicode', 'josé@sanbruno.example', true],
    ] as const;

    const PASTED = [
      [`Maria Keller <${SUBSCRIBER.email.toUpperCase()}> `, SUBSCRIBER.email],
      [`"Keller, Maria" <${SUBSCRIBER.email}>;`, SUBSCRIBER.email],
      [`MailTo:${SUBSCRIBER.email}?subject=Hello`, SUBSCRIBER.email],
      [`<mailto:${SUBSCRIBER.email}>`, SUBSCRIBER.email],
      ['mailto:maria%2Bnews%40sanbruno.example', 'maria+news@sanbruno.example'],
      ['mailto:maria%zz@sanbruno.example', 'mailto:maria%zz@sanbruno.example'],
      [`${SUBSCRIBER.email};`, SUBSCRIBER.email],
      [`${SUBSCRIBER.email}. `, SUBSCRIBER.email],
      [SUBSCRIBER.email.replace('@', ' @\u00A0'), SUBSCRIBER.email],
      ['maria <keller', 'maria <keller'],
      ['maria keller@sanbruno.example', 'maria keller@sanbruno.example'],
      ['maria@sanbruno.example. thanks', 'maria@sanbruno.example. thanks'],
    ] as const;

    test('of what was pasted the sign-in takes the address, if there is one', async () => {
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email');
      await eachOf(PASTED, async ([pasted, kept]) => {
        await field.fill('');
        await field.fill(pasted);
        expect(await field.inputValue()).toBe(kept);
      });
    });

    test('of what is typed or deleted letter by letter, only the signs of other keyboards are changed', async () => {
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email');
      await field.pressSequentially('maria\uFF20sanbruno\u3002example\uFF0E');
      expect(await field.inputValue()).toBe('maria@sanbruno.example.');
      await field.pressSequentially('au');
      await field.press('Backspace');
      await field.press('Backspace');
      expect(await field.inputValue()).toBe('maria@sanbruno.example.');
    });

    test('after a blank that was pasted before the sign and is removed, the caret stays where it was put', async () => {
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email');
      await field.fill('@sanbruno.example');
      await field.evaluate((box: HTMLInputElement) => box.setSelectionRange(0, 0));
      await page.keyboard.insertText('maria ');
      await page.keyboard.type('.k');
      expect(await field.inputValue()).toBe('maria.k@sanbruno.example');
    });

    test('what an input method puts in at once is no pasted text, also in a browser that does not say that it composes', async () => {
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email');
      await field.evaluate((box: HTMLInputElement) => {
        const text = 'maria@sanbruno.example.';
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(box, text);
        // As Safari before 16.4 has it.
        box.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertCompositionText', data: text }));
      });
      expect(await field.inputValue()).toBe('maria@sanbruno.example.');
    });

    test('Tab from a wrong IMAP host leads to the button below', async () => {
      await arrive('/destination-account?way=other', 'signedIn');
      await page.getByLabel('Email', { exact: true }).fill('maria@mail.example');
      await page.getByLabel('Password', { exact: true }).fill('sandbox');
      await page.getByLabel('Use a custom IMAP host').check();
      await page.getByLabel('IMAP host', { exact: true }).fill('no host');
      await page.keyboard.press('Tab');
      await page.getByText('Invalid IMAP. Please enter a valid IMAP address.').waitFor();
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Sign in');
    });

    test('the Enter that ends a composition is no Enter of the form', async () => {
      await arrive('/destination-account?way=other', 'signedIn');
      await page.getByLabel('Use a custom IMAP host').check();
      const field = page.getByLabel('IMAP host', { exact: true });
      await field.focus();
      const keyboard = await context.newCDPSession(page);
      const text = 'imap.mail';
      await keyboard.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
      const key = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 229 } as const;
      await keyboard.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key });
      await keyboard.send('Input.insertText', { text });
      // As Safari has it: the composition is over by now.
      await keyboard.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key });
      await page.keyboard.type('.example');
      await page.keyboard.press('Enter');
      await page.getByText('We found this server.').waitFor();
      expect(wire.askedFor('/api/validate-imap/').map(({ body }) => body)).toEqual([{ imap: 'imap.mail.example' }]);
    });

    test('what an input method composes with a capital letter is neither doubled nor left in capitals', async () => {
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email');
      await field.fill('keller@sanbrunocable.example');
      await field.press('Home');
      const keyboard = await context.newCDPSession(page);
      for (const text of ['M', 'Ma', 'Mar'])
        await keyboard.send('Input.imeSetComposition', {
          text,
          selectionStart: text.length,
          selectionEnd: text.length,
        });
      expect(await field.inputValue()).toBe('Markeller@sanbrunocable.example');
      await keyboard.send('Input.insertText', { text: 'Maria' });
      // Where it was composed, more is typed.
      await page.keyboard.type('.');
      expect(await field.inputValue()).toBe('maria.keller@sanbrunocable.example');
    });

    test('a composition in which nothing was composed leaves the caret alone, also later', async () => {
      const answered = Promise.withResolvers<void>();
      wire.answer('/api/capabilities/', async () => {
        await answered.promise;
        return { json: { allowed_operations: [], provider: 'other', auth: 'other' } };
      });
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email');
      await field.fill('maria@sanbruno.example');
      await field.press('Home');
      // As a phone's keyboard does at a word that is only pointed at.
      await field.dispatchEvent('compositionstart');
      await field.dispatchEvent('compositionend');
      await field.press('End');
      answered.resolve();
      await page.getByText('Please, enter a San Bruno email address.').waitFor();
      await page.keyboard.type('s');
      expect(await field.inputValue()).toBe('maria@sanbruno.examples');
    });

    test('a word that is being composed belongs to what is checked and sent', async () => {
      await page.goto(portal.url);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByLabel('Password', { exact: true }).fill('garden-2005');
      const field = page.getByLabel('Email');
      await field.focus();
      const text = 'Maria.Keller@SanBrunoCable.example';
      const keyboard = await context.newCDPSession(page);
      await keyboard.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL('**/destination-account');
      expect(wire.askedFor('/api/validate/').map(({ body }) => (body as { email: string }).email)).toEqual([
        text.toLowerCase(),
      ]);
    });

    test.each(sampleOf(SIGN_INS, 2))(
      'a sign-in with %s is judged rightly',
      { tags: 'sampled' },
      async (_, email, good) => {
        await page.goto(portal.url);
        await signIn(page, { email, password: 'garden-2005' });
        if (good) await page.waitForURL('**/destination-account');
        else await page.getByText('Please enter a valid email address.').waitFor();
        expect(wire.askedFor('/api/validate/').map(({ body }) => (body as { email: string }).email)).toEqual(
          good ? [email.trim().toLowerCase()] : [],
        );
      },
    );

    test('a phone number is judged rightly, however it is written', { tags: 'sampled' }, async () => {
      await arrive('/start-migration', 'move');
      const field = page.getByLabel('Notification email or phone number');
      const accepted = page.getByText('We will send a text message to 650 253 0000.');
      const refused = page.getByText('Please, enter a valid phone number in the following format: XXX XXX XXXX');
      const cases = [
        ['6502530000', true],
        ['650 253 000', false],
        ['650 253 0000', true],
        ['650 253 00000', false],
        ['650-253-0000', true],
        ['150 253 0000', false],
        ['650.253.0000', true],
        ['650 153 0000', false],
        ['(650) 253-0000', true],
        ['+44 20 7946 0018', false],
        ['(650)253-0000', true],
        ['911', false],
        ['1 650 253 0000', true],
        ['650 253', false],
        ['+1 650 253 0000', true],
        ['0650 253 0000', false],
        ['+16502530000', true],
        ['+49 30 123456', false],
        ['  650 253 0000 ', true],
        ['(650) 253-000', false],
        ['+1 (650) 253-0000', true],
      ] as const;
      await eachOf(sampleOf(cases, 5), async ([number, good]) => {
        wire.asked.length = 0;
        await field.fill(number);
        await expect.poll(() => accepted.count()).toBe(good ? 1 : 0);
        await expect.poll(() => refused.count()).toBe(good ? 0 : 1);
        // It is shown as people write it.
        expect(await field.inputValue()).toBe(good ? '650 253 0000' : number);
        const asked = wire.askedFor('/api/v2/phone-number-validation/').map(({ query }) => query.get('number'));
        expect(asked).toEqual(good ? ['+16502530000'] : []);
        expect(await page.getByRole('button', { name: 'Move', exact: true }).isEnabled()).toBe(good);
      });
    });

    test('a phone number that is known is shown as people write it, also while it is checked anew', async () => {
      wire.answer('/api/v2/phone-number-validation/', 'silence');
      await arrive('/start-migration', 'move');
      await page.evaluate(() => sessionStorage.setItem('notificationContact', '+16502530000'));
      await page.reload();
      const field = page.getByLabel('Notification email or phone number');
      await expect.poll(() => field.inputValue()).toBe('650 253 0000');
      await expect.poll(() => wire.askedFor('/api/v2/phone-number-validation/').length).toBe(1);
      expect(await field.inputValue()).toBe('650 253 0000');
    });
  });
});
