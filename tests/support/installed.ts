import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** Debian's place of it. */
export const MANAGESIEVE_LOGIN = '/usr/lib/dovecot/managesieve-login';

/** The path of a program of this machine, or `null`: a test that needs it is then skipped by its name. */
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
