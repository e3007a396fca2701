import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Resolver } from '../../../network/resolver.ts';
import { targetOf } from '../connection.ts';
import { MailError, mailErrorOf } from '../mail-error.ts';
import { tlsTowards, type UncheckedCertificates } from '../tls.ts';
import type { Dial, Line } from '../wire.ts';
import { Inlet } from './inlet.ts';

export type DialOptions = {
  /** `TRUSTED_MAIL_HOSTS`. */
  readonly trusted: readonly string[];
  /** Resolves the hosts that a visitor named; by default, the system's resolver does. */
  readonly resolver?: Resolver;
  /** Called if a trusted host uses TLS with a certificate that can't be verified. */
  readonly onUncheckedCertificate?: UncheckedCertificates;
};

/** Dials over the network: to addresses that were checked, and with a certificate that fits the name. */
export function openDial({ trusted, resolver, onUncheckedCertificate }: DialOptions): Dial {
  return async (place, signal): Promise<Line> => {
    signal.throwIfAborted();
    const { target: host, servername } = await targetOf(place, trusted, resolver);
    signal.throwIfAborted();
    const inlet = new Inlet();
    const target = { ...host, port: place.port, noDelay: true, keepAlive: true, onread: inlet.onread };
    const name = isIP(servername) > 0 ? {} : { servername };
    if (place.security === 'tls') {
      const socket = connectTls({ ...target, ...name, ...tlsTowards(place) });
      await standing(socket, 'secureConnect', signal);
      return { socket, inlet };
    }
    const socket = connectTcp(target);
    await standing(socket, 'connect', signal);
    return {
      socket,
      inlet,
      startTls: async () => {
        const secure = await encrypted(socket, { host: servername, ...name, ...tlsTowards(place) }, signal);
        if (!secure.authorized) onUncheckedCertificate?.(place);
        return secure;
      },
    };
  };
}

async function encrypted(socket: Socket, options: ConnectionOptions, signal: AbortSignal): Promise<TLSSocket> {
  const secure = connectTls({ ...options, socket });
  await standing(secure, 'secureConnect', signal, 'certificate');
  return secure;
}

async function standing(
  socket: Socket | TLSSocket,
  event: string,
  signal: AbortSignal,
  fault?: 'certificate',
): Promise<void> {
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.on('error', () => {});
    socket.destroy();
    signal.throwIfAborted();
    throw reading(error, fault);
  }
}

/** The error of a connection that was never established. */
function reading(error: unknown, fault: 'certificate' | undefined): MailError {
  if (fault !== undefined && (error as NodeJS.ErrnoException).code === undefined)
    return new MailError(fault, 'There is no TLS with the mail server.', { cause: error });
  const read = mailErrorOf(error);
  // A handshake that the other side broke off, or a port that closes at once.
  return read.fault === 'lost' ? new MailError('unreachable', read.message, { cause: error }) : read;
}
