import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SettingsError } from '../../../contract/settings.ts';
import type { Log } from '../../log.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { isDiskFull } from '../disk/disk-room.ts';
import { StoreError, type ExportStore } from './export-store.ts';

/** A bucket that does not answer within this time at the start is in trouble. */
const ANSWER_WITHIN_MS = 20_000;
const FILE = 'start.txt';
const CONTENT = 'This file shows at the start that exports can be written here.\n';
const [TOO_MANY_REQUESTS, SERVER_ERROR] = [429, 500];

/**
 * Writes, reads and deletes a file where exports are kept, so that a folder or a bucket that can't be written is found
 * at the start and not by the first subscriber. A full disk, or a bucket in trouble or out of reach, does not prevent
 * the start: exports wait, and most transfers need none.
 * @throws {SettingsError}
 */
export async function checkExports(exports: ExportStore, log: Log, answerWithin = ANSWER_WITHIN_MS): Promise<void> {
  const name = `start-${randomBytes(16).toString('hex')}`;
  const file = join(exports.staging, name);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(Object.assign(new Error('There was no answer.'), { code: 'ETIMEDOUT' }));
  }, answerWithin);
  try {
    await Promise.race([writeTo(exports, name, file, AbortSignal.timeout(answerWithin)), late]);
  } catch (error) {
    await rm(file, { force: true }).catch(() => {});
    await exports.remove(name, FILE).catch(() => {});
    if (isDiskFull(error)) {
      log.error('EXPORTS_URL has no room: exports wait until there is some');
      return;
    }
    const reason = error instanceof StoreError ? (error.cause ?? error) : error;
    if (isInTrouble(reason)) {
      log.error(
        { err: reason },
        'EXPORTS_URL can not be reached, or is in trouble: exports wait until it is well. Everything else goes on',
      );
      return;
    }
    const { code, name: kind } = reason as NodeJS.ErrnoException;
    if (kind === 'CredentialsProviderError')
      throw new SettingsError([
        'EXPORTS_URL names a bucket, and there are no keys for it. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, or give the machine a role that may write there. Example: AWS_ACCESS_KEY_ID=AKIA...',
      ]);
    throw new SettingsError([
      `EXPORTS_URL can't be written (${code ?? kind}). Make it writable, or name another folder or bucket. Example: EXPORTS_URL=/var/lib/portal/exports`,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

async function writeTo(exports: ExportStore, name: string, file: string, signal: AbortSignal): Promise<void> {
  await makeFolder(exports.staging);
  await writeFile(file, CONTENT, { mode: 0o600 });
  await exports.put(name, FILE, file, signal);
  const found = await text(await exports.read(name, FILE, { start: 0, end: CONTENT.length - 1 }, signal));
  if (found !== CONTENT) throw new Error('What was written is not what is read.');
  await exports.remove(name);
}

/** Whether a bucket says that it can't do it now, says nothing, or can't be reached (name, port or TLS). */
function isInTrouble(error: unknown): boolean {
  const { $metadata, code, name } = error as SdkError;
  const { httpStatusCode: status } = $metadata ?? {};
  if (status !== undefined) return status === TOO_MANY_REQUESTS || status >= SERVER_ERROR;
  const isOfItsLine = $metadata !== undefined && code !== undefined;
  return isOfItsLine || code === 'ETIMEDOUT' || name === 'TimeoutError';
}

type SdkError = NodeJS.ErrnoException & { readonly $metadata?: { readonly httpStatusCode?: number } };
