import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Latency = AsyncDisposable & { readonly port: number };

/** Stands before a server of this machine and delays what passes, each way by so many milliseconds; with 0 it is not there. */
export async function startLatency(to: number, milliseconds: number): Promise<Latency> {
  if (milliseconds === 0) return { port: to, [Symbol.asyncDispose]: async () => {} };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => into.destroy());
      from.on('data', (chunk) => setTimeout(() => into.write(chunk), milliseconds));
      from.on('end', () => setTimeout(() => into.end(), milliseconds));
      from.on('close', () => sockets.delete(from));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
