import lighthouse from 'lighthouse';
import { chromium } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_FLAGS, openBrowser } from '../support/browser.ts';
import { CHROMIUM } from '../support/installed.ts';
import { needs } from '../support/needs.ts';
import { type PortalAlone, servePortalAlone } from '../support/portal-alone.ts';
import { freePort } from '../support/free-port.ts';

const SCRIPT_BYTES = 128 * 1024;
const STYLE_BYTES = 10 * 1024;

describe("the portal's weight, in Chromium (needs chromium)", needs('chromium'), () => {
  let portal: PortalAlone;

  beforeAll(async () => {
    portal = await servePortalAlone();
  });
  afterAll(async () => {
    await portal?.[Symbol.asyncDispose]();
  });

  test('the first load of Home has at most 128 KB of script, gzipped, and asks no other host', async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(portal.url, { waitUntil: 'networkidle' });
      expect(new Set(asked.map((url) => new URL(url).host))).toEqual(new Set([new URL(portal.url).host]));
      const weigh = async (suffix: string) => {
        let bytes = 0;
        for (const url of asked.filter((url) => url.endsWith(suffix))) bytes += await gzippedSize(url);
        return bytes;
      };
      const [scripts, styles] = [await weigh('.js'), await weigh('.css')];
      console.log(`First load, gzip: ${kilobytes(scripts)} of script, ${kilobytes(styles)} of style.`);
      expect(scripts).toBeGreaterThan(10 * 1024);
      expect(scripts).toBeLessThanOrEqual(SCRIPT_BYTES);
      expect(styles).toBeLessThanOrEqual(STYLE_BYTES);
    } finally {
      await browser.close();
    }
  });

  test('Lighthouse gives Home 100 for accessibility and for best practices', { tags: 'proof' }, async () => {
    const port = await freePort();
    const browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: [...CHROMIUM_FLAGS, `--remote-debugging-port=${port}`],
    });
    try {
      const { performance, ...scores } = await lighthouseScores(portal.url, port);
      // It depends on what else the machine does: what makes it is held by the weights above.
      console.log(`Lighthouse's performance on this machine: ${performance}`);
      expect(scores).toEqual({ accessibility: 100, 'best-practices': 100 });
    } finally {
      await browser.close();
    }
  });
});

/** Of a hundred, by category. */
async function lighthouseScores(url: string, port: number): Promise<Record<string, number>> {
  const result = await lighthouse(
    url,
    { port, logLevel: 'silent', output: 'json' },
    {
      extends: 'lighthouse:default',
      settings: { onlyCategories: ['accessibility', 'best-practices', 'performance'] },
    },
  );
  return Object.fromEntries(
    Object.entries(result?.lhr.categories ?? {}).map(([name, { score }]) => [name, Math.round(100 * (score ?? 0))]),
  );
}

async function gzippedSize(url: string): Promise<number> {
  const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  await answer.arrayBuffer();
  return Number(answer.headers.get('content-length'));
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
