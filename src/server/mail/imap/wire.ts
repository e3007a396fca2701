import type { Duplex } from 'node:stream';
import type { MailPlace } from './connection.ts';
import type { Inlet } from './wire/inlet.ts';

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
