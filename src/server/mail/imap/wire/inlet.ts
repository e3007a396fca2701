import type { OnReadOpts } from 'node:net';
import type { Duplex } from 'node:stream';

const BLOCK_OCTETS = 128 * 1024;
/**
 * Large messages are read into larger blocks, by fewer and longer reads. All connections together have at most so many.
 */
const LARGE_BLOCK_OCTETS = 1024 * 1024;
const LARGE_BLOCKS = 16;
/** How many unused blocks are kept for reuse at most. */
const [FREE_AT_MOST, LARGE_FREE_AT_MOST] = [64, 8];

/** A pool of blocks of one length. */
class Blocks {
  readonly length: number;
  readonly #most: number;
  readonly #freeAtMost: number;
  readonly #free: Block[] = [];
  #made = 0;
  /** Blocks are not given back when their connection ends: they stop counting once they are garbage-collected. */
  readonly #gone = new FinalizationRegistry<undefined>(() => {
    this.#made -= 1;
  });

  constructor(length: number, { most, free }: { readonly most: number; readonly free: number }) {
    this.length = length;
    this.#most = most;
    this.#freeAtMost = free;
  }

  /** A block that the caller holds; `undefined` if all are in use. */
  take(): Block | undefined {
    const block = this.#free.pop() ?? this.#make();
    block?.keep();
    return block;
  }

  #make(): Block | undefined {
    if (this.#made >= this.#most) return undefined;
    this.#made += 1;
    const block = new Block(this);
    // The buffer is watched and not the block: a chunk that outlives the block keeps the buffer.
    this.#gone.register(block.octets.buffer, undefined);
    return block;
  }

  giveBack(block: Block): void {
    if (this.#free.length < this.#freeAtMost) this.#free.push(block);
  }
}

const blocks = new Blocks(BLOCK_OCTETS, { most: Infinity, free: FREE_AT_MOST });
const largeBlocks = new Blocks(LARGE_BLOCK_OCTETS, { most: LARGE_BLOCKS, free: LARGE_FREE_AT_MOST });

/** Memory that a socket reads into. It is reused once everybody who kept some of it has let go. */
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
 * Reads a socket into blocks of memory that are reused: allocating memory for each read costs more than reading. Its
 * `onread` has to be passed to the socket when that is created.
 */
export class Inlet {
  readonly onread: OnReadOpts;
  #block = takeBlock(0);
  #filled = 0;
  /** Octets of a message that are known to come. */
  #expected = 0;
  #take: (chunk: Buffer) => void;
  /** What arrived before anybody listened. */
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

  /** The memory of a chunk is reused after the call, unless its block is kept. */
  listen(take: (chunk: Buffer) => void): void {
    this.#take = take;
    for (const chunk of this.#early.splice(0)) take(chunk);
  }

  /** From now on the socket itself delivers what arrives, as without an inlet. */
  handOver(socket: Duplex): void {
    this.#take = (chunk) => socket.push(Buffer.from(chunk));
  }

  /** Keeps the block of the chunk that is being passed on, until it is let go of. */
  keep(): Block {
    this.#block.keep();
    return this.#block;
  }

  /** A message of so many octets begins. */
  expect(octets: number): void {
    this.#expected = octets;
  }

  #room(): Buffer {
    const { isShared, octets } = this.#block;
    if (!isShared) this.#filled = 0;
    const isLarge = octets.length === LARGE_BLOCK_OCTETS;
    // With little room left, reads would be short.
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

/** A block that the caller holds. */
function takeBlock(expected: number): Block {
  const block = (isLargeFor(expected) ? largeBlocks.take() : undefined) ?? blocks.take();
  if (block === undefined) throw new RangeError('There is no memory to read into.');
  return block;
}
