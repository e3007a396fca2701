import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** What goes around the page cache has lengths and places that are multiples of it, in octets. */
const ALIGNMENT = 4096;
const WASM_PAGE = 64 * 1024;

/** As {@link ALIGNMENT} wants it. */
export const alignedUp = (octets: number): number => Math.ceil(octets / ALIGNMENT) * ALIGNMENT;
export const alignedDown = (octets: number): number => octets - (octets % ALIGNMENT);

/**
 * Memory that files can be written from and read into: only that of WebAssembly begins at a page in each case. It takes
 * much address space; a process that is not given so much has other memory, and its files are ordinary ones.
 * @param isShared another thread reads it as well; where it is other memory, that gets a copy
 */
export function alignedBuffer(size: number, isShared = false): Buffer {
  const pages = Math.ceil(size / WASM_PAGE);
  try {
    return Buffer.from(new WebAssembly.Memory({ initial: pages, maximum: pages, shared: isShared }).buffer, 0, size);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return Buffer.allocUnsafeSlow(size);
  }
}

/**
 * A file that is written once and read once by us, around the page cache (`O_DIRECT`, open(2)): to have each octet
 * copied into memory that nobody reads it from costs more than the disk. Where a system, a disk or a length does not
 * allow that, it is an ordinary file.
 */
export type UnbufferedFile = AsyncDisposable & {
  write(octets: Uint8Array, position: number): Promise<void>;
  /** @returns how many octets there were */
  read(into: Uint8Array, position: number): Promise<number>;
  truncate(size: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
};

/** @param purpose a new file is made to be written, one that is there is read */
export async function openUnbuffered(path: string, purpose: 'write' | 'read'): Promise<UnbufferedFile> {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants;
  const [first, later] = purpose === 'read' ? [O_RDONLY, O_RDONLY] : [O_WRONLY | O_CREAT | O_EXCL, O_WRONLY];
  const direct = await openDirect(path, first, later);
  let ordinary: Promise<FileHandle> | undefined;
  const reopen = async () => {
    const handle = await open(path, later);
    // What is under way comes to its end before.
    await direct.close();
    return handle;
  };
  const handle = async () => (await ordinary) ?? direct;
  async function transfer<Result>(work: (handle: FileHandle) => Promise<Result>): Promise<Result> {
    const used = await handle();
    try {
      return await work(used);
    } catch (error) {
      if (used !== direct || !isInvalid(error)) throw error;
      ordinary ??= reopen();
      return work(await ordinary);
    }
  }
  return {
    write: async (octets, position) => {
      // A write may take only a part: a disk that is nearly full does that before it says so.
      for (let from = 0; from < octets.length;) {
        const at = from;
        const { bytesWritten } = await transfer((file) => file.write(octets, at, octets.length - at, position + at));
        from += bytesWritten;
      }
    },
    read: async (into, position) => {
      const { bytesRead } = await transfer((file) => file.read(into, 0, into.length, position));
      return bytesRead;
    },
    truncate: async (size) => (await handle()).truncate(size),
    datasync: async () => (await handle()).datasync(),
    sync: async () => (await handle()).sync(),
    [Symbol.asyncDispose]: async () => {
      await direct.close();
      await (await ordinary)?.close();
    },
  };
}

async function openDirect(path: string, first: number, later: number): Promise<FileHandle> {
  // Only Linux has it.
  const around = (constants.O_DIRECT as number | undefined) ?? 0;
  try {
    return await open(path, first | around, 0o600);
  } catch (error) {
    if (around === 0 || !isInvalid(error)) throw error;
    // It has been made by then, or not.
    return open(path, later | (first & constants.O_CREAT), 0o600);
  }
}

function isInvalid(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EINVAL';
}
