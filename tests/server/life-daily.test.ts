import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { DAILY_DAYS, startDailies, switchDailyOff } from '../../src/server/transfers/dailies.ts';
import { eraseEnded, eraseSubscriber } from '../../src/server/transfers/retention.ts';
import {
  ANN,
  call,
  HOST,
  mailWhen,
  NEW_ANN,
  openWorldOfTest,
  orderExport,
  PASSWORD,
  statusOf,
  type LifeWorld,
  type Ordered,
  sentOn,
  whenEnded,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser } from '../support/web-world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NEW_PASSWORD = 'another horse';
const GIVEN = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD }, daily: true };
const OFF = { status: 409, body: { error: 'OPERATION_NOT_ALLOWED' } };

/** Access ends in so many days. */
async function open(days = 30, options: Parameters<typeof openWorldOfTest>[0] = {}): Promise<LifeWorld> {
  const accessEnd = new Date(Date.now() + days * DAY_MS).toISOString();
  return openWorldOfTest({
    mail: { INBOX: [letter(1), letter(2)] },
    environment: { ACCESS_END: accessEnd },
    ...options,
  });
}

/** Orders a transfer, and once it has ended that what still arrives is brought; both have ended. */
async function begun(world: LifeWorld): Promise<Ordered> {
  const ordered = await world.order({ parameters: { notification_email: NEW_ANN } });
  await whenEnded(world, ordered);
  // The transfer ends a moment after its mail.
  let answer = await call(world, 'again', ordered, GIVEN);
  await expect
    .poll(async () => (answer.status === 409 ? (answer = await call(world, 'again', ordered, GIVEN)) : answer).status)
    .toBe(200);
  await whenEnded(world, { ...ordered, id: (answer.body as { jobid: string }).jobid });
  return ordered;
}

const dailyOf = async (world: LifeWorld, ordered: Ordered) => (await statusOf(world, ordered)).daily;
const look = async ({ web }: LifeWorld) => startDailies(web.services, web.services.now());
const kept = async ({ web }: LifeWorld) =>
  (await web.database.query<{ role: string }>('select role from daily_credentials order by role')).map(
    ({ role }) => role,
  );
const runs = async ({ web }: LifeWorld) =>
  (await web.database.query<{ id: string }>('select id from transfers where by_itself order by created')).map(
    ({ id }) => id,
  );
const arrive = async (world: LifeWorld, number: number) => {
  await using client = await world.sourceMail();
  await client.append('INBOX', [letter(number)]);
};
const arrived = async ({ destinationMail }: LifeWorld) => {
  await using client = await destinationMail();
  return (await client.read('INBOX')).length;
};
/** The kinds of the letters about transfers that began by themselves. */
const told = async ({ web }: LifeWorld) =>
  (
    await web.database.query<{ kind: string }>(
      `select data->>'kind' as kind from pgboss.job join transfers on transfers.id = data->>'transferId'
       where by_itself and name = 'notifications' order by created_on`,
    )
  ).map(({ kind }) => kind);
/** So much later what is due is begun, and has ended. */
async function later(world: LifeWorld, ordered: Ordered, ms: number): Promise<string> {
  const newest = async () => (await runs(world)).at(-1) ?? '';
  const before = await newest();
  world.web.advance(ms);
  await look(world);
  // The worker looks as well, and may be the one that is just beginning it.
  await expect.poll(newest).not.toBe(before);
  const id = await newest();
  await sentOn(world, { ...ordered, id });
  await whenEnded(world, { ...ordered, id });
  return id;
}

describe('what still arrives', () => {
  test('is brought once a day, without a word, until its owner has enough of it', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    const said = () => world.web.outbox.filter(({ raw }) => raw.includes('We bring new mail')).length;
    await expect.poll(said).toBeGreaterThan(0);
    const began = world.web.services.now();
    const daily = await dailyOf(world, ordered);
    expect(Date.parse(daily?.next ?? '') - began).toBeGreaterThan(DAY_MS - HOUR_MS);
    expect(Date.parse(daily?.until ?? '') - began).toBeGreaterThan(29 * DAY_MS);
    expect(await kept(world)).toEqual(['destination', 'source']);
    expect(await world.web.database.query('select 1 from credentials')).toEqual([]);
    expect((await statusOf(world, { id: ordered.id, headers: {} })).daily).toBeUndefined();

    await arrive(world, 3);
    world.web.advance(DAY_MS - HOUR_MS);
    await look(world);
    expect(await runs(world), 'not before its time').toEqual([]);
    const first = await later(world, ordered, HOUR_MS);
    expect(await arrived(world)).toBe(3);
    expect(await statusOf(world, { ...ordered, id: first }), 'its owner sees all of it').toMatchObject({
      daily: { next: expect.any(String) },
      emailmigration: { status: 'completed', folders: [{ name: 'INBOX' }] },
    });
    await arrive(world, 4);
    const second = await later(world, ordered, DAY_MS);
    expect(await arrived(world)).toBe(4);
    const idle = await later(world, ordered, DAY_MS);
    const newest = await later(world, ordered, DAY_MS);
    expect(await runs(world)).toEqual([first, second, idle, newest]);
    const last = await later(world, ordered, DAY_MS);
    expect(await runs(world), 'a run that found nothing is erased').toEqual([first, second, newest, last]);
    expect(await arrived(world)).toBe(4);
    expect(await told(world)).toEqual([]);

    expect((await call(world, 'daily-off', { ...ordered, id: first })).status).toBe(200);
    expect(await kept(world)).toEqual([]);
    expect(await dailyOf(world, ordered)).toEqual({ until: expect.any(String) });
    expect(await call(world, 'daily-off', ordered)).toMatchObject(OFF);
    world.web.advance(10 * DAY_MS);
    await look(world);
    expect(await runs(world)).toHaveLength(4);
    for (const event of ['daily switched on', 'daily switched off'])
      expect(world.web.logLines.filter((line) => line.includes(`"security":"${event}"`))).toHaveLength(1);
    expect(world.web.logLines.join('')).not.toContain(PASSWORD);
  });

  test('is brought by one run at a time, however many look, and after a pause when another transfer runs', async () => {
    const world = await open();
    let ordered: Ordered;
    {
      await using _worker = await world.work();
      ordered = await begun(world);
    }
    world.web.advance(DAY_MS);
    await Promise.all(Array.from({ length: 5 }, () => look(world)));
    const [run = '', ...more] = await runs(world);
    expect(more).toEqual([]);
    // Nobody works, so that it still runs a day later, and then once more after an hour.
    for (const ms of [DAY_MS, HOUR_MS]) {
      world.web.advance(ms);
      await look(world);
      expect(await runs(world)).toEqual([run]);
    }
    await using _worker = await world.work();
    await whenEnded(world, { ...ordered, id: run });
    expect(await later(world, ordered, HOUR_MS)).not.toBe(run);
  });

  test('is looked for again in an hour when its owner orders another transfer at that very moment', async () => {
    const world = await open();
    {
      await using _worker = await world.work();
      await begun(world);
    }
    world.web.advance(DAY_MS);
    const { services } = world.web;
    world.web.passwords.set('bea@mail.example', PASSWORD);
    const start: typeof services.transfers.start = async (...order) => {
      await world.order({ destination: { email: 'bea@mail.example' } });
      return services.transfers.start(...order);
    };
    const now = services.now();
    await startDailies({ ...services, transfers: { ...services.transfers, start } }, now);
    expect(await runs(world)).toEqual([]);
    const dailies = await world.web.database.query('select next_run as next from dailies');
    expect(dailies).toEqual([{ next: new Date(now + HOUR_MS) }]);
  });

  test('is brought when its next time was written by a clock that was far ahead, once', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    await arrive(world, 3);
    const { database, services } = world.web;
    const getAhead = () => database.query("update dailies set next_run = next_run + interval '3 days'");
    await getAhead();
    await look(world);
    await expect.poll(() => runs(world)).toHaveLength(1);
    const [id = ''] = await runs(world);
    await whenEnded(world, { ...ordered, id });
    expect(await arrived(world)).toBe(3);
    expect(Date.parse((await dailyOf(world, ordered))?.next ?? '') - services.now()).toBeLessThanOrEqual(DAY_MS);
    // Another process's clock is ahead still.
    await getAhead();
    await look(world);
    expect(await runs(world)).toEqual([id]);
  });

  test('is looked for by a worker that begins after its time', async () => {
    const world = await open();
    {
      await using _worker = await world.work();
      await begun(world);
    }
    await arrive(world, 3);
    await world.web.database.query("update dailies set next_run = next_run - interval '3 days'");
    await using _worker = await world.work();
    await expect.poll(() => arrived(world), { timeout: 20_000 }).toBe(3);
    expect(await runs(world)).toHaveLength(1);
  });

  test('is not ended by a worker whose clock is far ahead', async () => {
    const world = await open();
    await using ending = new AsyncDisposableStack();
    ending.use(await world.work());
    const ordered = await begun(world);
    await ending.disposeAsync();
    const then = Date.now() + (DAILY_DAYS + 1) * DAY_MS;
    const ahead = await world.work({ clock: { ...MACHINE_CLOCK, now: () => then } });
    // Which waits for its first look.
    await ahead[Symbol.asyncDispose]();
    expect(await kept(world)).toHaveLength(2);
    expect(await dailyOf(world, ordered)).toHaveProperty('next');
  });

  test('is brought a last time shortly before access ends, and what signed in is erased then', async () => {
    const world = await open(1.5);
    await using _worker = await world.work();
    const ordered = await begun(world);
    await later(world, ordered, DAY_MS);
    const end = Date.parse(world.web.settings.accessEnd);
    expect(Date.parse((await dailyOf(world, ordered))?.next ?? '')).toBe(end - 3 * HOUR_MS);
    await arrive(world, 3);
    await later(world, ordered, DAY_MS / 2 - 3 * HOUR_MS + 60_000);
    expect(await arrived(world)).toBe(3);
    expect(await kept(world)).toHaveLength(2);
    world.web.advance(3 * HOUR_MS);
    await look(world);
    expect(await kept(world)).toEqual([]);
    expect(await runs(world)).toHaveLength(2);
    expect(await dailyOf(world, ordered)).toBeUndefined();
    expect(await call(world, 'again', ordered, GIVEN)).toMatchObject(OFF);
    expect(await told(world)).toEqual([]);
  });

  test(`is brought for ${DAILY_DAYS} days at most`, async () => {
    const world = await open(365);
    await using _worker = await world.work();
    const ordered = await begun(world);
    const days = (Date.parse((await dailyOf(world, ordered))?.until ?? '') - world.web.services.now()) / DAY_MS;
    expect(days).toBeGreaterThan(DAILY_DAYS - 1);
    expect(days).toBeLessThanOrEqual(DAILY_DAYS);
    world.web.advance(DAILY_DAYS * DAY_MS);
    await look(world);
    expect(await kept(world)).toEqual([]);
    expect(await runs(world)).toEqual([]);
  });

  test('is brought though a mailbox refuses the sign-in for a moment', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    await arrive(world, 3);
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    world.web.advance(DAY_MS);
    await look(world);
    const [id = ''] = await runs(world);
    const run = { ...ordered, id };
    await mailWhen(world, run, ({ waiting, attention }) => waiting !== undefined || attention !== undefined);
    world.web.passwords.set(NEW_ANN, PASSWORD);
    expect(
      await mailWhen(world, run, ({ finished, attention }) => (finished ?? attention) !== undefined),
    ).toMatchObject({
      status: 'completed',
    });
    expect(await arrived(world)).toBe(3);
    expect(await dailyOf(world, ordered)).toHaveProperty('next');
  });

  test(
    'is not brought any more after a refused password, which its owner is told once',
    { tags: 'proof' },
    async () => {
      const world = await open();
      await using _worker = await world.work();
      const ordered = await begun(world);
      world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
      world.web.advance(DAY_MS);
      await look(world);
      const [id = ''] = await runs(world);
      const run = { ...ordered, id };
      await mailWhen(world, run, ({ attention }) => attention !== undefined);
      expect(await kept(world)).toEqual([]);
      expect(await dailyOf(world, ordered)).toEqual({ until: expect.any(String), ended: 'sign_in' });
      await expect
        .poll(() => world.web.outbox.filter(({ raw }) => raw.includes('stopped bringing new mail')))
        .toHaveLength(1);
      expect(await told(world)).toEqual(['paused']);
      expect(await call(world, 'daily-off', ordered)).toMatchObject(OFF);
      world.web.advance(2 * DAY_MS);
      await look(world);
      expect(await runs(world)).toEqual([id]);

      expect((await call(world, 'resume', run, { password: NEW_PASSWORD })).status).toBe(200);
      await whenEnded(world, run);
      await expect.poll(() => told(world)).toEqual(['paused', 'finished']);
      const anew = await call(world, 'again', ordered, { ...GIVEN, destination_account: { password: NEW_PASSWORD } });
      expect(anew.status).toBe(200);
      expect(await dailyOf(world, ordered)).toMatchObject({ next: expect.any(String) });
      expect(await dailyOf(world, ordered)).not.toHaveProperty('ended');
    },
  );

  test(
    'is brought on after it was switched on again at a run that had brought nothing',
    { tags: 'proof' },
    async () => {
      const world = await open();
      await using _worker = await world.work();
      const ordered = await begun(world);
      const run = { ...ordered, id: await later(world, ordered, DAY_MS) };
      expect((await call(world, 'daily-off', run)).status).toBe(200);
      const { status, body } = await call(world, 'again', run, GIVEN);
      expect(status).toBe(200);
      await whenEnded(world, { ...ordered, id: (body as { jobid: string }).jobid });
      for (let day = 1; day <= 3; day += 1) await later(world, ordered, DAY_MS);
      expect(await dailyOf(world, ordered)).toMatchObject({ next: expect.any(String) });
      expect(await kept(world)).toEqual(['destination', 'source']);
    },
  );

  test('is brought on by what the last run knows, though the clock of the database was ahead at an earlier one, and another one knew nothing', async () => {
    const world = await open();
    const { database } = world.web;
    await using _worker = await world.work();
    const ordered = await begun(world);
    const ahead = await later(world, ordered, DAY_MS);
    await database.query("update transfers set finished = finished + interval '9 days' where id = $1", [ahead]);
    const last = await later(world, ordered, DAY_MS);
    const next = await later(world, ordered, DAY_MS);
    expect(await runs(world)).toEqual([last, next]);
    // As one that ends before it has learnt anything.
    await database.query('delete from ledger_adoptions where transfer_id = $1', [next]);
    const after = await later(world, ordered, DAY_MS);
    expect(await runs(world)).toEqual([last, next, after]);
  });

  test('is brought on although some of it is there twice, which is news once', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    {
      await using client = await world.destinationMail();
      await client.append('INBOX', [letter(1)]);
    }
    const first = await later(world, ordered, DAY_MS);
    expect(await statusOf(world, { ...ordered, id: first })).toMatchObject({
      emailmigration: { status: 'review', duplicated: 1 },
    });
    let newest = '';
    for (let day = 2; day <= 5; day += 1) newest = await later(world, ordered, DAY_MS);
    expect(await dailyOf(world, ordered)).toMatchObject({ next: expect.any(String) });
    expect(await runs(world), 'those that found no more are erased').toEqual([first, expect.any(String), newest]);
    await expect.poll(() => told(world)).toEqual(['review']);
  });

  test('is not brought any more once what was copied is taken back', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    expect((await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
    expect(await kept(world)).toEqual([]);
    expect(await dailyOf(world, ordered)).not.toHaveProperty('next');
  });

  test('is neither told by a transfer to the same address at another server, nor given up with it', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    const { port } = new URL(world.web.settings.legacyImapUrl ?? '');
    const elsewhere = await world.order({
      headers: ordered.headers,
      parameters: { destination_imap: `${HOST}:${port}` },
    });
    await whenEnded(world, elsewhere);
    expect(await dailyOf(world, elsewhere), 'it could be asked for').toEqual({ until: expect.any(String) });
    expect(await call(world, 'daily-off', elsewhere)).toMatchObject(OFF);
    expect((await call(world, 'take-back', elsewhere, { password: PASSWORD })).status).toBe(200);
    expect((await dailyOf(world, ordered))?.next).toBeDefined();
    expect(await kept(world)).toEqual(['destination', 'source']);
  });

  test('is asked for and given up by who may manage the transfer, when that has ended', async () => {
    const world = await open();
    const ordered = await world.order();
    const { id } = ordered;
    expect(await call(world, 'again', ordered, GIVEN)).toMatchObject(OFF);
    await using _worker = await world.work();
    await whenEnded(world, ordered);
    for (const headers of [{}, fromBrowser('d'.repeat(64))])
      for (const name of ['again', 'daily-off'] as const)
        expect((await call(world, name, { id, headers }, GIVEN)).body).toMatchObject({ error: 'INVALID_TOKEN' });
    for (const name of ['again', 'daily-off'] as const)
      expect((await call(world, name, { id: 'e'.repeat(32), headers: {} }, GIVEN)).status).toBe(404);
    expect(await call(world, 'daily-off', ordered)).toMatchObject(OFF);
    const wrong = { ...GIVEN, source_account: { password: 'wrong' } };
    expect((await call(world, 'again', ordered, wrong)).status).toBe(401);
    expect(await kept(world)).toEqual([]);
    const presses = await Promise.all([call(world, 'again', ordered, GIVEN), call(world, 'again', ordered, GIVEN)]);
    expect(new Set(presses.map(({ text }) => text)).size).toBe(1);
    expect(await kept(world)).toEqual(['destination', 'source']);
  });

  test('is forgotten with its subscriber, and keeps the transfer that it was asked for with until then', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    const { services, database, safe } = world.web;
    expect(await eraseEnded(database, 1, Date.now() + 2 * DAY_MS)).toBe(1);
    expect((await dailyOf(world, ordered))?.next).toBeDefined();
    await eraseSubscriber({ ...services, safe }, ANN);
    expect(await kept(world)).toEqual([]);
    expect(await database.query('select 1 from dailies')).toEqual([]);
  });

  test('keeps the pages on which it was asked for as long as its last run, when it is off', async () => {
    const world = await open();
    await using _worker = await world.work();
    const ordered = await begun(world);
    await later(world, ordered, DAY_MS);
    expect(await call(world, 'daily-off', ordered)).toMatchObject({ status: 200 });
    const { database } = world.web;
    await database.query("update transfers set finished = finished - interval '40 days' where not by_itself");
    expect(await eraseEnded(database, 30, Date.now())).toBe(0);
    expect((await statusOf(world, ordered)).emailmigration?.status).toBe('completed');
    await database.query("update transfers set finished = now() - interval '40 days'");
    expect(await eraseEnded(database, 30, Date.now())).toBe(3);
  });

  test(
    'is not brought any more after three runs that did not complete, which its owner is told once',
    { tags: 'proof' },
    async () => {
      let refuses = false;
      const world = await open(30, {
        change: (direction, part) =>
          direction === 'to server' && refuses
            ? Buffer.from(part.toString('latin1').replaceAll(/^(\S+) CREATE /gm, '$1 XREATE '), 'latin1')
            : part,
      });
      await using _worker = await world.work();
      const ordered = await begun(world);
      {
        await using client = await world.sourceMail();
        await client.create('Fresh');
        await client.append('Fresh', [letter(7)]);
      }
      refuses = true;
      for (const ended of [undefined, undefined, 'failed']) {
        await later(world, ordered, DAY_MS + HOUR_MS);
        await expect.poll(async () => (await dailyOf(world, ordered))?.ended).toBe(ended);
      }
      expect(await kept(world)).toEqual([]);
      expect((await told(world)).filter((kind) => kind !== 'review')).toEqual(['attention']);
    },
  );
});

/** Of a transfer to Gmail, by tokens. */
async function openWithGoogle() {
  const given: (readonly string[])[] = [];
  const world = await open(30, {
    providers: ['google'],
    takesToken: (_email, token) => given.some((tokens) => tokens.includes(token)),
  });
  const { google } = world.web.providers;
  if (google === undefined) throw new Error('Google was not started.');
  given.push(google.accessTokens);
  google.person.email = NEW_ANN;
  const browser = new OauthBrowser(world.web);
  const signIn = async () => {
    const page = await browser.until('/api/oauth/?provider=google', isPage);
    return page.searchParams.get('token_id') ?? '';
  };
  const order = async () => {
    const tokenId = await signIn();
    const destination = { provider: 'google', token_id: tokenId, password: undefined };
    return world.order({ headers: browser.headers, destination });
  };
  return { world, google, signIn, order };
}

test('the tokens of a daily stay as long as it is on, and are erased and revoked then', async () => {
  const { world, google, signIn, order } = await openWithGoogle();
  const tokens = () => world.web.database.query('select 1 from oauth_tokens');
  const ordered = await order();
  await using _worker = await world.work();
  await whenEnded(world, ordered);
  await expect.poll(tokens).toHaveLength(0);
  const { body } = await call(world, 'again', ordered, {
    ...GIVEN,
    destination_account: { token_id: await signIn() },
  });
  await whenEnded(world, { ...ordered, id: (body as { jobid: string }).jobid });
  expect(await tokens()).toHaveLength(1);
  await arrive(world, 3);
  await later(world, ordered, DAY_MS);
  expect(await arrived(world)).toBe(3);
  expect(await tokens()).toHaveLength(1);
  const revoked = google.revocations.length;
  expect((await call(world, 'daily-off', ordered)).status).toBe(200);
  expect(await tokens()).toHaveLength(0);
  expect(google.revocations).toHaveLength(revoked + 1);
});

test('the tokens of a daily are erased by the next purge when the process that switched it off has died, and take nothing back', async () => {
  const { world, signIn, order } = await openWithGoogle();
  const { services, database } = world.web;
  const ordered = await order();
  await using _worker = await world.work();
  await whenEnded(world, ordered);
  const token_id = await signIn();
  const { body } = await call(world, 'again', ordered, { ...GIVEN, destination_account: { token_id } });
  await whenEnded(world, { ...ordered, id: (body as { jobid: string }).jobid });
  expect(await call(world, 'take-back', ordered, { token_id })).toMatchObject({
    status: 401,
    body: { error: 'INVALID_CREDENTIALS', side: 'destination' },
  });
  expect(await dailyOf(world, ordered)).toHaveProperty('next');

  const dying = { ...services.tokens, forget: () => Promise.reject(new Error('The process has died.')) };
  const off = switchDailyOff({ ...services, safe: world.web.safe, tokens: dying }, ordered.id, null);
  await expect(off).rejects.toThrow('The process has died.');
  const tokens = () => database.query('select 1 from oauth_tokens');
  expect(await tokens()).toHaveLength(1);
  await services.tokens.purge();
  expect(await tokens()).toEqual([]);
});

test(
  'a daily keeps its tokens when the transfer that it was ordered with has ended before it is on',
  needs('postgresql'),
  async () => {
    const { world, signIn, order } = await openWithGoogle();
    const { database } = world.web;
    const ordered = await order();
    await using _worker = await world.work();
    await whenEnded(world, ordered);
    const tokens = () => database.query<{ held: boolean }>('select held from oauth_tokens');
    await expect.poll(tokens).toEqual([]);
    const destination_account = { token_id: await signIn() };
    const asked = await database.transaction(async (sql) => {
      await sql.query('select 1 from transfers where id = $1 for update', [ordered.id]);
      const answer = call(world, 'again', ordered, { ...GIVEN, destination_account });
      const ended = 'select 1 from transfers where id <> $1 and finished is not null';
      await expect.poll(() => sql.query(ended, [ordered.id])).toHaveLength(1);
      return { answer };
    });
    expect((await asked.answer).status).toBe(200);
    expect(await tokens()).toEqual([{ held: true }]);
    expect(await dailyOf(world, ordered)).toMatchObject({ next: expect.any(String) });
  },
);

test('a daily keeps its tokens when it is asked for once more and refused', async () => {
  const { world, signIn, order } = await openWithGoogle();
  const ordered = await order();
  const asked = { ...GIVEN, destination_account: { token_id: await signIn() } };
  {
    await using _worker = await world.work();
    await whenEnded(world, ordered);
    const { body } = await call(world, 'again', ordered, asked);
    await whenEnded(world, { ...ordered, id: (body as { jobid: string }).jobid });
  }
  await orderExport(world);
  expect((await call(world, 'again', ordered, asked)).status).toBe(409);
  expect(await world.web.database.query('select held from oauth_tokens')).toEqual([{ held: true }]);
});

test('the tokens of a daily that goes off just as its run ends are erased', async () => {
  const { world, signIn, order } = await openWithGoogle();
  const { services, database } = world.web;
  const ordered = await order();
  const asked = { ...GIVEN, destination_account: { token_id: await signIn() } };
  {
    await using _worker = await world.work();
    await whenEnded(world, ordered);
  }
  const answer = await call(world, 'again', ordered, asked);
  const answers: number[] = [];
  const forget = async (id: string) => {
    await services.tokens.forget(id);
    if (answers.length === 0) answers.push((await call(world, 'daily-off', ordered)).status);
  };
  {
    await using _worker = await world.work({ tokens: { ...services.tokens, forget } });
    await whenEnded(world, { ...ordered, id: (answer.body as { jobid: string }).jobid });
  }
  expect(answers).toEqual([200]);
  expect(await database.query('select 1 from oauth_tokens')).toEqual([]);
});

test('a daily can be asked for at once on the pages of two transfers of a mailbox', needs('postgresql'), async () => {
  const world = await open();
  const { database } = world.web;
  const first = await world.order();
  const { daily: _, ...once } = GIVEN;
  const again = async () => (await call(world, 'again', first, once)).body as { jobid: string };
  let second = first;
  {
    await using _worker = await world.work();
    await whenEnded(world, first);
    second = { ...first, id: (await again()).jobid };
    await whenEnded(world, second);
  }
  const asked = await database.transaction(async (sql) => {
    await sql.query('lock table dailies in exclusive mode');
    const answers = [first, second].map((each) => call(world, 'again', each, GIVEN));
    await expect.poll(() => sql.query('select 1 from pg_locks where not granted')).toHaveLength(2);
    return { answers };
  });
  expect((await Promise.all(asked.answers)).map(({ status }) => status)).toEqual([200, 200]);
  expect(await kept(world)).toEqual(['destination', 'source']);
});

test(
  'a daily that goes off while the end of its run is being written does not deadlock with it',
  needs('postgresql'),
  async () => {
    const { world, signIn, order } = await openWithGoogle();
    const { database } = world.web;
    const ordered = await order();
    {
      await using _worker = await world.work();
      await whenEnded(world, ordered);
    }
    const asked = { ...GIVEN, destination_account: { token_id: await signIn() } };
    expect((await call(world, 'again', ordered, asked)).status).toBe(200);
    const off = await database.transaction(async (sql) => {
      await sql.query('update transfers set epoch = epoch where finished is null');
      const answer = call(world, 'daily-off', ordered);
      await expect.poll(() => sql.query('select 1 from pg_locks where not granted')).not.toEqual([]);
      await sql.query('update dailies set failures = failures');
      return { answer };
    });
    expect((await off.answer).status).toBe(200);
    expect(await kept(world)).toEqual([]);
  },
);

test('a daily that goes off while a run is being begun leaves its tokens to that', needs('postgresql'), async () => {
  const { world, signIn, order } = await openWithGoogle();
  const { database } = world.web;
  const ordered = await order();
  {
    await using _worker = await world.work();
    await whenEnded(world, ordered);
  }
  const asked = { ...GIVEN, destination_account: { token_id: await signIn() } };
  const { jobid } = (await call(world, 'again', ordered, asked)).body as { jobid: string };
  await database.query('update transfers set finished = now() where id = $1', [jobid]);
  const off = await database.transaction(async (sql) => {
    await sql.query('select 1 from dailies for share');
    const answer = call(world, 'daily-off', ordered);
    await expect.poll(() => sql.query('select 1 from pg_locks where not granted')).not.toEqual([]);
    await sql.query('update transfers set finished = null where id = $1', [jobid]);
    return { answer };
  });
  expect((await off.answer).status).toBe(200);
  expect(await database.query('select held from oauth_tokens')).toEqual([{ held: false }]);
});
