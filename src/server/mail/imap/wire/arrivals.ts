import type { MailError } from '../mail-error.ts';
import type { ImapConnection } from './imap-connection.ts';
import type { LiteralSink } from './response-parser.ts';

/** Things that a connection has brought, for one reader; what waits keeps the connection from bringing more. */
export class Arrivals<Item> {
  readonly #connection: ImapConnection;
  #items: Item[] = [];
  #weight = 0;
  #end: { readonly error: unknown } | undefined;
  #wake: PromiseWithResolvers<void> | undefined;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
  }

  /** @param weight in octets, as the item stands in memory. */
  push(item: Item, weight: number): void {
    this.#items.push(item);
    this.#weight += weight;
    this.#connection.hold(weight);
    this.#wakeUp();
  }

  /** Nothing more comes. What is there can still be taken, unless it ended with an error. */
  finish(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    if (error !== undefined) {
      this.#items = [];
      this.#connection.release(this.#weight);
      this.#weight = 0;
    }
    this.#wakeUp();
  }

  get finished(): boolean {
    return this.#end !== undefined;
  }

  /** Everything that is there, at most so many; empty at the end. @throws the error that it ended with */
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
    this.#connection.release(weight);
    return taken;
  }

  #wakeUp(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }
}

/** The octets of a literal on their way to the one who reads them, once. */
export class ArrivingOctets implements LiteralSink, AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  readonly #connection: ImapConnection;
  #chunks: Buffer[] = [];
  #state: 'coming' | 'whole' | 'skipped' = 'coming';
  #failure: MailError | undefined;
  #wake: PromiseWithResolvers<IteratorResult<Buffer, undefined>> | undefined;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
  }

  octets(chunk: Buffer): void {
    if (this.#state === 'skipped') return;
    const wake = this.#wake;
    if (wake !== undefined) {
      this.#wake = undefined;
      wake.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#connection.hold(chunk.length);
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

  /** Lets go of what nobody wants. */
  skip(): void {
    if (this.#chunks.length > 0) this.#connection.release(this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    this.#chunks = [];
    this.#state = 'skipped';
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#connection.release(chunk.length);
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#state !== 'coming') return Promise.resolve({ done: true, value: undefined });
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#wake = Promise.withResolvers();
    return this.#wake.promise;
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.skip();
    return Promise.resolve({ done: true, value: undefined });
  }
}
