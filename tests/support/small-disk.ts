import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed } from './installed.ts';
import { run } from './run.ts';

/** Whether this process may mount a disk of its own: root may, but for one in a container without that right. */
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
  /** Lets something else take room on it. */
  fill(name: string, octets: number): Promise<void>;
  resize(megabytes: number): Promise<void>;
};

export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const root = await mkdtemp(join(tmpdir(), 'small-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', root]);
  return {
    root,
    fill: async (name, octets) => {
      await run('fallocate', ['-l', String(octets), join(root, name)]);
    },
    resize: async (size) => {
      await run('mount', ['-o', `remount,size=${size}m`, root]);
    },
    [Symbol.asyncDispose]: async () => {
      // Whoever still looks at it doesn't keep it.
      await run('umount', ['-l', root]);
      await rm(root, { recursive: true, force: true });
    },
  };
}
