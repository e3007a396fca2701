import type { OnReadOpts } from 'node:net';
import type { Duplex } from 'node:stream';

const BLOCK_OCTETS = 128 * 1024;
/** A block with less room than this is not read into any more. */
const ROOM_OCTETS = 64 * 1024;
/** So many blocks wait at most to be read into again. */
const FREE_AT_MOST = 64;

const free: Block[] = [];

/** Memory that a socket reads into. It is read into again once everybody who kept something of it has let go. */
export class Block {
  readonly octets = Buffer.allocUnsafeSlow(BLOCK_OCTETS);
  #holders = 0;

  get isShared(): boolean {
    return this.#holders > 1;
  }

  keep(): void {
    this.#holders += 1;
  }

  letGo(): void {
    this.#holders -= 1;
    if (this.#holders === 0 && free.length < FREE_AT_MOST) free.push(this);
  }
}

/**
 * What comes off a socket, in blocks of memory that are used again and again: memory of its own for each read costs more
 * than the reading. To be given to the socket as `onread` when it is made.
 */
export class Inlet {
  readonly onread: OnReadOpts;
  #block = freeBlock();
  #filled = 0;
  #take: (chunk: Buffer) => void;
  /** What came before anybody listened. */
  readonly #early: Buffer[] = [];

  constructor() {
    this.#take = (chunk) => this.#early.push(Buffer.from(chunk));
    this.onread = {
      buffer: () => this.#room(),
      callback: (length, room) => {
        this.#filled += length;
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

  #room(): Buffer {
    if (!this.#block.isShared) this.#filled = 0;
    else if (BLOCK_OCTETS - this.#filled < ROOM_OCTETS) {
      this.#block.letGo();
      this.#block = freeBlock();
      this.#filled = 0;
    }
    return this.#block.octets.subarray(this.#filled);
  }
}

/** Kept by whoever asked for it. */
function freeBlock(): Block {
  const block = free.pop() ?? new Block();
  block.keep();
  return block;
}
