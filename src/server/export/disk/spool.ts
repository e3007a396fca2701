import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { alignedBuffer, alignedDown, alignedUp, openUnbuffered, type UnbufferedFile } from './unbuffered.ts';

/** What was staged is missing, or is not what was written. It has to be fetched again. */
export class SpoolError extends Error {
  override name = 'SpoolError';
  /** The system's error code, if there is one: `ENOENT` if what was staged is on another machine. */
  readonly code: string | undefined;
  constructor(message: string, options: { readonly cause?: NodeJS.ErrnoException } = {}) {
    super(message, options);
    this.code = options.cause?.code;
  }
}

export type Place = { readonly segment: string; readonly position: number };
export type StagedOctets = Place & { readonly size: number };

/** How much is written, and how much is read, at once, in octets. */
export const BLOCK = 2 * 1024 * 1024;
export const WINDOW = 1024 * 1024;
/** Several runs stage at once, each into its own segment; those that are read alternately stay open. */
const OPEN_SEGMENTS = 8;

/**
 * Appends messages to a segment file of its own, one after another, so that two runs never write to the same one. A
 * message is what is appended between `begin` and `end`; one without an end is ignored.
 */
export type SpoolWriter = AsyncDisposable & {
  readonly segment: string;
  begin(): Place;
  /**
   * Takes octets, which may be changed afterwards.
   * @returns false if `drained` must be awaited before more are given
   */
  append(octets: Uint8Array): boolean;
  drained(): Promise<void>;
  /** The size of the message. */
  end(): { readonly size: number };
  /** Resolves when everything appended will survive a power cut. */
  sync(): Promise<void>;
};

/** @param look sees every block while it is written, and may share it with other threads */
export async function openSpoolWriter(
  folder: string,
  look?: (octets: Uint8Array, position: number) => Promise<void>,
): Promise<SpoolWriter> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const segment = `${randomUUID()}.segment`;
  const block = alignedBuffer(BLOCK, look !== undefined);
  const file = await openUnbuffered(join(folder, segment), 'write');
  /** Octets in the block, and in the file before it. */
  let [filled, written] = [0, 0];
  /** What no longer fits into the block. */
  let rest: Uint8Array = Buffer.alloc(0);
  let began = 0;
  const take = (octets: Uint8Array) => {
    const taken = octets.subarray(0, BLOCK - filled);
    // `fill` copies in one piece; `set` and `copy` go octet by octet into shared memory, which takes five times as
    // long.
    if (taken.length > 0) block.fill(taken, filled, filled + taken.length);
    filled += taken.length;
    rest = octets.subarray(taken.length);
  };
  const isFull = () => filled === BLOCK;
  const flush = async () => {
    const length = alignedUp(filled);
    // The block is not refilled before both are done with it.
    const [stored, looked] = await Promise.allSettled([
      file.write(block.subarray(0, length), written),
      look?.(block.subarray(0, filled), written),
    ]);
    if (stored.status === 'rejected') throw stored.reason;
    if (looked.status === 'rejected') throw looked.reason;
    written += length;
    filled = 0;
  };
  return {
    segment,
    begin: () => {
      began = written + filled;
      return { segment, position: began };
    },
    append: (octets) => {
      take(octets);
      return rest.length === 0 && !isFull();
    },
    drained: async () => {
      do {
        await flush();
        take(rest);
      } while (isFull());
    },
    end: () => ({ size: written + filled - began }),
    sync: async () => {
      await flush();
      await file.datasync();
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

export type SpoolReader = AsyncDisposable & {
  /** Each chunk is valid until the next one is requested. @throws {SpoolError} if octets are missing */
  read(staged: StagedOctets): AsyncIterable<Buffer>;
};

type Window = { readonly from: number; readonly length: number };
/** The window that is being read from, and the one being filled. */
type Windows = readonly [Buffer, Buffer];

/**
 * Reads what was staged, one message at a time; neighbouring messages are read from the disk together, ahead of need.
 * The messages of one mailbox may alternate between segments, so each segment has a window of its own.
 */
export function openSpoolReader(folder: string): SpoolReader {
  const segments = new Map<string, SegmentReader>();
  const free: Windows[] = [];
  const begin = async (name: string) => {
    const windows = free.pop() ?? ([alignedBuffer(WINDOW), alignedBuffer(WINDOW)] as const);
    return openSegment(join(folder, name), windows, () => free.push(windows));
  };
  async function segmentOf(name: string): Promise<SegmentReader> {
    const segment = segments.get(name) ?? (await begin(name));
    // Keep the most recently used one last.
    segments.delete(name);
    segments.set(name, segment);
    const [oldest] = segments;
    if (segments.size > OPEN_SEGMENTS && oldest !== undefined) {
      segments.delete(oldest[0]);
      await oldest[1].close();
    }
    return segment;
  }
  return {
    async *read({ segment: name, position, size }) {
      for (let from = 0; from < size;) {
        // It may have been closed meanwhile to make room for others.
        const segment = await segmentOf(name);
        const chunk = (await segment.from(position + from)).subarray(0, size - from);
        from += chunk.length;
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const segment of segments.values()) await segment.close();
      segments.clear();
    },
  };
}

type SegmentReader = {
  /** The octets from an offset on, at least one; valid until the next call. @throws {SpoolError} at the end */
  from(at: number): Promise<Buffer>;
  close(): Promise<void>;
};

async function openSegment(path: string, windows: Windows, giveBack: () => void): Promise<SegmentReader> {
  const file = await openStaged(path);
  let [octets, spare] = windows;
  let window: Window = { from: 0, length: 0 };
  let ahead: Promise<Window> | undefined;
  const load = async (at: number): Promise<Window> => {
    const from = alignedDown(at);
    return { from, length: await file.read(spare, from).catch(unreadable) };
  };
  return {
    from: async (at) => {
      const isIn = ({ from, length }: Window) => at >= from && at < from + length;
      if (!isIn(window)) {
        // Both read into the same memory, so the previous read must have ended.
        const found = await ahead?.catch(() => undefined);
        ahead = undefined;
        window = found !== undefined && isIn(found) ? found : await load(at);
        [octets, spare] = [spare, octets];
        if (!isIn(window)) throw new SpoolError('A segment of the staged messages is too short.');
        const next = window.from + window.length;
        if (window.length === WINDOW) {
          ahead = load(next);
          ahead.catch(() => {});
        }
      }
      return octets.subarray(at - window.from, window.length);
    },
    close: async () => {
      await ahead?.catch(() => {});
      await file[Symbol.asyncDispose]();
      giveBack();
    },
  };
}

/** Whether the disk reports that it has lost the data. */
function unreadable(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EIO') throw error;
  throw new SpoolError('A segment of the staged messages can not be read.', { cause: error });
}

async function openStaged(path: string): Promise<UnbufferedFile> {
  try {
    return await openUnbuffered(path, 'read');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new SpoolError('A segment of the staged messages is gone.', { cause: error as NodeJS.ErrnoException });
  }
}

/**
 * Removes segments and unfinished archives that nothing refers to. It first lists what exists and then asks what to
 * keep, so what somebody begins meanwhile stays.
 */
export async function sweepSpool(folder: string, kept: () => Promise<ReadonlySet<string>>): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return;
  const wanted = await kept();
  for (const name of names) if (!wanted.has(name)) await rm(join(folder, name), { force: true, recursive: true });
}
