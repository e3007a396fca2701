import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed } from './installed.ts';
import { run } from './run.ts';

/** Whether this process may mount a disk: root may, except in a container without that privilege. */
export function mayMount(): boolean {
  if (installed('mount') === null || installed('fallocate') === null) return false;
  const folder = mkdtempSync(join(tmpdir(), 'try-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;
  if (mounted) spawnSync('umount', [folder]);
  rmdirSync(folder);
  return mounted;
}

export type SmallDisk = AsyncDisposable & {
  readonly root: string;
  /** Uses up space on it with another file. */
  fill(name: string, octets: number): Promise<void>;
  /** Uses up all of it but so many octets. */
  fillBut(octets: number): Promise<void>;
  resize(megabytes: number): Promise<void>;
};

export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const root = await mkdtemp(join(tmpdir(), 'small-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', root]);
  const fill = async (name: string, octets: number) => {
    await run('fallocate', ['-l', String(octets), join(root, name)]);
  };
  return {
    root,
    fill,
    fillBut: async (octets) => {
      const { bavail, bsize } = await statfs(root);
      await fill('filled', bavail * bsize - octets);
    },
    resize: async (size) => {
      await run('mount', ['-o', `remount,size=${size}m`, root]);
    },
    [Symbol.asyncDispose]: async () => {
      // Lazily, so that processes that still use it don't prevent it.
      await run('umount', ['-l', root]);
      await rm(root, { recursive: true, force: true });
    },
  };
}
