import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const FULL = '/dev/full';
const WRITER = `
import { createInterface } from 'node:readline';
import { openLog } from ${JSON.stringify(new URL('../../src/server/log.ts', import.meta.url).href)};
const log = openLog('info');
process.stderr.write('ready\\n');
for await (const line of createInterface({ input: process.stdin })) {
  for (let count = 0; count < Number(line); count += 1) log.info({ count, pad: 'x'.repeat(1000) }, 'a line');
  await new Promise((resolve) => setImmediate(resolve));
  process.stderr.write('done\\n');
}
`;

/** A process whose standard output is that file, and which logs so many lines at each call. */
async function startWriter(path: string) {
  const output = openSync(path, 'a');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', WRITER], { stdio: ['pipe', output, 'pipe'] });
  closeSync(output);
  const { stdin, stderr } = child;
  if (stdin === null || stderr === null) throw new Error('It has no pipes.');
  const ended = once(child, 'exit');
  const said = createInterface({ input: stderr })[Symbol.asyncIterator]();
  await said.next();
  return {
    log: async (lines: number) => {
      stdin.write(`${lines}\n`);
      expect((await said.next()).value).toBe('done');
    },
    end: async () => {
      stdin.end();
      const [code] = (await ended) as [number | null];
      return code;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

test('a process goes on, and ends as always, while its log finds no room', needs('Linux'), async () => {
  using writer = await startWriter(FULL);
  for (let round = 0; round < 20; round += 1) await writer.log(5);
  expect(await writer.end()).toBe(0);
});

test(
  'what found no room is in the log once there is some, and what was dropped is counted',
  needs('the right to mount a disk'),
  async () => {
    await using disk = await mountSmallDisk(1);
    const path = join(disk.root, 'log');
    await disk.fillBut(4096);
    using writer = await startWriter(path);
    await writer.log(10_000);
    await disk.resize(32);
    await writer.log(1);
    expect(await writer.end()).toBe(0);
    const lines = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; count?: number; lines?: number });
    const written = lines.filter(({ msg }) => msg === 'a line').map(({ count }) => count);
    const told = lines.filter(({ msg }) => msg !== 'a line');
    expect(written.slice(0, 5000)).toEqual(Array.from({ length: 5000 }, (_, count) => count));
    expect(told).toMatchObject([{ msg: expect.stringMatching(/lines of the log were dropped/) as string }]);
    expect(written.length + (told[0]?.lines ?? 0)).toBe(10_001);
  },
);
