import { addTree, Heap, HEAP_PIECE, TREE_HEADER, type Blocks } from './heap.ts';
import type { NodeDatabase, Subnode } from './node-database.ts';
import { integer, type Property } from './properties.ts';
import { ValueWriter } from './value-writer.ts';

/** A written object: its data, its subnodes, and the size of both in octets. */
export type Written = { readonly data: number; readonly subnodes: number; readonly size: number };

/** Within an object, only values that are nodes of their own have these numbers. */
const FIRST_VALUE = 0x401;
const VALUE_NODE = 0x1f;

/** Values too large for a heap become nodes inside the object. */
export class LargeValues {
  readonly #database: NodeDatabase;
  readonly subnodes: Subnode[] = [];

  constructor(database: NodeDatabase) {
    this.#database = database;
  }

  /** @returns the value if a heap can hold it, or the NID of the node made for it */
  place(value: Property['value']): number | Buffer {
    if (typeof value === 'number' || (Buffer.isBuffer(value) && value.length <= HEAP_PIECE)) return value;
    const nid = (FIRST_VALUE + this.subnodes.length) * 32 + VALUE_NODE;
    this.subnodes.push({ nid, ...this.#stored(value) });
    return nid;
  }

  #stored(value: Exclude<Property['value'], number>): Written {
    if (!Buffer.isBuffer(value)) return { data: value.bid, subnodes: 0, size: value.size };
    const writer = new ValueWriter(this.#database);
    writer.write(value);
    const stored = writer.end();
    if (Buffer.isBuffer(stored)) throw new Error('A value that no heap takes was small.');
    return { data: stored.bid, subnodes: 0, size: stored.size };
  }
}

/** If an object contains its own size, its heap is laid out twice: the first time only to find the size. */
const NOWHERE: Blocks = { writeBlock: () => 0, writeDataTree: (_, size) => ({ bid: 0, size }) };

/**
 * Writes an object's properties (MS-PST §2.3.3).
 * @param sizeId the property for the size of the whole object in octets
 */
export function writeProperties(
  database: NodeDatabase,
  properties: readonly Property[],
  subnodes: readonly Subnode[] = [],
  sizeId?: number,
): Written {
  const large = new LargeValues(database);
  const cells = properties.map(({ id, type, value }) => ({ id, type, cell: large.place(value) }));
  const all = [...large.subnodes, ...subnodes];
  const inner = all.reduce((sum, { size }) => sum + size, 0);
  const build = (into: Blocks, sized: typeof cells) => {
    const heap = new Heap(into, 0xbc);
    const header = heap.reserve(TREE_HEADER);
    const records = Buffer.alloc(sized.length * 8);
    for (const [index, { id, type, cell }] of sized.toSorted((one, other) => one.id - other.id).entries()) {
      records.writeUInt16LE(id, index * 8);
      records.writeUInt16LE(type, index * 8 + 2);
      records.writeUInt32LE(typeof cell === 'number' ? cell : heap.add(cell), index * 8 + 4);
    }
    addTree(heap, header, 2, 6, records);
    return heap.finish(header.hid);
  };
  const withSize = (size: number) => {
    if (sizeId === undefined) return cells;
    // The property can't be larger than 2 GiB less one.
    const { id, type } = integer(sizeId, 0);
    return [...cells, { id, type, cell: Math.min(size, 0x7fff_ffff) }];
  };
  const size = sizeId === undefined ? 0 : build(NOWHERE, withSize(0)).size + inner;
  const stored = build(database, withSize(size));
  return { data: stored.bid, subnodes: database.writeSubnodes(all), size: stored.size + inner };
}
