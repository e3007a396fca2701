import { statfs } from 'node:fs/promises';

/** No new work begins with less room than this, in octets: the database and the logs need some as well. */
export const DISK_RESERVE = 512 * 1024 * 1024;

/** Thrown if there is less room than requested, rather than failing in the middle. */
export class DiskFullError extends Error {
  override name = 'DiskFullError';
  readonly code = 'ENOSPC';
}

/** Node's codes for a full disk and a spent quota, and PostgreSQL's `disk_full`. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Whether an error, or its cause, is a lack of room. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && FULL.has(code)) || isDiskFull(error.cause);
}

/** A disk that is gone, read-only, or faulty. */
const UNUSABLE = new Set(['EACCES', 'EIO', 'ENODEV', 'ENOTCONN', 'EPERM', 'EROFS', 'ESTALE']);

/** Whether the operator has to fix a disk before anything can continue. */
export function isDiskUnusable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // On a read-only disk, a recursive mkdir reports that there is no such folder.
  if (syscall === 'mkdir' && code === 'ENOENT') return true;
  return syscall !== undefined && syscall !== 'connect' && UNUSABLE.has(code);
}

/** What this process has reserved for the archives that it is writing, in octets; they are all on one disk. */
let claimed = 0;

/** @throws {DiskFullError} with less than `reserve` octets free on the folder's disk, not counting what is reserved */
export async function requireRoom(folder: string, reserve: number): Promise<void> {
  const needed = reserve + claimed;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < needed) throw new DiskFullError('There is less room on the disk than an export needs.');
}

/** The free room is checked at least once for this many octets written. */
const ASKED_EVERY = 16 * 1024 * 1024;

/**
 * For when more room is needed than expected, or others use it up meanwhile.
 * @returns a function to call with the number of octets written, and to await; it rejects with a {@link DiskFullError}
 * when less than `least` is free
 */
export function watchRoom(folder: string, least: number): RoomWatch {
  const most = Math.min(ASKED_EVERY, least / 4);
  let written = 0;
  const look = async () => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < least) throw new DiskFullError('The disk is nearly full.');
  };
  return (octets) => {
    written += octets;
    if (least === 0 || written < most) return undefined;
    written = 0;
    return look();
  };
}

export type RoomWatch = (octets: number) => Promise<void> | undefined;

/** Room reserved until this is disposed of; what was used of it is on the disk by then. */
export type Claim = Disposable & { take(octets: number): void };

/** Like {@link requireRoom}, and reserves that many octets. */
export async function claimRoom(folder: string, octets: number, reserve: number): Promise<Claim> {
  let left = octets;
  const take = (taken: number) => {
    const fewer = Math.min(taken, left);
    left -= fewer;
    claimed -= fewer;
  };
  claimed += octets;
  try {
    await requireRoom(folder, reserve);
  } catch (error) {
    take(left);
    throw error;
  }
  return { take, [Symbol.dispose]: () => take(left) };
}
