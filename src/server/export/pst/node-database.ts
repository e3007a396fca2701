import type { FileHandle } from 'node:fs/promises';
import { FileSpace, type PageReference, type SpaceTotals } from './file-space.ts';
import { BLOCK_PAYLOAD, crcOf, signatureOf, SLOT, writeLong } from './layout.ts';
import { BlockTree, NodeTree, type Node } from './page-trees.ts';

const BLOCK_TRAILER = 16;
const CHILDREN = (BLOCK_PAYLOAD - 8) >> 3;
const SUBNODES_IN_LEAF = Math.floor((BLOCK_PAYLOAD - 8) / 24);
const SUBNODES_IN_INDEX = (BLOCK_PAYLOAD - 8) >> 4;

/** A written data tree: its root block, or 0 for no data; `size` is in octets. */
export type Stored = { readonly bid: number; readonly size: number };
/** A node inside a node; `size` includes what is inside it. */
export type Subnode = { readonly nid: number; readonly data: number; readonly subnodes: number; readonly size: number };

/**
 * The node database layer: blocks, nodes and the header of one new file, written from front to back. Everything is
 * synchronous except {@link flush}, which must be awaited now and then: until then, everything is in memory.
 */
export class NodeDatabase {
  readonly #space: FileSpace;
  readonly #blocks = new BlockTree();
  readonly #nodes = new NodeTree();

  constructor(handle: FileHandle) {
    this.#space = new FileSpace(handle);
  }

  /** The file's size so far in octets, rounded up as it will be. */
  get size(): number {
    return this.#space.size;
  }

  get nodes(): number {
    return this.#nodes.length;
  }

  /** The least size of the file if it is finished now. */
  get finishedSize(): number {
    return this.size + this.#nodes.octets + this.#blocks.octets;
  }

  /** @returns the block's BID */
  writeBlock(payload: Buffer, internal = false): number {
    const length = Math.ceil((payload.length + BLOCK_TRAILER) / SLOT) * SLOT;
    const offset = this.#space.allocate(length, SLOT);
    const block = this.#space.bytesAt(offset, length);
    const bid = this.#blocks.add(offset, payload.length, internal);
    payload.copy(block);
    const trailer = length - BLOCK_TRAILER;
    block.writeUInt16LE(payload.length, trailer);
    block.writeUInt16LE(signatureOf(offset, bid), trailer + 2);
    block.writeUInt32LE(crcOf(payload), trailer + 4);
    writeLong(block, bid, trailer + 8);
    return bid;
  }

  /** Makes a data tree of written blocks, all full except the last (§2.2.2.8.3.2). */
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

  addNode(node: Node): void {
    this.#nodes.add(node);
  }

  /** Writes what is complete to the file. */
  flush(): Promise<void> {
    return this.#space.flush();
  }

  /** Writes the B-trees, the maps and the header, which completes the file; this object can't be used any more. */
  async finish(nextIndexes: Readonly<Record<number, number>>): Promise<void> {
    const nodeTree = await this.#nodes.write(this.#space);
    // The tree of blocks lists only blocks, not pages, so it can be written after them.
    const blockTree = await this.#blocks.write(this.#space);
    const totals = await this.#space.finish();
    await this.#space.writeHeader(this.#header(nodeTree, blockTree, totals, nextIndexes));
  }

  /** §2.2.2.6, for a Unicode file without encryption. */
  #header(
    nodeTree: PageReference,
    blockTree: PageReference,
    { lastMap, free, nextPage }: SpaceTotals,
    nextIndexes: Readonly<Record<number, number>>,
  ): Buffer {
    const header = Buffer.alloc(564);
    header.write('!BDN', 0, 'latin1');
    header.write('SM', 8, 'latin1');
    header.writeUInt16LE(23, 10);
    header.writeUInt16LE(19, 12);
    header.writeUInt8(1, 14);
    header.writeUInt8(1, 15);
    writeLong(header, nextPage, 32);
    header.writeUInt32LE(1, 40);
    for (let type = 0; type < 32; type += 1) header.writeUInt32LE(nextIndexes[type] ?? 0x400, 44 + type * 4);
    writeLong(header, this.size, 184);
    writeLong(header, lastMap, 192);
    writeLong(header, free, 200);
    writeLong(header, nodeTree.bid, 216);
    writeLong(header, nodeTree.offset, 224);
    writeLong(header, blockTree.bid, 232);
    writeLong(header, blockTree.offset, 240);
    header.writeUInt8(2, 248);
    header.fill(0xff, 256, 512);
    header.writeUInt8(0x80, 512);
    writeLong(header, this.#blocks.nextBid, 516);
    header.writeUInt32LE(crcOf(header.subarray(8, 8 + 516)), 524);
    header.writeUInt32LE(crcOf(header.subarray(8, 8 + 471)), 4);
    return header;
  }
}
