import { createServer, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HttpListener = AsyncDisposable & { readonly port: number };

export async function startHttpListener(take: RequestListener): Promise<HttpListener> {
  const listener = createServer(take);
  await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready));
  return {
    port: (listener.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      listener.closeAllConnections();
      await new Promise((closed) => listener.close(closed));
    },
  };
}

/** Forwards a request unchanged to another local server. */
export function handOn(port: number, ...[asked, answer]: Parameters<RequestListener>): void {
  const { method, url, headers } = asked;
  asked.pipe(
    request({ port, method, path: url, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers);
      given.pipe(answer);
    }).on('error', () => answer.destroy()),
  );
}
