import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** Debian's places of what comes in no folder for programs. */
export const MANAGESIEVE_LOGIN = '/usr/lib/dovecot/managesieve-login';
export const DELIVERY_AGENT = '/usr/lib/dovecot/dovecot-lda';

/** Chromium without what only a screen needs: a page costs a quarter of what it costs in the whole one. */
export const HEADLESS_CHROMIUM = 'chromium-headless-shell';

/** The browser that tests run in. */
export const CHROMIUM = process.env['CHROMIUM_PATH'] ?? installed(HEADLESS_CHROMIUM) ?? installed('chromium');

/** Debian's Firefox, and everybody else's. */
export const FIREFOX = installed('firefox-esr') ?? installed('firefox');

/** The path of a program of this machine, or `null`: a test that needs it says so by `needs`. */
export function installed(program: string): string | null {
  for (const folder of isAbsolute(program) ? [''] : FOLDERS) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return null;
}
