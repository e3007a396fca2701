import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: object };

/** An address book that gives the same answer to every request, until the test ends. @returns its origin */
export async function bookThatAnswers({ status, headers = {}, body }: Answer): Promise<string> {
  const book = createServer((_request, response) => {
    response.writeHead(status, body === undefined ? headers : { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(book, 'listening');
  onTestFinished(() => {
    book.closeAllConnections();
    book.close();
  });
  return `http://127.0.0.1:${(book.address() as AddressInfo).port}`;
}
