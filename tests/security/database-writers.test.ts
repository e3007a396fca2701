import { expect, onTestFinished, test } from 'vitest';
import { eraseSubscriber } from '../../src/server/transfers/retention.ts';
import { HOST, openWorldOfTest, orderExport, whenEnded } from '../support/life-world.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

/** What somebody could write about a transfer that waits, to have it signed in to a server or a mailbox of theirs. */
test.each([
  ['the server of its new mailbox', (host: string) => `destination_imap = '${host}'`, 'review'],
  ['its new mailbox', () => "destination_email = 'mallory@mail.example'", 'review'],
  ['the provider of its new mailbox', () => "destination_provider = 'google'", 'review'],
  [
    'the server of its old mailbox',
    (host: string) => `source_provider = 'other', source_imap = '${host}'`,
    'completed',
  ],
])('whoever writes %s to the database gets no password that was given for another', async (_, written, status) => {
  const world = await openWorldOfTest({});
  const { database, settings } = world.web;
  let asked = 0;
  const mailPort = Number(new URL(settings.legacyImapUrl ?? '').port);
  const theirs = await startTcpProxy(mailPort, { before: async () => void (asked += 1) });
  onTestFinished(() => theirs[Symbol.asyncDispose]());
  const ordered = await world.order();
  await database.query(`update transfers set ${written(`${HOST}:${theirs.port}`)}`);
  world.web.signIns.length = 0;
  await using _worker = await world.work();
  expect((await whenEnded(world, ordered)).status).toBe(status);
  expect(asked).toBe(0);
  expect(world.web.signIns.length > 0).toBe(status === 'completed');
});

test('an export goes on when somebody else has the address erased that it was ordered with', async () => {
  const world = await openWorldOfTest({ environment: { LEGACY_CARDDAV_URL: undefined } });
  const ordered = await orderExport(world);
  await eraseSubscriber({ ...world.web.services, safe: world.web.safe }, 'ann@elsewhere.example');
  const named = "select 1 from transfers where destination_email = 'ann@elsewhere.example'";
  expect(await world.web.database.query(named)).toEqual([]);
  await using _worker = await world.work();
  expect((await whenEnded(world, ordered)).status).toBe('completed');
});
