import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import {
  enter,
  type PortalAlone,
  scriptWire,
  servePortalAlone,
  type SessionName,
  type Wire,
} from '../support/portal-alone.ts';

/** What a test has of its own. */
type Opened = { readonly context: BrowserContext; readonly page: Page; readonly wire: Wire };

/**
 * For the `describe` that it is called in: the portal alone, a browser, and for each test a page in a context of its own,
 * whose calls are answered by a script. `opened` is called before each test.
 */
export function portalInChromium(
  options: BrowserContextOptions,
  opened: (here: Opened) => void | Promise<void>,
): {
  readonly portal: { readonly url: string };
  readonly arrive: (path: string, session?: SessionName) => Promise<void>;
} {
  let portal: PortalAlone;
  let browser: Browser;
  let here: Opened;
  beforeAll(async () => {
    portal = await servePortalAlone();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await portal?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    here = { context, page, wire: await scriptWire(context) };
    await opened(here);
  });
  afterEach(() => here.context.close());
  return {
    portal: {
      get url() {
        return portal.url;
      },
    },
    arrive: (path, session = 'nobody') => enter(here.page, portal.url, path, session),
  };
}
