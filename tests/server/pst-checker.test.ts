import { copyFile, open, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkPst, checkReader } from '../support/pst/pst-checker.ts';
import { crcOf, FIRST_MAP, INTERVAL, long, PstReader } from '../support/pst/pst-reader.ts';
import { itemsOf, openPstWorld, sampleBoxes, type PstWorld } from '../support/pst/pst-samples.ts';

/** A file with one thing wrong in it, and every checksum right again but where that is what is wrong. */
class Vandal {
  readonly #file: FileHandle;
  readonly reader: PstReader;

  constructor(file: FileHandle, reader: PstReader) {
    this.#file = file;
    this.reader = reader;
  }

  async write(offset: number, bytes: Buffer): Promise<void> {
    await this.#file.write(bytes, 0, bytes.length, offset);
  }

  async header(change: (header: Buffer) => void, isSealed = true): Promise<void> {
    const header = this.reader.at(0, 564);
    change(header);
    if (isSealed) {
      header.writeUInt32LE(crcOf(header.subarray(8, 524)), 524);
      header.writeUInt32LE(crcOf(header.subarray(8, 479)), 4);
    }
    await this.write(0, header);
  }

  async page(offset: number, change: (page: Buffer) => void, isSealed = true): Promise<void> {
    const page = this.reader.at(offset, 512);
    change(page);
    if (isSealed) page.writeUInt32LE(crcOf(page.subarray(0, 496)), 500);
    await this.write(offset, page);
  }

  /** `change` gets the block with its trailer, and where its own octets end. */
  async block(bid: number, change: (block: Buffer, length: number) => void, isSealed = true): Promise<void> {
    const { offset = 0, length = 0 } = this.reader.blocks.get(bid) ?? {};
    const whole = Math.ceil((length + 16) / 64) * 64;
    const block = this.reader.at(offset, whole);
    change(block, length);
    if (isSealed) block.writeUInt32LE(crcOf(block.subarray(0, length)), whole - 12);
    await this.write(offset, block);
  }

  /** The four octets of a property that stands in its own record. */
  async value(bid: number, id: number, type: number, change: (value: number) => number): Promise<void> {
    const record = Buffer.alloc(4);
    record.writeUInt16LE(id, 0);
    record.writeUInt16LE(type, 2);
    await this.block(bid, (block) => {
      const at = block.indexOf(record) + 4;
      expect(at).toBeGreaterThan(4);
      block.writeUInt32LE(change(block.readUInt32LE(at)) >>> 0, at);
    });
  }

  data(nid: number): number {
    const node = this.reader.nodes.get(nid);
    if (node === undefined) throw new Error(`No node ${nid}.`);
    return node.data;
  }

  /** A message by what of it there is. */
  message(fits: (nid: number) => boolean): number {
    const found = [...this.reader.nodes.keys()].find((nid) => (nid & 0x1f) === 4 && fits(nid));
    if (found === undefined) throw new Error('No message is like that.');
    return found;
  }

  get nodeTree(): number {
    return long(this.reader.header, 224);
  }

  get blockTree(): number {
    return long(this.reader.header, 240);
  }

  leaf(root: number): number {
    for (let at = root; ; at = long(this.reader.at(at, 512), 16)) if (this.reader.at(at, 512)[491] === 0) return at;
  }
}

const [INTEGER, BOOLEAN] = [0x03, 0x0b];
const TOP = 0x8022;
const INBOX = 0x8082;

const hasAttachment =
  ({ reader }: Vandal) =>
  (nid: number) =>
    [...reader.subnodes(reader.nodes.get(nid)?.subnodes ?? 0).keys()].includes(0x671);

/** An internal block of that type and level. */
function internal({ reader }: Vandal, type: number, level: number): number {
  for (const bid of reader.blocks.keys())
    if ((bid & 2) === 2) {
      const block = reader.payload(bid);
      if (block[0] === type && block[1] === level && block.readUInt16LE(2) > 1) return bid;
    }
  throw new Error('No block is like that.');
}

const FAULTS: readonly (readonly [name: string, expected: RegExp, plant: (vandal: Vandal) => Promise<void>])[] = [
  ['another magic', /that this is a PST file/, (it) => it.header((bytes) => bytes.write('?', 0))],
  ['another client', /whose file this is/, (it) => it.header((bytes) => bytes.write('X', 8))],
  ['another version', /another version/, (it) => it.header((bytes) => bytes.writeUInt16LE(14, 10))],
  ['a header with another partial CRC', /partial CRC/, (it) => it.header((bytes) => bytes.writeUInt32LE(1, 4), false)],
  [
    'a header with another CRC',
    /the header has another CRC/,
    (it) => it.header((bytes) => bytes.writeUInt32LE(1, 524), false),
  ],
  ['a header without sentinel', /no sentinel/, (it) => it.header((bytes) => bytes.writeUInt8(0, 512))],
  ['a header with another file size', /another file size/, (it) => it.header((bytes) => bytes.writeUInt32LE(1, 184))],
  [
    'a header with another last map',
    /last allocation map/,
    (it) => it.header((bytes) => bytes.writeUInt32LE(0x4400, 192)),
  ],
  [
    'a header with another sum of free room',
    /sum of free room/,
    (it) => it.header((bytes) => bytes.writeUInt32LE(64, 200)),
  ],
  ['maps that are not valid', /maps are valid/, (it) => it.header((bytes) => bytes.writeUInt8(0, 248))],
  ['a next BID that is taken', /next BID is taken/, (it) => it.header((bytes) => bytes.writeUInt32LE(8, 516))],
  ['a next page that is taken', /next BID of a page/, (it) => it.header((bytes) => bytes.writeUInt32LE(8, 32))],
  ['a next message that is taken', /next NID of type 4/, (it) => it.header((bytes) => bytes.writeUInt32LE(5, 60))],
  ['used room that is free', /as free that is used/, (it) => it.page(FIRST_MAP, (page) => page.writeUInt8(0x7f, 2))],
  [
    'free room that is used',
    /as used that is free/,
    (it) => it.page(it.reader.size - INTERVAL, (page) => page.writeUInt8((page[495] ?? 0) | 1, 495)),
  ],
  [
    'a map with another CRC',
    /has another CRC/,
    (it) => it.page(FIRST_MAP, (page) => page.writeUInt8(0xfe, 500), false),
  ],
  ['a map with another BID', /has another BID/, (it) => it.page(FIRST_MAP, (page) => page.writeUInt8(1, 504))],
  [
    'a page map that tells of room',
    /tells of free room/,
    (it) => it.page(FIRST_MAP + 512, (page) => page.writeUInt8(0, 7)),
  ],
  [
    'a density list with another signature',
    /has another signature/,
    (it) => it.page(0x4200, (page) => page.writeUInt8(9, 498)),
  ],
  [
    'nodes out of order',
    /is not in order/,
    (it) => it.page(it.leaf(it.nodeTree), (page) => page.copyWithin(32, 0, 32)),
  ],
  [
    'a page of nodes with another type',
    /has another type/,
    (it) => it.page(it.leaf(it.nodeTree), (page) => page.writeUInt8(0x80, 496)),
  ],
  [
    'a page of nodes with another level',
    /another level|another width/,
    (it) => it.page(it.leaf(it.nodeTree), (page) => page.writeUInt8(1, 491)),
  ],
  [
    'a key that its page has not',
    /another key than its parent|not its own/,
    (it) => it.page(it.nodeTree, (page) => page.writeUInt8((page[24] ?? 0) + 1, 24)),
  ],
  [
    'a block counted too often',
    /is counted 3 times/,
    (it) => it.page(it.leaf(it.blockTree), (page) => page.writeUInt16LE(3, 18)),
  ],
  [
    'a block with another length',
    /another length/,
    (it) => it.page(it.leaf(it.blockTree), (page) => page.writeUInt16LE(7, 16)),
  ],
  [
    'a block with an octet changed',
    /has another CRC/,
    (it) => it.block(it.data(0x21), (block) => block.writeUInt8(1, 40), false),
  ],
  [
    'a block with another signature',
    /has another signature/,
    (it) => it.block(it.data(0x21), (block) => block.writeUInt16LE(1, block.length - 14)),
  ],
  [
    'a block with another BID',
    /has another BID/,
    (it) => it.block(it.data(0x21), (block) => block.writeUInt8(1, block.length - 8)),
  ],
  [
    'a data tree with another size',
    /tells of another size/,
    (it) => it.block(internal(it, 1, 1), (block) => block.writeUInt32LE(5, 4)),
  ],
  [
    'a data tree that has a block twice',
    /referred to 2 times/,
    (it) => it.block(internal(it, 1, 1), (block) => block.copyWithin(16, 8, 16)),
  ],
  [
    'subnodes out of order',
    /subnodes that are not in order/,
    (it) => it.block(internal(it, 2, 0), (block) => block.copyWithin(32, 8, 16)),
  ],
  ['a heap without signature', /no signature/, (it) => it.block(it.data(0x21), (block) => block.writeUInt8(0, 2))],
  [
    'a heap with another fill level',
    /another fill level/,
    (it) => it.block(it.data(0x21), (block) => block.writeUInt8(7, 8)),
  ],
  [
    'a heap with a piece of another length',
    /piece|record|length|fit/,
    (it) =>
      it.block(it.data(0x21), (block) =>
        block.writeUInt16LE(block.readUInt16LE(block.readUInt16LE(0) + 6) + 1, block.readUInt16LE(0) + 6),
      ),
  ],
  [
    'properties out of order',
    /not in order/,
    (it) =>
      it
        .value(it.data(0x122), 0x3603, INTEGER, (value) => value)
        .then(() =>
          it.block(it.data(0x122), (block) => {
            const at = block.indexOf(Buffer.from([0x03, 0x36, 0x03, 0x00]));
            block.writeUInt16LE(0x0001, at);
          }),
        ),
  ],
  [
    'a property whose value is not there',
    /no piece|not there/,
    (it) => it.value(it.data(0x21), 0x3001, 0x1f, () => 0x1000),
  ],
  [
    'a row index that has a row twice',
    /twice/,
    (it) =>
      it.block(it.data(0x802d), (block) => {
        const at = block.indexOf(Buffer.from([0x82, 0x80, 0, 0, 1, 0, 0, 0]));
        expect(at).toBeGreaterThan(0);
        block.writeUInt32LE(0, at + 4);
      }),
  ],
  [
    'a row that says something else than its folder',
    /its row has another/,
    (it) => it.value(it.data(INBOX), 0x3602, INTEGER, (value) => value + 1),
  ],
  [
    'a folder that counts other contents',
    /counts other contents/,
    (it) => it.value(it.data(INBOX), 0x3602, INTEGER, (value) => value - 1),
  ],
  [
    'a folder that counts other unread',
    /counts other unread/,
    (it) => it.value(it.data(INBOX), 0x3603, INTEGER, () => 1),
  ],
  [
    'a folder wrong about subfolders',
    /wrong about subfolders/,
    (it) => it.value(it.data(TOP), 0x360a, BOOLEAN, () => 0),
  ],
  [
    'a message that says another size',
    /has another size/,
    (it) => it.value(it.data(it.message(() => true)), 0x0e08, INTEGER, (value) => value + 1),
  ],
  [
    'a message whose row has other flags',
    /its row has another 0xe07/,
    (it) => it.value(it.data(it.message(() => true)), 0x0e07, INTEGER, (value) => value ^ 8),
  ],
  [
    'a message wrong about attachments',
    /wrong about having attachments/,
    (it) => it.value(it.data(it.message(hasAttachment(it))), 0x0e07, INTEGER, (value) => value ^ 0x10),
  ],
  [
    'an attachment of another size',
    /attachment of another size/,
    (it) => {
      const inner = it.reader.subnodes(it.reader.nodes.get(it.message(hasAttachment(it)))?.subnodes ?? 0);
      const [, attachment] = [...inner].find(([nid]) => (nid & 0x1f) === 5) ?? [];
      return it.value(attachment?.data ?? 0, 0x0e20, INTEGER, (value) => value + 1);
    },
  ],
  [
    'a message in another folder',
    /with another parent|not its own/,
    (it) => {
      const nid = it.message(() => true);
      const wanted = Buffer.alloc(8);
      wanted.writeUInt32LE(nid);
      const find = (offset: number): [number, number] | undefined => {
        const page = it.reader.at(offset, 512);
        for (let index = 0; index < (page[488] ?? 0); index += 1)
          if (page[491] === 0) {
            if (page.subarray(index * 32, index * 32 + 8).equals(wanted)) return [offset, index * 32];
          } else {
            const found = find(long(page, index * 24 + 16));
            if (found !== undefined) return found;
          }
        return undefined;
      };
      const [offset, at] = find(it.nodeTree) ?? [0, 0];
      return it.page(offset, (page) => page.writeUInt32LE(0x8062, at + 24));
    },
  ],
  [
    'a store with another key',
    /of another store/,
    (it) =>
      it.block(it.data(0x21), (block) =>
        block.fill(1, block.readUInt16LE(block.readUInt16LE(0) + 6), block.readUInt16LE(block.readUInt16LE(0) + 6) + 2),
      ),
  ],
  [
    'a store with another mask',
    /mask and folder/,
    (it) => it.value(it.data(0x21), 0x35df, INTEGER, (value) => value ^ 4),
  ],
  ['names without one bucket', /bucket|belongs to nobody/, (it) => it.value(it.data(0x61), 0x0001, INTEGER, () => 250)],
];

describe('the checker of PST files', () => {
  let world: PstWorld;
  let path: string;

  beforeAll(async () => {
    world = await openPstWorld();
    const boxes = sampleBoxes();
    const [file] = await world.write(boxes, itemsOf(boxes));
    path = file?.path ?? '';
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('finds nothing in a file that is right', () => {
    expect(checkPst(path)).toEqual([]);
  });

  test.each(FAULTS)('finds %s', async (_name, expected, plant) => {
    const copy = join(world.directory, 'planted.pst');
    await copyFile(path, copy);
    using reader = new PstReader(path);
    checkReader(reader);
    const file = await open(copy, 'r+');
    try {
      await plant(new Vandal(file, reader));
    } finally {
      await file.close();
    }
    expect(checkPst(copy).join('\n')).toMatch(expected);
  });

  test('finds a file that is cut off', async () => {
    const copy = join(world.directory, 'cut.pst');
    await copyFile(path, copy);
    await truncate(copy, 0x30000);
    expect(checkPst(copy)).not.toEqual([]);
  });
});
