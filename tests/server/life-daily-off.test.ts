import { describe, expect, onTestFinished, test } from 'vitest';
import { startDailies, switchDailyOff } from '../../src/server/transfers/dailies.ts';
import { DatabaseUnavailable } from '../../src/server/store/database-faults.ts';
import type { Sql } from '../../src/server/store/database.ts';
import { bookThatAnswers } from '../support/book-that-answers.ts';
import {
  ANN,
  call,
  mailWhen,
  NEW_ANN,
  openWorldOfTest,
  PASSWORD,
  statusOf,
  whenEnded,
  type LifeWorld,
  type MailStatus,
  type Ordered,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { startRadicale } from '../support/radicale.ts';
import type { Answer } from '../support/web-world.ts';

const DAY_MS = 24 * 3_600_000;
const ACCESS_END = new Date(Date.now() + 30 * DAY_MS).toISOString();
const GIVEN = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD }, daily: true };
const MAIL = { INBOX: [letter(1), letter(2)] };

/** Orders that what still arrives is brought, once the transfer has ended. */
async function daily(world: LifeWorld, ordered: Ordered, given: object = GIVEN): Promise<Ordered> {
  const answer = await call(world, 'again', ordered, given);
  expect(answer.status).toBe(200);
  return { ...ordered, id: (answer.body as { jobid: string }).jobid };
}

/** A daily whose run of the next day is due, with something to bring. */
async function due(): Promise<{ world: LifeWorld; ordered: Ordered }> {
  const world = await openWorldOfTest({ mail: MAIL, environment: { ACCESS_END } });
  const { web } = world;
  const ordered = await world.order();
  {
    await using _worker = await world.work();
    await whenEnded(world, ordered);
    await whenEnded(world, await daily(world, ordered));
  }
  {
    await using client = await world.sourceMail();
    await client.append('INBOX', [letter(3)]);
  }
  web.advance(DAY_MS);
  return { world, ordered };
}

/** Its run has begun, and waits, as for a limit of a provider. */
async function waiting(): Promise<{ world: LifeWorld; ordered: Ordered }> {
  const { world, ordered } = await due();
  const { services } = world.web;
  await startDailies(services, services.now());
  expect(await runsOf(world)).toHaveLength(1);
  return { world, ordered };
}

const isSettled = ({ finished, attention }: MailStatus) => finished !== undefined || attention !== undefined;
const runsOf = ({ web: { database } }: LifeWorld) =>
  database.query('select 1 from transfers where by_itself and finished is null');
const credentialsOf = ({ web: { database } }: LifeWorld) =>
  database.query('select 1 from credentials join transfers on id = transfer_id where by_itself');

describe('a daily that is about to begin a run', () => {
  const NAMES = ['daily-off', 'take-back'] as const;
  const off = async (world: LifeWorld, ordered: Ordered, name: (typeof NAMES)[number]) =>
    expect((await call(world, name, ordered, name === 'take-back' ? { password: PASSWORD } : {})).status).toBe(200);

  test.each(NAMES)('begins none any more after a %s', async (name) => {
    const { world, ordered } = await due();
    const { services } = world.web;
    const start: typeof services.transfers.start = async (...order) => {
      await off(world, ordered, name);
      return services.transfers.start(...order);
    };
    await startDailies({ ...services, transfers: { ...services.transfers, start } }, services.now());
    expect([await runsOf(world), await credentialsOf(world)]).toEqual([[], []]);
  });

  test.each(NAMES)('has stored it by the time that a %s looks for it', needs('postgresql'), async (name) => {
    const { world, ordered } = await due();
    const { services, database } = world.web;
    let asked: Promise<void> | undefined;
    const start: typeof services.transfers.start = (order, { admit, ...options } = {}) => {
      const andThen = async (sql: Sql) => {
        await admit?.(sql);
        asked = off(world, ordered, name);
        const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        const isWaiting = async () => {
          while ((await database.query(waits)).length === 0);
        };
        await Promise.race([asked, isWaiting()]);
      };
      return services.transfers.start(order, { ...options, admit: andThen });
    };
    await startDailies({ ...services, transfers: { ...services.transfers, start } }, services.now());
    await asked;
    expect([await runsOf(world), await credentialsOf(world)]).toEqual([[], []]);
  });
});

describe('a daily that has begun a run', () => {
  test.each(['daily-off', 'take-back'] as const)('brings nothing more after a %s', async (name) => {
    const { world, ordered } = await waiting();
    const { database } = world.web;
    expect((await call(world, name, ordered, name === 'take-back' ? { password: PASSWORD } : {})).status).toBe(200);
    expect(await credentialsOf(world)).toEqual([]);
    expect((await statusOf(world, ordered)).daily).not.toHaveProperty('next');
    await using _worker = await world.work();
    // What was queued for it has been looked at.
    const queued = "select 1 from pgboss.job where name in ('transfers', 'take-backs') and state <> 'completed'";
    await expect.poll(() => database.query(queued)).toEqual([]);
    await using client = await world.destinationMail();
    expect(await client.read('INBOX')).toHaveLength(name === 'take-back' ? 0 : 2);
    const told = "select 1 from pgboss.job where name = 'notifications' and data->>'kind' = 'stopped'";
    expect(await database.query(told)).toEqual([]);
  });
});

test('the owner of a run that is under way who orders what is new is told how it ends', async () => {
  const { world, ordered } = await waiting();
  let again: Promise<Answer> | undefined;
  await using _worker = await world.work({
    onStep: async () => {
      again ??= call(world, 'again', ordered, { ...GIVEN, daily: undefined });
      await again;
    },
  });
  await expect.poll(() => runsOf(world), { timeout: 20_000 }).toEqual([]);
  const { status, body } = (await again) ?? {};
  expect(status).toBe(200);
  const { jobid } = body as { jobid: string };
  const told = "select data->>'kind' as kind from pgboss.job where name = 'notifications' and data->>'transferId' = $1";
  await expect.poll(() => world.web.database.query(told, [jobid])).toEqual([{ kind: 'finished' }]);
});

test('a daily-off that broke off in the middle stops the run when it is asked for again', async () => {
  const { world, ordered } = await waiting();
  const { database } = world.web;
  const query = database.query.bind(database);
  let isBroken = false;
  const breaking: typeof database.query = async (text, parameters) => {
    if (isBroken || !text.includes('run.by_itself')) return query(text, parameters);
    isBroken = true;
    throw new DatabaseUnavailable(new Error('The connection is gone.'));
  };
  Object.assign(database, { query: breaking });
  expect((await call(world, 'daily-off', ordered)).status).toBe(503);
  expect(await runsOf(world)).toHaveLength(1);
  expect((await call(world, 'daily-off', ordered)).status).toBe(200);
  expect([await runsOf(world), await credentialsOf(world)]).toEqual([[], []]);
  expect((await call(world, 'daily-off', ordered)).status).toBe(409);
});

/** A browser of the subscriber, who signs in to the new mailbox at Google; `signIn` resolves with a new token's ID. */
function googleVisitor({ web }: LifeWorld) {
  const { google } = web.providers;
  if (google === undefined) throw new Error('Google was not started.');
  google.person.email = NEW_ANN;
  const browser = new OauthBrowser(web);
  const signIn = async () =>
    (await browser.until('/api/oauth/?provider=google', isPage)).searchParams.get('token_id') ?? '';
  return { browser, signIn };
}

/** A transfer to Google that has ended; `given` is a new sign-in there, with what else asks for a daily. */
async function atGoogle() {
  const world = await openWorldOfTest({
    mail: MAIL,
    providers: ['google'],
    takesToken: () => true,
    environment: { ACCESS_END },
  });
  const { browser, signIn } = googleVisitor(world);
  const token = await signIn();
  const ordered = await world.order({
    headers: browser.headers,
    destination: { provider: 'google', token_id: token, password: undefined },
  });
  {
    await using _worker = await world.work();
    await whenEnded(world, ordered);
  }
  const given = async () => ({ ...GIVEN, destination_account: { token_id: await signIn() } });
  const tokens = () => world.web.database.query('select 1 from oauth_tokens');
  return { world, ordered, given, tokens };
}

test('no tokens are held for a daily that could not be switched on, or was switched off just before a crash', async () => {
  const { world, ordered, given } = await atGoogle();
  const { services, database, safe } = world.web;
  const held = () => database.query('select held from oauth_tokens');
  const again = await given();
  const seal = safe.seal.bind(safe);
  Object.assign(safe, {
    seal: (place: string, text: string) =>
      place.startsWith('dailies/') ? Promise.reject(new Error('The disk is full.')) : seal(place, text),
  });
  expect((await call(world, 'again', ordered, again)).status).toBe(500);
  expect(await held()).toEqual([{ held: false }]);
  Object.assign(safe, { seal });
  expect((await call(world, 'again', ordered, again)).status).toBe(200);
  expect(await held()).toEqual([{ held: true }]);
  const crashing = Object.create(database) as typeof database;
  const transaction: typeof database.transaction = async (work) => {
    await database.transaction(work);
    throw new Error('The process is killed.');
  };
  const off = switchDailyOff(
    { ...services, safe, database: Object.assign(crashing, { transaction }) },
    ordered.id,
    null,
  );
  await expect(off).rejects.toThrow('killed');
  expect(await held()).toEqual([{ held: false }]);
});

describe('the tokens of a daily that goes off are left to a transfer that works with them until it ends', () => {
  const NEW_PASSWORD = 'another horse';

  test('one that was ordered, whose daily is given up', async () => {
    const { world, ordered, given, tokens } = await atGoogle();
    const again = await daily(world, ordered, await given());
    expect((await call(world, 'daily-off', ordered)).status).toBe(200);
    await using _worker = await world.work();
    expect(await mailWhen(world, again, isSettled)).toMatchObject({ status: 'completed' });
    await whenEnded(world, again);
    expect(await tokens()).toEqual([]);
  });

  test('one that was ordered, whose daily is asked for anew', async () => {
    const { world, ordered, given, tokens } = await atGoogle();
    const again = await daily(world, ordered, await given());
    expect(await daily(world, ordered, await given())).toEqual(again);
    await using _worker = await world.work();
    expect(await mailWhen(world, again, isSettled)).toMatchObject({ status: 'completed' });
    await whenEnded(world, again);
    expect(await tokens(), 'those of the new daily').toHaveLength(1);
  });

  test('its run, which goes on where it stopped once its owner has typed the new password of the source', async () => {
    const { world, ordered, given, tokens } = await atGoogle();
    await using _worker = await world.work();
    await whenEnded(world, await daily(world, ordered, await given()));
    const { services, database, passwords } = world.web;
    passwords.set(ANN, NEW_PASSWORD);
    world.web.advance(DAY_MS);
    await startDailies(services, services.now());
    const begun = () => database.query<{ id: string }>('select id from transfers where by_itself');
    // The worker looks as well, and may be the one that is just beginning it.
    await expect.poll(begun).toHaveLength(1);
    const run = { ...ordered, id: (await begun())[0]?.id ?? '' };
    expect(await mailWhen(world, run, isSettled)).toMatchObject({
      attention: { side: 'source', reason: 'password' },
    });
    expect((await statusOf(world, ordered)).daily).toMatchObject({ ended: 'sign_in' });
    expect((await call(world, 'resume', run, { side: 'source', password: NEW_PASSWORD })).status).toBe(200);
    expect(await mailWhen(world, run, isSettled)).toMatchObject({ status: 'completed' });
    await whenEnded(world, run);
    expect(await tokens()).toEqual([]);
  });
});

/** Google's address book, which lets nobody in: the permission is missing. */
function closedBook(): Promise<string> {
  const details = [{ reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' }];
  const error = { code: 403, message: 'No.', status: 'PERMISSION_DENIED', details };
  return bookThatAnswers({ status: 403, body: { error } });
}

test('a daily stays on where the address book alone lets nobody in', needs('radicale'), async () => {
  const radicale = await startRadicale([ANN], () => PASSWORD);
  onTestFinished(() => radicale[Symbol.asyncDispose]());
  const card = 'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c1\r\nFN:Ada\r\nN:Ada;;;;\r\nEND:VCARD\r\n';
  await radicale.put(await radicale.makeBook(ANN, 'friends'), ANN, '1.vcf', card);
  const world = await openWorldOfTest({
    mail: MAIL,
    providers: ['google'],
    takesToken: () => true,
    environment: {
      ACCESS_END,
      LEGACY_CARDDAV_URL: `${radicale.url}{email}/`,
      GOOGLE_CONTACTS_URL: await closedBook(),
    },
  });
  const { browser, signIn } = googleVisitor(world);
  await using _worker = await world.work();
  const restsAndIsCopied = async (ordered: Ordered) => {
    await expect
      .poll(async () => (await statusOf(world, ordered)).contactsmigration?.attention)
      .toMatchObject({ side: 'destination', reason: 'consent' });
    await expect
      .poll(async () => (await statusOf(world, ordered)).emailmigration)
      .toMatchObject({ status: 'completed', finished: expect.any(String) });
  };
  const token = await signIn();
  const first = await world.order({
    headers: browser.headers,
    operations: ['emailmigration', 'contactsmigration'],
    destination: { provider: 'google', token_id: token, password: undefined },
  });
  await restsAndIsCopied(first);
  expect((await call(world, 'cancel', first)).status).toBe(200);
  const second = await daily(world, first, { ...GIVEN, destination_account: { token_id: await signIn() } });
  await restsAndIsCopied(second);
  expect((await statusOf(world, second)).daily).toMatchObject({ next: expect.any(String) });
});
