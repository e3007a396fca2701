import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openLetters } from '../../src/server/notifications/letters.ts';
import { manualClock } from '../support/scripted-imap.ts';

test('a server that answers by the octet has so long for a letter, and no longer', async () => {
  const greeted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    socket.write('220 mail.example ESMTP\r\n250-');
    greeted.resolve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using _server = { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  const clock = manualClock();
  const timeout = (milliseconds: number) => {
    const giveUp = new AbortController();
    clock.after(milliseconds, () => giveUp.abort());
    return giveUp.signal;
  };
  using letters = openLetters({
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inClear: true,
    silence: 30_000,
    letterWithin: 60_000,
    timeout,
  });
  const sending = letters.send({ from: 'portal@cable.example', to: 'maria@mail.example', text: 'Hello' });
  let ended = false;
  const over = sending.catch(() => {}).finally(() => (ended = true));
  const socket = await greeted.promise;
  const closed = once(socket, 'close');
  for (let second = 0; second < 59; second++) {
    socket.write('x');
    clock.pass(1000);
    await new Promise(setImmediate);
  }
  expect(ended).toBe(false);
  clock.pass(1000);
  await over;
  await expect(sending).rejects.toThrow(/abort/i);
  await closed;
});
