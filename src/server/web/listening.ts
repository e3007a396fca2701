import type { Server } from 'node:http';

/** How long requests in progress may take to finish when the server stops. */
const STOP_WITHIN_MS = 10_000;

/** The port or host can't be listened on. The message is for the operator. */
export class AddressInUseError extends Error {
  override name = 'AddressInUseError';
}

/** @param setting the name of the setting for the port. @throws {AddressInUseError} */
export async function listen(server: Server, host: string, port: number, setting = 'PORT'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, host, resolve);
  try {
    await promise;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new AddressInUseError(
        `${setting} ${port} is already in use. Stop what uses it, or name another. Example: ${setting}=${elsewhere(port)}`,
        {
          cause: error,
        },
      );
    // Such as an address of another machine, a name, or :: where there is no IPv6.
    throw new AddressInUseError(
      `HOST ${host} with ${setting} ${port} can't be listened on (${code ?? 'unknown error'}). Example: HOST=127.0.0.1 ${setting}=8081`,
      { cause: error },
    );
  } finally {
    server.off('error', reject);
  }
}

/** Where another process of this program has the port, its sandbox has the next one. */
function elsewhere(port: number): number {
  return port < 60_000 ? port + 10 : port - 10;
}

export async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), STOP_WITHIN_MS);
  await promise;
  clearTimeout(late);
}
