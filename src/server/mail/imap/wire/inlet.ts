import type { OnReadOpts } from 'node:net';
import type { Duplex } from 'node:stream';

const BLOCK_OCTETS = 128 * 1024;
/** What a large message is read into, by fewer and longer reads; so many of them are there at most, for all connections. */
const LARGE_BLOCK_OCTETS = 1024 * 1024;
const LARGE_BLOCKS = 16;
/** So many blocks wait at most to be read into again. */
const [FREE_AT_MOST, LARGE_FREE_AT_MOST] = [64, 8];

/** Blocks of one length, which are read into again. */
class Blocks {
  readonly length: number;
  readonly #most: number;
  readonly #freeAtMost: number;
  readonly #free: Block[] = [];
  #made = 0;
  /** Some are never given back: their connection has ended. */
  readonly #gone = new FinalizationRegistry<undefined>(() => {
    this.#made -= 1;
  });

  constructor(length: number, { most, free }: { readonly most: number; readonly free: number }) {
    this.length = length;
    this.#most = most;
    this.#freeAtMost = free;
  }

  /** One that is kept by whoever asked for it; `undefined` when all are in use. */
  take(): Block | undefined {
    const block = this.#free.pop() ?? this.#make();
    block?.keep();
    return block;
  }

  #make(): Block | undefined {
    if (this.#made >= this.#most) return undefined;
    this.#made += 1;
    const block = new Block(this);
    // A chunk that outlives the block keeps its octets.
    this.#gone.register(block.octets.buffer, undefined);
    return block;
  }

  giveBack(block: Block): void {
    if (this.#free.length < this.#freeAtMost) this.#free.push(block);
  }
}

const blocks = new Blocks(BLOCK_OCTETS, { most: Infinity, free: FREE_AT_MOST });
const largeBlocks = new Blocks(LARGE_BLOCK_OCTETS, { most: LARGE_BLOCKS, free: LARGE_FREE_AT_MOST });

/** Memory that a socket reads into. It is read into again once everybody who kept something of it has let go. */
export class Block {
  readonly octets: Buffer;
  readonly #home: Blocks;
  #holders = 0;

  constructor(home: Blocks) {
    this.#home = home;
    this.octets = Buffer.allocUnsafeSlow(home.length);
  }

  get isShared(): boolean {
    return this.#holders > 1;
  }

  keep(): void {
    this.#holders += 1;
  }

  letGo(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#home.giveBack(this);
  }
}

/**
 * What comes off a socket, in blocks of memory that are used again and again: memory of its own for each read costs more
 * than the reading. To be given to the socket as `onread` when it is made.
 */
export class Inlet {
  readonly onread: OnReadOpts;
  #block = takeBlock(0);
  #filled = 0;
  /** Octets of a message that are known to come. */
  #expected = 0;
  #take: (chunk: Buffer) => void;
  /** What came before anybody listened. */
  readonly #early: Buffer[] = [];

  constructor() {
    this.#take = (chunk) => this.#early.push(Buffer.from(chunk));
    this.onread = {
      buffer: () => this.#room(),
      callback: (length, room) => {
        this.#filled += length;
        this.#expected -= length;
        this.#take(Buffer.from(room.buffer, room.byteOffset, length));
        return true;
      },
    };
  }

  /** The chunks are read into again after the call, unless the block is kept. */
  listen(take: (chunk: Buffer) => void): void {
    this.#take = take;
    for (const chunk of this.#early.splice(0)) take(chunk);
  }

  /** From now on what comes is the socket's own, as it is without an inlet. */
  handOver(socket: Duplex): void {
    this.#take = (chunk) => socket.push(Buffer.from(chunk));
  }

  /** Keeps the block of the chunk that is being given, until it is let go of. */
  keep(): Block {
    this.#block.keep();
    return this.#block;
  }

  /** A message of so many octets begins to come. */
  expect(octets: number): void {
    this.#expected = octets;
  }

  #room(): Buffer {
    const { isShared, octets } = this.#block;
    if (!isShared) this.#filled = 0;
    const isLarge = octets.length === LARGE_BLOCK_OCTETS;
    // Reads of what little room is left would be short ones.
    const fits = isShared ? this.#filled <= octets.length / 2 : isLarge === isLargeFor(this.#expected);
    if (!fits) {
      this.#block.letGo();
      this.#block = takeBlock(this.#expected);
      this.#filled = 0;
    }
    return this.#block.octets.subarray(this.#filled);
  }
}

function isLargeFor(expected: number): boolean {
  return expected >= LARGE_BLOCK_OCTETS;
}

/** Kept by whoever asked for it. */
function takeBlock(expected: number): Block {
  const block = (isLargeFor(expected) ? largeBlocks.take() : undefined) ?? blocks.take();
  if (block === undefined) throw new RangeError('There is no memory to read into.');
  return block;
}
