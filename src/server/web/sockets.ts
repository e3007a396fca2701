import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork, widerNetwork } from './client-address.ts';

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
  /** By wider network, then by network; the oldest first. */
  const held = new Map<string, Map<string, Set<Socket>>>();
  let total = 0;

  function drop(wider: string, network: string, socket: Socket): void {
    const networks = held.get(wider);
    const sockets = networks?.get(network);
    if (networks === undefined || sockets?.delete(socket) !== true) return;
    total -= 1;
    if (sockets.size === 0) networks.delete(network);
    if (networks.size === 0) held.delete(wider);
  }

  function closeOneOfTheMost(): void {
    const [wider, networks] = largest(held, countOf) ?? [];
    const [network, sockets] = networks === undefined ? [] : (largest(networks, (each) => each.size) ?? []);
    const [oldest] = sockets ?? [];
    if (wider === undefined || network === undefined || oldest === undefined) return;
    drop(wider, network, oldest);
    oldest.destroy();
  }

  server.on('connection', (socket) => {
    const network = clientNetwork(socket.remoteAddress, undefined, 0);
    const wider = widerNetwork(network);
    const networks = held.get(wider) ?? new Map<string, Set<Socket>>();
    const sockets = networks.get(network) ?? new Set();
    if (sockets.size >= SOCKETS_PER_NETWORK || countOf(networks) >= SOCKETS_PER_WIDER_NETWORK) {
      socket.destroy();
      return;
    }
    if (total >= atMost) closeOneOfTheMost();
    held.set(wider, networks.set(network, sockets.add(socket)));
    total += 1;
    socket.once('close', () => drop(wider, network, socket));
  });
}

function countOf(networks: ReadonlyMap<string, ReadonlySet<Socket>>): number {
  let count = 0;
  for (const { size } of networks.values()) count += size;
  return count;
}

function largest<Value>(map: ReadonlyMap<string, Value>, sizeOf: (value: Value) => number): [string, Value] | null {
  let most: [string, Value] | null = null;
  for (const entry of map) if (most === null || sizeOf(entry[1]) > sizeOf(most[1])) most = entry;
  return most;
}
