import type { Duplex } from 'node:stream';
import type { MailPlace } from './connection.ts';
import type { Inlet } from './wire/inlet.ts';

/**
 * A byte stream to a mail server; `startTls` is present if it is not encrypted yet. If there is an `inlet`, that brings
 * what arrives, and the socket itself gives nothing to read.
 */
export type Line = {
  readonly socket: Duplex;
  readonly inlet?: Inlet;
  /**
   * Encrypts what follows. The old socket must not be used any more.
   * @throws {MailError} `certificate`
   */
  readonly startTls?: () => Promise<Duplex>;
};

/**
 * Connects to a mail server; for `tls`, the handshake is done.
 * @throws {MailError} `unreachable`, `certificate`, `slow`
 */
export type Dial = (place: MailPlace, signal: AbortSignal) => Promise<Line>;

/**
 * Whether this worker may still write. Called synchronously before each guarded write to a socket. After `false`,
 * nothing is written any more. What had left the process may be answered for some seconds; then the connection ends,
 * and commands without an answer fail with `lost`.
 */
export type MayWrite = () => boolean;
