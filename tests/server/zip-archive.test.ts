import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { writeArchive } from '../../src/server/export/archive/zip-archive.ts';
import { joinedCrc32 } from '../../src/server/export/storage/checksums.ts';
import { checksumIn, PIECE } from '../../src/server/export/storage/pieces.ts';
import type { ArchiveFile } from '../../src/server/export/staging/mail-format.ts';
import { openExportThread, type ExportThread } from '../../src/server/export/thread/export-thread.ts';
import { openSpoolReader, openSpoolWriter, SpoolError } from '../../src/server/export/disk/spool.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';

const MODIFIED = new Date('2010-07-17T09:44:24Z');
const NEVER = new AbortController().signal;

let folder: string;
let thread: ExportThread;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zip-'));
  thread = openExportThread();
});
afterAll(async () => {
  await thread[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function* pieces(octets: Buffer, size: number): AsyncGenerator<Buffer> {
  // One piece of memory for all: a chunk is good until the next one is asked for.
  const chunk = Buffer.alloc(size);
  for (let at = 0; at < octets.length; at += size) yield chunk.subarray(0, octets.copy(chunk, 0, at, at + size));
}

/** Octets that look different everywhere. */
const octetsOf = (size: number) => Buffer.from(Array.from({ length: size }, (_, at) => (at * at + (at >> 8)) % 251));

const fileOf = (path: string, octets: Buffer, more: Partial<ArchiveFile> = {}): ArchiveFile => ({
  path,
  modified: MODIFIED,
  grain: octets.length,
  content: () => pieces(octets, 1000),
  ...more,
});
const knownOf = (octets: Buffer) => ({ known: { size: octets.length, crc32: crc32(octets) } });

async function* all(files: readonly ArchiveFile[]): AsyncGenerator<ArchiveFile> {
  yield* files;
}

/** What Python's `zipfile` finds, each checked by its CRC: method, time and digest by name. */
async function readByPython(path: string): Promise<Record<string, readonly [number, string, string]>> {
  const script = `
import sys, zipfile, hashlib, json, datetime
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps({info.filename: [info.compress_type, datetime.datetime(*info.date_time).isoformat(),
  '' if info.is_dir() else hashlib.sha256(archive.read(info)).hexdigest()] for info in archive.infolist()}))`;
  return JSON.parse((await run('python3', ['-c', script, path])).toString()) as Record<
    string,
    readonly [number, string, string]
  >;
}

const sha256 = (octets: Buffer) => createHash('sha256').update(octets).digest('hex');
const [STORED, DEFLATED] = [0, 8];

describe('The writer of archives', () => {
  test('writes what is known and what is not, small and large, in its order', needs('python3'), async () => {
    const [small, large] = [octetsOf(60_000), octetsOf(2_000_000)];
    const none = Buffer.alloc(0);
    const packed = deflateRawSync(large);
    const path = join(folder, 'kinds.zip');
    const written = await writeArchive(
      path,
      all([
        fileOf('README.txt', small),
        ...Array.from({ length: 100 }, (_, at) => fileOf(`mail/${at}.eml`, small, knownOf(small))),
        fileOf('mail/Grüße 🍎.eml', large, knownOf(large)),
        fileOf('mail/none.eml', none, knownOf(none)),
        fileOf('mail/nothing.mbox', none),
        fileOf('mail/Empty/', none),
        fileOf('reader/packed before.js', packed, {
          known: { size: large.length, crc32: crc32(large), packedSize: packed.length },
        }),
        fileOf('mail/box.mbox', large),
        fileOf('mail/box of small ones.mbox', large, { grain: 1000 }),
      ]),
      thread,
      NEVER,
    );
    const [time, digests] = ['2010-07-17T09:44:24', { small: sha256(small), large: sha256(large), none: sha256(none) }];
    const found = await readByPython(path);
    expect(Object.keys(found)).toHaveLength(108);
    expect(Object.keys(found).slice(0, 3)).toEqual(['README.txt', 'mail/0.eml', 'mail/1.eml']);
    expect(found).toMatchObject({
      'README.txt': [DEFLATED, time, digests.small],
      'mail/99.eml': [DEFLATED, time, digests.small],
      'mail/Grüße 🍎.eml': [STORED, time, digests.large],
      'mail/none.eml': [DEFLATED, time, digests.none],
      'mail/nothing.mbox': [DEFLATED, time, digests.none],
      'mail/Empty/': [STORED, time, ''],
      'reader/packed before.js': [DEFLATED, time, digests.large],
      // Its size comes after it, and then no stored one is read from a stream.
      'mail/box.mbox': [DEFLATED, time, digests.large],
      'mail/box of small ones.mbox': [DEFLATED, time, digests.large],
    });
    const octets = await readFile(path);
    const pieces = Array.from({ length: Math.ceil(octets.length / PIECE) }, (_, at) =>
      checksumIn(crc32(octets.subarray(at * PIECE, (at + 1) * PIECE))),
    );
    expect(written).toEqual({ size: octets.length, sha256: sha256(octets), pieces: Buffer.concat(pieces) });
  });

  test('keeps a time to the second, and one that the form can not hold at its end', needs('unzip'), async () => {
    const times = ['2001-02-03T04:05:07Z', '1972-12-14T22:54:37Z', '2040-02-03T04:05:06Z', '0001-01-01T00:00:00Z'];
    const path = join(folder, 'times.zip');
    await writeArchive(
      path,
      all(times.map((time, at) => fileOf(`${at}.eml`, octetsOf(10), { modified: new Date(time) }))),
      thread,
      NEVER,
    );
    await run('env', ['TZ=UTC', 'unzip', '-q', path, '-d', join(folder, 'times')]);
    const found = await Promise.all(times.map(async (_, at) => (await stat(join(folder, 'times', `${at}.eml`))).mtime));
    expect(found.map((time) => time.toISOString().slice(0, 19))).toEqual([
      '2001-02-03T04:05:07',
      '1972-12-14T22:54:37',
      '2040-02-03T04:05:06',
      '1980-01-01T00:00:00',
    ]);
  });

  test.each(['/etc/passwd', '../up.eml', 'mail/../../up.eml', 'mail\\up.eml', 'c:up.eml', 'mail/..'])(
    'has no file at %s',
    async (path) => {
      const at = join(folder, `${Buffer.from(path).toString('hex')}.zip`);
      await expect(writeArchive(at, all([fileOf(path, octetsOf(10))]), thread, NEVER)).rejects.toThrow(
        'leads out of it',
      );
    },
  );

  test.each([
    ['a small one', 10, true],
    ['a large one', 1_000_000, true],
    ['one of which nothing is known', 1_000_000, false],
  ])('ends with the error of a file that breaks off: %s', async (_what, size, isKnown) => {
    const octets = octetsOf(size);
    async function* broken() {
      yield octets.subarray(0, 5);
      throw new Error('The disk is gone.');
    }
    const file = fileOf('a.eml', octets, { content: broken, grain: 10, ...(isKnown ? knownOf(octets) : {}) });
    const at = join(folder, `broken-${size}-${isKnown}.zip`);
    await expect(writeArchive(at, all([fileOf('b.eml', octets), file]), thread, NEVER)).rejects.toThrow(
      'The disk is gone.',
    );
  });

  test.each([
    ['one that is compressed', 60_000, 1000, Buffer.from('words and words ')],
    ['a small one that is stored', 60_000, 1000, Buffer.from('base64')],
    ['one in several pieces', 2_500_000, 2_500_000, Buffer.from('base64')],
  ])('accepts no octet other than those that came: %s', async (what, size, grain, filling) => {
    const octets = Buffer.alloc(size, filling);
    const write = (name: string, content: Buffer) => {
      const file = fileOf('a.eml', octets, { content: () => pieces(content, 1000), grain, ...knownOf(octets) });
      return writeArchive(join(folder, `${name} ${what}.zip`), all([fileOf('b.eml', octets), file]), thread, NEVER);
    };
    await expect(write('right', octets)).resolves.toMatchObject({});
    for (const at of [0, size / 2, size - 1]) {
      const other = Buffer.from(octets);
      other[at] = (other[at] ?? 0) ^ 1;
      await expect(write(`wrong at ${at}`, other)).rejects.toThrow(SpoolError);
    }
    await expect(write('short', octets.subarray(0, -1))).rejects.toThrow(SpoolError);
  });

  test('reads nothing any more once the disk took no more and its files are left', async () => {
    const handle = await open('/dev/null');
    const prototype = Object.getPrototypeOf(handle) as Pick<typeof handle, 'write'>;
    await handle.close();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const write = vi.spyOn(prototype, 'write').mockRejectedValue(full);
    const order: string[] = [];
    async function* content() {
      try {
        for (;;) yield randomBytes(64 * 1024);
      } finally {
        order.push('content');
      }
    }
    async function* files() {
      try {
        yield { path: 'mail.mbox', modified: MODIFIED, grain: 0, content };
      } finally {
        order.push('files');
      }
    }
    try {
      await expect(writeArchive(join(folder, 'full.zip'), files(), thread, NEVER)).rejects.toBe(full);
    } finally {
      write.mockRestore();
    }
    expect(order).toEqual(['content', 'files']);
  });

  test('stops in the middle of a file when it is asked to', async () => {
    const stop = new AbortController();
    async function* endless() {
      for (;;) {
        yield Buffer.alloc(10_000);
        stop.abort(new Error('Enough.'));
      }
    }
    const file = fileOf('a.mbox', octetsOf(10), { content: endless });
    await expect(writeArchive(join(folder, 'stopped.zip'), all([file]), thread, stop.signal)).rejects.toThrow(
      'Enough.',
    );
  });
});

describe('The reader of what is staged', () => {
  test('gives each message as it was, in any order, whatever was read ahead', async () => {
    const place = join(folder, 'spool');
    const messages = [300_000, 10, 262_144, 0, 700_000, 5].map(octetsOf);
    const staged: { segment: string; position: number; size: number; octets: Buffer }[] = [];
    // More than stay open.
    for (let segment = 0; segment < 10; segment += 1) {
      await using writer = await openSpoolWriter(place);
      for (const octets of messages) {
        const begun = writer.begin();
        for await (const chunk of pieces(octets, 9000)) if (!writer.append(chunk)) await writer.drained();
        staged.push({ ...begun, size: writer.end().size, octets });
      }
      await writer.sync();
    }
    await using reader = openSpoolReader(place);
    const orders = [staged, staged.toReversed(), staged.toSorted((one, other) => one.position - other.position)];
    for (const message of orders.flat()) {
      const chunks: Buffer[] = [];
      for await (const chunk of reader.read(message)) chunks.push(Buffer.from(chunk));
      expect(Buffer.concat(chunks).equals(message.octets)).toBe(true);
    }
    // One that is left in the middle is no harm to the next one.
    for await (const _ of reader.read(staged[0]!)) break;
    for await (const chunk of reader.read(staged[1]!)) expect(chunk.equals(messages[1]!)).toBe(true);
  });
});

test('the checksum of two runs of octets follows from those of both', () => {
  for (const [first, second] of [
    [0, 10],
    [10, 0],
    [1, 1],
    [1000, 255],
    [77, 256],
    [5, 1_048_576],
    [5, 1_234_567],
  ] as const) {
    const [before, further] = [randomBytes(first), randomBytes(second)];
    const joined = joinedCrc32(crc32(before), crc32(further), second);
    expect(joined).toBe(crc32(Buffer.concat([before, further])));
  }
});
