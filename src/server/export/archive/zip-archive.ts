import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { writeAll } from '../staging/spool.ts';

/**
 * `path` in the archive, parts joined by `/`, an empty folder's ending with one; `content` is read once, when its turn comes; `grain` is the size of the
 * messages in it, in octets, by which it is compressed or not.
 */
export type ArchiveFile = {
  readonly path: string;
  readonly modified: Date;
  readonly grain: number;
  readonly content: () => AsyncIterable<Uint8Array>;
};

export type WrittenFile = { readonly size: number; readonly sha256: string };

/**
 * Smaller messages are text, which shrinks to a third. Larger ones are attachments in base64: a quarter could be taken
 * off them at a fifth of the speed, so they are stored as they are. The best level would take hardly more than the fastest.
 */
const COMPRESSED_BELOW = 64 * 1024;
const COMPRESSION_LEVEL = 1;
/** Files in one archive at most: what the writer keeps of each stays in memory until the end. */
export const ARCHIVE_ENTRIES = 16_000;
const MODE = 0o100644;
const BLOCK = 256 * 1024;

// The ZIP writer keeps a small buffer of each entry until the end, and with it the whole slab that Node cut it from.
// Slabs of Node's own size, 64 KiB, would also hold zlib's output buffers: some 20 KB for each message.
Buffer.poolSize = 2 * 1024;

/** Writes a new ZIP (ZIP64 where it must be) and syncs it to the disk. The caller removes it if this throws. */
export async function writeArchive(
  path: string,
  files: AsyncIterable<ArchiveFile>,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const digest = createHash('sha256');
  let size = 0;
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error));
  const stop = new AbortController();
  await using handle = await open(path, 'wx', 0o600);
  await Promise.all([
    feed(zip, files, AbortSignal.any([signal, stop.signal])).catch((error: unknown) => {
      output.destroy(error instanceof Error ? error : new Error('The archive has no more files.', { cause: error }));
      throw error;
    }),
    pipeline(
      output,
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const block of blocks(chunks)) {
          digest.update(block);
          await writeAll(handle, block, size);
          size += block.length;
        }
      },
      { signal },
    ).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  ]);
  await handle.sync();
  return { size, sha256: digest.digest('hex') };
}

async function feed(zip: ZipFile, files: AsyncIterable<ArchiveFile>, signal: AbortSignal): Promise<void> {
  // The ZIP writer keeps the callback of each entry until the end: one for all keeps nothing of theirs.
  const turn: { begin?: () => Readable } = {};
  const begin = (start: (error: unknown, content: Readable) => void) => {
    if (turn.begin === undefined) throw new Error('The ZIP writer asks for more than it was given.');
    start(null, turn.begin());
  };
  for await (const file of files) {
    signal.throwIfAborted();
    if (file.path.endsWith('/')) {
      zip.addEmptyDirectory(file.path, { mtime: file.modified });
      continue;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    turn.begin = () =>
      Readable.from(file.content(), { objectMode: false, signal }).once('error', reject).once('end', resolve);
    const compressionLevel = file.grain < COMPRESSED_BELOW ? COMPRESSION_LEVEL : 0;
    zip.addReadStreamLazy(file.path, { mtime: file.modified, mode: MODE, compressionLevel }, begin);
    try {
      // Its content has been read then, so that no more than one file waits in memory.
      await promise;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
  zip.end();
}

/**
 * The writer gives headers of some dozen octets; the disk gets them in one block with their neighbours. Each block is
 * good until the next one is asked for.
 */
async function* blocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafeSlow(BLOCK);
  let length = 0;
  for await (const chunk of chunks)
    for (let from = 0; from < chunk.length;) {
      const copied = chunk.copy(block, length, from);
      from += copied;
      length += copied;
      if (length < BLOCK) continue;
      yield block;
      length = 0;
    }
  if (length > 0) yield block.subarray(0, length);
}
