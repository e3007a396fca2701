import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { createBoundedServer, mayRest, UNANSWERED_PER_SOCKET } from '../../src/server/web/bounded-server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

const endless = () => new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1_000_000)) });

let ending = new AsyncDisposableStack();
afterEach(async () => {
  await ending.disposeAsync();
  ending = new AsyncDisposableStack();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ending.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function dialled(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  ending.defer(() => void socket.destroy());
  return socket;
}

/** Counts the requests that Node makes an answer for, whoever gives it. */
function countAnswers(): () => number {
  let count = 0;
  const one = () => {
    count += 1;
  };
  subscribe('http.server.request.start', one);
  ending.defer(() => void unsubscribe('http.server.request.start', one));
  return () => count;
}

describe('requests that are sent without waiting for answers', () => {
  test.each([
    ['to us', GET],
    ['with an expectation', GET.replace('\r\n\r\n', '\r\nExpect: x\r\n\r\n')],
    ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with a body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx'],
  ])('close their connection before any work is done for those beyond a few: %s', async (_, asked) => {
    const started = countAnswers();
    const port = await listening(createBoundedServer(() => {}));
    const socket = dialled(port).pause();
    socket.write(asked.repeat(1000));
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
    expect(started()).toBeLessThanOrEqual(UNANSWERED_PER_SOCKET);
  });

  test('are answered in their order while they are few, and so are those that come after', async () => {
    const port = await listening(createBoundedServer(({ url }, answer) => void setImmediate(() => answer.end(url))));
    const socket = dialled(port).setEncoding('utf8');
    for (let round = 0; round < 3; round += 1) {
      const paths = Array.from({ length: UNANSWERED_PER_SOCKET }, (_, at) => `/${round}-${at}.`);
      socket.write(paths.map((path) => GET.replace('/', path)).join(''));
      let got = '';
      while (!got.includes(paths.at(-1) ?? '')) got += String((await once(socket, 'data'))[0]);
      expect(got.match(/\/\d-\d\./g)).toEqual(paths);
    }
  });
});

test('a connection that is kept alive takes one request after another, also with bodies', async () => {
  const answering = createBoundedServer((asked, answer) => void asked.pipe(answer));
  const port = await listening(answering);
  let connections = 0;
  answering.on('connection', () => {
    connections += 1;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  ending.defer(() => agent.destroy());
  for (let at = 0; at < 5 * UNANSWERED_PER_SOCKET; at += 1) {
    const asking = request({ port, host: '127.0.0.1', method: 'POST', agent }).end(`body ${at}`);
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    expect(String(await answer.setEncoding('utf8').toArray())).toBe(`body ${at}`);
  }
  expect(connections).toBe(1);
});

test('a connection on which nothing moves is closed, unless who reads it may rest', async () => {
  const app = new Hono();
  app.get('/stands', (c) => c.body(endless()));
  app.get('/rests', (c) => {
    mayRest(c);
    return c.body(endless());
  });
  const answer = getRequestListener(app.fetch);
  const server = createBoundedServer((asked, answering) => void answer(asked, answering), 30);
  const port = await listening(server);
  const opened: Record<string, Socket> = {};
  for (const path of ['/rests', '/stands']) {
    const arrived = once(server, 'request') as Promise<[IncomingMessage]>;
    dialled(port).pause().write(GET.replace('/', path));
    opened[path] = (await arrived)[0].socket;
  }
  const { '/stands': stands, '/rests': rests } = opened;
  if (stands !== undefined && !stands.destroyed) await once(stands, 'close');
  expect([stands?.destroyed, rests?.destroyed]).toEqual([true, false]);
});
