import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { MailError, mailErrorOf } from '../mail/imap/mail-error.ts';
import { tlsTowards } from '../mail/imap/tls.ts';
import { beginReply, readReply, SieveSyntaxError, type SieveReply } from './sieve-reply.ts';

/** Scripts of subscribers are read, which have 1 MB at most by what Dovecot takes. */
const ANSWER_LIMIT_OCTETS = 1024 * 1024 + 64 * 1024;

type Address = { readonly host: string; readonly port: number; readonly certificates?: readonly string[] };

/** A connection on which one command at a time is answered. Everything rejects with a {@link MailError}. */
export type SieveSocket = Disposable & {
  reply(): Promise<SieveReply>;
  write(text: string): void;
  /** After STARTTLS was agreed to: what was read before counts no more (RFC 5804 §2.2). */
  secure(): Promise<void>;
};

/** @param signal ends the connection; its reason is what the answer under way rejects with. */
export function openSieveSocket({ host, port, certificates }: Address, signal: AbortSignal): SieveSocket {
  let socket: Socket = connectTcp({ host, port });
  let received = Buffer.alloc(0);
  let begun = beginReply();
  let ended: Error | undefined;
  let waiting: { resolve: (reply: SieveReply) => void; reject: (error: Error) => void } | undefined;

  const end = (error: Error) => {
    ended ??= error;
    socket.destroy();
    waiting?.reject(ended);
    waiting = undefined;
  };
  const look = () => {
    if (waiting === undefined) {
      if (received.length > ANSWER_LIMIT_OCTETS) end(new MailError('lost', 'The server says what nobody has asked.'));
      return;
    }
    try {
      const read = readReply(received, begun);
      if (read === null) {
        if (received.length > ANSWER_LIMIT_OCTETS) end(new MailError('lost', 'The server’s answer has no end.'));
        return;
      }
      received = received.subarray(read.length);
      begun = beginReply();
      waiting.resolve(read.reply);
      waiting = undefined;
    } catch (cause) {
      if (!(cause instanceof SieveSyntaxError)) throw cause;
      end(new MailError('lost', 'The server does not speak ManageSieve.', { cause }));
    }
  };
  /** The memory that `received` is at the beginning of: it is doubled, so that no octet is copied with each that comes. */
  let memory = received;
  const onData = (part: Buffer) => {
    const length = received.length + part.length;
    if (received.buffer !== memory.buffer || received.byteOffset !== memory.byteOffset || length > memory.length) {
      memory = Buffer.allocUnsafeSlow(2 * length);
      received.copy(memory);
    }
    part.copy(memory, received.length);
    received = memory.subarray(0, length);
    look();
  };
  const onError = (error: Error) => end(faultOf(error));
  const onClose = () => end(new MailError('lost', 'The server ended the connection.'));
  const listen = () => socket.on('data', onData).on('error', onError).on('close', onClose);
  const giveUp = () => end(signal.reason instanceof Error ? signal.reason : new Error('The connection was given up.'));
  listen();
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, { once: true });

  return {
    reply: () =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) {
          reject(ended);
          return;
        }
        waiting = { resolve, reject };
        look();
      }),
    write: (text) => {
      if (ended === undefined) socket.write(text);
    },
    secure: async () => {
      if (ended !== undefined) throw ended;
      if (received.length > 0) {
        end(new MailError('certificate', 'The server said more than it should before TLS.'));
        throw new MailError('certificate', 'The server said more than it should before TLS.');
      }
      const plain = socket.off('data', onData).off('error', onError).off('close', onClose);
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
      socket = secured;
      secured.once('error', (error) => reject(faultOf(error)));
      secured.once('close', () => reject(ended ?? new MailError('lost', 'The server ended the connection.')));
      listen();
      await promise;
    },
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', giveUp);
      end(new MailError('lost', 'The connection was closed.'));
    },
  };
}

function faultOf(error: Error): Error {
  try {
    return mailErrorOf(error);
  } catch {
    return new MailError('lost', 'The connection had an error.', { cause: error });
  }
}
