import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from './client-address.ts';
import { Shares } from './shares.ts';

export const SOCKETS_AT_MOST = 4000;
/** A browser has six; behind one address there may be a whole building. */
export const SOCKETS_PER_NETWORK = 200;
/** A provider gives its customers neighbouring addresses, and an attacker a few hundred of them. */
export const SOCKETS_PER_WIDER_NETWORK = 1000;
/** What has been closed counts with Node until its next turn. */
const CLOSING_AT_MOST = 500;
/** The others are for the database, mail servers and the disk. */
const SHARE_OF_FILES = 0.5;

/** How many files this process may have open, of which each connection is one; `Infinity` where no system says it. */
export async function openFilesAtMost(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
}

/**
 * Closes connections beyond what one network may hold, so that none can hold them all. When many hold them all, a
 * newcomer is let in for the oldest connection of whoever has the most. Behind proxies of ours, which count for their
 * own, all come from one address.
 * @param files how many this process may have open
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
