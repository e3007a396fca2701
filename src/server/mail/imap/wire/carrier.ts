import type { Duplex } from 'node:stream';
import { openDeflate } from './deflate.ts';
import { reset } from './reset.ts';

/** What carries a connection: a socket, later perhaps TLS in its place, and compression over either. */
export class Carrier {
  readonly #onError: (error: unknown) => void;
  readonly #onClose: () => void;
  /** What octets are written to and read from, and what comes off the socket before compression. */
  #top: Duplex;
  #below: Duplex;

  /** @param over is told that it ends, and of what, if that is known; perhaps more than once */
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

  /** Its end is the connection's no more: TLS or compression takes what it reads. */
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

  /** Nothing of what was written leaves any more. */
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
