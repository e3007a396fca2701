import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A fault of a PST file. This module reads PST files by [MS-PST], for the checker; it shares nothing with the writer. */
export class PstFault extends Error {
  override name = 'PstFault';
}

export const INTERVAL = 496 * 8 * 64;
export const FIRST_MAP = 0x4400;
export const FULL_BLOCK = 8176;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** §5.3 */
export function crcOf(bytes: Uint8Array): number {
  let crc = 0;
  for (const octet of bytes) crc = (CRC_TABLE[(crc ^ octet) & 0xff] ?? 0) ^ (crc >>> 8);
  return crc >>> 0;
}

/** §5.5 */
export function signatureOf(offset: number, bid: number): number {
  const value = Number((BigInt(offset) ^ BigInt(bid)) & 0xffff_ffffn);
  return ((value >>> 16) ^ value) & 0xffff;
}

export const long = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at));

export type BlockEntry = {
  readonly bid: number;
  readonly offset: number;
  readonly length: number;
  readonly references: number;
};
export type NodeEntry = {
  readonly nid: number;
  readonly data: number;
  readonly subnodes: number;
  readonly parent: number;
};
export type PageEntry = { readonly offset: number; readonly bid: number; readonly type: number };
export type Inner = { readonly data: number; readonly subnodes: number };

export class PstReader {
  readonly #file: number;
  readonly size: number;
  readonly header: Buffer;
  readonly blocks = new Map<number, BlockEntry>();
  readonly nodes = new Map<number, NodeEntry>();
  /** The B-tree pages, in the order in which they were walked. */
  readonly pages: PageEntry[] = [];

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
    this.header = this.at(0, 564);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  at(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    if (readSync(this.#file, bytes, 0, length, offset) !== length)
      throw new PstFault(`the file ends before ${offset + length}`);
    return bytes;
  }

  /** The octets of a data block or an internal block. */
  payload(bid: number): Buffer {
    const entry = this.blocks.get(bid);
    if (entry === undefined) throw new PstFault(`block ${bid} is in no B-tree`);
    return this.at(entry.offset, entry.length);
  }

  /** The data blocks of a tree, in order. */
  *data(bid: number): Generator<Buffer> {
    if (bid === 0) return;
    if ((bid & 2) === 0) {
      yield this.payload(bid);
      return;
    }
    for (const child of this.children(bid)) yield* this.data(child);
  }

  children(bid: number): number[] {
    const block = this.payload(bid);
    if (block[0] !== 1) throw new PstFault(`block ${bid} is no XBLOCK`);
    const count = block.readUInt16LE(2);
    return Array.from({ length: count }, (_, index) => long(block, 8 + index * 8));
  }

  dataSize(bid: number): number {
    if (bid === 0) return 0;
    return (bid & 2) === 0 ? (this.blocks.get(bid)?.length ?? 0) : this.payload(bid).readUInt32LE(4);
  }

  subnodes(bid: number): Map<number, Inner> {
    const found = new Map<number, Inner>();
    if (bid === 0) return found;
    const block = this.payload(bid);
    if (block[0] !== 2 || (bid & 2) === 0) throw new PstFault(`block ${bid} is no SLBLOCK`);
    const count = block.readUInt16LE(2);
    for (let index = 0; index < count; index += 1)
      if (block[1] === 0) {
        const at = 8 + index * 24;
        found.set(long(block, at) % 2 ** 32, { data: long(block, at + 8), subnodes: long(block, at + 16) });
      } else for (const [nid, inner] of this.subnodes(long(block, 16 + index * 16))) found.set(nid, inner);
    return found;
  }

  /** The size of a node's data and of everything inside it, in octets. */
  nodeSize({ data, subnodes }: Inner): number {
    let size = this.dataSize(data);
    for (const inner of this.subnodes(subnodes).values()) size += this.nodeSize(inner);
    return size;
  }

  heap(node: Inner): Heap {
    return new Heap(this, node);
  }
}

/** §2.3.1 */
export class Heap {
  readonly #reader: PstReader;
  readonly blocks: readonly Buffer[];
  readonly subnodes: ReadonlyMap<number, Inner>;
  /** How often each HID or NID was requested. */
  readonly asked = new Map<number, number>();

  constructor(reader: PstReader, { data, subnodes }: Inner) {
    this.#reader = reader;
    this.blocks = [...reader.data(data)];
    this.subnodes = reader.subnodes(subnodes);
  }

  get first(): Buffer {
    const [first] = this.blocks;
    if (first === undefined || first.length < 12) throw new PstFault('a heap has no first block');
    return first;
  }

  get client(): number {
    return this.first.readUInt8(3);
  }

  get root(): number {
    return this.first.readUInt32LE(4);
  }

  /** A block's pieces: the start of each, and the end of the last one. */
  pieces(number: number): number[] {
    const block = this.blocks[number];
    if (block === undefined) throw new PstFault(`a heap has no block ${number}`);
    const map = block.readUInt16LE(0);
    const count = block.readUInt16LE(map);
    return Array.from({ length: count + 1 }, (_, index) => block.readUInt16LE(map + 4 + index * 2));
  }

  get(hnid: number): Buffer {
    if (hnid === 0) return Buffer.alloc(0);
    this.asked.set(hnid, (this.asked.get(hnid) ?? 0) + 1);
    if ((hnid & 0x1f) !== 0) {
      const inner = this.subnodes.get(hnid);
      if (inner === undefined)
        throw new PstFault(`a heap refers to the subnode 0x${hnid.toString(16)}, which is not there`);
      return Buffer.concat([...this.#reader.data(inner.data)]);
    }
    const pieces = this.pieces(hnid >>> 16);
    const index = ((hnid >>> 5) & 0x7ff) - 1;
    const [from, to] = [pieces[index], pieces[index + 1]];
    if (from === undefined || to === undefined) throw new PstFault(`a heap has no piece 0x${hnid.toString(16)}`);
    return this.blocks[hnid >>> 16]?.subarray(from, to) ?? Buffer.alloc(0);
  }

  /** §2.3.2: the records of a B-tree by its header's HID. */
  tree(hid: number): { readonly key: number; readonly value: number; readonly records: Buffer[] } {
    const header = this.get(hid);
    if (header[0] !== 0xb5) throw new PstFault('a B-tree on a heap has no header');
    const [key, value, levels] = [header.readUInt8(1), header.readUInt8(2), header.readUInt8(3)];
    const records: Buffer[] = [];
    const walk = (from: number, level: number) => {
      const piece = this.get(from);
      const width = level === 0 ? key + value : key + 4;
      if (piece.length % width !== 0) throw new PstFault('a B-tree on a heap has a record that is cut off');
      for (let at = 0; at < piece.length; at += width)
        if (level === 0) records.push(piece.subarray(at, at + width));
        else walk(piece.readUInt32LE(at + key), level - 1);
    };
    if (header.readUInt32LE(4) !== 0) walk(header.readUInt32LE(4), levels);
    return { key, value, records };
  }
}

const INLINE = new Set([0x0002, 0x0003, 0x000b]);

export type Value = { readonly type: number; readonly bytes: Buffer };

/** §2.3.3: an object's properties by their ID. */
export function propertiesOf(heap: Heap): Map<number, Value> {
  if (heap.client !== 0xbc) throw new PstFault('an object has no property context');
  const { key, value, records } = heap.tree(heap.root);
  if (key !== 2 || value !== 6) throw new PstFault('a property context has records of another width');
  const found = new Map<number, Value>();
  let before = -1;
  for (const record of records) {
    const [id, type] = [record.readUInt16LE(0), record.readUInt16LE(2)];
    if (id <= before) throw new PstFault('the properties of an object are not in order');
    before = id;
    found.set(id, { type, bytes: INLINE.has(type) ? record.subarray(4, 8) : heap.get(record.readUInt32LE(4)) });
  }
  return found;
}

export type TableColumn = {
  readonly id: number;
  readonly type: number;
  readonly at: number;
  readonly width: number;
  readonly bit: number;
};
export type TableRow = { readonly id: number; readonly cells: ReadonlyMap<number, Value> };
export type ReadTable = { readonly columns: readonly TableColumn[]; readonly rows: readonly TableRow[] };

/** §2.3.4 */
export function tableOf(heap: Heap): ReadTable {
  if (heap.client !== 0x7c) throw new PstFault('a table has no table context');
  const info = heap.get(heap.root);
  if (info[0] !== 0x7c) throw new PstFault('a table has no information');
  const ends = [2, 4, 6, 8].map((at) => info.readUInt16LE(at));
  const [fours = 0, twos = 0, ones = 0, width = 0] = ends;
  const columns = Array.from({ length: info.readUInt8(1) }, (_, index): TableColumn => {
    const at = 22 + index * 8;
    return {
      type: info.readUInt16LE(at),
      id: info.readUInt16LE(at + 2),
      at: info.readUInt16LE(at + 4),
      width: info.readUInt8(at + 6),
      bit: info.readUInt8(at + 7),
    };
  });
  checkColumns(columns, fours, twos, ones, width);
  const { key, value, records } = heap.tree(info.readUInt32LE(10));
  if (key !== 4 || value !== 4) throw new PstFault('a row index has records of another width');
  const matrixAt = info.readUInt32LE(14);
  const perBlock = Math.floor(FULL_BLOCK / width);
  const matrix = heap.get(matrixAt);
  const inBlocks = (matrixAt & 0x1f) !== 0;
  const expected = !inBlocks
    ? records.length * width
    : Math.floor((records.length - 1) / perBlock) * FULL_BLOCK + (((records.length - 1) % perBlock) + 1) * width;
  if (matrix.length !== (records.length === 0 ? 0 : expected))
    throw new PstFault('a table has rows that its index does not tell of');
  let before = -1;
  const taken = new Set<number>();
  const rows = records.map((record): TableRow => {
    const [id, index] = [record.readUInt32LE(0), record.readUInt32LE(4)];
    if (id <= before) throw new PstFault('the rows of a table are not in order');
    before = id;
    if (index >= records.length || taken.has(index))
      throw new PstFault('a row index tells of a row that is not there, or twice');
    taken.add(index);
    const at = inBlocks ? Math.floor(index / perBlock) * FULL_BLOCK + (index % perBlock) * width : index * width;
    const row = matrix.subarray(at, at + width);
    const cells = new Map<number, Value>();
    for (const column of columns) {
      if (((row[ones + (column.bit >> 3)] ?? 0) & (0x80 >> (column.bit & 7))) === 0) continue;
      const cell = row.subarray(column.at, column.at + column.width);
      const isInline = column.width !== 4 || column.type === 0x0003;
      cells.set(column.id, { type: column.type, bytes: isInline ? cell : heap.get(cell.readUInt32LE(0)) });
    }
    if (cells.get(0x67f2)?.bytes.readUInt32LE(0) !== id) throw new PstFault('a row has another ID than its index says');
    return { id, cells };
  });
  return { columns, rows };
}

function fail(what: string): never {
  throw new PstFault(`a table's columns ${what}`);
}

function checkColumns(columns: readonly TableColumn[], fours: number, twos: number, ones: number, width: number): void {
  const bits = new Set(columns.map(({ bit }) => bit));
  if (bits.size !== columns.length || columns.some(({ bit }) => bit >= columns.length)) fail('share a bit');
  columns.forEach(({ id, type }, index) => {
    const next = columns[index + 1];
    if (next !== undefined && next.id * 65_536 + next.type <= id * 65_536 + type) fail('are not in order');
  });
  let at = 0;
  for (const column of columns.toSorted((one, other) => one.at - other.at)) {
    if (column.at < at) fail('overlap');
    at = column.at + column.width;
    const end = column.width >= 4 ? fours : column.width === 2 ? twos : ones;
    if (at > end) fail('lie beyond their group');
  }
  if (!(fours <= twos && twos <= ones && ones + Math.ceil(columns.length / 8) === width))
    fail('have groups that do not fit');
  for (const [id, place] of [
    [0x67f2, 0],
    [0x67f3, 4],
  ])
    if (columns.find((column) => column.id === id)?.at !== place) fail('do not begin with the row');
}
