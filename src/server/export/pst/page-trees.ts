import { Column } from './column.ts';
import type { FileSpace, PageReference } from './file-space.ts';
import { PAGE, PAGE_DATA, PAGE_TYPE, SLOT, writeLong } from './layout.ts';

export type Node = { readonly nid: number; readonly data: number; readonly subnodes: number; readonly parent: number };
/** A page of a tree holds several of these. */
type Entry = { readonly key: number; readonly bytes: Buffer };

/** The NBT (§2.2.2.7.7.4): all nodes by their NIDs. */
export class NodeTree {
  readonly #nid = new Column((length) => new Uint32Array(length));
  readonly #data = new Column((length) => new Uint32Array(length));
  readonly #subnodes = new Column((length) => new Uint32Array(length));
  readonly #parent = new Column((length) => new Uint32Array(length));

  get length(): number {
    return this.#nid.length;
  }

  /** Octets of its pages: one page for 15 nodes, and those of the levels above. */
  get octets(): number {
    return Math.ceil(this.length / 14) * PAGE;
  }

  add({ nid, data, subnodes, parent }: Node): void {
    this.#nid.push(nid);
    this.#data.push(data);
    this.#subnodes.push(subnodes);
    this.#parent.push(parent);
  }

  write(space: FileSpace): Promise<PageReference> {
    return writeTree(space, PAGE_TYPE.nodeTree, 32, this.length, this.#entries());
  }

  /** By ascending NID. An entry's key and position are sorted as one number: 32 and 21 bits fit into 53. */
  *#entries(): Generator<Entry> {
    const order = new Float64Array(this.length);
    for (let index = 0; index < order.length; index += 1) order[index] = this.#nid.at(index) * 0x20_0000 + index;
    order.sort();
    for (const sorted of order) {
      const index = sorted % 0x20_0000;
      const key = this.#nid.at(index);
      const bytes = Buffer.alloc(32);
      writeLong(bytes, key, 0);
      writeLong(bytes, this.#data.at(index), 8);
      writeLong(bytes, this.#subnodes.at(index), 16);
      bytes.writeUInt32LE(this.#parent.at(index), 24);
      yield { key, bytes };
    }
  }
}

/** The BBT (§2.2.2.7.7.3): all blocks by their BIDs, which follow from their numbers. */
export class BlockTree {
  /** Where a block is, in units of 64 octets. */
  readonly #slots = new Column((length) => new Uint32Array(length));
  readonly #lengths = new Column((length) => new Uint16Array(length));
  readonly #internal = new Column((length) => new Uint8Array(length));

  /** Octets of its pages: one page for 20 blocks, and those of the levels above. */
  get octets(): number {
    return Math.ceil(this.#slots.length / 19) * PAGE;
  }

  /** The next block's BID, unless it is internal. */
  get nextBid(): number {
    return this.#bidOf(this.#slots.length, false);
  }

  /** @returns the block's BID */
  add(offset: number, length: number, internal: boolean): number {
    const bid = this.#bidOf(this.#slots.length, internal);
    this.#slots.push(offset / SLOT);
    this.#lengths.push(length);
    this.#internal.push(internal ? 1 : 0);
    return bid;
  }

  #bidOf(index: number, internal: boolean): number {
    return (index + 1) * 4 + (internal ? 2 : 0);
  }

  write(space: FileSpace): Promise<PageReference> {
    return writeTree(space, PAGE_TYPE.blockTree, 24, this.#slots.length, this.#entries());
  }

  *#entries(): Generator<Entry> {
    for (let index = 0; index < this.#slots.length; index += 1) {
      const key = this.#bidOf(index, this.#internal.at(index) === 1);
      const bytes = Buffer.alloc(24);
      writeLong(bytes, key, 0);
      writeLong(bytes, this.#slots.at(index) * SLOT, 8);
      bytes.writeUInt16LE(this.#lengths.at(index), 16);
      // One for the block itself and one for the reference to it; nothing here is shared.
      bytes.writeUInt16LE(2, 18);
      yield { key, bytes };
    }
  }
}

/** Writes level by level, from `count` entries by ascending key up to the root (§2.2.2.7.7.1). */
async function writeTree(
  space: FileSpace,
  type: number,
  width: number,
  count: number,
  entries: Iterable<Entry>,
): Promise<PageReference> {
  let current = entries;
  let left = count;
  for (let level = 0; ; level += 1) {
    const parents: (PageReference & { readonly key: number })[] = [];
    const cell = level === 0 ? width : 24;
    // The maximum of an entry's own page; the last 8 octets before the trailer describe the others.
    const most = Math.floor((PAGE_DATA - 8) / cell);
    let page = Buffer.alloc(PAGE);
    let [held, first] = [0, 0];
    for (const { key, bytes } of current) {
      if (held === 0) first = key;
      bytes.copy(page, held * cell);
      held += 1;
      left -= 1;
      if (held < most && left > 0) continue;
      page.writeUInt8(held, 488);
      page.writeUInt8(most, 489);
      page.writeUInt8(cell, 490);
      page.writeUInt8(level, 491);
      const { bid, offset } = space.addPage(page, type);
      parents.push({ key: first, bid, offset });
      page = Buffer.alloc(PAGE);
      held = 0;
      if (space.isWaiting) await space.flush();
    }
    const [root] = parents;
    if (root !== undefined && parents.length === 1) return root;
    left = parents.length;
    current = parents.map(({ key, bid, offset }) => {
      const bytes = Buffer.alloc(24);
      writeLong(bytes, key, 0);
      writeLong(bytes, bid, 8);
      writeLong(bytes, offset, 16);
      return { key, bytes };
    });
  }
}
