import { constants } from 'node:fs';
import { mkdtemp, mkdtempDisposable, open, readFile, rm, stat, symlink, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BLOCK, openSpoolReader, openSpoolWriter, SpoolError, WINDOW } from '../../src/server/export/disk/spool.ts';
import { alignedBuffer, alignedUp, openUnbuffered } from '../../src/server/export/disk/unbuffered.ts';
import { needs } from '../support/needs.ts';

/** On a disk, and in memory, where a system may not allow it. */
const PLACES = [
  { place: tmpdir(), needed: needs() },
  { place: '/dev/shm', needed: needs('Linux') },
];
const LENGTH = 64 * 1024;

const octetsOf = (size: number, seed = 1) => Buffer.from(Array.from({ length: size }, (_, at) => (at * seed) % 251));

describe.each(PLACES)('What goes around the page cache, in $place,', ({ place, needed }) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(place, 'unbuffered-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('is a file like any other', needed, async () => {
    const path = join(folder, 'aligned');
    const [block, other] = [alignedBuffer(LENGTH), alignedBuffer(LENGTH)];
    octetsOf(LENGTH).copy(block);
    await using file = await openUnbuffered(path, 'write');
    await file.write(block, 0);
    await file.write(block, LENGTH);
    await file.truncate(LENGTH + 1234);
    await file.sync();
    expect(await readFile(path)).toEqual(Buffer.concat([block, block.subarray(0, 1234)]));

    await using again = await openUnbuffered(path, 'read');
    expect(await again.read(other, LENGTH)).toBe(1234);
    expect(other.subarray(0, 1234)).toEqual(block.subarray(0, 1234));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('is written and read as well where a length, a place or the memory is not allowed', needed, async () => {
    const path = join(folder, 'unaligned');
    const octets = octetsOf(3 * LENGTH + 77);
    {
      await using file = await openUnbuffered(path, 'write');
      const block = alignedBuffer(LENGTH);
      octets.copy(block, 0, 0, LENGTH);
      await file.write(block, 0);
      // One of them finds that it is not allowed while the others are under way.
      const rest = [0, 1, 2].map((at) =>
        file.write(octets.subarray(LENGTH + at * 40_003).subarray(0, 40_003), LENGTH + at * 40_003),
      );
      await Promise.all([...rest, file.datasync()]);
      await file.write(octets.subarray(LENGTH + 3 * 40_003), LENGTH + 3 * 40_003);
      await file.sync();
    }
    expect((await readFile(path)).equals(octets)).toBe(true);

    await using file = await openUnbuffered(path, 'read');
    const into = Buffer.alloc(501);
    expect(await file.read(into, 77)).toBe(501);
    expect(into).toEqual(octets.subarray(77, 578));
  });

  test('is not made twice, and says what is not there', needed, async () => {
    const path = join(folder, 'once');
    await (await openUnbuffered(path, 'write'))[Symbol.asyncDispose]();
    await expect(openUnbuffered(path, 'write')).rejects.toThrow('EEXIST');
    await expect(openUnbuffered(join(folder, 'never'), 'read')).rejects.toThrow('ENOENT');
  });

  test('holds staged messages of every size, with the disk asked to keep them in between', needed, async () => {
    const sizes = [0, 1, 4095, 4096, 4097, 511 * 1024, WINDOW - 1, WINDOW, BLOCK, BLOCK + 1, 4_300_000, 1_300_000, 3];
    const messages = sizes.map((size, at) => octetsOf(size, at + 1));
    const staged = [];
    let segment = '';
    {
      await using writer = await openSpoolWriter(folder);
      ({ segment } = writer);
      for (const [at, message] of messages.entries()) {
        const begun = writer.begin();
        for (let from = 0; from < message.length; from += 65_521)
          if (!writer.append(message.subarray(from, from + 65_521))) await writer.drained();
        staged.push({ ...begun, size: writer.end().size });
        if (at % 3 === 1) await writer.sync();
      }
      await writer.sync();
    }
    expect(staged.map(({ size }) => size)).toEqual(messages.map(({ length }) => length));
    await using reader = openSpoolReader(folder);
    for (const [at, message] of [...messages.entries()].toReversed())
      expect((await readOf(reader, staged[at])).equals(message), `${message.length}`).toBe(true);

    // A disk that lost the end of it: at an aligned place, and within what is read at once.
    const last = staged.at(-2);
    if (last === undefined) throw new Error('Nothing is staged.');
    for (const end of [last.position + 100_000, alignedUp(last.position + 600_000)]) {
      await truncate(join(folder, segment), end);
      await using short = openSpoolReader(folder);
      await expect(readOf(short, last)).rejects.toThrow(SpoolError);
    }
  });

  test('has more segments than are open at a time', needed, async () => {
    const staged = [];
    for (let number = 1; number <= 20; number += 1) {
      await using writer = await openSpoolWriter(folder);
      const begun = writer.begin();
      writer.append(octetsOf(1000 + number, number));
      staged.push({ ...begun, size: writer.end().size });
      await writer.sync();
    }
    await using reader = openSpoolReader(folder);
    for (const round of [1, 2])
      for (const [at, each] of staged.entries())
        expect(await readOf(reader, each), `${round}`).toEqual(octetsOf(1001 + at, at + 1));
  });
});

test('A file that may not be opened so is an ordinary one', needs('Linux'), async () => {
  // No file of /proc may.
  const path = '/proc/version';
  await expect(open(path, constants.O_RDONLY | constants.O_DIRECT)).rejects.toThrow('EINVAL');
  await using file = await openUnbuffered(path, 'read');
  const into = alignedBuffer(LENGTH);
  expect(into.toString('latin1', 0, await file.read(into, 0))).toBe(await readFile(path, 'latin1'));
});

test('What is staged where the disk has lost it is fetched again, as what is gone is', needs('Linux'), async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'lost-'));
  // To read the memory of a process where it has none is an error of the disk.
  await symlink('/proc/self/mem', join(folder.path, 'lost.segment'));
  await using reader = openSpoolReader(folder.path);
  const lost = await readOf(reader, { segment: 'lost.segment', position: 0, size: 1 }).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(SpoolError);
  expect((lost as SpoolError).cause).toMatchObject({ code: 'EIO' });
});

test('A process that has no more address space has its files written and read all the same', async () => {
  vi.stubGlobal('WebAssembly', { Memory: NoMemory });
  try {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'narrow-'));
    const message = octetsOf(1_300_000);
    await using writer = await openSpoolWriter(folder.path);
    const begun = writer.begin();
    if (!writer.append(message)) await writer.drained();
    const staged = { ...begun, size: writer.end().size };
    await writer.sync();
    await using reader = openSpoolReader(folder.path);
    expect((await readOf(reader, staged)).equals(message)).toBe(true);
  } finally {
    vi.unstubAllGlobals();
  }
});

function NoMemory(): never {
  throw new RangeError('WebAssembly.Memory(): could not allocate memory');
}

type Reader = ReturnType<typeof openSpoolReader>;

function readOf(reader: Reader, staged?: Parameters<Reader['read']>[0]): Promise<Buffer> {
  if (staged === undefined) throw new Error('It is not staged.');
  const copies = async function* () {
    for await (const chunk of reader.read(staged)) yield Buffer.from(chunk);
  };
  return buffer(copies());
}
