import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { MailError, mailErrorOf } from '../mail/imap/mail-error.ts';
import { tlsTowards } from '../mail/imap/tls.ts';
import { beginReply, readReply, SieveSyntaxError, type SieveReply } from './sieve-reply.ts';

/** Scripts of subscribers are read, which have 1 MB at most by what Dovecot takes. */
const ANSWER_LIMIT_OCTETS = 1024 * 1024 + 64 * 1024;

type Address = { readonly host: string; readonly port: number; readonly certificates?: readonly string[] };

/** A connection on which one command at a time is answered. Everything rejects with a {@link MailError}. */
export class SieveSocket implements Disposable {
  readonly #address: Address;
  readonly #signal: AbortSignal;
  #socket: Socket;
  /** What has come and was not read yet: at the beginning of `#memory`, or further behind in it. */
  #received = Buffer.alloc(0);
  /** It is doubled, so that no octet is copied with each that comes. */
  #memory = this.#received;
  #begun = beginReply();
  #waiting: PromiseWithResolvers<SieveReply> | undefined;
  #ended: Error | undefined;

  /** @param signal ends the connection; its reason is what the answer under way rejects with. */
  constructor(address: Address, signal: AbortSignal) {
    this.#address = address;
    this.#signal = signal;
    this.#socket = connectTcp({ host: address.host, port: address.port });
    this.#listen();
    if (signal.aborted) this.#giveUp();
    else signal.addEventListener('abort', this.#giveUp, { once: true });
  }

  reply(): Promise<SieveReply> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const { promise } = (this.#waiting = Promise.withResolvers());
    this.#look();
    return promise;
  }

  write(text: string): void {
    if (this.#ended === undefined) this.#socket.write(text);
  }

  /** After STARTTLS was agreed to: what was read before counts no more (RFC 5804 §2.2). */
  async secure(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#received.length > 0) {
      const error = new MailError('certificate', 'The server said more than it should before TLS.');
      this.#end(error);
      throw error;
    }
    const plain = this.#socket.off('data', this.#onData).off('error', this.#onError).off('close', this.#onClose);
    const { host, certificates } = this.#address;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const secured = connectTls(
      {
        socket: plain,
        host,
        ...(isIP(host) > 0 ? {} : { servername: host }),
        // Whoever has TLS must show a good certificate, trusted or not.
        ...tlsTowards({ security: 'starttls', ...(certificates === undefined ? {} : { certificates }) }),
      },
      resolve,
    );
    this.#socket = secured;
    secured.once('error', (error) => reject(faultOf(error)));
    secured.once('close', () => reject(this.#ended ?? new MailError('lost', 'The server ended the connection.')));
    this.#listen();
    await promise;
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#giveUp);
    this.#end(new MailError('lost', 'The connection was closed.'));
  }

  #listen(): void {
    this.#socket.on('data', this.#onData).on('error', this.#onError).on('close', this.#onClose);
  }

  readonly #onData = (part: Buffer): void => {
    const length = this.#received.length + part.length;
    const { buffer, byteOffset } = this.#received;
    if (buffer !== this.#memory.buffer || byteOffset !== this.#memory.byteOffset || length > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(2 * length);
      this.#received.copy(this.#memory);
    }
    part.copy(this.#memory, this.#received.length);
    this.#received = this.#memory.subarray(0, length);
    this.#look();
  };

  readonly #onError = (error: Error): void => this.#end(faultOf(error));

  readonly #onClose = (): void => this.#end(new MailError('lost', 'The server ended the connection.'));

  readonly #giveUp = (): void => {
    const { reason } = this.#signal;
    this.#end(reason instanceof Error ? reason : new Error('The connection was given up.'));
  };

  /** Reads the answer that is waited for, if all of it has come. */
  #look(): void {
    const isMuch = this.#received.length > ANSWER_LIMIT_OCTETS;
    if (this.#waiting === undefined) {
      if (isMuch) this.#end(new MailError('lost', 'The server says what nobody has asked.'));
      return;
    }
    try {
      const read = readReply(this.#received, this.#begun);
      if (read === null) {
        if (isMuch) this.#end(new MailError('lost', 'The server’s answer has no end.'));
        return;
      }
      this.#received = this.#received.subarray(read.length);
      this.#begun = beginReply();
      this.#waiting.resolve(read.reply);
      this.#waiting = undefined;
    } catch (cause) {
      if (!(cause instanceof SieveSyntaxError)) throw cause;
      this.#end(new MailError('lost', 'The server does not speak ManageSieve.', { cause }));
    }
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#socket.destroy();
    this.#waiting?.reject(this.#ended);
    this.#waiting = undefined;
  }
}

function faultOf(error: Error): Error {
  try {
    return mailErrorOf(error);
  } catch {
    return new MailError('lost', 'The connection had an error.', { cause: error });
  }
}
