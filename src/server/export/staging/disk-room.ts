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

/** A disk that went away, lets nobody write, or has errors. */
const UNUSABLE = new Set(['EACCES', 'EIO', 'ENODEV', 'ENOTCONN', 'EPERM', 'EROFS', 'ESTALE']);

/** Whether the operator has to mend a disk before anybody can go on. */
export function isDiskUnusable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // What makes all of a path says that there is no such folder where the disk can only be read.
  if (syscall === 'mkdir' && code === 'ENOENT') return true;
  return syscall !== undefined && syscall !== 'connect' && UNUSABLE.has(code);
}

/** What this process has claimed for archives that it writes at the moment, in octets: their disk is one. */
let claimed = 0;

/** @throws {DiskFullError} with less than `reserve` octets free on the folder's disk, beside what is claimed */
export async function requireRoom(folder: string, reserve: number): Promise<void> {
  const needed = reserve + claimed;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < needed) throw new DiskFullError('There is less room on the disk than an export needs.');
}

/** After so many octets that were written it is asked how much room there is left, at most. */
const ASKED_EVERY = 16 * 1024 * 1024;

/**
 * For what takes more room than was thought, or others take meanwhile.
 * @returns what is to be told how many octets were written, and may have to be waited for; rejects with a
 * {@link DiskFullError} where less than `least` is free
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

/** What is kept from others until it is disposed of; what was taken of it is on the disk by now. */
export type Claim = Disposable & { take(octets: number): void };

/** As {@link requireRoom}, and keeps so many octets from others. */
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
