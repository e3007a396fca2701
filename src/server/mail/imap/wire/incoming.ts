import type { Duplex } from 'node:stream';
import type { Block, Inlet } from './inlet.ts';
import type { ResponseParser } from './response-parser.ts';
import type { Silence } from './silence.ts';

type IncomingOptions = {
  readonly parser: ResponseParser;
  readonly silence: Silence;
  /** Where the socket delivers what it reads, if not by itself. */
  readonly inlet?: Inlet | undefined;
  /** How much may wait in memory for its reader, in octets; beyond it nothing more is read. */
  readonly readAhead: number;
  /** Called if what came can't be accepted. */
  readonly failed: (error: unknown) => void;
};

/** Passes what one connection receives to the parser, and reads nothing ahead of a slow reader (back-pressure). */
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

  /** Starts reading; what has arrived before is passed on at once. */
  listen(): void {
    if (this.#inlet === undefined) this.#socket.on('data', this.#onData);
    else this.#inlet.listen(this.#onData);
  }

  /** Whether the socket is paused for a slow reader. */
  get isPaused(): boolean {
    return this.#paused;
  }

  /**
   * Stops reading the socket, which carries TLS or compression from now on. What has been read too far is put back into
   * it.
   */
  handOver(): void {
    this.#options.parser.stop();
    this.#socket.off('data', this.#onData);
    this.#socket.pause();
    this.#inlet?.handOver(this.#socket);
    this.#inlet = undefined;
  }

  /** Reads from another stream, which lies over the one before (TLS, compression). */
  changeTo(socket: Duplex): void {
    this.#socket = socket;
    this.listen();
  }

  end(): void {
    this.#over = true;
    this.#options.parser.stop();
  }

  /** Keeps the memory of the chunk that is being passed on from being reused. Without an inlet, it never is. */
  keep(): Block | undefined {
    return this.#inlet?.keep();
  }

  /** A message of so many octets begins. */
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

  /** The reader has taken so many octets. */
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
