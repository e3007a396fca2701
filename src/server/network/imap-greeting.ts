import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { HostError, resolvePublicHost, towards } from './public-address.ts';
import type { Resolver } from './resolver.ts';

const IMAPS_PORT = 993;
const GREETING_LIMIT_OCTETS = 8192;

type Options = { readonly trusted: readonly string[]; readonly resolver: Resolver; readonly signal: AbortSignal };

/** Whether a host that a visitor may reach greets as IMAP does (RFC 9051 §7.1), with a certificate that fits at port 993. */
export async function answersAsImap(host: string, port: number, options: Options): Promise<boolean> {
  try {
    const checked = await resolvePublicHost(host, port, options);
    // Name servers may be slow, and a server that says nothing would be waited for without end.
    if (options.signal.aborted) return false;
    const { servername } = checked;
    const target = { ...towards(checked), port };
    const socket =
      port === IMAPS_PORT
        ? connectTls({ ...target, ...(isIP(servername) > 0 ? {} : { servername }), minVersion: 'TLSv1.2' })
        : connectTcp(target);
    return await greets(socket, options.signal);
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}

async function greets(socket: Socket, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = () => resolve(false);
  let greeting = '';
  socket.on('data', (part) => {
    greeting += part.toString('latin1');
    if (greeting.includes('\n')) resolve(/^\* (?:OK|PREAUTH)\b/i.test(greeting));
    else if (greeting.length > GREETING_LIMIT_OCTETS) resolve(false);
  });
  socket.on('error', giveUp);
  socket.on('close', giveUp);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', giveUp);
    socket.destroy();
  }
}
