import { HEAP_PIECE } from './heap.ts';
import { BLOCK_PAYLOAD } from './layout.ts';
import type { NodeDatabase, Stored } from './node-database.ts';

/** Writes a value of unknown length into a data tree. A small one stays in memory, for a heap. */
export class ValueWriter {
  readonly #database: NodeDatabase;
  readonly #bids: number[] = [];
  #block = Buffer.alloc(0);
  #held = 0;
  size = 0;

  constructor(database: NodeDatabase) {
    this.#database = database;
  }

  write(bytes: Uint8Array): void {
    this.size += bytes.length;
    for (let from = 0; from < bytes.length;) {
      if (this.#held === this.#block.length) this.#makeRoom(bytes.length - from);
      const taken = bytes.subarray(from, from + this.#block.length - this.#held);
      this.#block.set(taken, this.#held);
      this.#held += taken.length;
      from += taken.length;
    }
  }

  #makeRoom(wanted: number): void {
    if (this.#held === BLOCK_PAYLOAD) {
      this.#bids.push(this.#database.writeBlock(this.#block));
      this.#held = 0;
      return;
    }
    const larger = Buffer.alloc(Math.min(BLOCK_PAYLOAD, Math.max(this.#held + wanted, this.#held * 2, 256)));
    this.#block.copy(larger, 0, 0, this.#held);
    this.#block = larger;
  }

  /** The octets themselves if a heap can hold them, otherwise the tree that contains them. */
  end(): Buffer | Stored {
    const rest = this.#block.subarray(0, this.#held);
    if (this.#bids.length === 0 && this.#held <= HEAP_PIECE) return rest;
    if (rest.length > 0) this.#bids.push(this.#database.writeBlock(rest));
    return this.#database.writeDataTree(this.#bids, this.size);
  }
}
