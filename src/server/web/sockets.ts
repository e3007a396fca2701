import type { Server } from 'node:http';
import { clientNetwork, widerNetwork } from './client-address.ts';

/** A browser has six; behind one address there may be a whole building. */
export const SOCKETS_PER_NETWORK = 200;
/** A provider gives its customers neighbouring addresses, and an attacker a few hundred of them. */
export const SOCKETS_PER_WIDER_NETWORK = 1000;

/**
 * Closes connections beyond what one network may hold, so that none can hold them all. Behind proxies of ours, which
 * count for their own, all come from one address.
 */
export function limitSockets(server: Server, proxies: number): void {
  if (proxies > 0) return;
  const held = new Map<string, number>();
  server.on('connection', (socket) => {
    const network = clientNetwork(socket.remoteAddress, undefined, 0);
    const counted = [
      [network, SOCKETS_PER_NETWORK],
      [widerNetwork(network), SOCKETS_PER_WIDER_NETWORK],
    ] as const;
    if (counted.some(([name, most]) => (held.get(name) ?? 0) >= most)) {
      socket.destroy();
      return;
    }
    for (const [name] of counted) held.set(name, (held.get(name) ?? 0) + 1);
    socket.once('close', () => {
      for (const [name] of counted) {
        const left = (held.get(name) ?? 1) - 1;
        if (left === 0) held.delete(name);
        else held.set(name, left);
      }
    });
  });
}
