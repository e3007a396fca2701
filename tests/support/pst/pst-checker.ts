import {
  crcOf,
  FIRST_MAP,
  FULL_BLOCK,
  INTERVAL,
  long,
  propertiesOf,
  PstFault,
  PstReader,
  signatureOf,
  tableOf,
  type Heap,
  type Inner,
  type ReadTable,
  type Value,
} from './pst-reader.ts';

/** Checks a PST file against [MS-PST]. @returns its faults, in words; none if it is correct */
export function checkPst(path: string): string[] {
  using reader = new PstReader(path);
  return checkReader(reader);
}

/** Like {@link checkPst}; afterwards, the reader knows all nodes and blocks. */
export function checkReader(reader: PstReader): string[] {
  return new Checker(reader).run();
}

const MANDATORY = [
  0x21, 0x61, 0x122, 0x12d, 0x12e, 0x12f, 0x1e1, 0x201, 0x60d, 0x60e, 0x60f, 0x610, 0x62b, 0x64c, 0x671, 0x692, 0x2223,
  0x2226, 0x2227, 0x8022, 0x8042,
];
const FILL_LEVELS = [3584, 2560, 2048, 1792, 1536, 1280, 1024, 768, 512, 256, 128, 64, 32, 16, 8];
const [MESSAGE, ATTACHMENT] = [4, 5];

class Checker {
  readonly #reader: PstReader;
  readonly #findings: string[] = [];
  readonly #counts = new Map<number, number>();
  readonly #used: Uint8Array;
  #largestPage = 0;

  constructor(reader: PstReader) {
    this.#reader = reader;
    this.#used = new Uint8Array(Math.ceil(Math.max(0, reader.size - FIRST_MAP) / 512));
  }

  run(): string[] {
    this.#try('the header', () => this.#header());
    this.#try('the B-tree of nodes', () =>
      this.#tree(0x81, long(this.#reader.header, 216), long(this.#reader.header, 224)),
    );
    this.#try('the B-tree of blocks', () =>
      this.#tree(0x80, long(this.#reader.header, 232), long(this.#reader.header, 240)),
    );
    for (const bid of this.#reader.blocks.keys()) this.#try(`block ${bid}`, () => this.#block(bid));
    for (const { nid, data, subnodes } of this.#reader.nodes.values())
      this.#try(`node ${hex(nid)}`, () => this.#references({ data, subnodes }));
    this.#counted();
    this.#try('the maps', () => this.#maps());
    this.#try('the counters', () => this.#counters());
    for (const nid of MANDATORY) this.#must(this.#reader.nodes.has(nid), `the node ${hex(nid)} is missing`);
    this.#try('the store', () => this.#store());
    this.#try('the names', () => this.#names());
    for (const nid of [0x60d, 0x60e, 0x60f, 0x610, 0x62b, 0x64c, 0x671, 0x692])
      this.#try(`table ${hex(nid)}`, () => this.#table(nid));
    for (const nid of this.#reader.nodes.keys())
      if ((nid & 0x1f) === 2) this.#try(`folder ${hex(nid)}`, () => this.#folder(nid));
    this.#orphans();
    return this.#findings;
  }

  #must(isRight: boolean, finding: string): void {
    if (!isRight && this.#findings.length < 1000) this.#findings.push(finding);
  }

  #try(where: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof PstFault) && !(error instanceof RangeError)) throw error;
      this.#must(false, `${where}: ${error.message}`);
    }
  }

  #header(): void {
    const { header, size } = this.#reader;
    this.#must(header.toString('latin1', 0, 4) === '!BDN', 'the header does not say that this is a PST file');
    this.#must(header.toString('latin1', 8, 10) === 'SM', 'the header does not say whose file this is');
    this.#must(header.readUInt16LE(10) === 23, 'the header has another version than 23');
    this.#must(header.readUInt16LE(12) === 19, 'the header has another client version than 19');
    this.#must(header[14] === 1 && header[15] === 1, 'the header has another platform');
    this.#must(header.readUInt32LE(4) === crcOf(header.subarray(8, 479)), 'the header has another partial CRC');
    this.#must(header.readUInt32LE(524) === crcOf(header.subarray(8, 524)), 'the header has another CRC');
    this.#must(header[512] === 0x80, 'the header has no sentinel');
    this.#must(header[513] === 0, 'the header has an encryption');
    this.#must(
      header.subarray(256, 512).every((octet) => octet === 0xff),
      'the header has free maps',
    );
    this.#must(header[248] === 2, 'the header does not say that the allocation maps are valid');
    this.#must(long(header, 184) === size, 'the header has another file size');
    this.#must(
      (size - FIRST_MAP) % INTERVAL === 0 && size > FIRST_MAP,
      'the file does not end where an allocation map does',
    );
    this.#must(long(header, 192) === size - INTERVAL, 'the header has another last allocation map');
    this.#must(long(header, 208) === 0, 'the header tells of free pages');
  }

  #page(offset: number, type: number, bid: number | undefined, isMap: boolean): Buffer {
    const page = this.#reader.at(offset, 512);
    this.#must(page[496] === type && page[497] === type, `the page at ${offset} has another type`);
    this.#must(page.readUInt32LE(500) === crcOf(page.subarray(0, 496)), `the page at ${offset} has another CRC`);
    const own = long(page, 504);
    this.#must(own === (bid ?? own), `the page at ${offset} has another BID`);
    this.#must(
      page.readUInt16LE(498) === (isMap ? 0 : signatureOf(offset, own)),
      `the page at ${offset} has another signature`,
    );
    if (!isMap) this.#largestPage = Math.max(this.#largestPage, own);
    return page;
  }

  /** Marks the space of a block or page as used; `offset` and `length` are multiples of 64. */
  #use(offset: number, length: number, what: string): void {
    this.#must(
      offset % 64 === 0 && offset >= FIRST_MAP && offset + length <= this.#reader.size,
      `${what} lies outside`,
    );
    for (let slot = (offset - FIRST_MAP) / 64; slot < (offset - FIRST_MAP + length) / 64; slot += 1) {
      const bit = 0x80 >> (slot & 7);
      const octet = this.#used[slot >> 3] ?? 0;
      if ((octet & bit) !== 0) return this.#must(false, `${what} lies where something else does`);
      this.#used[slot >> 3] = octet | bit;
    }
  }

  #tree(type: number, rootBid: number, rootOffset: number): void {
    const leafWidth = type === 0x81 ? 32 : 24;
    const walk = (
      offset: number,
      bid: number,
      level: number | undefined,
      from: number,
      below: number,
      isFirst: boolean,
    ) => {
      const page = this.#page(offset, type, bid, false);
      this.#use(offset, 512, `the page at ${offset}`);
      this.#must(offset % 512 === 0, `the page at ${offset} is not aligned`);
      const [count, most, width, own] = [488, 489, 490, 491].map((at) => page.readUInt8(at)) as [
        number,
        number,
        number,
        number,
      ];
      this.#must(own === (level ?? own), `the page at ${offset} has another level`);
      this.#must(width === (own === 0 ? leafWidth : 24), `the page at ${offset} has another width`);
      this.#must(
        most === Math.floor(488 / width) && count <= most && count > 0,
        `the page at ${offset} has another count`,
      );
      let before = -1;
      for (let index = 0; index < count; index += 1) {
        const entry = page.subarray(index * width, (index + 1) * width);
        const key = long(entry, 0);
        this.#must(key > before, `the page at ${offset} is not in order`);
        this.#must(key >= from && key < below, `the page at ${offset} holds a key that is not its own`);
        if (index === 0 && !isFirst)
          this.#must(key === from, `the page at ${offset} begins with another key than its parent says`);
        before = key;
        if (own === 0) {
          if (type === 0x81)
            this.#reader.nodes.set(key, {
              nid: key,
              data: long(entry, 8),
              subnodes: long(entry, 16),
              parent: entry.readUInt32LE(24),
            });
          else
            this.#reader.blocks.set(key, {
              bid: key,
              offset: long(entry, 8),
              length: entry.readUInt16LE(16),
              references: entry.readUInt16LE(18),
            });
          continue;
        }
        const next = index + 1 < count ? long(page, (index + 1) * width) : below;
        walk(long(entry, 16), long(entry, 8), own - 1, key, next, false);
      }
    };
    walk(rootOffset, rootBid, undefined, 0, Number.MAX_SAFE_INTEGER, true);
  }

  #block(bid: number): void {
    const entry = this.#reader.blocks.get(bid);
    if (entry === undefined) return;
    const { offset, length } = entry;
    const whole = Math.ceil((length + 16) / 64) * 64;
    this.#must(length > 0 && length <= FULL_BLOCK, `block ${bid} has another length`);
    this.#use(offset, whole, `block ${bid}`);
    const bytes = this.#reader.at(offset, whole);
    this.#must(bytes.readUInt16LE(whole - 16) === length, `block ${bid} has another length than the B-tree says`);
    this.#must(bytes.readUInt16LE(whole - 14) === signatureOf(offset, bid), `block ${bid} has another signature`);
    this.#must(bytes.readUInt32LE(whole - 12) === crcOf(bytes.subarray(0, length)), `block ${bid} has another CRC`);
    this.#must(long(bytes, whole - 8) === bid, `block ${bid} has another BID`);
    this.#must(bid % 4 === 0 || bid % 4 === 2, `block ${bid} has a BID that none can be`);
    if (bid % 4 === 2) this.#internal(bid, bytes.subarray(0, length));
  }

  #internal(bid: number, block: Buffer): void {
    const [type = 0, level = 0, count] = [block[0], block[1], block.readUInt16LE(2)];
    this.#must(type === 1 || type === 2, `block ${bid} is internal and of no type`);
    if (type === 1) {
      this.#must(
        block.length === 8 + count * 8 && count > 0 && (level === 1 || level === 2),
        `block ${bid} has another count`,
      );
      const children = this.#reader.children(bid);
      let total = 0;
      for (const [index, child] of children.entries()) {
        this.#refer(child);
        const size = this.#reader.dataSize(child);
        total += size;
        this.#must((child % 4 === 2) === (level === 2), `block ${bid} has children of another level`);
        const full = level === 1 ? FULL_BLOCK : FULL_BLOCK * 1021;
        if (index + 1 < children.length) this.#must(size === full, `block ${bid} has a child that is not full`);
      }
      this.#must(total === block.readUInt32LE(4), `block ${bid} tells of another size`);
      return;
    }
    const width = level === 0 ? 24 : 16;
    this.#must(block.length === 8 + count * width && count > 0 && level < 2, `block ${bid} has another count`);
    let before = -1;
    for (let at = 8; at < block.length; at += width) {
      const nid = long(block, at);
      this.#must(nid > before, `block ${bid} has subnodes that are not in order`);
      before = nid;
      this.#refer(long(block, at + 8));
      if (level === 0) this.#refer(long(block, at + 16));
    }
  }

  #refer(bid: number): void {
    if (bid === 0) return;
    this.#counts.set(bid, (this.#counts.get(bid) ?? 0) + 1);
    this.#must(this.#reader.blocks.has(bid), `block ${bid} is referred to and in no B-tree`);
  }

  #references({ data, subnodes }: Inner): void {
    this.#refer(data);
    this.#refer(subnodes);
  }

  #counted(): void {
    for (const { bid, references } of this.#reader.blocks.values()) {
      const own = this.#counts.get(bid) ?? 0;
      this.#must(own > 0, `block ${bid} belongs to nobody`);
      this.#must(references === own + 1, `block ${bid} is counted ${references} times and referred to ${own} times`);
    }
  }

  #maps(): void {
    const { header, size } = this.#reader;
    const intervals = Math.floor((size - FIRST_MAP) / INTERVAL);
    const pages: { readonly offset: number; readonly type: number }[] = [];
    for (let index = 0; index < intervals; index += 1) {
      const types = [0x84];
      if (index % 8 === 0) types.push(0x83);
      if (index >= 128 && (index - 128) % 496 === 0) types.push(0x82);
      if (index >= 8192 && (index - 8192) % 31_744 === 0) types.push(0x85);
      for (const [place, type] of types.entries())
        pages.push({ offset: FIRST_MAP + index * INTERVAL + place * 512, type });
    }
    for (const { offset, type } of pages) {
      const page = this.#page(offset, type, offset, true);
      this.#use(offset, 512, `the map at ${offset}`);
      if (type !== 0x84)
        this.#must(
          page.subarray(0, 496).every((octet) => octet === 0xff),
          `the map at ${offset} tells of free room`,
        );
    }
    let free = 0;
    for (let index = 0; index < intervals; index += 1) {
      const map = this.#reader.at(FIRST_MAP + index * INTERVAL, 496);
      const used = this.#used.subarray(index * 496, (index + 1) * 496);
      for (const [at, octet] of map.entries()) {
        const own = used[at] ?? 0;
        this.#must((own & ~octet) === 0, `the allocation map ${index} has room as free that is used`);
        this.#must((octet & ~own) === 0, `the allocation map ${index} has room as used that is free`);
        for (let bits = ~octet & 0xff; bits !== 0; bits &= bits - 1) free += 64;
      }
    }
    this.#must(long(header, 200) === free, 'the header has another sum of free room');
    this.#page(0x4200, 0x86, undefined, false);
  }

  #counters(): void {
    const { header, nodes, blocks } = this.#reader;
    const largest = Math.max(0, ...[...blocks.keys()].slice(-1));
    this.#must(long(header, 516) > largest, 'the next BID is taken');
    this.#must(long(header, 32) > this.#largestPage, 'the next BID of a page is taken');
    const indexes = new Map<number, number>();
    for (const nid of nodes.keys()) indexes.set(nid & 0x1f, Math.max(indexes.get(nid & 0x1f) ?? 0, nid >>> 5));
    for (const type of [2, 3, 4])
      this.#must(
        header.readUInt32LE(44 + type * 4) > (indexes.get(type) ?? 0),
        `the next NID of type ${type} is taken`,
      );
  }

  #node(nid: number): Inner {
    const node = this.#reader.nodes.get(nid);
    if (node === undefined) throw new PstFault(`the node ${hex(nid)} is missing`);
    return node;
  }

  /** Checks the layout of a heap before anything is read from it. */
  #heap(node: Inner): Heap {
    const heap = this.#reader.heap(node);
    this.#must(heap.first[2] === 0xec, 'a heap has no signature');
    for (const [number, block] of heap.blocks.entries()) {
      const map = block.readUInt16LE(0);
      const pieces = heap.pieces(number);
      const header = number === 0 ? 12 : number % 128 === 8 ? 66 : 2;
      this.#must(
        map % 2 === 0 && map + 4 + pieces.length * 2 <= block.length,
        'a heap has a page map that does not fit',
      );
      this.#must(pieces[0] === header && (pieces.at(-1) ?? 0) <= map, 'a heap has pieces that do not fit');
      this.#must(block.readUInt16LE(map + 2) === 0, 'a heap tells of pieces that are gone');
      for (const [index, piece] of pieces.entries()) {
        const next = pieces[index + 1];
        if (next !== undefined)
          this.#must(next > piece && next - piece <= 3580, 'a heap has a piece of another length');
      }
      if (number + 1 < heap.blocks.length)
        this.#must(block.length === FULL_BLOCK, 'a heap has a block that is not full');
      else this.#must(block.length === map + 4 + pieces.length * 2, 'a heap has more than its page map tells of');
      const teller = number < 8 ? 0 : number - ((number - 8) % 128);
      const octet = heap.blocks[teller]?.[(teller === 0 ? 8 : 2) + ((number - teller) >> 1)] ?? 0;
      const level = FILL_LEVELS.findIndex((room) => FULL_BLOCK - (map + 4 + pieces.length * 2) >= room);
      const told = (number - teller) & 1 ? octet >> 4 : octet & 15;
      this.#must(told === (level < 0 ? 15 : level), 'a heap tells of another fill level');
    }
    return heap;
  }

  /** Each piece and each subnode belongs to exactly one property. */
  #whole(heap: Heap, known: (nid: number) => boolean): void {
    heap.asked.set(heap.root, heap.asked.get(heap.root) ?? 1);
    for (const count of heap.asked.values())
      this.#must(count === 1, `a piece of a heap belongs to ${count} properties`);
    for (const number of heap.blocks.keys())
      for (const index of heap.pieces(number).slice(1).keys())
        this.#must(heap.asked.has(number * 65_536 + (index + 1) * 32), 'a piece of a heap belongs to nobody');
    for (const nid of heap.subnodes.keys())
      this.#must(heap.asked.has(nid) || known(nid), `the subnode ${hex(nid)} belongs to nobody`);
  }

  #properties(node: Inner, known: (nid: number) => boolean = () => false): Map<number, Value> {
    const heap = this.#heap(node);
    const properties = propertiesOf(heap);
    this.#whole(heap, known);
    for (const [id, { type, bytes }] of properties) {
      if (type === 0x1f) this.#must(bytes.length % 2 === 0, `property ${hex(id)} has half a character`);
      if (type === 0x40 || type === 0x14 || type === 0x0d)
        this.#must(bytes.length === 8, `property ${hex(id)} has another length`);
      this.#must(
        [0x02, 0x03, 0x0b, 0x0d, 0x14, 0x1f, 0x40, 0x102, 0x1003, 0x101f, 0x1102].includes(type),
        `property ${hex(id)} has another type`,
      );
      if (type === 0x0b) this.#must(bytes.readUInt32LE(0) < 2, `property ${hex(id)} is neither true nor false`);
    }
    return properties;
  }

  #table(nid: number): ReadTable {
    return this.#tableOf(this.#node(nid));
  }

  #tableOf(node: Inner): ReadTable {
    const heap = this.#heap(node);
    const table = tableOf(heap);
    this.#whole(heap, () => false);
    return table;
  }

  #store(): void {
    const properties = this.#properties(this.#node(0x21));
    const uid = properties.get(0x0ff9)?.bytes;
    this.#must(uid?.length === 16, 'the store has no record key');
    this.#must(text(properties.get(0x3001)) !== '', 'the store has no name');
    this.#must(properties.has(0x67ff), 'the store says nothing of a password');
    const mask = number(properties.get(0x35df));
    const bits = new Map([
      [0x35e0, 1],
      [0x35e2, 4],
      [0x35e3, 8],
      [0x35e4, 0x10],
      [0x35e7, 0x80],
    ]);
    for (const [id, bit] of bits) {
      const entry = properties.get(id)?.bytes;
      this.#must((entry !== undefined) === ((mask & bit) !== 0), `the store's mask and folder ${hex(id)} differ`);
      if (entry !== undefined) this.#entry(entry, uid);
    }
    for (const id of [0x35e0, 0x35e3, 0x35e7]) this.#must(properties.has(id), `the store has no folder ${hex(id)}`);
    const root = this.#properties(this.#node(0x122));
    for (const id of [0x36d1, 0x36d7]) {
      const entry = root.get(id)?.bytes;
      if (entry !== undefined) this.#entry(entry, uid);
    }
    for (const row of this.#table(0x62b).rows) {
      const inbox = number(row.cells.get(0x6605));
      this.#must(this.#reader.nodes.has(inbox), 'the folder for what is received is missing');
    }
  }

  #entry(entry: Buffer, uid: Buffer | undefined): void {
    this.#must(entry.length === 24 && entry.readUInt32LE(0) === 0, 'an entry ID has another form');
    this.#must(uid !== undefined && entry.subarray(4, 20).equals(uid), 'an entry ID is of another store');
    this.#must(this.#reader.nodes.has(entry.readUInt32LE(20)), 'an entry ID is of a folder that is not there');
  }

  #names(): void {
    const properties = this.#properties(this.#node(0x61));
    const buckets = number(properties.get(0x0001));
    const sets = properties.get(0x0002)?.bytes ?? Buffer.alloc(0);
    const entries = properties.get(0x0003)?.bytes ?? Buffer.alloc(0);
    const strings = properties.get(0x0004)?.bytes ?? Buffer.alloc(0);
    this.#must(buckets > 0 && entries.length > 0 && entries.length % 8 === 0, 'there are no names');
    let hashed = 0;
    for (const [id, { bytes }] of properties) if (id >= 0x1000) hashed += bytes.length;
    this.#must(hashed === entries.length, 'the buckets hold another number of names');
    for (let at = 0; at < entries.length; at += 8) {
      const [name, kind, index] = [
        entries.readUInt32LE(at),
        entries.readUInt16LE(at + 4),
        entries.readUInt16LE(at + 6),
      ];
      this.#must(index === at / 8, 'a name has another number than its place');
      this.#must(kind >> 1 < 3 + sets.length / 16 && kind >> 1 > 0, 'a name is of a set that is not there');
      const isText = (kind & 1) === 1;
      const hash = isText ? crcOf(strings.subarray(name + 4, name + 4 + strings.readUInt32LE(name))) : name;
      const bucket = properties.get(0x1000 + (((hash ^ kind) >>> 0) % buckets))?.bytes ?? Buffer.alloc(0);
      const wanted = Buffer.concat([Buffer.alloc(4), entries.subarray(at + 4, at + 8)]);
      wanted.writeUInt32LE(hash, 0);
      const found = Array.from({ length: bucket.length / 8 }, (_, each) => bucket.subarray(each * 8, each * 8 + 8));
      this.#must(
        found.some((each) => each.equals(wanted)),
        'a name is not in its bucket',
      );
    }
  }

  readonly #listed = new Set<number>();

  #folder(nid: number): void {
    const properties = this.#properties(this.#node(nid));
    const typed = (type: number) => nid - (nid & 0x1f) + type;
    const [hierarchy, contents, associated] = [0x0d, 0x0e, 0x0f].map((type) => this.#table(typed(type)));
    const parent = this.#reader.nodes.get(nid)?.parent ?? 0;
    this.#must(this.#reader.nodes.has(parent), `folder ${hex(nid)} has no parent`);
    for (const [type, template] of [
      [0x0d, 0x60d],
      [0x0e, 0x60e],
      [0x0f, 0x60f],
    ] as const) {
      const own = this.#table(typed(type)).columns;
      this.#must(
        JSON.stringify(own) === JSON.stringify(this.#table(template).columns),
        `folder ${hex(nid)} has a table that is not as its template`,
      );
    }
    this.#must(properties.has(0x3001), `folder ${hex(nid)} has no name`);
    this.#must(number(properties.get(0x3602)) === contents?.rows.length, `folder ${hex(nid)} counts other contents`);
    this.#must(
      (number(properties.get(0x360a)) === 1) === (hierarchy?.rows.length ?? 0) > 0,
      `folder ${hex(nid)} is wrong about subfolders`,
    );
    this.#must(associated?.rows.length === 0, `folder ${hex(nid)} has associated contents`);
    for (const row of hierarchy?.rows ?? []) {
      const child = this.#reader.nodes.get(row.id);
      this.#must(child?.parent === nid, `folder ${hex(nid)} has a child with another parent`);
      if (child === undefined) continue;
      this.#listed.add(row.id);
      const own = this.#properties(child);
      this.#same(row.cells, own, `folder ${hex(row.id)}`);
      for (const id of [0x3001, 0x3602, 0x3603, 0x360a])
        this.#must(row.cells.has(id), `folder ${hex(row.id)} has no cell ${hex(id)}`);
    }
    let unread = 0;
    for (const row of contents?.rows ?? []) {
      const message = this.#reader.nodes.get(row.id);
      this.#must((row.id & 0x1f) === MESSAGE, `folder ${hex(nid)} holds something that is no message`);
      this.#must(message?.parent === nid, `folder ${hex(nid)} lists a message that is not its own`);
      if (message === undefined) continue;
      this.#listed.add(row.id);
      this.#try(`message ${hex(row.id)}`, () => {
        const own = this.#message(message, row.id);
        this.#same(row.cells, own, `message ${hex(row.id)}`);
        for (const id of [0x001a, 0x0e07, 0x0e08, 0x0037, 0x0e06])
          this.#must(row.cells.has(id), `message ${hex(row.id)} has no cell ${hex(id)}`);
        if ((number(own.get(0x0e07)) & 1) === 0) unread += 1;
      });
    }
    this.#must(number(properties.get(0x3603)) === unread, `folder ${hex(nid)} counts other unread messages`);
  }

  /** Cells that the object also has as a property must equal that. */
  #same(cells: ReadonlyMap<number, Value>, properties: ReadonlyMap<number, Value>, what: string): void {
    for (const [id, { type, bytes }] of cells) {
      if (id === 0x67f2 || id === 0x67f3) continue;
      const own = properties.get(id);
      const value = type === 0x0b ? own?.bytes.subarray(0, 1) : own?.bytes;
      this.#must(own?.type === type && value?.equals(bytes) === true, `${what}: its row has another ${hex(id)}`);
    }
  }

  #message(node: Inner, nid: number): Map<number, Value> {
    const inner = this.#reader.subnodes(node.subnodes);
    const attachments = [...inner].filter(([each]) => (each & 0x1f) === ATTACHMENT);
    const properties = this.#properties(
      node,
      (each) => each === 0x692 || each === 0x671 || (each & 0x1f) === ATTACHMENT,
    );
    const what = `message ${hex(nid)}`;
    for (const id of [0x001a, 0x0e07, 0x0e08, 0x0e17, 0x3007, 0x3008, 0x300b])
      this.#must(properties.has(id), `${what} has no ${hex(id)}`);
    this.#must(number(properties.get(0x0e08)) === this.#reader.nodeSize(node), `${what} has another size`);
    const subject = text(properties.get(0x0037));
    this.#must(
      subject.codePointAt(0) === 1 && (subject.codePointAt(1) ?? 9) <= 6,
      `${what} has a subject without its prefix's length`,
    );
    const recipients = inner.get(0x692);
    this.#must(recipients !== undefined, `${what} has no table of recipients`);
    if (recipients !== undefined) {
      const { columns } = this.#tableOf(recipients);
      this.#must(
        JSON.stringify(columns) === JSON.stringify(this.#table(0x692).columns),
        `${what} has other columns of recipients`,
      );
    }
    const table = inner.get(0x671);
    const rows = table === undefined ? [] : this.#tableOf(table).rows;
    this.#must(rows.length === attachments.length, `${what} lists other attachments than it has`);
    this.#must(
      ((number(properties.get(0x0e07)) & 0x10) !== 0) === attachments.length > 0,
      `${what} is wrong about having attachments`,
    );
    for (const [each, attachment] of attachments) {
      const row = rows.find(({ id }) => id === each);
      const own = this.#properties(attachment, (subnode) => (subnode & 0x1f) === MESSAGE);
      this.#must(
        number(own.get(0x0e20)) === this.#reader.nodeSize(attachment),
        `${what} has an attachment of another size`,
      );
      if (row === undefined) this.#must(false, `${what} has an attachment that is not listed`);
      else this.#same(row.cells, own, `${what}, attachment ${hex(each)}`);
      const object = own.get(0x3701);
      if (number(own.get(0x3705)) !== 5) continue;
      const embedded = this.#reader.subnodes(attachment.subnodes).get(object?.bytes.readUInt32LE(0) ?? 0);
      this.#must(embedded !== undefined, `${what} has an embedded message that is not there`);
      if (embedded === undefined) continue;
      this.#must(
        object?.bytes.readUInt32LE(4) === this.#reader.nodeSize(embedded),
        `${what} has an embedded message of another size`,
      );
      this.#message(embedded, nid);
    }
    return properties;
  }

  #orphans(): void {
    for (const nid of this.#reader.nodes.keys()) {
      const type = nid & 0x1f;
      if ((type === 2 || type === MESSAGE || type === 3) && nid !== 0x122)
        this.#must(this.#listed.has(nid), `the node ${hex(nid)} is in no folder`);
    }
  }
}

const hex = (value: number) => `0x${value.toString(16)}`;
const number = (value: Value | undefined) => (value === undefined ? 0 : value.bytes.readUInt32LE(0));
const text = (value: Value | undefined) => value?.bytes.toString('utf16le') ?? '';
