import type { Duplex } from 'node:stream';
import { openDeflate } from './deflate.ts';
import { reset } from './reset.ts';

/** The streams below a connection: a socket, perhaps replaced by TLS later, and perhaps compression on top. */
export class Carrier {
  readonly #onError: (error: unknown) => void;
  readonly #onClose: () => void;
  /** `#top` is written to and read from; `#below` is the stream under the compression, or the same one. */
  #top: Duplex;
  #below: Duplex;

  /** @param over called when it ends, with the error if that is known; perhaps more than once */
  constructor(socket: Duplex, over: (error?: unknown) => void) {
    this.#onError = (error) => over(error);
    this.#onClose = () => over();
    this.#top = socket;
    this.#below = socket;
    this.#watch(socket);
  }

  get top(): Duplex {
    return this.#top;
  }

  /** The end of this stream is no longer that of the connection, because TLS or compression reads it from now on. */
  handOver(): void {
    this.#top.off('end', this.#onClose);
  }

  encrypt(socket: Duplex): void {
    this.#top = socket;
    this.#below = socket;
    this.#watch(socket);
  }

  compress(): void {
    this.#top = openDeflate(this.#below);
    this.#watch(this.#top);
  }

  destroy(): void {
    this.#top.destroy();
    this.#below.destroy();
  }

  /** Closes it so that what was written and has not left yet is discarded. */
  reset(): void {
    reset(this.#below);
    this.#top.destroy();
  }

  #watch(socket: Duplex): void {
    socket.on('error', this.#onError);
    socket.on('end', this.#onClose);
    socket.on('close', this.#onClose);
  }
}
