import { BLOCK_PAYLOAD } from './layout.ts';
import type { NodeDatabase, Stored } from './node-database.ts';

/** A piece of a heap whose content comes later. */
export type Reserved = { readonly hid: number; readonly bytes: Buffer };

/** Where a heap's blocks go. */
export type Blocks = Pick<NodeDatabase, 'writeBlock' | 'writeDataTree'>;

/** The most octets in one piece of a heap (MS-PST §2.3.1). */
export const HEAP_PIECE = 3580;
/** §2.3.1.1: eleven bits number the pieces of a block. */
const PIECES = 2047;
/** The least free room of each of the fill levels 0 to 14; 15 is less than that (§2.3.1.2). */
const FILL_LEVELS = [3584, 2560, 2048, 1792, 1536, 1280, 1024, 768, 512, 256, 128, 64, 32, 16, 8];

const HEADER = 12;
const BITMAP_HEADER = 66;
const PAGE_HEADER = 2;

/** Block 0 has the fill levels of the first eight blocks; every 128th after them has those of its 128. */
function tellsLevels(block: number): boolean {
  return block === 0 || block % 128 === 8;
}

/**
 * A heap on a node (§2.3.1): small pieces, identified by their HIDs, in blocks of a data tree. Blocks go to the file as
 * they fill, except for those whose header is known only later.
 */
export class Heap {
  readonly #database: Blocks;
  readonly #client: number;
  readonly #bids: number[] = [];
  /**
   * Blocks that are not written yet: the one with the levels of the current blocks, and block 0, which has the root.
   */
  readonly #held = new Map<number, Buffer>();
  #block = Buffer.alloc(BLOCK_PAYLOAD);
  #number = 0;
  #starts: number[] = [];
  #at = HEADER;
  #size = 0;

  constructor(database: Blocks, client: number) {
    this.#database = database;
    this.#client = client;
  }

  get blocks(): number {
    return this.#number + 1;
  }

  /** @returns the piece's HID; 0 for an empty one */
  add(piece: Uint8Array): number {
    if (piece.length === 0) return 0;
    if (piece.length > HEAP_PIECE) throw new RangeError('A piece of a heap has 3,580 octets at most.');
    if (
      this.#starts.length === PIECES ||
      this.#mapEnd(this.#at + piece.length, this.#starts.length + 1) > BLOCK_PAYLOAD
    )
      this.#next();
    this.#block.set(piece, this.#at);
    this.#starts.push(this.#at);
    this.#at += piece.length;
    return this.#number * 0x1_0000 + this.#starts.length * 32;
  }

  /** A first piece, to be filled in before the heap is finished; its block is written last. */
  reserve(length: number): Reserved {
    if (this.#number > 0) throw new Error('A heap reserves room only in its first block.');
    const hid = this.add(new Uint8Array(length));
    return { hid, bytes: this.#block.subarray(this.#at - length, this.#at) };
  }

  /** Where the block's page map ends if its pieces end at `at`; the map begins at an even offset. */
  #mapEnd(at: number, pieces: number): number {
    return at + (at & 1) + 4 + 2 * (pieces + 1);
  }

  #next(): void {
    this.#close();
    this.#number += 1;
    if (this.#number > 0xffff) throw new RangeError('A heap of a PST file has 65,536 blocks at most.');
    this.#block = Buffer.alloc(BLOCK_PAYLOAD);
    this.#starts = [];
    this.#at = tellsLevels(this.#number) ? BITMAP_HEADER : PAGE_HEADER;
  }

  #close(isLast = false): void {
    const block = this.#block;
    const map = this.#at + (this.#at & 1);
    block.writeUInt16LE(map, 0);
    block.writeUInt16LE(this.#starts.length, map);
    for (const [index, start] of [...this.#starts, this.#at].entries()) block.writeUInt16LE(start, map + 4 + index * 2);
    const used = this.#mapEnd(this.#at, this.#starts.length);
    const level = FILL_LEVELS.findIndex((room) => BLOCK_PAYLOAD - used >= room);
    const teller = this.#number < 8 ? 0 : this.#number - ((this.#number - 8) % 128);
    const payload = isLast ? block.subarray(0, used) : block;
    this.#size += payload.length;
    if (tellsLevels(this.#number)) this.#held.set(this.#number, payload);
    else this.#bids[this.#number] = this.#database.writeBlock(payload);
    const nibble = this.#number - teller;
    const levels = this.#held.get(teller);
    const octet = (teller === 0 ? 8 : 2) + (nibble >> 1);
    if (levels !== undefined)
      levels[octet] = (levels[octet] ?? 0) | ((level === -1 ? 15 : level) << (nibble & 1 ? 4 : 0));
    if (teller !== 0 && (nibble === 127 || isLast)) this.#release(teller);
  }

  #release(number: number): void {
    const block = this.#held.get(number);
    if (block !== undefined) this.#bids[number] = this.#database.writeBlock(block);
    this.#held.delete(number);
  }

  /** Writes what is left. `root` is the HID of the structure that the heap is for. */
  finish(root: number): Stored {
    this.#close(true);
    const first = this.#held.get(0);
    if (first === undefined) throw new Error('A heap has lost its first block.');
    first.writeUInt8(0xec, 2);
    first.writeUInt8(this.#client, 3);
    first.writeUInt32LE(root, 4);
    this.#release(0);
    return this.#database.writeDataTree(this.#bids, this.#size);
  }
}

export const TREE_HEADER = 8;

/**
 * Records of one width, sorted by key, as a B-tree on a heap (§2.3.2). Its header is the heap's first piece, where
 * Outlook puts it and some readers look for it.
 */
export function addTree(heap: Heap, { bytes: header }: Reserved, key: number, value: number, records: Buffer): void {
  header.set([0xb5, key, value]);
  let [level, width, current] = [0, key + value, records];
  if (records.length > 0)
    for (;;) {
      const most = Math.floor(HEAP_PIECE / width) * width;
      const parents: Buffer[] = [];
      for (let from = 0; from < current.length; from += most) {
        const parent = Buffer.alloc(key + 4);
        current.copy(parent, 0, from, from + key);
        parent.writeUInt32LE(heap.add(current.subarray(from, from + most)), key);
        parents.push(parent);
      }
      if (parents.length === 1) {
        header.writeUInt8(level, 3);
        header.writeUInt32LE(parents[0]?.readUInt32LE(key) ?? 0, 4);
        break;
      }
      [level, width, current] = [level + 1, key + 4, Buffer.concat(parents)];
    }
}
