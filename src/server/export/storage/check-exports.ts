import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../../../contract/settings.ts';
import { isDiskFull } from '../staging/disk-full.ts';
import type { ExportStore } from './export-store.ts';
import type { Log } from '../../log.ts';

/** A bucket that does not answer for so long at the start is taken for one that can't be used. */
const ANSWER_WITHIN_MS = 20_000;

/**
 * Writes a file to where exports lie and deletes it again, so that a folder or a bucket that can't be written is found at
 * the start and not by the first subscriber. A full disk is no reason to stay away: exports wait until there is room.
 * @throws {SettingsError}
 */
export async function checkExports(exports: ExportStore, log: Log): Promise<void> {
  const name = `start-${randomBytes(16).toString('hex')}`;
  const file = join(exports.staging, name);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(Object.assign(new Error('There was no answer.'), { code: 'ETIMEDOUT' }));
  }, ANSWER_WITHIN_MS);
  try {
    await Promise.race([writeTo(exports, name, file), late]);
  } catch (error) {
    await rm(file, { force: true }).catch(() => {});
    if (isDiskFull(error)) {
      log.error('EXPORTS_URL has no room: exports wait until there is some');
      return;
    }
    const { code, name: kind } = error as NodeJS.ErrnoException;
    throw new SettingsError([
      `EXPORTS_URL can't be written (${code ?? kind}). Make it writable, or name another folder or bucket. Example: EXPORTS_URL=/var/lib/portal/exports`,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

async function writeTo(exports: ExportStore, name: string, file: string): Promise<void> {
  await mkdir(exports.staging, { recursive: true, mode: 0o700 });
  await writeFile(file, 'This file shows at the start that exports can be written here.\n', { mode: 0o600 });
  await exports.put(name, 'start.txt', file, AbortSignal.timeout(ANSWER_WITHIN_MS));
  await exports.remove(name);
}
