import { createHash } from 'node:crypto';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import type { Sum } from '../../src/server/export/thread/message-sums.ts';
import { BLOCK } from '../../src/server/export/disk/spool.ts';
import { openSummedWriter, type SummedWriter } from '../../src/server/export/staging/summed-writer.ts';
import { openExportThread, type ExportThread } from '../../src/server/export/thread/export-thread.ts';

const SIZES = [0, 1, 4095, BLOCK - 5000, 700_001, 0, 2 * BLOCK + 3, BLOCK, 17, 0, 0, 5000];

/** It does not repeat at the length of a block. */
const octetsOf = (size: number, seed: number) =>
  Buffer.alloc(size, Buffer.from(Array.from({ length: 997 }, (_, at) => (at * seed + 7) % 251)));

const MESSAGES = SIZES.map((size, at) => octetsOf(size, at + 1));

const sumOf = (octets: Buffer) => ({ sha256: createHash('sha256').update(octets).digest('hex'), crc32: crc32(octets) });

async function write(writer: SummedWriter, octets: Buffer): Promise<void> {
  // The memory that it came in is used again at once.
  const chunk = Buffer.alloc(65_521);
  for (let from = 0; from < octets.length; from += chunk.length) {
    const length = octets.copy(chunk, 0, from);
    if (!writer.append(chunk.subarray(0, length))) await writer.drained();
    chunk.fill(0);
  }
}

/** The sums of each message, and those of what lies in the segment; some messages that break off lie between. */
async function stageAll(
  folder: string,
  thread: Pick<ExportThread, 'ask'>,
): Promise<{ readonly noted: Sum[]; readonly stored: Sum[] }> {
  await using writer = await openSummedWriter(folder, thread);
  const ended = [];
  for (const [at, octets] of MESSAGES.entries()) {
    if (at % 4 === 1) {
      writer.begin();
      await write(writer, octetsOf(at === 5 ? 3 * BLOCK : 12_345, 99));
    }
    const place = writer.begin();
    await write(writer, octets);
    ended.push({ ...place, ...writer.end() });
    if (at % 5 === 3) await writer.sync();
  }
  await writer.sync();
  const file = await readFile(join(folder, writer.segment));
  return {
    noted: await Promise.all(ended.map(({ sum }) => sum)),
    stored: ended.map(({ position, size }) => sumOf(file.subarray(position, position + size))),
  };
}

const SUMS = MESSAGES.map(sumOf);
const EXPECTED = { noted: SUMS, stored: SUMS };

test('each message has the sums of its own octets, in however many blocks it lies, beside ones that broke off', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'summed-'));
  await using thread = openExportThread();
  expect(await stageAll(folder.path, thread)).toEqual(EXPECTED);
});

test('a process that has no more address space has the same sums', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'summed-'));
  await using thread = openExportThread();
  vi.stubGlobal('WebAssembly', {
    Memory: NoMemory,
  });
  try {
    expect(await stageAll(folder.path, thread)).toEqual(EXPECTED);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('where the thread dies, nothing of the segment counts as staged', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'summed-'));
  const thread = openExportThread();
  await using writer = await openSummedWriter(folder.path, thread);
  await thread[Symbol.asyncDispose]();
  writer.begin();
  writer.append(octetsOf(3000, 3));
  const { sum } = writer.end();
  await expect(writer.sync()).rejects.toThrow('The thread of exports has ended.');
  await expect(sum).rejects.toThrow('The thread of exports has ended.');
});

function NoMemory(): never {
  throw new RangeError('WebAssembly.Memory(): could not allocate memory');
}
