import { join } from 'node:path';
import { storybookTest } from '@storybook/addon-vitest/vitest-plugin';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { STORIES, WORKERS } from '../tests/folders.ts';
import { CHROMIUM_FLAGS } from '../tests/support/browser.ts';
import { CHROMIUM } from '../tests/support/installed.ts';

const browser = (name: string, colorScheme: 'light' | 'dark') => ({
  browser: 'chromium' as const,
  name,
  provider: playwright({
    launchOptions: { executablePath: CHROMIUM ?? 'chromium', args: [...CHROMIUM_FLAGS] },
    contextOptions: { colorScheme, reducedMotion: 'reduce' },
  }),
});

/** Every story is a test: it is shown, its play function is played, and axe finds nothing. `preview.tsx` has the sizes. */
export default defineConfig({
  root: join(import.meta.dirname, '..'),
  plugins: [storybookTest({ configDir: import.meta.dirname })],
  test: {
    name: 'storybook',
    testTimeout: 30_000,
    maxWorkers: WORKERS,
    sequence: { groupOrder: 1 },
    browser: {
      enabled: true,
      headless: true,
      provider: browser('light', 'light').provider,
      instances: [browser(STORIES.light, 'light'), browser(STORIES.dark, 'dark')],
      screenshotFailures: false,
    },
  },
});
