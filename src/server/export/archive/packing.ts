import { deflatedEach, type Deflated } from '../thread/compression.ts';
import type { ExportThread } from '../thread/export-thread.ts';

/** How many octets of files are compressed together; a larger file is compressed alone. */
const TOGETHER = 512 * 1024;

/** Compresses whole files, several together: on the export thread, and here while that one is busy. */
export type Packing<File> = {
  /** Room for the octets of one file, valid until the next call. */
  room(size: number): Promise<Buffer>;
  /** Compresses this file, whose octets have been put into the room. */
  take(file: File): void;
  /** After the last file. */
  end(): Promise<void>;
};

type Group<File> = {
  readonly octets: Buffer<ArrayBuffer>;
  filled: number;
  readonly sizes: number[];
  readonly files: File[];
};
/** What the thread is working on. */
type Given<File> = { readonly files: readonly File[]; readonly answer: Promise<Answer>; isReady: boolean };
type Answer = { readonly packed: Deflated; readonly memory: ArrayBuffer };

/** @param write called for one file after another, as they become ready */
export function openPacking<File>(
  thread: Pick<ExportThread, 'ask'>,
  write: (file: File, packed: Uint8Array) => Promise<void>,
): Packing<File> {
  /** Memory for reuse; new memory for each group would be more garbage than everything else together. */
  let spare: ArrayBuffer | undefined;
  let given: Given<File> | undefined;
  const openGroup = (size: number): Group<File> => {
    const fits = spare !== undefined && spare.byteLength >= size;
    const octets = fits && spare !== undefined ? Buffer.from(spare) : Buffer.allocUnsafeSlow(Math.max(size, TOGETHER));
    if (fits) spare = undefined;
    return { octets, filled: 0, sizes: [], files: [] };
  };
  let group = openGroup(TOGETHER);
  let room = group.octets.subarray(0, 0);
  const writeAll = async (files: readonly File[], { packed, memory }: Answer) => {
    spare = memory;
    for (const [index, file] of files.entries()) await write(file, packed[index] ?? Buffer.alloc(0));
  };
  const finish = async () => {
    const ready = given;
    given = undefined;
    if (ready !== undefined) await writeAll(ready.files, await ready.answer);
  };
  const give = ({ octets, filled, sizes, files }: Group<File>) => {
    const answer = thread.ask('deflate', { octets: octets.subarray(0, filled), sizes }, [octets.buffer]);
    const next = { files, answer, isReady: false };
    const ready = () => {
      next.isReady = true;
    };
    answer.then(ready, ready);
    given = next;
  };
  const pack = async (full: Group<File>) => {
    if (given?.isReady === true) await finish();
    if (given === undefined) give(full);
    else await writeAll(full.files, { packed: deflatedEach(full), memory: full.octets.buffer });
  };
  return {
    room: async (size) => {
      if (group.filled + size > group.octets.length) {
        if (group.files.length > 0) await pack(group);
        group = openGroup(size);
      }
      room = group.octets.subarray(group.filled, group.filled + size);
      return room;
    },
    take: (file) => {
      group.filled += room.length;
      group.sizes.push(room.length);
      group.files.push(file);
    },
    end: async () => {
      if (group.files.length > 0) await pack(group);
      await finish();
    },
  };
}
