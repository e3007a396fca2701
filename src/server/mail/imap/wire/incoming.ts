import type { Duplex } from 'node:stream';
import type { Block, Inlet } from './inlet.ts';
import type { ResponseParser } from './response-parser.ts';
import type { Silence } from './silence.ts';

type IncomingOptions = {
  readonly parser: ResponseParser;
  readonly silence: Silence;
  /** Where the socket gives what it reads, if not by itself. */
  readonly inlet?: Inlet | undefined;
  /** What of a message may be waiting in memory for its reader, in octets; beyond it nothing more is read. */
  readonly readAhead: number;
  /** Told what is wrong with what came. */
  readonly failed: (error: unknown) => void;
};

/** What one connection reads, on its way into the parser: nothing ahead of a slow reader. */
export class Incoming {
  readonly #options: IncomingOptions;
  #socket: Duplex;
  #inlet: Inlet | undefined;
  #held = 0;
  #paused = false;
  #over = false;

  constructor(socket: Duplex, options: IncomingOptions) {
    this.#options = options;
    this.#socket = socket;
    this.#inlet = options.inlet;
  }

  /** Begins; what came before is read at once. */
  listen(): void {
    if (this.#inlet === undefined) this.#socket.on('data', this.#onData);
    else this.#inlet.listen(this.#onData);
  }

  /** Whether a slow reader keeps the other side from being heard. */
  get isPaused(): boolean {
    return this.#paused;
  }

  /** What the socket brings is no IMAP any more: what came already goes back to it. */
  handOver(): void {
    this.#options.parser.stop();
    this.#socket.off('data', this.#onData);
    this.#socket.pause();
    this.#inlet?.handOver(this.#socket);
    this.#inlet = undefined;
  }

  /** Reads from another socket, whose octets come through the one before (TLS, compression). */
  changeTo(socket: Duplex): void {
    this.#socket = socket;
    this.listen();
  }

  end(): void {
    this.#over = true;
    this.#options.parser.stop();
  }

  /** For the chunk that is being given: keeps its octets as they are. Where there is nothing to keep they stay anyway. */
  keep(): Block | undefined {
    return this.#inlet?.keep();
  }

  /** A message of so many octets begins to come. */
  expect(octets: number): void {
    this.#inlet?.expect(octets);
  }

  /** So many octets wait for their reader. */
  hold(octets: number): void {
    this.#held += octets;
    if (this.#held <= this.#options.readAhead || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  /** The reader has taken so many. */
  release(octets: number): void {
    this.#held -= octets;
    if (this.#held > this.#options.readAhead / 2 || !this.#paused) return;
    this.#paused = false;
    this.#options.silence.heard();
    if (!this.#over) this.#socket.resume();
  }

  readonly #onData = (chunk: Buffer) => {
    const { parser, silence, failed } = this.#options;
    silence.brought(chunk.length);
    try {
      const taken = parser.feed(chunk);
      if (taken < chunk.length && !this.#over) this.#socket.unshift(Buffer.from(chunk.subarray(taken)));
    } catch (error) {
      failed(error);
    }
  };
}
