import { expect, onTestFinished, test } from 'vitest';
import { startDailies } from '../../src/server/transfers/dailies.ts';
import { eraseSubscriber } from '../../src/server/transfers/retention.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { call, HOST, openWorldOfTest, orderExport, PASSWORD, whenEnded } from '../support/life-world.ts';
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

test('nor one that a take back, or new mail once a day, was given for another', async () => {
  const accessEnd = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const world = await openWorldOfTest({ environment: { ACCESS_END: accessEnd } });
  const { database, services } = world.web;
  const ordered = await world.order();
  {
    await using _worker = await world.work();
    await whenEnded(world, ordered);
    const daily = {
      source_account: { password: PASSWORD },
      destination_account: { password: PASSWORD },
      daily: true,
    };
    await expect.poll(async () => (await call(world, 'again', ordered, daily)).status).toBe(200);
    const open = 'select 1 from transfers where finished is null';
    await expect.poll(() => database.query(open)).toEqual([]);
  }
  await database.query("update transfers set destination_imap = 'imap.theirs.example:993'");
  world.web.advance(86_400_000);
  await startDailies(services, services.now());
  expect(await database.query('select ended from dailies')).toEqual([{ ended: 'failed' }]);
  expect(await database.query('select 1 from transfers where by_itself')).toEqual([]);

  await database.query('update transfers set destination_imap = $1', [`${HOST}:${world.proxy.port}`]);
  await expect.poll(async () => (await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
  await database.query("update transfers set destination_email = 'mallory@mail.example'");
  world.web.signIns.length = 0;
  await using _worker = await world.work();
  const ended = 'select remark from take_backs where finished is not null';
  await expect.poll(() => database.query(ended)).toEqual([{ remark: SENTENCES.takenBackNoSignIn }]);
  expect(world.web.signIns).toEqual([]);
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
