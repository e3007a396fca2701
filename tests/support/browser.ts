import { type Browser, chromium } from 'playwright';
import { CHROMIUM } from './installed.ts';

export const LESS_MOTION = '--force-prefers-reduced-motion';

/** With less motion, because animations are rendered without a GPU. Tests that look at them turn them on. */
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  LESS_MOTION,
] as const;

/** Debian's Chromium, with the flags to run as root and without background traffic. */
export async function openBrowser(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('There is no Chromium here.');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...CHROMIUM_FLAGS],
  });
}
