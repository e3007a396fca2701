import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Without the page cache, lengths and offsets must be multiples of this, in octets. */
const ALIGNMENT = 4096;
const WASM_PAGE = 64 * 1024;

/** Rounded to {@link ALIGNMENT}. */
export const alignedUp = (octets: number): number => Math.ceil(octets / ALIGNMENT) * ALIGNMENT;
export const alignedDown = (octets: number): number => octets - (octets % ALIGNMENT);

/**
 * Memory that files can be written from and read into: only WebAssembly's is certain to begin at a page. It takes much
 * address space; a process that can't get so much uses other memory, and ordinary files.
 * @param isShared another thread reads it as well; it gets a copy if it is other memory
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
 * A file that we write once and read once, bypassing the page cache (`O_DIRECT`, open(2)): copying each octet into
 * memory that nobody reads it from costs more than the disk does. If a system, a disk or a length does not allow this,
 * it is an ordinary file.
 */
export type UnbufferedFile = AsyncDisposable & {
  write(octets: Uint8Array, position: number): Promise<void>;
  /** @returns how many octets were read */
  read(into: Uint8Array, position: number): Promise<number>;
  truncate(size: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
};

/** @param purpose a new file is written, an existing one is read */
export async function openUnbuffered(path: string, purpose: 'write' | 'read'): Promise<UnbufferedFile> {
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants;
  const [first, later] = purpose === 'read' ? [O_RDONLY, O_RDONLY] : [O_WRONLY | O_CREAT | O_EXCL, O_WRONLY];
  const direct = await openDirect(path, first, later);
  let ordinary: Promise<FileHandle> | undefined;
  const reopen = async () => {
    const handle = await open(path, later);
    // Wait for what is under way.
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
      // A write may be partial: a nearly full disk does that before it reports an error.
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
  // Linux only.
  const around = (constants.O_DIRECT as number | undefined) ?? 0;
  try {
    return await open(path, first | around, 0o600);
  } catch (error) {
    if (around === 0 || !isInvalid(error)) throw error;
    // The file may have been created by then.
    return open(path, later | (first & constants.O_CREAT), 0o600);
  }
}

function isInvalid(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EINVAL';
}
