import type { MailError } from '../mail-error.ts';
import type { ImapConnection } from './imap-connection.ts';
import type { Block } from './inlet.ts';
import type { LiteralSink } from './response-parser.ts';

/**
 * A queue of what has arrived on a connection, for one reader. What waits in it counts as read ahead, so that a slow
 * reader pauses the socket (back-pressure).
 */
export class Arrivals<Item> {
  readonly #connection: ImapConnection;
  #items: Item[] = [];
  #weight = 0;
  #end: { readonly error: unknown } | undefined;
  #wake: PromiseWithResolvers<void> | undefined;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
  }

  /** @param weight the item's size in memory, in octets */
  push(item: Item, weight: number): void {
    this.#items.push(item);
    this.#weight += weight;
    this.#connection.incoming.hold(weight);
    this.#wakeUp();
  }

  /**
   * Nothing more comes. What waits can still be taken, unless there is an error.
   * @returns what can't be taken
   */
  finish(error?: unknown): readonly Item[] {
    if (this.#end !== undefined) return [];
    this.#end = { error };
    const left = error === undefined ? [] : this.drop();
    this.#wakeUp();
    return left;
  }

  /** The connection has ended: what waits can be taken before the error is thrown. */
  breakOff(error: MailError): void {
    this.#end ??= { error };
    this.#wakeUp();
  }

  /**
   * Discards what waits, because nobody will take it.
   * @returns what was discarded
   */
  drop(): readonly Item[] {
    const dropped = this.#items;
    this.#items = [];
    this.#connection.incoming.release(this.#weight);
    this.#weight = 0;
    return dropped;
  }

  get finished(): boolean {
    return this.#end !== undefined;
  }

  /**
   * Takes what waits, at most `most` items, or waits for some; empty at the end.
   * @throws the error that it ended with
   */
  async take(most: number): Promise<Item[]> {
    while (this.#items.length === 0) {
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return [];
      this.#wake ??= Promise.withResolvers();
      await this.#wake.promise;
    }
    const taken = this.#items.splice(0, most);
    const weight = this.#items.length === 0 ? this.#weight : Math.floor(this.#weight / 2);
    this.#weight -= weight;
    this.#connection.incoming.release(weight);
    return taken;
  }

  #wakeUp(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }
}

type Chunk = { readonly octets: Buffer; readonly block: Block | undefined };

/** The octets of a literal on their way to their only reader. A chunk is valid until the next one is asked for. */
export class ArrivingOctets implements LiteralSink, AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  readonly #connection: ImapConnection;
  #chunks: Chunk[] = [];
  /** The block of the chunk that the reader has now. */
  #given: Block | undefined;
  #state: 'coming' | 'whole' | 'skipped' = 'coming';
  #failure: MailError | undefined;
  #wake: PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
  }

  octets(octets: Buffer): void {
    if (this.#state === 'skipped') return;
    const chunk = { octets, block: this.#connection.incoming.keep() };
    const wake = this.#wake;
    if (wake !== undefined) {
      this.#wake = undefined;
      wake.resolve(this.#give(chunk));
      return;
    }
    this.#chunks.push(chunk);
    this.#connection.incoming.hold(octets.length);
  }

  end(): void {
    if (this.#state === 'coming') this.#state = 'whole';
    this.#wake?.resolve({ done: true, value: undefined });
    this.#wake = undefined;
  }

  fail(error: MailError): void {
    if (this.#state === 'whole') return;
    this.#failure = error;
    this.#wake?.reject(error);
    this.#wake = undefined;
  }

  /**
   * Discards what nobody wants. The chunk that the reader has may still be on its way, so its block is not released for
   * reuse.
   */
  skip(): void {
    for (const { octets, block } of this.#chunks) {
      block?.letGo();
      this.#connection.incoming.release(octets.length);
    }
    this.#chunks = [];
    this.#given = undefined;
    this.#state = 'skipped';
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    this.#given?.letGo();
    this.#given = undefined;
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#connection.incoming.release(chunk.octets.length);
      return Promise.resolve(this.#give(chunk));
    }
    if (this.#state !== 'coming') return Promise.resolve({ done: true, value: undefined });
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#wake = Promise.withResolvers();
    return this.#wake.promise;
  }

  #give({ octets, block }: Chunk): IteratorResult<Buffer, undefined> {
    this.#given = block;
    return { done: false, value: octets };
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.skip();
    return Promise.resolve({ done: true, value: undefined });
  }
}
