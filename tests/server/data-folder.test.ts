import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { DataFolderError, holdDataFolder } from '../../src/server/store/data-folder.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const HOLD = join(import.meta.dirname, '../support/hold-folder.ts');
const IN_USE = /is in use by another process\./;

let folder: string;
let children: ChildProcess[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-folder-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts a process that holds the folder, and answers its number, as it knows it, and what it said. */
async function hold(
  command: string,
  ...parameters: string[]
): Promise<{ child: ChildProcess; pid: number; said: string }> {
  const child = spawn(command, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [pid = '', ...said] = line.split(' ');
  return { child, pid: Number(pid), said: said.join(' ') };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

describe('a data folder', () => {
  test(
    'gets its key once there is room for it, and no empty one before',
    needs('the right to mount a disk'),
    async () => {
      await using disk = await mountSmallDisk(1);
      await using held = await holdDataFolder(join(disk.root, 'data'));
      const left = (await statfs(disk.root)).bavail * (await statfs(disk.root)).bsize;
      await disk.fill('everything', left);
      await expect(held.secretKey()).rejects.toThrow(DataFolderError);
      await disk.resize(2);
      const key = await held.secretKey();
      expect(key).toHaveLength(32);
      expect(await held.secretKey()).toEqual(key);
    },
  );

  test('is kept from a second process while the first lives', async () => {
    const first = await hold(process.execPath, HOLD, folder);
    expect(first.said).toBe('held');
    await expect(holdDataFolder(folder)).rejects.toThrow(IN_USE);
    first.child.stdin?.end();
    await once(first.child, 'exit');
    await using _held = await holdDataFolder(folder);
  });

  test('is free at once after kill -9, though nobody has collected the dead process yet', needs('Linux'), async () => {
    // The shell becomes a program that never waits for its child, so the child stays a zombie.
    const script = 'mkfifo "$2/in" && exec 3<>"$2/in"; "$0" "$1" "$2" <&3 & exec sleep 600';
    const first = await hold('bash', '-c', script, process.execPath, HOLD, folder);
    // Killing the shell's program leaves it, with the output of all tests in its hands.
    onTestFinished(() => killIfThere(first.pid));
    expect(first.said).toBe('held');
    await expect(holdDataFolder(folder)).rejects.toThrow(IN_USE);
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(() => readFile(`/proc/${first.pid}/stat`, 'utf8')).toMatch(/\) Z /);
    // It still answers to signal 0.
    process.kill(first.pid, 0);
    await using _held = await holdDataFolder(folder);
  });

  test(
    'that two containers share is kept from the second, though both have the same process number',
    needs('the right to make a namespace'),
    async () => {
      const apart = ['--pid', '--fork', '--mount-proc', '--kill-child', process.execPath, HOLD, folder];
      const first = await hold('unshare', ...apart);
      const second = await hold('unshare', ...apart);
      expect([first.said, first.pid]).toEqual(['held', second.pid]);
      expect(second.said).toMatch(IN_USE);
    },
  );

  test('where nobody can make one is refused, and not tried without end', needs('Linux'), async () => {
    await expect(holdDataFolder('/proc/data/portal')).rejects.toThrow(
      "DATA_DIR /proc/data/portal can't be written (ENOENT)",
    );
  });

  test('is made with those above it, for its user alone', async () => {
    const path = join(folder, 'some/where');
    await using _held = await holdDataFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  test('of an older release, whose lock a dead process left, is taken', async () => {
    await writeFile(join(folder, 'lock'), `${process.pid} 1\n`);
    await using held = await holdDataFolder(folder);
    expect(held.path).toBe(folder);
  });
});
