import { describe, expect, test } from 'vitest';
import {
  call,
  mailWhen,
  NEW_ANN,
  openWorldOfTest,
  PASSWORD,
  statusOf,
  type LifeWorld,
  whenEnded,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';

/** Where no mail server is. */
const AWAY = 'smtp://127.0.0.1:1';
const TOLD = { parameters: { notification_email: NEW_ANN } };

async function open(options: Parameters<typeof openWorldOfTest>[0] = {}): Promise<LifeWorld> {
  return openWorldOfTest({ mail: { INBOX: [letter(1), letter(2), letter(3)] }, ...options });
}

/** What a server says that lets nobody in. */
const goodbye = (part: Buffer) => Buffer.from(part.toString('latin1').replace(/^\* OK /, '* BYE '), 'latin1');
const waiting = ({ waiting: why }: { waiting?: unknown }) => why !== undefined;
const letters = ({ web }: LifeWorld, about: string) => web.outbox.filter(({ raw }) => raw.includes(about));
const announced = async ({ web }: LifeWorld, kind: string) =>
  (await web.database.query("select 1 from pgboss.job where data->>'kind' = $1", [kind])).length;

/** What a mail server for letters could not take, which is there again. */
async function sentAfterwards(world: LifeWorld): Promise<void> {
  expect(world.web.outbox).toEqual([]);
  const { database } = world.web;
  await using _worker = await world.work();
  await expect
    .poll(async () => {
      await database.query(
        "update pgboss.job set start_after = now() where name = 'notifications' and state < 'active'",
      );
      return database.query("select 1 from pgboss.job where name = 'notifications' and state < 'completed'");
    })
    .toEqual([]);
}

describe('an owner is told', () => {
  test('of what was taken back, what stays, and each time that it was asked for', { tags: 'proof' }, async () => {
    const world = await open();
    const seen = Promise.withResolvers<void>();
    await using _worker = await world.work({ onTakeBackStep: () => seen.promise });
    const ordered = await world.order(TOLD);
    await whenEnded(world, ordered);
    {
      await using client = await world.destinationMail();
      await client.command('SELECT INBOX');
      await client.command('UID STORE 2 +FLAGS (\\Flagged)');
    }
    const during: unknown[] = [];
    for (const times of [1, 2]) {
      expect((await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
      during.push((await statusOf(world, ordered)).emailmigration?.taking_back);
      seen.resolve();
      await mailWhen(world, ordered, ({ taking_back: isTaking }) => isTaking === undefined);
      await expect.poll(() => letters(world, 'was taken back').length).toBe(times);
    }
    // The second time there is nothing to do, and it may be done before it is asked for.
    expect(during[0]).toBe(true);
    const [first] = letters(world, 'was taken back');
    expect(first?.raw).toContain('2 messages were removed');
    expect(first?.raw).toContain('1 message stays in your new mailbox');
  });

  test('nothing that is not true any more by letters that could not be sent before', { tags: 'proof' }, async () => {
    const world = await open();
    const { settings } = world.web.services;
    const ordered = await world.order(TOLD);
    {
      // The mail server for letters is away.
      await using _worker = await world.work({ settings: { ...settings, smtpUrl: AWAY } });
      await whenEnded(world, ordered);
      expect((await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
      await mailWhen(world, ordered, ({ taking_back: isTaking }) => isTaking === undefined);
    }
    await sentAfterwards(world);
    expect(letters(world, 'was taken back')).toHaveLength(1);
    expect(letters(world, 'Your mail is there.')).toEqual([]);
    expect(letters(world, 'has started')).toEqual([]);
  });

  test('to do nothing for now by no letter that could not be sent before the transfer came to wait for them', async () => {
    const world = await open();
    const { settings } = world.web.services;
    const ordered = await world.order(TOLD);
    world.web.passwords.set(NEW_ANN, 'another horse');
    {
      await using _worker = await world.work({ settings: { ...settings, smtpUrl: AWAY } });
      await mailWhen(world, ordered, ({ attention }) => attention !== undefined);
    }
    await sentAfterwards(world);
    expect(letters(world, 'is waiting for you')).toHaveLength(1);
    expect(letters(world, 'has started')).toEqual([]);
  });

  test('that they will hear of the end only where there is a way to tell them, and somebody asked for it', async () => {
    const world = await open();
    const { database, services } = world.web;
    const sms = { url: 'https://sms.example' };
    for (const [contact, ways, untold] of [
      [NEW_ANN, {}, undefined],
      [NEW_ANN, { smtpUrl: undefined, sms }, true],
      ['+16502530000', {}, undefined],
      ['+16502530000', { sms: undefined }, true],
      [null, { sms }, true],
    ] as const) {
      Object.assign(services.settings, ways);
      const ordered = await world.order();
      await database.query('update transfers set notification_contact = $2 where id = $1', [ordered.id, contact]);
      for (const asker of [ordered, { ...ordered, headers: {} }])
        expect([contact, (await statusOf(world, asker)).untold]).toEqual([contact, untold]);
      await database.query('update transfers set finished = now()');
      expect(await statusOf(world, ordered)).not.toHaveProperty('untold');
    }
  });

  test('that they will hear of the end of a run that a daily has begun only once they have put something right', async () => {
    const world = await open();
    const ordered = await world.order(TOLD);
    await world.web.database.query('update transfers set by_itself = true');
    expect(await statusOf(world, ordered)).toMatchObject({ untold: true });
    await world.web.database.query('update transfers set resumed = 1');
    expect(await statusOf(world, ordered)).not.toHaveProperty('untold');
  });

  test('of no wait of a run that a daily has begun, however long it lasts', async () => {
    let isAway = false;
    const world = await open({
      change: (direction, part) => (direction === 'to client' && isAway ? goodbye(part) : part),
    });
    const { database } = world.web;
    const ordered = await world.order(TOLD);
    isAway = true;
    await database.query('update transfers set by_itself = true');
    await database.query("update operations set waiting_since = now() - interval '7 hours'");
    const worker = await world.work();
    await mailWhen(world, ordered, waiting);
    // What it has to say is said by then.
    await worker[Symbol.asyncDispose]();
    expect(await announced(world, 'waiting')).toBe(0);
  });

  test('of a wait that lasts six hours, once, and of none that is shorter', { tags: 'proof' }, async () => {
    let isAway = false;
    const world = await open({
      change: (direction, part) => (direction === 'to client' && isAway ? goodbye(part) : part),
    });
    const ordered = await world.order(TOLD);
    isAway = true;
    /** So much later a worker finds the mailbox away. */
    const wait = async (hours: number, told: number) => {
      await world.web.database.query(
        'update operations set waiting_reason = null, waiting_since = waiting_since - make_interval(secs => $1)',
        [hours * 3600],
      );
      await world.web.queue.send(ordered.id);
      const worker = await world.work();
      await mailWhen(world, ordered, waiting);
      await expect.poll(() => letters(world, 'is taking a break').length).toBe(told);
      // What it has to say is said by then.
      await worker[Symbol.asyncDispose]();
      expect(await announced(world, 'waiting')).toBe(told);
    };
    await wait(0, 0);
    await wait(6.5, 1);
    await wait(0, 1);
    const [first] = letters(world, 'is taking a break');
    expect(first?.raw).toContain('You can close the page');
    isAway = false;
    await world.web.queue.send(ordered.id);
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 3 });
  });
});
