import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type BadLine = AsyncDisposable & {
  readonly port: number;
  /** How many connections were cut. */
  cuts(): number;
};

/** A connection to a local port that is cut, as if the plug were pulled, after `octetsUntilCut` octets of each answer. */
export async function openBadLine(port: number, octetsUntilCut: () => number): Promise<BadLine> {
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let left = octetsUntilCut();
    for (const socket of [near, far]) {
      open.add(socket);
      // Errors of sockets that have been cut are intended.
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, left);
      left -= passed.length;
      if (!near.write(passed)) {
        far.pause();
        near.once('drain', () => far.resume());
      }
      if (left > 0) return;
      cuts += 1;
      far.destroy();
      near.end(() => near.resetAndDestroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cuts: () => cuts,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
