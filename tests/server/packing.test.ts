import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { deflatedEach, type Files } from '../../src/server/export/thread/compression.ts';
import { openPacking } from '../../src/server/export/archive/packing.ts';
import type { ExportThread } from '../../src/server/export/thread/export-thread.ts';

/** A thread that answers when it is told to. */
function slowThread() {
  const waiting: { readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];
  const ask = (_: string, given: Files) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answer = () => resolve({ packed: deflatedEach(given), memory: given.octets.buffer });
    waiting.push({ answer, fail: reject });
    return promise;
  };
  return { waiting, thread: { ask } as unknown as Pick<ExportThread, 'ask'> };
}

const SIZE = 200_000;
const contentOf = (name: number) => `${name} `.repeat(SIZE).slice(0, SIZE);

function packingInto(written: Map<number, string>) {
  const { waiting, thread } = slowThread();
  const packing = openPacking<number>(thread, async (name, packed) => {
    written.set(name, inflateRawSync(packed).toString());
  });
  const pack = async (name: number) => {
    (await packing.room(SIZE)).write(contentOf(name));
    packing.take(name);
  };
  return { waiting, packing, pack };
}

test('while the thread has something the next files are compressed here, and what it has follows once it is done', async () => {
  const written = new Map<number, string>();
  const { waiting, packing, pack } = packingInto(written);
  // Two of them are a group.
  for (let name = 1; name <= 7; name += 1) await pack(name);
  expect(waiting).toHaveLength(1);
  expect([...written.keys()]).toEqual([3, 4, 5, 6]);
  waiting[0]?.answer();
  await new Promise(setImmediate);
  for (const name of [8, 9]) await pack(name);
  expect(waiting).toHaveLength(2);
  expect([...written.keys()]).toEqual([3, 4, 5, 6, 1, 2]);
  waiting[1]?.answer();
  await packing.end();
  expect([...written.keys()]).toEqual([3, 4, 5, 6, 1, 2, 9, 7, 8]);
  expect([...written].every(([name, content]) => content === contentOf(name))).toBe(true);
});

test('what the thread could not do fails the whole', async () => {
  const { waiting, packing, pack } = packingInto(new Map());
  for (const name of [1, 2, 3]) await pack(name);
  waiting[0]?.fail(new Error('The thread of exports has ended.'));
  await expect(packing.end()).rejects.toThrow('The thread of exports has ended.');
});
