import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import { consent, goToYahoo, startTransfer } from '../tests/e2e/steps.ts';
import { openBrowser } from '../tests/support/browser.ts';
import { startProduct } from '../tests/support/product.ts';
import { freePort } from '../tests/support/free-port.ts';

const FOLDER = join(import.meta.dirname, 'pictures');
const STORY = '/?path=/story/states-home--page-signing-in-credentials-verifying-prompt&addonPanel=wizard-chart/panel';
const STORYBOOK_WITHIN_MS = 120_000;

/** `npm run pictures`: takes the README's pictures, from the running product and from Storybook. */
await mkdir(FOLDER, { recursive: true });
await using browser = await openBrowser();
await using context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  colorScheme: 'light',
  timezoneId: 'America/Los_Angeles',
  locale: 'en-US',
  reducedMotion: 'reduce',
});
// The countdown depends on when a picture is taken.
await context.clock.setFixedTime('2025-10-20T12:00:00-07:00');
await takeProduct(context);
await takeStorybook(context);

async function takeProduct(context: BrowserContext): Promise<void> {
  await using product = await startProduct({ INSPECT: 'on' });
  const [subscriber] = product.subscribers;
  if (subscriber === undefined) throw new Error('The sandbox has no subscribers.');
  const page = await context.newPage();
  await page.goto(product.url);
  const [viewer] = await Promise.all([context.waitForEvent('page'), inspectorButton(page).click()]);
  await page.bringToFront();
  await take(page, 'home');
  await goToYahoo(page, product.url, subscriber);
  await page.goBack();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await take(page, 'destination');
  await goToYahoo(page, product.url, subscriber);
  await consent(page, subscriber);
  const id = await startTransfer(page, 'maria@mail.example', 'Move');
  await viewer.setViewportSize({ width: 1440, height: 900 });
  await viewer.bringToFront();
  await viewer.locator('.lit[data-state="complete.resting"]').waitFor({ state: 'attached' });
  await viewer.getByRole('button', { name: 'done: start the transfer' }).click();
  await viewer.getByRole('button', { name: 'One moment back' }).click();
  await viewer.locator('.lit[data-state^="startMigration"]').first().waitFor({ state: 'attached' });
  await take(viewer, 'inspector');
  await page.bringToFront();
  await page.goto(`${product.url}/status?migration_id=${id}`);
  await page.getByRole('heading', { name: 'Your transfer is done' }).waitFor();
  await take(page, 'status');
}

async function takeStorybook(context: BrowserContext): Promise<void> {
  const port = await freePort();
  const program = join(import.meta.dirname, '../node_modules/.bin/storybook');
  const storybook = spawn(program, ['dev', '-p', String(port), '--ci', '--no-open'], { stdio: 'ignore' });
  try {
    const page = await context.newPage();
    await page.setViewportSize({ width: 1440, height: 900 });
    await answering(`http://localhost:${port}/`);
    await page.goto(`http://localhost:${port}${STORY}`, { timeout: STORYBOOK_WITHIN_MS });
    const lit = page.locator('.lit[data-state="home.page.signingIn.credentials.verifying.prompt"]');
    await lit.waitFor({ state: 'attached', timeout: STORYBOOK_WITHIN_MS });
    await page.frameLocator('#storybook-preview-iframe').getByRole('dialog').waitFor();
    await take(page, 'storybook');
  } finally {
    storybook.kill();
  }
}

function inspectorButton(page: Page) {
  return page.getByRole('button', { name: 'Open the inspector' });
}

async function take(page: Page, name: string): Promise<void> {
  await inspectorButton(page).evaluateAll((buttons) => buttons.forEach((button) => button.remove()));
  // A page that was come back to is scrolled as it was left.
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' });
  process.stdout.write(`stories/pictures/${name}.png\n`);
}

async function answering(url: string): Promise<void> {
  const signal = AbortSignal.timeout(STORYBOOK_WITHIN_MS);
  for (;;) {
    signal.throwIfAborted();
    const answered = await fetch(url, { signal }).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
}
