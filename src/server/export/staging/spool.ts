import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** What is staged is missing or not what was written. It has to be fetched again. */
export class SpoolError extends Error {
  override name = 'SpoolError';
}

export type Place = { readonly segment: string; readonly position: number };
export type StagedOctets = Place & { readonly size: number };

const CHUNK = 64 * 1024;

/** Appends messages to a segment file of its own, so that two runs never write into one. Appends may overlap. */
export type SpoolWriter = AsyncDisposable & {
  readonly segment: string;
  append(bytes: Uint8Array): Promise<Place>;
  /** Resolves when all that was appended will survive a power cut. */
  sync(): Promise<void>;
};

export async function openSpoolWriter(folder: string): Promise<SpoolWriter> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const segment = `${randomUUID()}.segment`;
  const handle = await open(join(folder, segment), 'wx', 0o600);
  let end = 0;
  return {
    segment,
    append: async (bytes) => {
      const position = end;
      end += bytes.length;
      for (let from = 0; from < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, position + from);
        from += bytesWritten;
      }
      return { segment, position };
    },
    sync: () => handle.datasync(),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** A write may take only a part: a disk that is nearly full does that before it says so. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, position + from);
    from += bytesWritten;
  }
}

export type SpoolReader = AsyncDisposable & {
  /** @throws {SpoolError} when the octets are not all there */
  read(staged: StagedOctets): AsyncIterable<Buffer>;
};

/** Reads what was staged; keeps the segment open that was read last, since neighbours lie in one. */
export function openSpoolReader(folder: string): SpoolReader {
  let current: { segment: string; handle: FileHandle } | undefined;
  async function handleOf(segment: string): Promise<FileHandle> {
    if (current?.segment === segment) return current.handle;
    await current?.handle.close();
    current = undefined;
    try {
      const handle = await open(join(folder, segment), 'r');
      current = { segment, handle };
      return handle;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new SpoolError('A segment of the staged messages is gone.', { cause: error });
    }
  }
  return {
    async *read({ segment, position, size }) {
      const handle = await handleOf(segment);
      for (let from = 0; from < size;) {
        const wanted = Buffer.allocUnsafe(Math.min(CHUNK, size - from));
        const { bytesRead } = await handle.read(wanted, 0, wanted.length, position + from);
        if (bytesRead === 0) throw new SpoolError('A segment of the staged messages is too short.');
        from += bytesRead;
        yield wanted.subarray(0, bytesRead);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await current?.handle.close();
      current = undefined;
    },
  };
}

/** Removes segments and unfinished archives that nothing refers to. */
export async function sweepSpool(folder: string, kept: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) if (!kept.has(name)) await rm(join(folder, name), { force: true, recursive: true });
}

/**
 * The segment that is written to, by several at once. `rotate` begins another one; the old one stays `live` until the
 * last of those who had it is done and has noted what lies in it.
 */
export type Spool = AsyncDisposable & {
  use<Result>(work: (writer: SpoolWriter) => Promise<Result>): Promise<Result>;
  rotate(): Promise<void>;
  live(): Set<string>;
};

export function openSpool(folder: string): Spool {
  type Open = { readonly writer: SpoolWriter; users: number; retired: boolean };
  const all = new Set<Open>();
  let current: Promise<Open> | undefined;
  const closeIfDone = async (open: Open) => {
    if (!open.retired || open.users > 0 || !all.delete(open)) return;
    await open.writer[Symbol.asyncDispose]();
  };
  const begin = async () => {
    const open = { writer: await openSpoolWriter(folder), users: 0, retired: false };
    all.add(open);
    return open;
  };
  const rotate = async () => {
    const retiring = current;
    current = undefined;
    if (retiring === undefined) return;
    const open = await retiring;
    open.retired = true;
    await closeIfDone(open);
  };
  return {
    use: async (work) => {
      current ??= begin();
      const open = await current;
      open.users += 1;
      try {
        return await work(open.writer);
      } finally {
        open.users -= 1;
        await closeIfDone(open);
      }
    },
    rotate,
    live: () => new Set([...all].map(({ writer }) => writer.segment)),
    [Symbol.asyncDispose]: rotate,
  };
}
