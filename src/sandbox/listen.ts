import type { Server } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** Listens at {@link LOOPBACK}, on `preferred`, or on any free port when that one is taken. @returns the port. */
export async function listen(server: Server, preferred: number): Promise<number> {
  try {
    return await attempt(server, preferred);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (preferred === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    return attempt(server, 0);
  }
}

function attempt(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(error);
    server.once('error', failed);
    server.listen(port, LOOPBACK, () => {
      server.off('error', failed);
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('The server listens on no port.'));
      else resolve(address.port);
    });
  });
}
