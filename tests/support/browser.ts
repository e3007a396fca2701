import { type Browser, chromium } from 'playwright';
import { CHROMIUM } from './installed.ts';

export const LESS_MOTION = '--force-prefers-reduced-motion';

/** Fades and turning dots are drawn without a graphics card: a test that looks at them asks for them. */
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  LESS_MOTION,
] as const;

/** Debian's Chromium, as it runs for root and without a network of its own. */
export async function openBrowser(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('There is no Chromium here.');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...CHROMIUM_FLAGS],
  });
}
