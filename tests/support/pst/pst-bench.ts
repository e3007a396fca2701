import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startFlags } from '../start-command.ts';
import type { Measured } from './pst-bench-process.ts';

const PROCESS = join(import.meta.dirname, 'pst-bench-process.ts');

/** Writes `count` messages as PST in a process of its own, with the Node flags of `npm start`. */
export async function measureWriting(directory: string, count: number, octets?: number): Promise<Measured> {
  const more = octets === undefined ? [] : [String(octets)];
  const child = spawn(process.execPath, [...startFlags(), PROCESS, directory, String(count), ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The writer ended with ${code}.`);
  return JSON.parse(output) as Measured;
}

/** The run time of a program, in milliseconds, and its peak memory, in octets, which is only known on Linux. */
export async function measureProgram(
  program: string,
  parameters: readonly string[],
): Promise<{ ms: number; rss: number }> {
  const began = performance.now();
  const child = spawn(program, parameters, { stdio: 'ignore' });
  let rss = 0;
  const look = setInterval(() => {
    // The file disappears when the program ends; then the last value remains.
    try {
      rss = Math.max(
        rss,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024,
      );
    } catch {
      clearInterval(look);
    }
  }, 20);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(look);
  if (code !== 0) throw new Error(`${program} ended with ${code}.`);
  return { ms: performance.now() - began, rss };
}
