import { statfs } from 'node:fs/promises';

/** No new work is begun with less room than this, in octets: the database and the logs need some as well. */
export const DISK_RESERVE = 512 * 1024 * 1024;

/** Thrown where there is less room than asked for, before it fails in the middle. */
export class DiskFullError extends Error {
  override name = 'DiskFullError';
  readonly code = 'ENOSPC';
}

/** Node's codes for a full disk and a spent quota, and PostgreSQL's `disk_full`. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Whether an error, or what caused it, is that there is no room. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && FULL.has(code)) || isDiskFull(error.cause);
}

/** @throws {DiskFullError} with less than `reserve` octets free on the folder's disk */
export async function requireRoom(folder: string, reserve: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < reserve) throw new DiskFullError('There is less room on the disk than an export needs.');
}
