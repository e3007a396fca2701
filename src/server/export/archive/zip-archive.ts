import { createHash } from 'node:crypto';
import { crc32, createDeflateRaw } from 'node:zlib';
import { SpoolError } from '../disk/spool.ts';
import { alignedBuffer, alignedUp, openUnbuffered, type UnbufferedFile } from '../disk/unbuffered.ts';
import { joinedCrc32 } from '../storage/checksums.ts';
import { checksumIn, PIECE } from '../storage/pieces.ts';
import { COMPRESSION } from '../thread/compression.ts';
import type { ArchiveFile } from '../staging/mail-format.ts';
import type { ExportThread } from '../thread/export-thread.ts';
import { openPacking } from './packing.ts';
import { centralHeader, descriptor, endOfDirectory, localHeader, type ZipEntry } from './zip-format.ts';

/** `pieces`: the checksums of all pieces (`PIECE`), concatenated. */
export type WrittenFile = { readonly size: number; readonly sha256: string; readonly pieces: Buffer };

/**
 * In octets. Smaller messages are text, which shrinks to a third. Larger ones are attachments in base64, and so are
 * smaller ones without a blank in their middle: those would shrink by a quarter at a fifth of the speed, so they are
 * stored as they are.
 */
const COMPRESSED_BELOW = 64 * 1024;
const MIDDLE = 1024;
const BLANK = 0x20;
/** Files larger than this, in octets, are compressed while they are read. */
const WHOLE = 4 * 1024 * 1024;
/** The most files in one archive: an entry for each stays in memory until the end. */
export const ARCHIVE_ENTRIES = 16_000;
/** How much is written to the disk at once, and read of a file that is compressed while it is read, in octets. */
const [BLOCK, STREAMED] = [PIECE, 128 * 1024];
/** After this many octets, the file is synced while more is written, so that little is left to sync at the end. */
const SYNCED_AHEAD = 32 * 1024 * 1024;

/**
 * Writes a new ZIP (ZIP64 where necessary) and syncs it to the disk. The caller removes it if this throws. Its
 * directory has the order of `files`; what takes time to compress may be stored behind later files.
 * @throws {SpoolError} if a file's content is not what is `known` of it
 */
export async function writeArchive(
  path: string,
  files: AsyncIterable<ArchiveFile>,
  thread: Pick<ExportThread, 'ask'>,
  signal: AbortSignal,
): Promise<WrittenFile> {
  await using file = await openUnbuffered(path, 'write');
  await using output = openOutput(file);
  const directory: ZipEntry[] = [];
  const packing = openPacking<Placed>(thread, async ({ place, file: packed }, octets) => {
    directory[place] = await writeWhole(packed, 'deflated', octets, output);
  });
  let place = 0;
  const pack = async (file: Known) => {
    const content = await whole(file, await packing.room(file.known.size));
    if (!shrinks(content)) directory[place] = await writeWhole(file, 'stored', content, output);
    else {
      requireKnown(file.known, content.length, crc32(content));
      packing.take({ place, file });
    }
  };
  for await (const file of files) {
    signal.throwIfAborted();
    if (isPackedWhole(file)) await pack(file);
    else directory[place] = await writeLarge(file, output, signal);
    place += 1;
  }
  await packing.end();
  const at = output.position();
  for (const entry of directory) await output.write(centralHeader(entry));
  await output.write(endOfDirectory({ entries: directory.length, size: output.position() - at, at }));
  return await output.end();
}

type Known = ArchiveFile & Required<Pick<ArchiveFile, 'known'>>;

function isPackedWhole(file: ArchiveFile): file is Known {
  const { known, grain } = file;
  return known !== undefined && known.packedSize === undefined && known.size <= WHOLE && grain < COMPRESSED_BELOW;
}

type Placed = { readonly place: number; readonly file: Known };

async function whole({ content }: Known, bytes: Buffer): Promise<Buffer> {
  let length = 0;
  for await (const chunk of content()) {
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}

function shrinks(content: Buffer): boolean {
  const middle = content.length >> 1;
  return content.length < MIDDLE || content.subarray(middle, middle + MIDDLE).includes(BLANK);
}

async function writeWhole(
  { path, modified, known }: Known,
  method: ZipEntry['method'],
  packed: Uint8Array,
  output: Output,
): Promise<ZipEntry> {
  const entry: ZipEntry = {
    path,
    modified,
    method,
    ...known,
    packedSize: packed.length,
    headerAt: output.position(),
    isDescribedAfter: false,
  };
  await output.write(localHeader(entry));
  if (method === 'stored') requireKnown(known, packed.length, await output.writeSummed(packed, 0));
  else await output.write(packed);
  return entry;
}

function requireKnown(known: Known['known'], size: number, sum: number): void {
  if (size !== known.size || sum !== known.crc32) throw new SpoolError('What was staged is not what came.');
}

/**
 * Writes a folder, something that arrives piece by piece, or a file of which nothing is known before it has been read.
 */
async function writeLarge(file: ArchiveFile, output: Output, signal: AbortSignal): Promise<ZipEntry> {
  const { path, modified } = file;
  const isFolder = path.endsWith('/');
  const known = isFolder ? { size: 0, crc32: 0 } : file.known;
  if (known === undefined) return writeUnknown(file, output, signal);
  const { packedSize } = known;
  const entry: ZipEntry = {
    path,
    modified,
    method: packedSize === undefined ? 'stored' : 'deflated',
    ...known,
    packedSize: packedSize ?? known.size,
    headerAt: output.position(),
    isDescribedAfter: false,
  };
  await output.write(localHeader(entry));
  if (isFolder) return entry;
  let [size, sum] = [0, 0];
  for await (const chunk of file.content()) {
    signal.throwIfAborted();
    size += chunk.length;
    if (packedSize === undefined) sum = await output.writeSummed(chunk, sum);
    else await output.write(chunk);
  }
  if (packedSize === undefined) requireKnown(known, size, sum);
  return entry;
}

async function writeUnknown(file: ArchiveFile, output: Output, signal: AbortSignal): Promise<ZipEntry> {
  const { path, modified, grain } = file;
  const start = { path, modified, method: 'deflated', isDescribedAfter: true } as const;
  const headerAt = output.position();
  await output.write(localHeader({ ...start, crc32: 0, size: 0, packedSize: 0 }));
  const began = output.position();
  const seen = { crc32: 0, size: 0 };
  async function* counted() {
    for await (const chunk of file.content()) {
      signal.throwIfAborted();
      seen.crc32 = crc32(chunk, seen.crc32);
      seen.size += chunk.length;
      yield chunk;
    }
  }
  await (grain < COMPRESSED_BELOW ? deflateInto(output, counted()) : storeInto(output, counted()));
  const entry: ZipEntry = { ...start, ...seen, packedSize: output.position() - began, headerAt };
  await output.write(descriptor(entry));
  return entry;
}

async function deflateInto(output: Output, content: AsyncIterable<Uint8Array>): Promise<void> {
  const deflate = createDeflateRaw({ ...COMPRESSION, chunkSize: STREAMED });
  // Once closed, the stream does not call back for what it has not read.
  let giveUp: ((error: Error) => void) | undefined;
  deflate.once('close', () => giveUp?.(new Error('What was compressed could not be written.')));
  const feed = async () => {
    for await (const chunk of inBlocks(content))
      await new Promise<void>((resolve, reject) => {
        giveUp = reject;
        deflate.write(chunk, (error) => (error == null ? resolve() : reject(error)));
      });
    deflate.end();
  };
  const drain = async () => {
    for await (const packed of deflate) await output.write(packed as Buffer);
  };
  const both = [
    feed().catch((error: unknown) => {
      deflate.destroy();
      throw error;
    }),
    drain(),
  ];
  try {
    await Promise.all(both);
  } finally {
    // Reading must have ended before the caller closes the source.
    await Promise.allSettled(both);
  }
}

/** The most octets in one stored block. */
const STORED_AT_MOST = 0xffff;

/**
 * Octets as they are, in the form of deflate (RFC 1951 §3.2.4): readers that don't begin with the directory, as on
 * Android, accept no file that is merely stored if its size comes after it.
 */
async function storeInto(output: Output, content: AsyncIterable<Uint8Array>): Promise<void> {
  const head = Buffer.alloc(5);
  const writeHead = (length: number, isLast: boolean) => {
    head.writeUInt8(isLast ? 1 : 0, 0);
    head.writeUInt16LE(length, 1);
    head.writeUInt16LE(STORED_AT_MOST - length, 3);
    return output.write(head);
  };
  for await (const chunk of content)
    for (let from = 0; from < chunk.length; from += STORED_AT_MOST) {
      const some = chunk.subarray(from, from + STORED_AT_MOST);
      await writeHead(some.length, false);
      await output.write(some);
    }
  await writeHead(0, true);
}

/** Gathers a manifest's lines into blocks; each is valid until the next one is requested. */
async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafeSlow(STREAMED);
  let filled = 0;
  for await (const chunk of chunks)
    for (let from = 0; from < chunk.length;) {
      const taken = chunk.subarray(from, from + STREAMED - filled);
      block.set(taken, filled);
      filled += taken.length;
      from += taken.length;
      if (filled < STREAMED) continue;
      yield block;
      filled = 0;
    }
  if (filled > 0) yield block.subarray(0, filled);
}

type Output = AsyncDisposable & {
  /** How many octets were written. */
  position(): number;
  /** Takes octets, which may be changed once this has resolved. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * The same.
   * @returns the checksum of what has the checksum `before`, followed by these octets
   */
  writeSummed(bytes: Uint8Array, before: number): Promise<number>;
  end(): Promise<WrittenFile>;
};

/** Gathers what is written into blocks; one is filled while the other is written to the disk. */
function openOutput(file: UnbufferedFile): Output {
  const digest = createHash('sha256');
  const pieces: Buffer[] = [];
  let [block, other] = [alignedBuffer(BLOCK), alignedBuffer(BLOCK)];
  let [filled, flushed, synced] = [0, 0, 0];
  /** The checksum of what is in the block. */
  let piece = 0;
  let writing: Promise<void> = Promise.resolve();
  let syncing: Promise<void> = Promise.resolve();
  let isSyncing = false;
  const syncAhead = () => {
    if (isSyncing || flushed - synced < SYNCED_AHEAD) return;
    isSyncing = true;
    synced = flushed;
    syncing = syncing
      .then(() => file.datasync())
      .finally(() => {
        isSyncing = false;
      });
    syncing.catch(() => {});
  };
  const flush = async () => {
    await writing;
    writing = file.write(block.subarray(0, alignedUp(filled)), flushed);
    writing.catch(() => {});
    digest.update(block.subarray(0, filled));
    if (filled > 0) pieces.push(checksumIn(piece));
    [block, other] = [other, block];
    flushed += filled;
    [filled, piece] = [0, 0];
    syncAhead();
  };
  const put = async (bytes: Uint8Array, sum: (taken: Uint8Array) => void) => {
    for (let from = 0; from < bytes.length;) {
      const taken = bytes.subarray(from, from + BLOCK - filled);
      block.set(taken, filled);
      sum(taken);
      filled += taken.length;
      from += taken.length;
      if (filled === BLOCK) await flush();
    }
  };
  return {
    position: () => flushed + filled,
    write: (bytes) =>
      put(bytes, (taken) => {
        piece = crc32(taken, piece);
      }),
    writeSummed: async (bytes, before) => {
      let sum = before;
      // Reads the octets only once for both checksums.
      await put(bytes, (taken) => {
        const own = crc32(taken);
        sum = joinedCrc32(sum, own, taken.length);
        piece = joinedCrc32(piece, own, taken.length);
      });
      return sum;
    },
    end: async () => {
      await flush();
      await writing;
      await syncing;
      await file.truncate(flushed);
      await file.sync();
      return { size: flushed, sha256: digest.digest('hex'), pieces: Buffer.concat(pieces) };
    },
    // The file must not be closed during a write.
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled([writing, syncing]);
    },
  };
}
