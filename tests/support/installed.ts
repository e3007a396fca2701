import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** The path of a program of this machine, or `null`: a test that needs it is then skipped by its name. */
export function installed(program: string): string | null {
  for (const folder of FOLDERS) {
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
