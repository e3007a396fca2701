import type { Locator, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  enter,
  FINISHED_EXPORT,
  pagesElsewhere,
  servePortalAlone,
  type SessionName,
  SUBSCRIBER,
  TRANSFER_ID,
  type Wire,
} from '../support/portal-alone.ts';
import { sampleOf } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { PAGES } from '../support/product.ts';
import { eachOf } from './each-of.ts';
import { isInSight } from './sight.ts';
import { fillSupport, signIn } from './steps.ts';
import { portalInChromium } from './portal-in-chromium.ts';

const STATUS = `/status?migration_id=${TRANSFER_ID}`;
const FOOTER = 'https://legal.sanbrunocable.example/footer';
const CREATE_ACCOUNT = '/api/v2/san-bruno-create-account/';

type Fade = {
  readonly of: string;
  readonly ms: number;
  readonly from: string | undefined;
  readonly to: string | undefined;
};

/** Notes, in `fades`, what fades in each change of page. Runs in the page. */
function watchFades(): void {
  const fades: Fade[] = [];
  Object.assign(globalThis, { fades });
  const start = document.startViewTransition.bind(document);
  const note = async ({ ready }: ViewTransition) => {
    await ready;
    for (const { effect } of document.getAnimations()) {
      if (!(effect instanceof KeyframeEffect)) continue;
      const isNew = effect.pseudoElement === null && effect.target?.className === 'page';
      const of = isNew ? 'new' : /^::view-transition-(old)\(page\)$/.exec(effect.pseudoElement ?? '')?.[1];
      const [from, to] = effect.getKeyframes().map((frame) => String(frame['opacity']));
      if (of !== undefined) fades.push({ of, ms: Number(effect.getTiming().duration), from, to });
    }
  };
  document.startViewTransition = (update) => {
    const transition = start(update);
    void note(transition);
    return transition;
  };
}

const fadesIn = (page: Page) => page.evaluate(() => (globalThis as unknown as { fades: Fade[] }).fades);
const rgbOf = (colour = '') => (colour.match(/[\d.]+/g) ?? []).map(Number);
const styleOf = (place: Locator, ...properties: readonly string[]) =>
  place.evaluate((element, names) => {
    const style = getComputedStyle(element);
    return names.map((name) => style.getPropertyValue(name));
  }, properties);

/** Light scheme: red, green, amber, blue. */
const TONES: Readonly<Record<string, string>> = {
  error: 'rgb(194, 72, 61)',
  success: 'rgb(47, 133, 90)',
  warning: 'rgb(168, 114, 10)',
  info: 'rgb(61, 114, 184)',
};

/** A message of the product: its kind and size, how the wire answers, and what is done to see it. */
type Said = {
  readonly kind: string;
  readonly size: 'large' | 'small';
  readonly title: string;
  readonly wire?: readonly [path: string, answer: Answer];
  readonly at: string;
  readonly session?: SessionName;
  readonly act: (page: Page, wire: Wire) => Promise<void>;
};
const pressContinue = async (page: Page) => {
  await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
};
const onDestination = { at: '/destination-account', session: 'signedIn', act: pressContinue } as const;
const SAID: readonly Said[] = [
  {
    kind: 'error',
    size: 'large',
    title: 'An error has happened while setting up your Yahoo account',
    wire: [CREATE_ACCOUNT, { status: 500, json: {} }],
    ...onDestination,
  },
  {
    kind: 'warning',
    size: 'large',
    title: 'Transfer is already in progress',
    wire: [CREATE_ACCOUNT, { status: 409, json: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' } }],
    ...onDestination,
  },
  {
    kind: 'info',
    size: 'large',
    title: 'Transfer is already completed',
    wire: [CREATE_ACCOUNT, { status: 409, json: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED' } }],
    ...onDestination,
  },
  {
    kind: 'success',
    size: 'large',
    title: 'Your message has been sent successfully.',
    at: '/support-form',
    act: async (page) => {
      await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
      await page.getByRole('button', { name: 'Send' }).click();
    },
  },
  {
    kind: 'success',
    size: 'small',
    title: 'You are signed in. Taking you to the next step…',
    at: '/',
    act: (page) => signIn(page, SUBSCRIBER),
  },
  {
    kind: 'warning',
    size: 'small',
    title: 'Your browser did not let us copy it.',
    at: `/complete?migration_id=${TRANSFER_ID}`,
    session: 'gmail',
    act: async (page) => {
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      });
      await page.getByRole('button', { name: 'Copy transfer ID' }).click();
    },
  },
  {
    kind: 'info',
    size: 'small',
    title: 'This is taking longer than usual…',
    wire: ['/api/validate/', 'silence'],
    at: '/',
    act: async (page, wire) => {
      await signIn(page, SUBSCRIBER);
      await expect.poll(() => wire.askedFor('/api/validate/').length).toBe(1);
      await page.clock.runFor(10_000);
    },
  },
];

const widthOf = (each: Locator) => each.evaluate((element) => element.getBoundingClientRect().width);

describe('what every page has in common, in Chromium (needs chromium)', needs('chromium'), () => {
  let page: Page;
  let wire: Wire;
  const { portal, arrive } = portalInChromium(
    { reducedMotion: 'no-preference', clock: '2025-11-01T10:00:00Z' },
    (opened) => {
      ({ page, wire } = opened);
    },
  );
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  /** From Home, which ends a session. */
  const comeBack = async (path: string, session: SessionName) => {
    if (session !== 'nobody') await arrive(path, session);
    else if (path !== '/') await page.goBack();
  };

  describe('header and footer', () => {
    const PAGES_WITH_HEADER = [
      ['/', 'nobody', 'San Bruno Email Data Transfer Tool'],
      ['/support-form', 'nobody', 'Contact support'],
      ['/start-migration', 'gmail', 'Transfer your data'],
    ] as const;

    test.each(sampleOf(PAGES_WITH_HEADER, 3))(
      'at %s the header has the logo and Home, which lead Home, and the FAQ',
      { tags: 'sampled' },
      async (path, session, title) => {
        await arrive(path, session);
        await heading(title);
        for (const [name, pictures] of [
          ['San Bruno', 1],
          ['Home', 0],
        ] as const) {
          const link = page.getByRole('banner').getByRole('link', { name, exact: true });
          expect(await link.getAttribute('href')).toBe('/');
          expect(await link.locator('svg:visible').count()).toBe(pictures);
          await link.click();
          // In mid-wizard it asks first.
          if (path === '/start-migration') await page.getByRole('button', { name: 'Go to Home' }).click();
          await page.waitForURL(`${portal.url}/`);
          await heading('San Bruno Email Data Transfer Tool');
          await comeBack(path, session);
          await heading(title);
        }
        const elsewhere = await pagesElsewhere(page);
        await page.getByRole('banner').getByRole('link', { name: 'FAQ', exact: true }).click();
        await page.waitForURL(PAGES.FAQ_URL);
        expect(elsewhere).toEqual([PAGES.FAQ_URL]);
      },
    );

    test("the third party's footer is shown in a frame that can run nothing, on every page", async () => {
      await using framed = await servePortalAlone({ FOOTER_URL: FOOTER });
      await page.route(FOOTER, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: '<p>Legal notices</p><script>document.querySelector("p").textContent = "A script ran";</script>',
        }),
      );
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      for (const path of ['/', '/support-form']) {
        await enter(page, framed.url, path);
        const frame = page.getByRole('contentinfo').locator('iframe[title="Legal information"]');
        await frame.scrollIntoViewIfNeeded();
        await frame.contentFrame().getByText('Legal notices').waitFor();
        expect(await frame.getAttribute('src')).toBe(FOOTER);
        expect(await frame.getAttribute('sandbox')).not.toMatch(/allow-(?:scripts|same-origin|forms|top)/);
        expect(await page.getByRole('contentinfo').getByRole('link').count()).toBe(0);
      }
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
      expect(complaints.some((text) => text.includes('Blocked script execution'))).toBe(true);
    });

    test('without a third party the footer is our own, and leads to privacy, terms and support', async () => {
      await arrive('/');
      const footer = page.getByRole('contentinfo');
      expect(await footer.locator('iframe').count()).toBe(0);
      const links = await footer
        .getByRole('link')
        .evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href')]));
      expect(links).toEqual([
        ['Privacy policy', '/privacy-policy'],
        ['Terms of service', '/terms-of-service'],
        ['Contact support', '/support-form'],
      ]);
    });
  });

  describe('the change of pages', () => {
    test('the old page fades out and the new one in, over 200 ms', async () => {
      await page.addInitScript(watchFades);
      await arrive('/');
      await heading('San Bruno Email Data Transfer Tool');
      const before = (await fadesIn(page)).length;
      await page.getByRole('link', { name: 'Contact support' }).click();
      await heading('Contact support');
      await expect
        .poll(async () => (await fadesIn(page)).slice(before).toSorted((a, b) => (a.of < b.of ? 1 : -1)))
        .toEqual([
          { of: 'old', ms: 200, from: '1', to: '0' },
          { of: 'new', ms: 200, from: '0', to: '1' },
        ]);
    });

    test('nothing fades for those who want less motion', async () => {
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.addInitScript(watchFades);
      await arrive('/');
      await page.getByRole('link', { name: 'Contact support' }).click();
      await heading('Contact support');
      expect(await fadesIn(page)).toEqual([]);
    });

    test('a page that is fading in is printed as it will be', async () => {
      await arrive('/');
      await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
      // Its own fade, which ends with the same mark, is over.
      await page.waitForFunction(() => !('fading' in document.documentElement.dataset));
      await page.evaluate(() => {
        document.documentElement.dataset['fading'] = '';
      });
      expect(await styleOf(page.locator('.page'), 'animation-name')).toEqual(['fade-in']);
      await page.emulateMedia({ media: 'print' });
      expect(await styleOf(page.locator('.page'), 'animation-name')).toEqual(['none']);
    });

    test('pages in quick succession show the last one, and leave no error behind', async () => {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      // A page is left before it has even begun to fade in.
      await page.addInitScript(() => {
        const next = ['/', '/support-form', '/', '/support-form'];
        const start = document.startViewTransition.bind(document);
        document.startViewTransition = (update) => {
          const transition = start(update);
          const links = document.querySelectorAll<HTMLElement>('header a[href="/"], footer a[href="/support-form"]');
          const href = links.length === 0 ? undefined : next.shift();
          [...links].find((link) => link.getAttribute('href') === href)?.click();
          return transition;
        };
      });
      await page.goto(portal.url);
      await heading('San Bruno Email Data Transfer Tool');
      await page.getByRole('link', { name: 'Contact support' }).click();
      await heading('Contact support');
      await expect
        .poll(() => page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running')))
        .toEqual([]);
      expect(errors).toEqual([]);
    });
  });

  test('what a page still waits for pushes no link away that could be pressed meanwhile', async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    wire.answer('/api/v2/status/', 'silence');
    await arrive(STATUS);
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    const privacy = await page.getByRole('link', { name: 'Privacy policy' }).boundingBox();
    expect(privacy?.y).toBeGreaterThan(640);
  });

  test('the loading overlay has purple bars on a light ground that covers the page, and is a status named Loading', async () => {
    wire.answer('/api/v2/status/', 'silence');
    await page.emulateMedia({ colorScheme: 'light' });
    await arrive(STATUS);
    const overlay = page.getByRole('status', { name: 'Loading', exact: true });
    await overlay.waitFor();
    const [opacity, ground = ''] = await styleOf(overlay, 'opacity', 'background-color');
    expect(opacity).toBe('1');
    expect(rgbOf(ground)).toHaveLength(3);
    expect(Math.min(...rgbOf(ground))).toBeGreaterThan(230);
    const bars = overlay.locator('.bars-mark > i');
    expect(await bars.count()).toBe(5);
    for (const bar of await bars.all()) {
      const [red = 0, green = 0, blue = 0] = rgbOf((await styleOf(bar, 'background-color'))[0]);
      expect({ red: red > green, blue: blue > red, deep: green < 64 }).toEqual({ red: true, blue: true, deep: true });
    }
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
    expect(await overlay.evaluate((element) => element.getBoundingClientRect().toJSON() as object)).toMatchObject({
      x: 0,
      y: 0,
      height,
    });
    for (const [x, y] of [
      [10, 10],
      [width / 2, height - 10],
    ] as const)
      // While the page still fades in, its picture lies over all.
      await expect
        .poll(() => overlay.evaluate((box, at) => box.contains(document.elementFromPoint(...at)), [x, y] as const))
        .toBe(true);
  });

  test('the destination page shows its four cards', async () => {
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).waitFor();
    expect(await page.locator('.card').allInnerTexts()).toEqual([
      expect.stringMatching(/^You keep your email address\n/),
      expect.stringMatching(/^Your mail and contacts come with you\n.*from minutes to a full day/s),
      expect.stringMatching(/^Timeline\n.*90 days\s+from first availability of Yahoo's terms/s),
      expect.stringMatching(/^Your other services\n/),
    ]);
  });

  describe('a modal', () => {
    test.each([
      [
        '/',
        'nobody',
        [
          ['Sign in to get started', 'Start'],
          ['Check your transfer status', 'check your transfer status'],
        ],
      ],
      ['/destination-account', 'signedIn', [['Important notice', 'Go to Yahoo Mail']]],
      [STATUS, 'nobody', [['Delete these files?', 'Delete my export now']]],
    ] as const)(
      'each modal of %s (%s) closes on Escape and on its background, not on a press inside, and gives the focus back',
      async (at, session, modals) => {
        wire.answer('/api/v2/status/', FINISHED_EXPORT);
        await arrive(at, session);
        await eachOf<readonly [title: string, opener: string]>(modals, async ([title, opener]) => {
          const open = page.getByRole('button', { name: opener, exact: true });
          const dialog = page.getByRole('dialog', { name: title });
          for (const close of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
            await open.click();
            await dialog.waitFor();
            await expect.poll(() => page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(true);
            await dialog.getByRole('heading', { name: title }).click();
            const box = await dialog.boundingBox();
            if (box === null) throw new Error('The dialog is not shown.');
            // A selection that begins in the dialog and ends on the background.
            await page.mouse.move(box.x + 20, box.y + 20);
            await page.mouse.down();
            await page.mouse.move(5, 5);
            await page.mouse.up();
            expect(await dialog.count()).toBe(1);
            await close();
            await dialog.waitFor({ state: 'detached' });
            await expect.poll(() => open.evaluate((button) => button === document.activeElement)).toBe(true);
          }
        });
      },
    );

    test('its button to close lies over nothing else, wherever the dialog is scrolled to on a telephone', async () => {
      await page.setViewportSize({ width: 320, height: 480 });
      await arrive('/');
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Sign in to get started' });
      await dialog.waitFor();
      const besideClose = await dialog.evaluate((box) => {
        const found = new Set<string>();
        for (let top = 0; top <= box.scrollHeight - box.clientHeight; top += 8) {
          box.scrollTop = top;
          const close = box.querySelector('.modal-close')?.getBoundingClientRect();
          if (close === undefined) throw new Error('The dialog has no button to close it.');
          const y = close.top + close.height / 2;
          for (const x of [close.left - 4, close.left + close.width / 2, close.right + 4])
            found.add(document.elementFromPoint(x, y)?.closest('[class^=modal], h2, .field')?.className ?? 'outside');
        }
        return [...found].toSorted();
      });
      expect(besideClose).toEqual(['modal-close', 'modal-top']);
    });
  });

  test('a button that is off looks off under the pointer, and one that is on does not', async () => {
    await arrive('/support-form');
    const send = page.getByRole('button', { name: 'Send' });
    const ground = async () => (await styleOf(send, 'background-color', 'color', 'cursor')).join();
    const off = await ground();
    await send.hover({ force: true });
    await page.waitForFunction(() => document.getAnimations().length === 0);
    expect(await ground()).toBe(off);
    await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
    await expect.poll(ground).not.toBe(off);
  });

  test.each([768, 1280])('at %i px no step lies under the page, also in text of twice the size', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await arrive('/destination-account?way=other', 'signedIn');
    await page.getByText('Destination', { exact: true }).waitFor();
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '36px'));
    const steps = page.getByRole('navigation', { name: 'Progress' }).locator('li > :last-child');
    const ends = await steps.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
    expect(ends).toHaveLength(4);
    const begins = await page.locator('.sheet').evaluate((sheet) => sheet.getBoundingClientRect().left);
    expect(Math.max(...ends)).toBeLessThanOrEqual(begins);
  });

  test('where the browser is told to show text of twice the size, a tablet has the layout of a telephone', async () => {
    await page.setViewportSize({ width: 768, height: 1024 });
    const browser = await page.context().newCDPSession(page);
    await browser.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
    await arrive('/?error=EXTERNAL_OAUTH_ERROR');
    await page.getByText('Step 1 of 4: Start').waitFor();
    // “Authentication error” has one line.
    expect(await widthOf(page.locator('.message-title'))).toBeGreaterThan(600);
    await browser.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
  });

  test('on a telephone with text of twice the size a dialog and what is said in a message have nearly its width', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await arrive('/?error=EXTERNAL_OAUTH_ERROR');
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '36px'));
    // “Authentication” and “inconvenience.” need it.
    await expect.poll(() => widthOf(page.locator('.message-title'))).toBeGreaterThan(315);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => widthOf(page.getByRole('dialog'))).toBe(328);
  });

  test('on a telephone both mailboxes of a transfer are of one size, which is that of the longer', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await arrive('/start-migration', 'gmail');
    const addresses = await page.locator('.route .address').all();
    const sizes = await Promise.all(addresses.map((each) => styleOf(each, 'font-size')));
    expect(sizes.map(([size = '']) => Number.parseInt(size))).toEqual([15, 15]);
  });

  test('a double press opens the other ways, and does not close them again', async () => {
    await arrive('/destination-account', 'signedIn');
    const ways = page.getByRole('button', { name: 'Check other options to export your data' });
    await ways.dblclick();
    expect(await ways.getAttribute('aria-expanded')).toBe('true');
    await ways.click();
    expect(await ways.getAttribute('aria-expanded')).toBe('false');
  });

  test('a press right after one on something else is no double one, though the browser counts it as one', async () => {
    await arrive('/destination-account', 'signedIn');
    const ways = page.getByRole('button', { name: 'Check other options to export your data' });
    await page.getByRole('heading', { level: 1 }).click();
    await ways.hover();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    expect(await ways.getAttribute('aria-expanded')).toBe('true');
  });

  test('on a narrow telephone the formats of a download are read whole', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await arrive('/destination-account?way=download', 'signedIn');
    await page.getByLabel('Contacts format').waitFor();
    const rooms = await page.locator('select').evaluateAll((selects) =>
      (selects as HTMLSelectElement[]).flatMap((select) => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(select);
        const pen = new OffscreenCanvas(1, 1).getContext('2d') as OffscreenCanvasRenderingContext2D;
        pen.font = font;
        const room = select.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
        return [...select.options].map(({ text }) => ({ text, left: room - pen.measureText(text).width }));
      }),
    );
    expect(rooms.filter(({ left }) => left < 0)).toEqual([]);
    expect(rooms.length).toBeGreaterThan(5);
  });

  test(
    'on a small laptop the first button is in sight, and where one came back to another tab as well',
    { tags: 'proof' },
    async () => {
      await page.setViewportSize({ width: 1366, height: 650 });
      await arrive('/');
      const start = page.getByRole('button', { name: 'Start', exact: true });
      await start.waitFor();
      expect(await isInSight(start)).toBe(true);
      await page.setViewportSize({ width: 1280, height: 720 });
      await arrive('/oauth-callback?token_id=abc&email=maria@mail.example');
      await page.getByText('Please start once more').waitFor();
      await expect.poll(() => isInSight(start)).toBe(true);
    },
  );

  test('where colours are forced, a drawing has that of the words beside it', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    for (const [path, session] of [
      ['/', 'nobody'],
      ['/destination-account', 'signedIn'],
      ['/start-migration', 'gmail'],
      [STATUS, 'nobody'],
    ] as const) {
      await arrive(path, session);
      await page.locator('main svg').first().waitFor();
      const own = await page
        .locator('svg')
        .evaluateAll((all) =>
          all
            .filter((each) => getComputedStyle(each).color !== getComputedStyle(each.parentElement ?? each).color)
            .map((each) => each.parentElement?.textContent),
        );
      expect([path, own]).toEqual([path, []]);
    }
  });

  test('the size of a drawing is none that WebKit calls an error', async () => {
    for (const [path, session] of [
      ['/', 'nobody'],
      ['/destination-account', 'signedIn'],
      [STATUS, 'nobody'],
    ] as const) {
      await arrive(path, session);
      const drawings = page.locator('main svg');
      await drawings.first().waitFor();
      const wrong = await drawings.evaluateAll((all) =>
        all.filter((each) => /rem/.test(each.getAttribute('width') ?? '')),
      );
      expect([path, wrong.length]).toEqual([path, 0]);
      expect((await drawings.first().boundingBox())?.width).toBeLessThan(64);
    }
  });

  test('on a low screen a modal that does not fit has all of it but a margin', async () => {
    await page.setViewportSize({ width: 1366, height: 650 });
    wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await arrive('/');
    await signIn(page, SUBSCRIBER);
    await page.getByText('Incorrect credentials').waitFor();
    const dialog = page.getByRole('dialog');
    expect(await dialog.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)).toBe(true);
    expect(await dialog.boundingBox()).toMatchObject({ y: 16, height: 650 - 2 * 16 });
  });

  test('what went wrong is scrolled to on a small screen, even within a modal', async () => {
    await page.setViewportSize({ width: 360, height: 560 });
    wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await arrive('/');
    await signIn(page, SUBSCRIBER);
    const message = page.getByRole('alert').filter({ hasText: 'Incorrect credentials' });
    await message.waitFor();
    await expect.poll(() => isInSight(message)).toBe(true);

    wire.answer('/api/v2/support-form/', { status: 502, json: {} });
    await arrive('/support-form');
    await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
    await page.getByRole('button', { name: 'Send' }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'There was an error submitting your message' });
    await failure.waitFor();
    await expect.poll(() => isInSight(failure)).toBe(true);
    // Who looked away while that was shown.
    await page.getByText('We have not heard that your message arrived.').waitFor();
  });

  describe('messages', () => {
    // What comes up on Home leads away from it.
    const TOGETHER = Map.groupBy(SAID, ({ at, title }) => (at === '/' ? title : at));
    test.each([...TOGETHER])('%s: each message has its role, its icon, its tone and its form', async (_, messages) => {
      const [{ at, session } = { at: '/' }] = messages;
      await arrive(at, session);
      await eachOf(messages, async (said) => {
        if (said.wire !== undefined) wire.answer(...said.wire);
        await said.act(page, wire);
        const message = page.locator('.message').filter({ hasText: said.title });
        await message.waitFor();
        const [role, icon, tone, title, paragraphs] = await message.evaluate((box) => [
          box.getAttribute('role'),
          box.querySelectorAll('svg').length,
          getComputedStyle(box).borderInlineStartColor,
          box.querySelector('.message-title')?.textContent ?? null,
          box.querySelectorAll('p').length,
        ]);
        expect(role).toBe(said.kind === 'error' ? 'alert' : 'status');
        expect(icon).toBe(1);
        expect(tone).toBe(TONES[said.kind]);
        expect(title).toBe(said.size === 'large' ? said.title : null);
        expect(paragraphs > 1).toBe(said.size === 'large');
      });
    });
  });
});
