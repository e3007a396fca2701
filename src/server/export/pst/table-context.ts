import { addTree, Heap, HEAP_PIECE, TREE_HEADER, type Reserved } from './heap.ts';
import { BLOCK_PAYLOAD } from './layout.ts';
import type { NodeDatabase } from './node-database.ts';
import { integer, TYPE, type Property } from './properties.ts';
import { LargeValues, type Written } from './property-context.ts';

export type TableColumn = { readonly id: number; readonly type: number };

export const ROW_ID = 0x67f2;
export const ROW_VERSION = 0x67f3;

const WIDTHS: Readonly<Record<number, number>> = {
  [TYPE.boolean]: 1,
  [TYPE.integer16]: 2,
  [TYPE.integer64]: 8,
  [TYPE.time]: 8,
};
const widthOf = ({ type }: TableColumn) => WIDTHS[type] ?? 4;

/**
 * A node can't have more subnodes than fit two levels; a cell beyond that is left out, but its object still has the
 * value.
 */
const LARGE_CELLS = 100_000;
const MATRIX_NODE = 0x400 * 32 + 0x1f;

/**
 * A table (MS-PST §2.3.4). Rows are added by ascending ID. Within a row, columns are in the given order, those of four
 * and eight octets first, as in Outlook, whose tables keep the order of its templates.
 */
export class Table {
  readonly #database: NodeDatabase;
  readonly #heap: Heap;
  readonly #large: LargeValues;
  readonly #index: Reserved;
  readonly #info: Reserved;
  readonly #columns: readonly (TableColumn & { readonly at: number; readonly width: number; readonly bit: number })[];
  readonly #ends: readonly [number, number, number, number];
  readonly #rowsInBlock: number;
  readonly #blocks: number[] = [];
  #block: Buffer;
  #rowsHeld = 0;
  #rowIds: number[] = [];

  constructor(database: NodeDatabase, columns: readonly TableColumn[]) {
    this.#database = database;
    this.#heap = new Heap(database, 0x7c);
    this.#large = new LargeValues(database);
    this.#index = this.#heap.reserve(TREE_HEADER);
    this.#info = this.#heap.reserve(22 + columns.length * 8);
    let at = 0;
    const ends: number[] = [];
    const placed = new Map<TableColumn, number>();
    for (const widths of [[4, 8], [2], [1]]) {
      for (const column of columns.filter((each) => widths.includes(widthOf(each)))) {
        placed.set(column, at);
        at += widthOf(column);
      }
      ends.push(at);
    }
    const [fours = 0, twos = 0, ones = 0] = ends;
    this.#ends = [fours, twos, ones, ones + Math.ceil(columns.length / 8)];
    this.#columns = columns.map((column, bit) => ({
      ...column,
      at: placed.get(column) ?? 0,
      width: widthOf(column),
      bit,
    }));
    this.#rowsInBlock = Math.floor(BLOCK_PAYLOAD / this.#ends[3]);
    this.#block = Buffer.alloc(BLOCK_PAYLOAD);
  }

  get rows(): number {
    return this.#rowIds.length;
  }

  /** Blocks filled by the cells' values; at most 65,536. */
  get heapBlocks(): number {
    return this.#heap.blocks;
  }

  addRow(id: number, properties: readonly Property[]): void {
    if (this.#rowsHeld === this.#rowsInBlock) {
      // No row spans two blocks, and all blocks except the last are full: what is too small for a row stays empty
      // (§2.3.4.4).
      this.#blocks.push(this.#database.writeBlock(this.#block));
      this.#block = Buffer.alloc(BLOCK_PAYLOAD);
      this.#rowsHeld = 0;
    }
    const row = this.#block.subarray(this.#rowsHeld * this.#ends[3], (this.#rowsHeld + 1) * this.#ends[3]);
    this.#rowsHeld += 1;
    this.#rowIds.push(id);
    const own = [integer(ROW_ID, id), integer(ROW_VERSION, this.#rowIds.length), ...properties];
    for (const column of this.#columns) {
      const property = own.find((each) => each.id === column.id && each.type === column.type);
      if (property === undefined || !this.#set(row, column, property)) continue;
      const octet = this.#ends[2] + (column.bit >> 3);
      row[octet] = (row[octet] ?? 0) | (0x80 >> (column.bit & 7));
    }
  }

  #set(row: Buffer, { at, width }: { at: number; width: number }, { value }: Property): boolean {
    if (typeof value === 'number') row.writeUIntLE(value, at, Math.min(width, 4));
    else if (width === 8 && Buffer.isBuffer(value)) value.copy(row, at);
    else {
      const isLarge = !Buffer.isBuffer(value) || value.length > HEAP_PIECE;
      if (isLarge && this.#large.subnodes.length >= LARGE_CELLS) return false;
      const cell = this.#large.place(value);
      row.writeUInt32LE(typeof cell === 'number' ? cell : this.#heap.add(cell), at);
    }
    return true;
  }

  finish(): Written {
    const rowIndex = Buffer.alloc(this.#rowIds.length * 8);
    for (const [index, id] of this.#rowIds.entries()) {
      rowIndex.writeUInt32LE(id, index * 8);
      rowIndex.writeUInt32LE(index, index * 8 + 4);
    }
    const subnodes = [...this.#large.subnodes];
    let rows = 0;
    const rest = this.#block.subarray(0, this.#rowsHeld * this.#ends[3]);
    if (this.#blocks.length === 0 && rest.length <= HEAP_PIECE) rows = this.#heap.add(rest);
    else {
      this.#blocks.push(this.#database.writeBlock(rest));
      const size = (this.#blocks.length - 1) * BLOCK_PAYLOAD + rest.length;
      const { bid } = this.#database.writeDataTree(this.#blocks, size);
      subnodes.push({ nid: MATRIX_NODE, data: bid, subnodes: 0, size });
      rows = MATRIX_NODE;
    }
    addTree(this.#heap, this.#index, 4, 4, rowIndex);
    const info = this.#info.bytes;
    info.writeUInt8(0x7c, 0);
    info.writeUInt8(this.#columns.length, 1);
    for (const [index, end] of this.#ends.entries()) info.writeUInt16LE(end, 2 + index * 2);
    info.writeUInt32LE(this.#index.hid, 10);
    info.writeUInt32LE(rows, 14);
    const sorted = this.#columns.toSorted((one, other) => one.id - other.id);
    for (const [index, { id, type, at, width, bit }] of sorted.entries()) {
      info.writeUInt16LE(type, 22 + index * 8);
      info.writeUInt16LE(id, 24 + index * 8);
      info.writeUInt16LE(at, 26 + index * 8);
      info.writeUInt8(width, 28 + index * 8);
      info.writeUInt8(bit, 29 + index * 8);
    }
    const stored = this.#heap.finish(this.#info.hid);
    const size = stored.size + subnodes.reduce((sum, each) => sum + each.size, 0);
    return { data: stored.bid, subnodes: this.#database.writeSubnodes(subnodes), size };
  }
}
