import { describe, expect, test } from 'vitest';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { bookThatAnswers } from '../support/book-that-answers.ts';
import {
  ANN,
  call,
  mailWhen,
  NEW_ANN,
  openWorldOfTest,
  orderExport,
  PASSWORD,
  statusOf,
  type LifeWorld,
  type Ordered,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';

const rolesKept = async ({ web }: LifeWorld) =>
  (await web.database.query<{ role: string }>('select role from credentials order by role')).map(({ role }) => role);

async function signIn(from: OauthBrowser): Promise<string> {
  const page = await from.until('/api/oauth/?provider=google', isPage);
  return page.searchParams.get('token_id') ?? '';
}

/** A transfer to Google that nobody works on yet. */
async function open(
  operations?: readonly string[],
): Promise<{ world: LifeWorld; ordered: Ordered; browser: OauthBrowser }> {
  const mail = { INBOX: Array.from({ length: 5 }, (_, number) => letter(number)) };
  const world = await openWorldOfTest({ mail, providers: ['google'], takesToken: () => true });
  const { google } = world.web.providers;
  if (google === undefined) throw new Error('Google was not started.');
  google.person.email = NEW_ANN;
  const browser = new OauthBrowser(world.web);
  const destination = { provider: 'google', token_id: await signIn(browser), password: undefined };
  return {
    world,
    browser,
    ordered: await world.order({ headers: browser.headers, destination, ...(operations && { operations }) }),
  };
}

/** As the worker puts them to rest when the address book says that the permission is missing. */
async function restContacts({ web }: LifeWorld, { id }: Ordered, days = 0): Promise<void> {
  await web.database.query(
    `insert into operations (transfer_id, operation, status, attention_side, attention_reason, attention_since)
     values ($1, 'contactsmigration', 'authentication_error', 'destination', 'consent',
       now() - $2::integer * interval '1 day')`,
    [id, days],
  );
}

test('contacts whose address book asks for a pause are reported as waiting for it, and each run counts', async () => {
  const pause = 7200;
  const book = await bookThatAnswers({ status: 503, headers: { 'retry-after': String(pause) } });
  const world = await openWorldOfTest({ environment: { LEGACY_CARDDAV_URL: `${book}/{email}/` } });
  const ordered = await orderExport(world);
  const { database } = world.web;
  await database.query('update operations set idle_runs = 20');
  const asked = Date.now();
  await using _worker = await world.work();
  await expect.poll(async () => (await statusOf(world, ordered)).contactsmigration?.waiting).toBeDefined();
  const { waiting } = (await statusOf(world, ordered)).contactsmigration ?? {};
  expect(waiting).toMatchObject({ reason: 'busy' });
  expect(Date.parse(waiting?.until ?? '')).toBeGreaterThanOrEqual(asked + pause * 1000);
  expect(await database.query("select idle_runs from operations where operation = 'contactsmigration'")).toEqual([
    // As many as there would have been within the pause.
    { idle_runs: 24 },
  ]);
});

test('contacts that wait are not asked for before their time when the mail goes on sooner, unless no wait is so long', async () => {
  const book = await bookThatAnswers({ status: 503, headers: { 'retry-after': '7200' } });
  const world = await openWorldOfTest({ environment: { LEGACY_CARDDAV_URL: `${book}/{email}/` } });
  const ordered = await orderExport(world);
  const { database, queue } = world.web;
  const tries = async () => {
    const rows = await database.query<{ tries: number }>(
      'select idle_runs as tries from operations order by operation',
    );
    return rows.map((row) => row.tries);
  };
  const epoch = async () => {
    const [row] = await database.query<{ epoch: number }>('select epoch from transfers where leased_until is null');
    return row?.epoch ?? 0;
  };
  let runs = 0;
  const runIsOver = async () => {
    await expect.poll(epoch, { timeout: 15_000 }).toBeGreaterThan(runs);
    runs = await epoch();
  };
  await using _worker = await world.work();
  await runIsOver();
  const { waiting } = (await statusOf(world, ordered)).contactsmigration ?? {};
  expect(waiting).toMatchObject({ reason: 'busy' });
  await queue.send(ordered.id);
  await runIsOver();
  // The mail is read, and waits for the contacts: that must not use up its own tries.
  expect(await tries()).toEqual([4, 0]);
  expect((await statusOf(world, ordered)).contactsmigration?.waiting).toEqual(waiting);

  // As a machine whose clock was ahead has written.
  await database.query("update operations set waiting_until = waiting_until + interval '3 days'");
  await queue.send(ordered.id);
  await runIsOver();
  expect(await tries()).toEqual([8, 0]);
});

test('a transfer of nothing but contacts is not run again by a password, which brings none', async () => {
  const { world, ordered } = await open(['contactsmigration']);
  expect((await call(world, 'cancel', ordered)).status).toBe(200);
  const given = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD } };
  expect(await call(world, 'again', ordered, given)).toMatchObject({
    status: 409,
    body: { error: 'OPERATION_NOT_ALLOWED' },
  });
  expect(await world.web.database.query('select 1 from transfers')).toHaveLength(1);
});

describe('a transfer whose contacts alone were not permitted', () => {
  test('keeps its mail as it is, and lets the contacts go on with a new sign-in', async () => {
    const { world, ordered, browser } = await open();
    await restContacts(world, ordered);
    {
      await using _worker = await world.work();
      expect(await mailWhen(world, ordered, ({ finished }) => finished !== undefined)).toMatchObject({
        status: 'completed',
        done: 5,
      });
    }
    const before = await statusOf(world, ordered);
    expect(before).toMatchObject({
      contactsmigration: { attention: { side: 'destination', reason: 'consent' } },
      route: { from: ANN, to: NEW_ANN },
    });
    expect((await call(world, 'resume', ordered, { token_id: await signIn(browser) })).status).toBe(200);
    const after = await statusOf(world, ordered);
    expect(after.contactsmigration).toMatchObject({ status: 'inprogress' });
    expect(after.contactsmigration).not.toHaveProperty('attention');
    expect(after.emailmigration).toEqual(before.emailmigration);
    expect(await rolesKept(world)).toEqual(['destination', 'source']);
  });

  test('goes on with the new sign-in when that comes while its mail is copied with the old one', async () => {
    const { world, ordered, browser } = await open();
    const { tokens, database } = world.web.services;
    await restContacts(world, ordered);
    const tokensKept = () => database.query<{ id: string }>('select id from oauth_tokens');
    const [before] = await tokensKept();
    const putRight = async () => call(world, 'resume', ordered, { token_id: await signIn(browser) });
    let answer: ReturnType<typeof putRight> | undefined;
    await using _worker = await world.work({
      tokens: {
        ...tokens,
        accessToken: async (...asked) => {
          answer ??= putRight();
          await answer;
          return tokens.accessToken(...asked);
        },
      },
    });
    const mail = await mailWhen(world, ordered, ({ finished, attention }) => finished !== undefined || !!attention);
    expect(mail).toMatchObject({ status: 'completed', done: 5 });
    expect((await answer)?.status).toBe(200);
    expect(await tokensKept()).not.toContainEqual(before);
    expect(await rolesKept(world)).toEqual(['destination', 'source']);
  });

  test('and whose new mailbox was full goes on with the sign-in that it has once its owner made room', async () => {
    const { world, ordered } = await open();
    await restContacts(world, ordered);
    // As a worker puts it to rest when the mailbox is full.
    await world.web.database.query(
      `update operations set status = 'review', attention_side = 'destination', attention_reason = 'full',
         attention_since = now() where operation = 'emailmigration'`,
    );
    await using _worker = await world.work();
    const queued = "select 1 from pgboss.job where name = 'transfers' and state <> 'completed'";
    await expect.poll(() => world.web.database.query(queued)).toEqual([]);
    // The page asks for room, and for nothing else.
    expect((await call(world, 'resume', ordered)).status).toBe(200);
    const mail = await mailWhen(world, ordered, ({ finished, attention }) => (finished ?? attention) !== undefined);
    expect(mail).toMatchObject({ status: 'completed' });
    expect((await statusOf(world, ordered)).contactsmigration).toHaveProperty('attention');
    // Only the contacts are left.
    await expect.poll(() => rolesKept(world)).not.toContain('destination');
  });

  test('does not say that it has ended when nobody permits them for two weeks and its mail goes on', async () => {
    let isAway = false;
    const world = await openWorldOfTest({
      mail: { INBOX: [letter(1), letter(2)] },
      change: (direction, part) =>
        direction === 'to client' && isAway
          ? Buffer.from(part.toString('latin1').replace(/^\* OK /, '* BYE '), 'latin1')
          : part,
    });
    const ordered = await world.order();
    await restContacts(world, ordered, 15);
    isAway = true;
    await using _worker = await world.work();
    const mail = await mailWhen(world, ordered, ({ waiting }) => waiting !== undefined);
    expect(mail).not.toHaveProperty('finished');
    expect((await statusOf(world, ordered)).contactsmigration).toMatchObject({
      finished: expect.any(String),
      failure: SENTENCES.unansweredContacts,
    });
    expect(SENTENCES.unansweredContacts).not.toContain('the transfer has ended');
  });
});
