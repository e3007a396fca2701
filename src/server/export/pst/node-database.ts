import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** Octets that one block holds at most (MS-PST §2.2.2.8). */
export const BLOCK_PAYLOAD = 8176;
const BLOCK_TRAILER = 16;
const SLOT = 64;
const PAGE = 512;
const PAGE_DATA = 496;
/** What one allocation map speaks of: 496 octets of bits, a bit for 64 octets; its own page is the first (§2.2.2.7.2). */
const INTERVAL = PAGE_DATA * 8 * SLOT;
const FIRST_INTERVAL = 0x4400;
const DENSITY_LIST = 0x4200;
const CHILDREN = (BLOCK_PAYLOAD - 8) >> 3;
const SUBNODES_IN_LEAF = Math.floor((BLOCK_PAYLOAD - 8) / 24);
const SUBNODES_IN_INDEX = (BLOCK_PAYLOAD - 8) >> 4;

const PAGE_TYPE = {
  blockTree: 0x80,
  nodeTree: 0x81,
  freeMap: 0x82,
  pageMap: 0x83,
  allocationMap: 0x84,
  freePageMap: 0x85,
  densityList: 0x86,
} as const;

/** A data tree that is written: its root block, or 0 for no data; `size` is the octets in it. */
export type Stored = { readonly bid: number; readonly size: number };
/** A node inside a node; `size` includes what is inside it. */
export type Subnode = { readonly nid: number; readonly data: number; readonly subnodes: number; readonly size: number };
export type Node = { readonly nid: number; readonly data: number; readonly subnodes: number; readonly parent: number };

/** CRC-32 without the inversions at start and end (§5.3). */
function crcOf(bytes: Buffer): number {
  return ~crc32(bytes, 0xffff_ffff) >>> 0;
}

/** §5.5. Both numbers stay under 2^53; only their low 32 bits count. */
function signatureOf(offset: number, bid: number): number {
  const mixed = ((offset % 0x1_0000_0000) ^ (bid % 0x1_0000_0000)) >>> 0;
  return (mixed >>> 16) ^ (mixed & 0xffff);
}

function writeLong(into: Buffer, value: number, at: number): void {
  into.writeUInt32LE(value % 0x1_0000_0000, at);
  into.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at + 4);
}

/** Numbers in a row, of one typed array after another, so that growing never copies. */
class Column {
  static readonly #CHUNK = 65_536;
  readonly #chunks: (Uint8Array | Uint16Array | Uint32Array)[] = [];
  readonly #make: (length: number) => Uint8Array | Uint16Array | Uint32Array;
  length = 0;

  constructor(make: (length: number) => Uint8Array | Uint16Array | Uint32Array) {
    this.#make = make;
  }

  push(value: number): void {
    if (this.length % Column.#CHUNK === 0) this.#chunks.push(this.#make(Column.#CHUNK));
    const chunk = this.#chunks.at(-1);
    if (chunk !== undefined) chunk[this.length % Column.#CHUNK] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#chunks[Math.floor(index / Column.#CHUNK)]?.[index % Column.#CHUNK] ?? 0;
  }
}

type PageReference = { readonly key: number; readonly bid: number; readonly offset: number };

/**
 * The node database layer: blocks, pages and the two B-trees of one new file, written from front to back. Everything is
 * synchronous but {@link flush}, which is to be awaited now and then: what it has not taken yet is in memory.
 */
export class NodeDatabase {
  readonly #handle: FileHandle;
  #interval: Buffer = Buffer.alloc(INTERVAL);
  #intervals = 0;
  #at = 0;
  #free = 0;
  readonly #full: { readonly bytes: Buffer; readonly offset: number }[] = [];
  readonly #spare: Buffer[] = [];
  /** By block: where it is in 64 octets, its length, and whether it is internal. Its BID follows from its number. */
  readonly #slots = new Column((length) => new Uint32Array(length));
  readonly #lengths = new Column((length) => new Uint16Array(length));
  readonly #internal = new Column((length) => new Uint8Array(length));
  readonly #nodes = {
    nid: new Column((length) => new Uint32Array(length)),
    data: new Column((length) => new Uint32Array(length)),
    subnodes: new Column((length) => new Uint32Array(length)),
    parent: new Column((length) => new Uint32Array(length)),
  };
  #nextPage = 4;

  constructor(handle: FileHandle) {
    this.#handle = handle;
    this.#beginInterval();
  }

  /** Octets that the file has so far, rounded up as they will be. */
  get size(): number {
    return FIRST_INTERVAL + this.#intervals * INTERVAL;
  }

  get nodes(): number {
    return this.#nodes.nid.length;
  }

  /** What the file will have at least when it is finished now: the trees take a page for 15 nodes, and for 20 blocks. */
  get finishedSize(): number {
    return this.size + Math.ceil(this.nodes / 14) * PAGE + Math.ceil(this.#slots.length / 19) * PAGE;
  }

  /** @returns the block's BID */
  writeBlock(payload: Buffer, internal = false): number {
    const length = Math.ceil((payload.length + BLOCK_TRAILER) / SLOT) * SLOT;
    const offset = this.#allocate(length, SLOT);
    const from = offset - this.#intervalStart();
    const block = this.#interval.subarray(from, from + length);
    const bid = this.#bidOf(this.#slots.length, internal);
    payload.copy(block);
    const trailer = length - BLOCK_TRAILER;
    block.writeUInt16LE(payload.length, trailer);
    block.writeUInt16LE(signatureOf(offset, bid), trailer + 2);
    block.writeUInt32LE(crcOf(payload), trailer + 4);
    writeLong(block, bid, trailer + 8);
    this.#slots.push(offset / SLOT);
    this.#lengths.push(payload.length);
    this.#internal.push(internal ? 1 : 0);
    return bid;
  }

  /** Makes one data tree of blocks that are written, all but the last of them full (§2.2.2.8.3.2). */
  writeDataTree(bids: readonly number[], size: number): Stored {
    if (bids.length < 2) return { bid: bids[0] ?? 0, size };
    const level1 = this.#writeIndexBlocks(bids, 1, size, BLOCK_PAYLOAD);
    const root = level1.length === 1 ? level1 : this.#writeIndexBlocks(level1, 2, size, BLOCK_PAYLOAD * CHILDREN);
    if (root.length !== 1) throw new RangeError('A data tree of a PST file has two levels of index at most.');
    return { bid: root[0] ?? 0, size };
  }

  #writeIndexBlocks(children: readonly number[], level: number, size: number, each: number): number[] {
    const parents: number[] = [];
    for (let from = 0; from < children.length; from += CHILDREN) {
      const own = children.slice(from, from + CHILDREN);
      const block = Buffer.alloc(8 + own.length * 8);
      block.writeUInt8(1, 0);
      block.writeUInt8(level, 1);
      block.writeUInt16LE(own.length, 2);
      block.writeUInt32LE(Math.min(size - from * each, own.length * each), 4);
      for (const [index, bid] of own.entries()) writeLong(block, bid, 8 + index * 8);
      parents.push(this.writeBlock(block, true));
    }
    return parents;
  }

  /** @returns the BID of the subnode tree (§2.2.2.8.3.3), 0 for none */
  writeSubnodes(subnodes: readonly Subnode[]): number {
    if (subnodes.length === 0) return 0;
    const sorted = subnodes.toSorted((one, other) => one.nid - other.nid);
    const leaves: { readonly nid: number; readonly bid: number }[] = [];
    for (let from = 0; from < sorted.length; from += SUBNODES_IN_LEAF) {
      const own = sorted.slice(from, from + SUBNODES_IN_LEAF);
      const block = this.#subnodeBlock(0, own.length, 24);
      for (const [index, { nid, data, subnodes: inner }] of own.entries()) {
        writeLong(block, nid, 8 + index * 24);
        writeLong(block, data, 16 + index * 24);
        writeLong(block, inner, 24 + index * 24);
      }
      leaves.push({ nid: own[0]?.nid ?? 0, bid: this.writeBlock(block, true) });
    }
    if (leaves.length === 1) return leaves[0]?.bid ?? 0;
    if (leaves.length > SUBNODES_IN_INDEX) throw new RangeError('A node of a PST file has too many subnodes.');
    const block = this.#subnodeBlock(1, leaves.length, 16);
    for (const [index, { nid, bid }] of leaves.entries()) {
      writeLong(block, nid, 8 + index * 16);
      writeLong(block, bid, 16 + index * 16);
    }
    return this.writeBlock(block, true);
  }

  #subnodeBlock(level: number, count: number, width: number): Buffer {
    const block = Buffer.alloc(8 + count * width);
    block.writeUInt8(2, 0);
    block.writeUInt8(level, 1);
    block.writeUInt16LE(count, 2);
    return block;
  }

  addNode({ nid, data, subnodes, parent }: Node): void {
    this.#nodes.nid.push(nid);
    this.#nodes.data.push(data);
    this.#nodes.subnodes.push(subnodes);
    this.#nodes.parent.push(parent);
  }

  /** Writes what is complete to the file. */
  async flush(): Promise<void> {
    for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) {
      await this.#write(next.bytes, next.offset);
      this.#spare.push(next.bytes.fill(0));
    }
  }

  /** Writes the B-trees, the maps and the header: the file is complete then, and this object done with. */
  async finish(nextIndexes: Readonly<Record<number, number>>): Promise<void> {
    const nodeTree = await this.#writeTree(this.nodes, PAGE_TYPE.nodeTree, 32, this.#nodeEntries());
    // The tree of blocks tells of blocks only, not of pages: it can be written after them.
    const blockTree = await this.#writeTree(this.#slots.length, PAGE_TYPE.blockTree, 24, this.#blockEntries());
    this.#endInterval();
    await this.flush();
    const densityList = Buffer.alloc(PAGE);
    this.#sealPage(densityList, PAGE_TYPE.densityList, DENSITY_LIST, this.#pageBid());
    await this.#write(densityList, DENSITY_LIST);
    await this.#write(this.#header(nodeTree, blockTree, nextIndexes), 0);
  }

  #bidOf(index: number, internal: boolean): number {
    return (index + 1) * 4 + (internal ? 2 : 0);
  }

  #pageBid(): number {
    const bid = this.#nextPage;
    this.#nextPage += 4;
    return bid;
  }

  #intervalStart(): number {
    return FIRST_INTERVAL + (this.#intervals - 1) * INTERVAL;
  }

  #allocate(length: number, alignment: number): number {
    this.#at = Math.ceil(this.#at / alignment) * alignment;
    if (this.#at + length > INTERVAL) {
      this.#endInterval();
      this.#beginInterval();
      this.#at = Math.ceil(this.#at / alignment) * alignment;
    }
    const from = this.#at;
    this.#at += length;
    for (let slot = from / SLOT; slot < this.#at / SLOT; slot += 1) {
      const octet = this.#interval[slot >> 3] ?? 0;
      this.#interval[slot >> 3] = octet | (0x80 >> (slot & 7));
    }
    return this.#intervalStart() + from;
  }

  /**
   * Every interval begins with its allocation map, its bits growing in place. After it come the maps that Outlook has
   * not used since 2007 and checks for all the same, each at its own distances (§2.2.2.7.3, 5, 6).
   */
  #beginInterval(): void {
    const number = this.#intervals;
    this.#intervals += 1;
    this.#at = 0;
    this.#allocate(PAGE, PAGE);
    const reserve = (type: number) => {
      const offset = this.#allocate(PAGE, PAGE);
      const from = offset - this.#intervalStart();
      const page = this.#interval.subarray(from, from + PAGE).fill(0xff, 0, PAGE_DATA);
      this.#sealPage(page, type, offset, offset);
    };
    if (number % 8 === 0) reserve(PAGE_TYPE.pageMap);
    if (number >= 128 && (number - 128) % 496 === 0) reserve(PAGE_TYPE.freeMap);
    if (number >= 8192 && (number - 8192) % (496 * 64) === 0) reserve(PAGE_TYPE.freePageMap);
  }

  #endInterval(): void {
    const map = this.#interval.subarray(0, PAGE);
    for (let index = 0; index < PAGE_DATA; index += 1)
      for (let bits = ~(map[index] ?? 0) & 0xff; bits !== 0; bits &= bits - 1) this.#free += SLOT;
    this.#sealPage(map, PAGE_TYPE.allocationMap, this.#intervalStart(), this.#intervalStart());
    this.#full.push({ bytes: this.#interval, offset: this.#intervalStart() });
    this.#interval = this.#spare.pop() ?? Buffer.alloc(INTERVAL);
  }

  #sealPage(page: Buffer, type: number, offset: number, bid: number): void {
    page.writeUInt8(type, PAGE_DATA);
    page.writeUInt8(type, PAGE_DATA + 1);
    // A map's BID is its own offset, and its signature 0 (§2.2.2.7.1).
    page.writeUInt16LE(signatureOf(offset, bid), PAGE_DATA + 2);
    page.writeUInt32LE(crcOf(page.subarray(0, PAGE_DATA)), PAGE_DATA + 4);
    writeLong(page, bid, PAGE_DATA + 8);
  }

  /** By rising NID. Key and place of an entry are sorted as one number: 32 bits and 21 fit in 53. */
  *#nodeEntries(): Generator<{ readonly key: number; readonly entry: Buffer }> {
    const { nid, data, subnodes, parent } = this.#nodes;
    const order = new Float64Array(nid.length);
    for (let index = 0; index < order.length; index += 1) order[index] = nid.at(index) * 0x20_0000 + index;
    order.sort();
    for (const sorted of order) {
      const index = sorted % 0x20_0000;
      const entry = Buffer.alloc(32);
      writeLong(entry, nid.at(index), 0);
      writeLong(entry, data.at(index), 8);
      writeLong(entry, subnodes.at(index), 16);
      entry.writeUInt32LE(parent.at(index), 24);
      yield { key: nid.at(index), entry };
    }
  }

  *#blockEntries(): Generator<{ readonly key: number; readonly entry: Buffer }> {
    for (let index = 0; index < this.#slots.length; index += 1) {
      const key = this.#bidOf(index, this.#internal.at(index) === 1);
      const entry = Buffer.alloc(24);
      writeLong(entry, key, 0);
      writeLong(entry, this.#slots.at(index) * SLOT, 8);
      entry.writeUInt16LE(this.#lengths.at(index), 16);
      // One for the block itself and one for who refers to it; nothing here is shared.
      entry.writeUInt16LE(2, 18);
      yield { key, entry };
    }
  }

  async #writeTree(
    count: number,
    type: number,
    width: number,
    entries: Iterable<{ readonly key: number; readonly entry: Buffer }>,
  ): Promise<PageReference> {
    let level = 0;
    let current = entries;
    let left = count;
    for (;;) {
      const parents: PageReference[] = [];
      const cell = level === 0 ? width : 24;
      // The maximum of an entry's own page; the last 8 octets before the trailer tell of the others.
      const most = Math.floor((PAGE_DATA - 8) / cell);
      let page = Buffer.alloc(PAGE);
      let [held, first] = [0, 0];
      for (const { key, entry } of current) {
        if (held === 0) first = key;
        entry.copy(page, held * cell);
        held += 1;
        left -= 1;
        if (held < most && left > 0) continue;
        page.writeUInt8(held, 488);
        page.writeUInt8(most, 489);
        page.writeUInt8(cell, 490);
        page.writeUInt8(level, 491);
        const bid = this.#pageBid();
        const offset = this.#allocate(PAGE, PAGE);
        this.#sealPage(page, type, offset, bid);
        page.copy(this.#interval, offset - this.#intervalStart());
        parents.push({ key: first, bid, offset });
        page = Buffer.alloc(PAGE);
        held = 0;
        if (this.#full.length > 0) await this.flush();
      }
      const [root] = parents;
      if (root !== undefined && parents.length === 1) return root;
      level += 1;
      left = parents.length;
      current = parents.map(({ key, bid, offset }) => {
        const entry = Buffer.alloc(24);
        writeLong(entry, key, 0);
        writeLong(entry, bid, 8);
        writeLong(entry, offset, 16);
        return { key, entry };
      });
    }
  }

  /** §2.2.2.6, for a Unicode file without encryption. */
  #header(nodeTree: PageReference, blockTree: PageReference, nextIndexes: Readonly<Record<number, number>>): Buffer {
    const header = Buffer.alloc(564);
    header.write('!BDN', 0, 'latin1');
    header.write('SM', 8, 'latin1');
    header.writeUInt16LE(23, 10);
    header.writeUInt16LE(19, 12);
    header.writeUInt8(1, 14);
    header.writeUInt8(1, 15);
    writeLong(header, this.#nextPage, 32);
    header.writeUInt32LE(1, 40);
    for (let type = 0; type < 32; type += 1) header.writeUInt32LE(nextIndexes[type] ?? 0x400, 44 + type * 4);
    writeLong(header, this.size, 184);
    writeLong(header, this.size - INTERVAL, 192);
    writeLong(header, this.#free, 200);
    writeLong(header, nodeTree.bid, 216);
    writeLong(header, nodeTree.offset, 224);
    writeLong(header, blockTree.bid, 232);
    writeLong(header, blockTree.offset, 240);
    header.writeUInt8(2, 248);
    header.fill(0xff, 256, 512);
    header.writeUInt8(0x80, 512);
    writeLong(header, this.#bidOf(this.#slots.length, false), 516);
    header.writeUInt32LE(crcOf(header.subarray(8, 8 + 516)), 524);
    header.writeUInt32LE(crcOf(header.subarray(8, 8 + 471)), 4);
    return header;
  }

  async #write(bytes: Buffer, offset: number): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, from, bytes.length - from, offset + from);
      from += bytesWritten;
    }
  }
}

/** Octets of unknown number on their way into a data tree. What is small stays in memory, for a heap to take. */
export class ValueWriter {
  static readonly #SMALL = 3580;
  readonly #database: NodeDatabase;
  readonly #bids: number[] = [];
  #block = Buffer.alloc(0);
  #held = 0;
  size = 0;

  constructor(database: NodeDatabase) {
    this.#database = database;
  }

  write(bytes: Uint8Array): void {
    this.size += bytes.length;
    for (let from = 0; from < bytes.length;) {
      if (this.#held === this.#block.length) this.#makeRoom(bytes.length - from);
      const taken = bytes.subarray(from, from + this.#block.length - this.#held);
      this.#block.set(taken, this.#held);
      this.#held += taken.length;
      from += taken.length;
    }
  }

  #makeRoom(wanted: number): void {
    if (this.#held === BLOCK_PAYLOAD) {
      this.#bids.push(this.#database.writeBlock(this.#block));
      this.#held = 0;
      return;
    }
    const larger = Buffer.alloc(Math.min(BLOCK_PAYLOAD, Math.max(this.#held + wanted, this.#held * 2, 256)));
    this.#block.copy(larger, 0, 0, this.#held);
    this.#block = larger;
  }

  /** The octets themselves where a heap can hold them; else the tree that holds them. */
  end(): Buffer | Stored {
    const rest = this.#block.subarray(0, this.#held);
    if (this.#bids.length === 0 && this.#held <= ValueWriter.#SMALL) return rest;
    if (rest.length > 0) this.#bids.push(this.#database.writeBlock(rest));
    return this.#database.writeDataTree(this.#bids, this.size);
  }
}
