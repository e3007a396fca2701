import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { ImapFlow } from 'imapflow';
import { expect, test } from 'vitest';
import { GOOD, SimulatedAccount } from './account.ts';
import { chanceOf } from './chance.ts';
import { emptyLoad } from './imap-server/server-load.ts';
import { serve } from './imap-server/serve.ts';
import { openScheduler } from './scheduler.ts';

test('a client that others wrote reads and writes at the simulated server', async () => {
  const scheduler = openScheduler();
  const account = new SimulatedAccount({ ...GOOD, delimiter: '.' }, () => scheduler.now());
  const load = emptyLoad();
  const server = createServer((socket: Socket) => {
    const side = serve(
      { client: 'imapflow', send: (data) => socket.write(data), end: () => socket.end() },
      account,
      load,
      scheduler,
      chanceOf(1),
    );
    let turn = Promise.resolve<unknown>(null);
    socket.on('data', (data) => {
      turn = turn.then(() => {
        side.receive(data);
        return scheduler.run(() => false, 1000);
      });
    });
    socket.on('close', () => side.closed());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    secure: false,
    auth: { user: 'anna', pass: 'secret' },
    logger: false,
  });
  await client.connect();
  await client.mailboxCreate('Letters');
  const letter = Buffer.from(`Message-ID: <1@x>\r\nSubject: Hello\r\n\r\n${'A long line.\r\n'.repeat(1000)}`);
  const stored = await client.append('Letters', letter, ['\\Seen', 'Blue'], new Date('2020-02-03T04:05:06Z'));
  await client.mailboxOpen('Letters');
  const found = await client.fetchOne(
    '1',
    { uid: true, flags: true, internalDate: true, size: true, source: true },
    { uid: true },
  );
  await client.messageFlagsAdd('1', ['\\Deleted'], { uid: true });
  await client.messageDelete('1', { uid: true });
  const left = await client.search({ all: true }, { uid: true });
  const listed = (await client.list()).map(({ path, delimiter, subscribed }) => ({ path, delimiter, subscribed }));
  await client.logout();
  server.close();
  expect(stored).toMatchObject({ destination: 'Letters', uid: 1 });
  expect(found).toMatchObject({ uid: 1, size: letter.length, internalDate: new Date('2020-02-03T04:05:06Z') });
  expect(found !== false && found?.source?.equals(letter)).toBe(true);
  expect(found === false ? null : [...(found?.flags ?? [])]).toEqual(['\\Seen', 'Blue']);
  expect(left).toEqual([]);
  expect(listed).toContainEqual({ path: 'Letters', delimiter: '.', subscribed: true });
  expect(account.history.map(({ kind, by }) => `${kind} by ${by}`)).toEqual([
    'stored by imapflow',
    'flagged by imapflow',
    'flagged by imapflow',
    'expunged by imapflow',
  ]);
  expect(load.connections).toBe(0);
});
