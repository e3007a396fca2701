import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { enter, type PortalAlone, servePortalAlone, type SessionName, type Wire } from '../support/portal-alone.ts';

type Opened = {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly wire: Wire;
};

/** A page's options, and the time that its clock has when a test begins, which then goes on. Without one it is the machine's. */
type Options = BrowserContextOptions & { readonly clock?: string };

/**
 * For the `describe` that it is called in: the portal alone, whose calls are answered by a script, a browser, and for
 * each test a page as if nobody had used it. `opened` is called before each test. A page that a test has done something
 * to that can't be taken back is not handed to the next one; otherwise it is, as a new one costs the time of two tests.
 */
export function portalInChromium(
  { clock, ...options }: Options,
  opened: (here: Opened) => void | Promise<void>,
): {
  readonly portal: { readonly url: string };
  readonly arrive: (path: string, session?: SessionName) => Promise<void>;
} {
  let portal: PortalAlone;
  let browser: Browser;
  let here: { context: BrowserContext; page: Page } | undefined;
  let isSpoilt: () => boolean;
  beforeAll(async () => {
    portal = await servePortalAlone();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await portal?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    if (here === undefined) {
      const context = await browser.newContext(options);
      here = { context, page: await context.newPage() };
      if (clock !== undefined) await here.page.clock.install({ time: clock });
      isSpoilt = watch(here.page, clock !== undefined);
    } else if (clock !== undefined) {
      await here.page.clock.resume();
      await here.page.clock.setSystemTime(clock);
    }
    await opened({ ...here, browser, wire: portal.wire });
  });
  afterEach(async () => {
    if (here === undefined) return;
    if (isSpoilt()) {
      await here.context.close();
      here = undefined;
    } else await clear(here, portal.url, options);
    // Nothing is left that could ask.
    portal.wire.reset();
  });
  return {
    portal: {
      get url() {
        return portal.url;
      },
    },
    arrive: async (path, session = 'nobody') => {
      if (here !== undefined) await enter(here.page, portal.url, path, session);
    },
  };
}

/** Tells whether a page has got a script or a clock for all that it will ever show, which nothing takes away again. */
function watch(page: Page, hasClock: boolean): () => boolean {
  let isSpoilt = false;
  const spoiling = <On extends object>(on: On, name: keyof On & string) => {
    const method = on[name] as (...parameters: unknown[]) => unknown;
    Object.assign(on, {
      [name]: (...parameters: unknown[]) => {
        isSpoilt = true;
        return method.apply(on, parameters);
      },
    });
  };
  spoiling(page, 'addInitScript');
  // A clock that each test sets anew may be stopped and set.
  if (!hasClock)
    for (const name of ['install', 'pauseAt', 'setFixedTime', 'setSystemTime'] as const) spoiling(page.clock, name);
  return () => isSpoilt || page.isClosed();
}

/** Takes back what a test can do to a page and its context. */
async function clear(
  { context, page }: { context: BrowserContext; page: Page },
  url: string,
  options: BrowserContextOptions,
): Promise<void> {
  page.removeAllListeners();
  for (const other of context.pages()) if (other !== page) await other.close();
  await context.setOffline(false);
  await context.unrouteAll({ behavior: 'ignoreErrors' });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.clearCookies();
  await context.clearPermissions();
  // A Back that closes a dialog may still be under way, and would break off a navigation that begins just then.
  await page.goto(`${url}/nothing.txt`).catch(() => page.goto(`${url}/nothing.txt`));
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  // On an empty page, where that asks for no layout.
  const { colorScheme = null, reducedMotion = null, viewport } = options;
  const { width, height } = viewport ?? { width: 1280, height: 720 };
  await page.emulateMedia({ media: null, colorScheme, reducedMotion, forcedColors: null });
  const is = page.viewportSize();
  if (is?.width !== width || is.height !== height) await page.setViewportSize({ width, height });
}
