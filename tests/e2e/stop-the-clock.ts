import type { Page } from 'playwright';

/** Stops a page's clock a second from now. A machine that needs longer than that to say so is asked again. */
export async function stopTheClock(page: Page): Promise<void> {
  for (;;) {
    const now = await page.evaluate(() => Date.now());
    try {
      await page.clock.pauseAt(now + 1_000);
      return;
    } catch (error) {
      if (!String(error).includes('Cannot fast-forward to the past')) throw error;
    }
  }
}
