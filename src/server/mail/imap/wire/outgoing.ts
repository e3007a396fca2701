import type { Duplex } from 'node:stream';
import { MailError } from '../mail-error.ts';
import type { MayWrite } from '../wire.ts';
import type { Silence } from './silence.ts';

/** What is smaller than this, in octets, is copied, so that it leaves together with what is around it. */
const COPIED_BELOW = 8 * 1024;
const COPIES_OCTETS = 64 * 1024;
/** How much is passed to the socket at once, in octets: after each piece, a slow server is known to be alive. */
const PASSED_AT_ONCE = 128 * 1024;

type OutgoingOptions = {
  readonly mayWrite: MayWrite;
  readonly silence: Silence;
  /** Called when this worker may not write any more. What has been written may still be answered. */
  readonly silenced: (error: MailError) => void;
};

/**
 * Writes what one connection sends: one writer at a time, everything that is written in one go together, guarded octets
 * only while this worker may write, and nothing ahead of a slow socket (back-pressure).
 */
export class Outgoing {
  readonly #options: OutgoingOptions;
  #socket: Duplex;
  /** The stream may still read octets after reporting them as written. */
  #readsLate = false;
  #over: MailError | undefined;
  /** Somebody is writing a command in several pieces. */
  #isTaken = false;
  /** Those who wait for their turn, in order. */
  readonly #turns: (() => void)[] = [];
  /** There are guarded octets among the corked ones, which leave only if this worker still may write. */
  #guarded = false;
  #corked = false;
  #drain: PromiseWithResolvers<void> | undefined;
  /** Octets in the caller's own memory are on their way into the socket. */
  #passing: PromiseWithResolvers<void> | undefined;
  /** What is left of the memory that small pieces are copied into. */
  #copies: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex, options: OutgoingOptions) {
    this.#options = options;
    this.#socket = socket;
    socket.on('drain', this.#onDrain);
  }

  /** Writes into another stream, which lies over the one before (TLS, compression). */
  changeTo(socket: Duplex, { readsLate = false } = {}): void {
    this.#socket.off('drain', this.#onDrain);
    this.#socket = socket;
    this.#readsLate = readsLate;
    socket.on('drain', this.#onDrain);
  }

  /** Why nothing can be written any more. */
  get unwritable(): MailError | undefined {
    return this.#over;
  }

  /** Whether somebody waits for the socket to take octets. */
  get isStuck(): boolean {
    return this.#drain !== undefined || this.#passing !== undefined;
  }

  /** Whether it is somebody's turn. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Waits until nobody else writes. Has to be followed by `giveTurn`, whatever happens. */
  takeTurn(): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#turns.push(resolve));
  }

  giveTurn(): void {
    // The server owed nothing while this side was still writing.
    this.#options.silence.heard();
    const next = this.#turns.shift();
    if (next === undefined) this.#isTaken = false;
    else next();
  }

  /**
   * Writes octets; text has one character an octet. What is written in one go leaves together.
   * @param guarded whether the octets leave only while this worker may write, as those of an append do
   * @param gone called when the octets have left this process, or never will
   * @returns whether to write on without waiting for the socket
   */
  write(octets: string | Uint8Array, guarded = false, gone?: () => void): boolean {
    if (this.#over !== undefined) return true;
    if (guarded) {
      if (!this.#allowed()) return true;
      this.#guarded = true;
    }
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => this.#uncork());
    }
    return typeof octets === 'string' ? this.#socket.write(octets, 'latin1') : this.#socket.write(octets, gone);
  }

  /**
   * Writes guarded octets, whose memory the caller may reuse once this is over. If it rejects, they may still be on
   * their way.
   * @returns nothing if it is over already
   * @throws {MailError} if the connection ends before, or may not write any more
   */
  pass(octets: Uint8Array): Promise<void> | undefined {
    if (octets.length < COPIED_BELOW || this.#readsLate)
      return this.write(this.#copyOf(octets), true) ? undefined : this.#drained();
    return this.#passFrom(octets, 0);
  }

  #passFrom(octets: Uint8Array, from: number): Promise<void> | undefined {
    for (let at = from; at < octets.length; at += PASSED_AT_ONCE) {
      const passing = this.#passPiece(octets.subarray(at, at + PASSED_AT_ONCE));
      const next = at + PASSED_AT_ONCE;
      if (passing !== undefined)
        return next < octets.length ? passing.then(() => this.#passFrom(octets, next)) : passing;
    }
    return undefined;
  }

  #passPiece(octets: Uint8Array): Promise<void> | undefined {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    const passing = Promise.withResolvers<void>();
    this.#passing = passing;
    this.write(octets, true, () => {
      if (this.#passing === passing) this.#passing = undefined;
      this.#options.silence.heard();
      passing.resolve();
    });
    this.#uncork();
    if (this.#over === undefined && this.#socket.writableLength === 0) {
      this.#passing = undefined;
      return undefined;
    }
    this.#waitFromNow();
    return passing.promise;
  }

  /**
   * Copies small pieces side by side into one larger buffer: an allocation for each would cost more than the copying.
   */
  #copyOf(octets: Uint8Array): Uint8Array {
    if (octets.length >= COPIED_BELOW) return Buffer.from(octets);
    if (octets.length > this.#copies.length) this.#copies = Buffer.allocUnsafeSlow(COPIES_OCTETS);
    const copy = this.#copies.subarray(0, octets.length);
    copy.set(octets);
    this.#copies = this.#copies.subarray(octets.length);
    return copy;
  }

  #drained(): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    if (!this.#socket.writableNeedDrain) return Promise.resolve();
    if (this.#drain === undefined) {
      this.#drain = Promise.withResolvers();
      this.#drain.promise.catch(() => {});
      this.#waitFromNow();
    }
    return this.#drain.promise;
  }

  #waitFromNow(): void {
    this.#options.silence.heard();
    this.#options.silence.watch();
  }

  readonly #onDrain = () => {
    this.#options.silence.heard();
    this.#drain?.resolve();
    this.#drain = undefined;
  };

  #uncork(): void {
    if (!this.#corked) return;
    this.#corked = false;
    if (this.#over !== undefined) return;
    if (this.#guarded) {
      this.#guarded = false;
      if (!this.#allowed()) return;
    }
    this.#socket.uncork();
  }

  /**
   * Whether this worker may write. If not, what has not left this process never does. What has been written may still
   * be stored after another worker has taken over; only its answer tells the UID by which to delete it again.
   */
  #allowed(): boolean {
    if (this.#options.mayWrite()) return true;
    const error = new MailError('lost', 'This worker may not write any more.');
    this.#corked = false;
    this.#socket.cork();
    this.end(error);
    this.#options.silenced(error);
    return false;
  }

  /** Nothing is written any more; whoever waits for the socket gets the error. */
  end(error: MailError): void {
    this.#over = error;
    this.#drain?.reject(error);
    this.#drain = undefined;
    this.#passing?.reject(error);
    this.#passing = undefined;
  }
}
