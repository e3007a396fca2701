import { join } from 'node:path';
import { storybookTest } from '@storybook/addon-vitest/vitest-plugin';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { STORIES, WORKERS } from '../tests/folders.ts';
import { CHROMIUM_FLAGS, LESS_MOTION } from '../tests/support/browser.ts';
import { CHROMIUM } from '../tests/support/installed.ts';

const browser = (
  name: string,
  colorScheme: 'light' | 'dark',
  reducedMotion: 'reduce' | 'no-preference' = 'reduce',
) => ({
  browser: 'chromium' as const,
  name,
  provider: playwright({
    launchOptions: {
      executablePath: CHROMIUM ?? 'chromium',
      args: CHROMIUM_FLAGS.filter((flag) => reducedMotion === 'reduce' || flag !== LESS_MOTION),
    },
    contextOptions: { colorScheme, reducedMotion },
  }),
});

/** Every story is a test: it is shown, its play function is played, and axe finds nothing. `preview.tsx` has the sizes. */
export default defineConfig({
  root: join(import.meta.dirname, '..'),
  plugins: [storybookTest({ configDir: import.meta.dirname })],
  test: {
    name: 'storybook',
    // A journey has many pages, and the first story of a browser waits for all their modules.
    testTimeout: 120_000,
    maxWorkers: WORKERS,
    sequence: { groupOrder: 1 },
    browser: {
      enabled: true,
      headless: true,
      provider: browser('light', 'light').provider,
      // A journey is many pages, each of which is a story of its own: it is walked once, and some as a designer sees them.
      instances: [
        { ...browser(STORIES.light, 'light'), exclude: ['stories/flows/**'] },
        browser(STORIES.dark, 'dark'),
        { ...browser(STORIES.moving, 'light', 'no-preference'), include: ['stories/flows/{move,support}.stories.tsx'] },
      ],
      screenshotFailures: false,
    },
  },
});
