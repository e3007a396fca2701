import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
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

async function serverThatSays(text: string, status = 200): Promise<string> {
  const server = createWebServer((_request, response) => response.writeHead(status).end(text)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a proxy of the environment is used where Node is told to, but for hosts in NO_PROXY', async () => {
  const [proxy, other] = [await serverThatSays('by the proxy'), await serverThatSays('directly')];
  onTestFinished(() => void vi.unstubAllEnvs());
  // The machine's own come first.
  vi.stubEnv('http_proxy', undefined).stubEnv('no_proxy', undefined);
  const answers: string[] = [];
  for (const [told, no] of [
    ['', ''],
    ['1', ''],
    ['1', '127.0.0.1'],
  ] as const) {
    vi.stubEnv('NODE_USE_ENV_PROXY', told).stubEnv('HTTP_PROXY', proxy).stubEnv('NO_PROXY', no);
    // It is looked up once in a process.
    vi.resetModules();
    const anew = await import('../../src/server/fetch.ts');
    answers.push(await (await anew.fetch(other)).text());
  }
  expect(answers).toEqual(['directly', 'by the proxy', 'directly']);
});

test('an SMS that a proxy keeps back until it knows who asks has not arrived', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('http_proxy', undefined).stubEnv('no_proxy', undefined);
  vi.stubEnv('NODE_USE_ENV_PROXY', '1').stubEnv('HTTP_PROXY', await serverThatSays('who asks?', 407));
  vi.resetModules();
  const anew = await import('../../src/server/notifications/sms.ts');
  const sending = anew.sendSms({ url: await serverThatSays('taken') }, '+16505550100', 'text', 'key');
  await expect(sending).rejects.toMatchObject({
    name: 'TypeError',
    cause: { message: expect.stringContaining('407') },
  });
});
