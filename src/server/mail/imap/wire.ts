import type { Duplex } from 'node:stream';
import type { MailPlace } from './connection.ts';
import type { Inlet } from './wire/inlet.ts';

/** Time from outside, so that a simulation can own it. */
export type Clock = {
  /** Milliseconds since the epoch; may jump. */
  now(): number;
  /** Milliseconds since some moment; never jumps, never goes back. */
  elapsed(): number;
  /** Runs something once, so many milliseconds later. @returns what calls it off */
  after(milliseconds: number, run: () => void): () => void;
};

/**
 * A byte stream to a mail server; `startTls` is there when it is not encrypted yet. With an `inlet` the stream itself
 * gives nothing to read.
 */
export type Line = {
  readonly socket: Duplex;
  readonly inlet?: Inlet;
  /** Encrypts what follows. The old socket is not to be used any more. @throws {MailError} `certificate` */
  readonly startTls?: () => Promise<Duplex>;
};

/** Reaches a mail server; for `tls` the handshake is over. @throws {MailError} `unreachable`, `certificate`, `slow` */
export type Dial = (place: MailPlace, signal: AbortSignal) => Promise<Line>;

/**
 * Asked without waiting before each write to a socket. After `false` nothing is written any more. What had left this
 * process may have its answers for some seconds yet; then the connection ends, and what is left fails with `lost`.
 */
export type MayWrite = () => boolean;

/** Waits; ends early, without an error, when the signal aborts. */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const callOff = clock.after(milliseconds, resolve);
  const aborted = () => resolve();
  signal?.addEventListener('abort', aborted, { once: true });
  await promise;
  signal?.removeEventListener('abort', aborted);
  callOff();
}
