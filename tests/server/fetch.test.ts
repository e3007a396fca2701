import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { fetch } from '../../src/server/fetch.ts';
import { octetsOf } from '../../src/server/network/octets-of.ts';

const SIZE = 100_000;
/** Of the event loop, in which all that the machine holds of an answer, and its end, are taken in. */
const TURNS = 100;

test.each([`Content-Length: ${SIZE}\r\n`, ''])(
  'an answer behind which the server hangs up before it is read ends no process (%j)',
  async (length) => {
    const sent = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.0 200 OK\r\n${length}\r\n`);
        socket.end(Buffer.alloc(SIZE, 'a'), () => sent.resolve());
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await sent.promise;
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    expect(await octetsOf(answer, SIZE)).toHaveLength(SIZE);
  },
);
