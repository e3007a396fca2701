import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** Debian's paths of programs that are not on the PATH. */
export const MANAGESIEVE_LOGIN = '/usr/lib/dovecot/managesieve-login';
export const DELIVERY_AGENT = '/usr/lib/dovecot/dovecot-lda';

/** Chromium without the parts that need a screen. A page costs a quarter of what it does in full Chromium. */
export const HEADLESS_CHROMIUM = 'chromium-headless-shell';

/** The browser that tests run in. */
export const CHROMIUM = process.env['CHROMIUM_PATH'] ?? installed(HEADLESS_CHROMIUM) ?? installed('chromium');

/** Debian's Firefox, or any other. */
export const FIREFOX = installed('firefox-esr') ?? installed('firefox');

/** The path of an installed program, or `null`. Tests declare what they require with `needs`. */
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
