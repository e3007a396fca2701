import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export type Started = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All of its output, once it has ended. */
  readonly output: Promise<string>;
  readonly ended: Promise<unknown>;
};

/** Runs a program of this folder, with one argument as JSON, until the test is over. */
export function startProcess(program: 'transfer-process' | 'export-process', options: unknown): Started {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${program}.ts`), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, pid: child.pid ?? 0, output: text(child.stdout), ended: once(child, 'exit') };
}

/** Waits until the kernel has stopped a process (`T` in its third field, proc(5)). */
export async function untilFrozen(pid: number): Promise<void> {
  for (; ; await wait(50)) {
    const line = await readFile(`/proc/${pid}/stat`, 'latin1');
    if (line.slice(line.lastIndexOf(')') + 2).startsWith('T')) return;
  }
}

/** The last line of a process's output, which is JSON. */
export async function lastLine({ output }: Started): Promise<unknown> {
  return JSON.parse((await output).trim().split('\n').at(-1) ?? '');
}
