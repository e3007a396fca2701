import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from './client-address.ts';
import { Shares } from './shares.ts';

export const SOCKETS_AT_MOST = 4000;
/** A browser opens six, but there may be a whole building behind one address. */
export const SOCKETS_PER_NETWORK = 200;
/** A provider's customers have neighboring addresses, but so may an attacker, a few hundred of them. */
export const SOCKETS_PER_WIDER_NETWORK = 1000;
/** Node still counts destroyed connections until the next turn of its event loop. */
const CLOSING_AT_MOST = 500;
/** The share of file descriptors for clients; the rest is for the database, mail servers and the disk. */
const SHARE_OF_FILES = 0.5;

/** The limit of open files for this process, including sockets; `Infinity` if the system doesn't report one. */
export async function openFilesAtMost(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
}

/**
 * Closes connections beyond a network's limit, so that none can hold them all. When all are in use, a newcomer replaces
 * the oldest connection of the network that has the most. Behind our own proxies, all connections come from one
 * address, and only the total is limited.
 * @param files how many files this process may have open
 */
export function limitSockets(server: Server, proxies: number, files = Infinity): void {
  const atMost = Math.min(SOCKETS_AT_MOST, Math.floor(files * SHARE_OF_FILES));
  server.maxConnections = proxies > 0 ? atMost : atMost + CLOSING_AT_MOST;
  if (proxies > 0) return;
  const shares = new Shares<Socket>({
    most: { ofNetwork: SOCKETS_PER_NETWORK, ofWiderNetwork: SOCKETS_PER_WIDER_NETWORK, inAll: atMost },
    end: (socket) => socket.destroy(),
  });
  server.on('connection', (socket) => {
    const giveBack = shares.take(clientNetwork(socket.remoteAddress, undefined, 0), socket);
    if (giveBack === null) socket.destroy();
    else socket.once('close', giveBack);
  });
}
