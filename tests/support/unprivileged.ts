import { chown } from 'node:fs/promises';

/** The user "nobody" and its group: servers such as PostgreSQL refuse to run as root. */
export const NOBODY = 65_534;
export const IS_ROOT = process.getuid?.() === 0;

/** How to start a program as somebody without rights, where this process is root. */
export function unprivileged(program: string, ...args: string[]): [string, string[]] {
  return IS_ROOT
    ? ['setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', program, ...args]]
    : [program, args];
}

/** Makes a folder theirs. */
export async function giveAway(folder: string): Promise<void> {
  if (IS_ROOT) await chown(folder, NOBODY, NOBODY);
}
