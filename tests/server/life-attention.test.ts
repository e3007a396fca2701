import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { askAgain, eraseRefused, putRight, restingOperations } from '../../src/server/transfers/attention.ts';
import { openCredentials, type Secret } from '../../src/server/transfers/credentials.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
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
  sentOn,
  whenEnded,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser } from '../support/web-world.ts';
import { storedTransfer } from '../support/stored-transfer.ts';

const DAY_MS = 24 * 3_600_000;
const NEW_PASSWORD = 'another horse';
const many = (count: number, octets = 300) => Array.from({ length: count }, (_, number) => letter(number, octets));
const resting = ({ attention }: { attention?: unknown }) => attention !== undefined;

const rolesKept = async ({ web }: LifeWorld) =>
  (await web.database.query<{ role: string }>('select role from credentials order by role')).map(({ role }) => role);
const told = async ({ web }: LifeWorld) =>
  (
    await web.database.query<{ occurrence: string }>(
      "select data->>'occurrence' as occurrence from pgboss.job where data->>'kind' = 'paused' order by created_on",
    )
  ).map(({ occurrence }) => occurrence);

async function digests({ destinationMail }: LifeWorld, mailbox = 'INBOX'): Promise<string[]> {
  await using client = await destinationMail();
  return (await client.read(mailbox)).map(({ sha256 }) => sha256).toSorted();
}

async function signIn(from: OauthBrowser): Promise<string> {
  const page = await from.until('/api/oauth/?provider=google', isPage);
  return page.searchParams.get('token_id') ?? '';
}

describe('a transfer whose new mailbox refuses the password', () => {
  test('rests, keeps the other credential, tells its owner once, and goes on with the right password', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(20) } });
    const ordered = await world.order({ parameters: { notification_email: 'new@home.example' } });
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    await using _worker = await world.work();
    const mail = await mailWhen(world, ordered, resting);
    expect(mail).toMatchObject({
      status: 'authentication_error',
      attention: { side: 'destination', reason: 'password' },
      failure: SENTENCES.destinationCredentials,
    });
    expect(mail).not.toHaveProperty('finished');
    const [rest] = await world.web.database.query<{ since: Date }>(
      "select attention_since as since from operations where operation = 'emailmigration'",
    );
    expect(Date.parse(mail.attention?.until ?? '') - (rest?.since.getTime() ?? 0)).toBe(14 * 24 * 3_600_000);
    await expect.poll(() => rolesKept(world)).toEqual(['source']);
    await expect.poll(() => world.web.outbox.filter(({ raw }) => raw.includes('is waiting for you')).length).toBe(1);

    expect(await call(world, 'resume', ordered)).toMatchObject({ status: 401, body: { error: 'INVALID_CREDENTIALS' } });
    expect((await call(world, 'resume', ordered, { password: 'wrong' })).status).toBe(401);
    expect((await call(world, 'resume', ordered, { password: NEW_PASSWORD, side: 'source' })).status).toBe(409);
    expect((await call(world, 'resume', ordered, { token_id: 'f'.repeat(32) })).status).toBe(401);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ attention: { side: 'destination' } });
    expect((await call(world, 'resume', ordered, { password: NEW_PASSWORD })).status).toBe(200);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 20, lost: 0 });
    expect((await call(world, 'resume', ordered, { password: NEW_PASSWORD })).status).toBe(409);
    await expect.poll(() => rolesKept(world)).toEqual([]);
    expect(await told(world)).toEqual(['0.destination.password']);
    expect(world.web.logLines.filter((line) => line.includes('"security":"transfer put right"'))).toHaveLength(1);
    expect(world.web.logLines.join('')).not.toContain(NEW_PASSWORD);
  });

  test('is asked for again after 2 and 6 days, once each, and ends after 14', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(2) } });
    const { database } = world.web;
    const ordered = await world.order({ parameters: { notification_email: 'new@home.example' } });
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    {
      await using _worker = await world.work();
      await mailWhen(world, ordered, resting);
      await expect.poll(() => rolesKept(world)).toEqual(['source']);
    }
    const began = Date.now();
    for (const days of [0, 1.9, 2.1, 3, 5.9, 6.1, 13])
      await askAgain({ database, queue: world.web.queue, log: world.web.services.log }, began + days * DAY_MS);
    const first = '0.destination.password';
    expect(await told(world)).toEqual([first, `${first}.2`, `${first}.6`]);
    {
      // It looks, and its clock alone ends nothing: what was refused is gone for good then.
      const clock = { ...MACHINE_CLOCK, now: () => began + 15 * DAY_MS };
      const looked = 'select epoch from transfers where leased_until is null and epoch > $1';
      const [before] = await database.query<{ epoch: number }>(looked, [0]);
      await using _worker = await world.work({ clock });
      await expect.poll(() => database.query(looked, [before?.epoch]), { timeout: 15_000 }).toHaveLength(1);
      expect((await statusOf(world, ordered)).emailmigration).toHaveProperty('attention');
    }
    await database.query("update operations set attention_since = attention_since - interval '15 days'");
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({
      status: 'authentication_error',
      failure: SENTENCES.unanswered,
    });
    await expect.poll(() => rolesKept(world)).toEqual([]);
    expect((await statusOf(world, ordered)).emailmigration).not.toHaveProperty('attention');
    expect((await call(world, 'resume', ordered, { password: NEW_PASSWORD })).status).toBe(409);
  });

  test('is asked for again beside one whose row is damaged', async () => {
    const world = await openWorldOfTest();
    const { database, services, queue } = world.web;
    const rest = (id: string, since: string) =>
      database.query(
        `update operations set attention_side = 'destination', attention_reason = 'full', attention_since = $2::timestamptz
         where transfer_id = $1`,
        [id, since],
      );
    const account = { email: 'bob@mail.example', password: 'any', provider: 'other' } as const;
    const damaged = await services.transfers.start({
      source: { ...account, provider: 'sanbruno' },
      destination: account,
      operations: ['emailmigration'],
      inQa: false,
    });
    await rest(damaged.id, 'infinity');
    await rest((await world.order()).id, '2025-11-01T00:00:00Z');
    await askAgain({ database, queue, log: services.log }, Date.parse('2025-11-04T00:00:00Z'));
    expect(await told(world)).toEqual(['0.destination.full.2']);
  });

  test('goes on when it is ordered again with the right password', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const ordered = await world.order();
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    await using _worker = await world.work();
    await mailWhen(world, ordered, resting);
    const again = await world.order({ destination: { password: NEW_PASSWORD } });
    expect(again.id).toBe(ordered.id);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 3, compared: 3 });
  });

  test('goes on with the next worker when its own has died, put right once however often that is pressed', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const ordered = await world.order();
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    {
      await using _worker = await world.work();
      await mailWhen(world, ordered, resting);
      await expect.poll(() => rolesKept(world)).toEqual(['source']);
    }
    const right = { password: NEW_PASSWORD };
    const presses = await Promise.all([call(world, 'resume', ordered, right), call(world, 'resume', ordered, right)]);
    expect(new Set(presses.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect((await statusOf(world, ordered)).emailmigration).not.toHaveProperty('attention');
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 3 });
  });

  test('can be stopped while it rests', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(2) } });
    const ordered = await world.order();
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    await using _worker = await world.work();
    await mailWhen(world, ordered, resting);
    await expect.poll(() => rolesKept(world)).toEqual(['source']);
    expect((await call(world, 'cancel', ordered)).status).toBe(200);
    const { emailmigration } = await statusOf(world, ordered);
    expect(emailmigration).toMatchObject({ status: 'review', ended: 'cancelled' });
    expect(emailmigration).not.toHaveProperty('attention');
    expect(await rolesKept(world)).toEqual([]);
  });

  test('is put right only by who may manage it, and guesses are limited', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(1) } });
    const ordered = await world.order();
    const { id } = ordered;
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    await using _worker = await world.work();
    await mailWhen(world, ordered, resting);
    const right = { password: NEW_PASSWORD };
    for (const headers of [{}, fromBrowser('d'.repeat(64))])
      expect(await call(world, 'resume', { id, headers }, right)).toMatchObject({
        status: 401,
        body: { error: 'INVALID_TOKEN' },
      });
    expect((await call(world, 'resume', { id: 'e'.repeat(32), headers: ordered.headers }, right)).status).toBe(404);
    const statuses: number[] = [];
    for (let guess = 0; guess < 60 && statuses.at(-1) !== 429; guess += 1)
      statuses.push((await call(world, 'resume', ordered, { password: `guess ${guess}` })).status);
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401]);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('a transfer whose old mailbox refuses the password', () => {
  test('rests, and goes on with the new one to its files', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(4) }, environment: { LEGACY_CARDDAV_URL: undefined } });
    const ordered = await orderExport(world);
    world.web.passwords.set(ANN, NEW_PASSWORD);
    await using _worker = await world.work();
    await mailWhen(world, ordered, resting);
    expect(await statusOf(world, ordered)).toMatchObject({
      emailmigration: { attention: { side: 'source', reason: 'password' } },
    });
    expect((await call(world, 'resume', ordered, { password: NEW_PASSWORD, side: 'source' })).status).toBe(200);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 4 });
    expect(await statusOf(world, ordered)).toMatchObject({ files: 'there' });
  });
});

describe('a transfer towards a provider that takes the consent no more', () => {
  test('goes on with a new sign-in of the same mailbox in this browser, and with no other', async () => {
    const good = new Set<string>();
    const world = await openWorldOfTest({
      mail: { INBOX: many(5) },
      providers: ['google'],
      takesToken: (_email, token) => good.has(token),
    });
    const { google } = world.web.providers;
    if (google === undefined) throw new Error('Google was not started.');
    google.person.email = NEW_ANN;
    const browser = new OauthBrowser(world.web);
    const first = await signIn(browser);
    const ordered = await world.order({
      headers: browser.headers,
      destination: { provider: 'google', token_id: first, password: undefined },
    });
    await using _worker = await world.work();
    expect(await mailWhen(world, ordered, resting)).toMatchObject({
      status: 'authentication_error',
      attention: { side: 'destination', reason: 'consent' },
    });
    await expect.poll(() => world.web.database.query('select 1 from oauth_tokens')).toEqual([]);

    const others = await signIn(new OauthBrowser(world.web));
    const elsewhere = await signIn(browser);
    await world.web.database.query('update oauth_tokens set email = $2 where id = $1', [
      elsewhere,
      'somebody@else.example',
    ]);
    for (const token of [others, elsewhere, first])
      expect(await call(world, 'resume', ordered, { token_id: token })).toMatchObject({
        status: 401,
        body: { error: 'INVALID_CREDENTIALS' },
      });
    const again = await signIn(browser);
    for (const token of google.accessTokens) good.add(token);
    expect((await call(world, 'resume', ordered, { token_id: again })).status).toBe(200);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 5 });
  });
});

/** Makes the second of two calls, from beginning to end, when the first has only just looked whether it may. */
function meanwhile({ web: { database } }: LifeWorld, looked: string, second: () => Promise<unknown>): void {
  const query = database.query.bind(database);
  let isFirst = true;
  const overtaken: typeof database.query = async (text, parameters) => {
    const rows = await query(text, parameters);
    if (!isFirst || !text.includes(looked)) return rows as never;
    isFirst = false;
    await second();
    return rows as never;
  };
  Object.assign(database, { query: overtaken });
}

test.each([
  ['resume', 'attention_side as side', 409],
  ['take-back', 'as running', 200],
] as const)(
  'of two sign-ins for one %s the one that is not used is kept no longer than any other',
  async (name, looked, status) => {
    const world = await openWorldOfTest({ providers: ['google'], takesToken: () => true });
    const { google } = world.web.providers;
    if (google === undefined) throw new Error('Google was not started.');
    google.person.email = NEW_ANN;
    const browser = new OauthBrowser(world.web);
    const token = await signIn(browser);
    const ordered = await world.order({
      headers: browser.headers,
      destination: { provider: 'google', token_id: token, password: undefined },
    });
    const { database } = world.web;
    if (name === 'take-back') await call(world, 'cancel', ordered);
    else
      await database.query(
        `update operations set status = 'authentication_error', attention_side = 'destination',
           attention_reason = 'consent', attention_since = now()`,
      );
    const [used, unused] = [await signIn(browser), await signIn(browser)];
    const kept = () =>
      database.query<{ id: string }>(`select id from oauth_tokens where expires > $1`, [
        world.web.services.now() + DAY_MS,
      ]);
    meanwhile(world, looked, async () =>
      expect((await call(world, name, ordered, { token_id: used })).status).toBe(200),
    );
    expect((await call(world, name, ordered, { token_id: unused })).status).toBe(status);
    expect(await kept()).toEqual([{ id: used }]);
    expect(
      await openCredentials(database, world.web.safe, await storedTransfer(database, ordered.id), 'destination'),
    ).toEqual({
      kind: 'token',
      tokenId: used,
    });
  },
);

describe('a transfer whose new mailbox', { timeout: 90_000 }, () => {
  test('is full goes on where it stopped once there is room, with nothing twice', needs('dovecot'), async () => {
    const world = await openWorldOfTest({
      dovecots: true,
      destinationOptions: { quota: 1 },
      mail: { INBOX: many(30, 60_000) },
    });
    const ordered = await world.order({ parameters: { notification_email: 'new@home.example' } });
    await using _worker = await world.work();
    const mail = await mailWhen(world, ordered, resting);
    expect(mail).toMatchObject({ status: 'review', attention: { side: 'destination', reason: 'full' } });
    expect(mail.done).toBeGreaterThan(5);
    expect(await rolesKept(world)).toEqual(['destination', 'source']);
    const before = await digests(world);
    // Not yet any room: it comes to rest again, and that is told anew.
    expect((await call(world, 'resume', ordered)).status).toBe(200);
    await expect.poll(() => told(world), { timeout: 20_000 }).toEqual(['0.destination.full', '1.destination.full']);
    await mailWhen(world, ordered, resting);
    expect(await digests(world)).toEqual(before);
    {
      await using client = await world.destinationMail();
      await client.command('SELECT INBOX');
      await client.command('UID STORE 1:* +FLAGS (\\Deleted)');
      await client.command('EXPUNGE');
    }
    expect((await call(world, 'resume', ordered)).status).toBe(200);
    await mailWhen(world, ordered, ({ done = 0 }) => done > (mail.done ?? 0));
    const after = await digests(world);
    expect(after.filter((digest) => before.includes(digest))).toEqual([]);
    expect(new Set(after).size).toBe(after.length);
  });

  test('refuses every message rests, and goes on when it takes them', async () => {
    let refuses = true;
    const world = await openWorldOfTest({
      mail: { INBOX: many(6) },
      change: (direction, part) => {
        const text = part.toString('latin1');
        const changed =
          direction === 'to client'
            ? text.replaceAll(/ LITERAL[+-]| MULTIAPPEND/g, '')
            : refuses
              ? text.replaceAll(/^(\S+) APPEND /gm, '$1 XPPEND ')
              : text;
        return Buffer.from(changed, 'latin1');
      },
    });
    const ordered = await world.order();
    await using _worker = await world.work();
    await sentOn(world, ordered);
    expect(await mailWhen(world, ordered, resting)).toMatchObject({
      status: 'review',
      attention: { side: 'destination', reason: 'refused' },
    });
    refuses = false;
    expect((await call(world, 'resume', ordered)).status).toBe(200);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 6, skipped: [] });
    expect(await digests(world)).toHaveLength(6);
  });

  test('takes a keyword for no flag is brought that message without it', async () => {
    const labelled = { ...letter(6), flags: ['\\Seen', 'NonJunk', 'shop.example'] };
    const world = await openWorldOfTest({
      mail: { INBOX: [...many(6), labelled] },
      change: (direction, part) => {
        const text = part.toString('latin1');
        const changed =
          direction === 'to client'
            ? text.replaceAll(/ LITERAL[+-]| MULTIAPPEND/g, '')
            : text.replaceAll(/^(\S+) APPEND (?=\S+ \([^)]*shop\.example)/gm, '$1 XPPEND ');
        return Buffer.from(changed, 'latin1');
      },
    });
    const ordered = await world.order();
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 7, skipped: [] });
    await using client = await world.destinationMail();
    const all = await client.read('INBOX');
    expect(all).toHaveLength(7);
    expect(all.at(-1)?.flags.toSorted()).toEqual(['\\seen', 'nonjunk']);
  });

  test('drops flags, and lets nobody set them, is brought all messages all the same', async () => {
    const world = await openWorldOfTest({
      mail: { INBOX: many(6) },
      change: (direction, part) => {
        const text = part.toString('latin1');
        const changed =
          direction === 'to client'
            ? text.replaceAll(/^(\S+) BAD .*/gm, '$1 NO [NOPERM] Permission denied.')
            : text.replaceAll(/ \([^)]*\)(?= "[ \d]\d-)/g, ' ()').replaceAll(' UID STORE ', ' UID STORR ');
        return Buffer.from(changed, 'latin1');
      },
    });
    const ordered = await world.order();
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 6, skipped: [] });
    expect(await digests(world)).toHaveLength(6);
  });
});

/** Signs anybody in, and says no to whoever wants its mailboxes. */
async function startRefusingServer() {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write('* OK [CAPABILITY IMAP4rev1 NAMESPACE] ready\r\n');
    socket.on('data', (part) => {
      for (const line of part.toString().split('\r\n').slice(0, -1)) {
        const [tag = '', verb = ''] = line.split(' ');
        if (verb === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1 NAMESPACE\r\n');
        if (verb === 'NAMESPACE') socket.write('* NAMESPACE (("" "/")) NIL NIL\r\n');
        socket.write(verb === 'LIST' && line.includes('*') ? `${tag} NO [NOPERM] no\r\n` : `${tag} OK done\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server.address() as AddressInfo;
}

test.each([
  ['that is copied', (world: LifeWorld) => world.order()],
  ['that is exported', orderExport],
])('a mailbox %s and that its server does not list is the one that needs its owner', async (_how, start) => {
  const { port } = await startRefusingServer();
  const world = await openWorldOfTest({ environment: { LEGACY_IMAP_URL: `imap://127.0.0.1:${port}` } });
  const ordered = await start(world);
  await using _worker = await world.work();
  const mail = await mailWhen(world, ordered, resting);
  expect(mail.attention).toMatchObject({ side: 'source', reason: 'refused' });
});

test('forwarding ends for want of the mail, and by no problem on our side, when nobody types the new password of the source for two weeks', async () => {
  const world = await openWorldOfTest({
    mail: { INBOX: many(2) },
    environment: { LEGACY_SIEVE_URL: 'sieve://127.0.0.1:1' },
  });
  const { database, queue } = world.web;
  const ordered = await world.order({ operations: ['emailmigration', 'emailforwarding'] });
  world.web.passwords.set(ANN, NEW_PASSWORD);
  await using _worker = await world.work();
  await mailWhen(world, ordered, resting);
  await expect.poll(() => rolesKept(world)).toEqual(['destination']);
  await database.query(
    "update operations set attention_since = now() - interval '15 days' where attention_since < now()",
  );
  await queue.send(ordered.id);
  expect(await whenEnded(world, ordered)).toMatchObject({ failure: SENTENCES.unanswered });
  expect((await statusOf(world, ordered)).emailforwarding?.failure).toBe(SENTENCES.forwardingWithoutMail);
});

test('what rests goes on when it is what an order for what is new finds under way, with the password of that', async () => {
  const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
  const first = await world.order();
  {
    await using _worker = await world.work();
    await whenEnded(world, first);
  }
  const again = async (password: string) => {
    const given = { source_account: { password: PASSWORD }, destination_account: { password } };
    const answer = await call(world, 'again', first, given);
    expect(answer.status).toBe(200);
    return { ...first, id: (answer.body as { jobid: string }).jobid };
  };
  const second = await again(PASSWORD);
  world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
  await using _worker = await world.work();
  await mailWhen(world, second, resting);
  expect(await again(NEW_PASSWORD)).toEqual(second);
  expect(await whenEnded(world, second)).toMatchObject({ status: 'completed' });
});

test('what rests for a password or a consent goes on with a new one only, anything else also without', async () => {
  const world = await openWorldOfTest({});
  const { database, services } = world.web;
  const { id } = await world.order();
  const sent: string[] = [];
  const queue = { send: async (transferId: string) => void sent.push(transferId) };
  const goesOn = async (reason: string, secret: Secret | null) => {
    await database.query(
      `update operations set status = 'review', attention_side = 'destination', attention_reason = $2,
         attention_since = now() where transfer_id = $1 and operation = 'emailmigration'`,
      [id, reason],
    );
    const transfer = await storedTransfer(database, id);
    const putting = { database, safe: services.safe, queue };
    const isPut = await putRight(putting, transfer, 'destination', secret, async () => {});
    return [isPut, sent.splice(0), (await restingOperations(database, id)).map((each) => each.reason)];
  };
  const password = { kind: 'password', password: NEW_PASSWORD } as const;
  expect(await goesOn('password', null)).toEqual([false, [], ['password']]);
  expect(await goesOn('consent', null)).toEqual([false, [], ['consent']]);
  expect(await goesOn('password', password)).toEqual([true, [id], []]);
  expect(await goesOn('full', null)).toEqual([true, [id], []]);
});

test('is not put right so often that a stranger who was named as its contact gets letter after letter', async () => {
  const world = await openWorldOfTest();
  const ordered = await world.order({ parameters: { notification_email: 'stranger@elsewhere.example' } });
  const statuses: number[] = [];
  for (let tries = 0; tries < 22; tries += 1) {
    await world.web.database.query(
      `update operations set status = 'review', attention_side = 'destination', attention_reason = 'refused',
         attention_since = now()`,
    );
    statuses.push((await call(world, 'resume', ordered)).status);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(new Set(statuses.slice(20))).toEqual(new Set([429]));
  // What is refused stays at rest.
  expect(await restingOperations(world.web.database, ordered.id)).toHaveLength(1);
});

test('what only the contacts were refused with is kept for the mail, which rests until there is room', async () => {
  const world = await openWorldOfTest({});
  const { database, safe } = world.web;
  const { id } = await world.order();
  await database.query("insert into operations (transfer_id, operation) values ($1, 'contactsmigration')", [id]);
  const rests = (operation: string, reason: string) =>
    database.query(
      `update operations set status = 'review', attention_side = 'destination', attention_reason = $3,
         attention_since = now() where transfer_id = $1 and operation = $2`,
      [id, operation, reason],
    );
  const [lease] = await database.query<{ epoch: number }>('select epoch from transfers');
  const erased = () => eraseRefused(database, safe, { transferId: id, epoch: lease?.epoch ?? 0 });
  await rests('contactsmigration', 'consent');
  await rests('emailmigration', 'full');
  expect(await erased()).toEqual([]);
  await rests('emailmigration', 'consent');
  expect(await erased()).toEqual(['destination']);
});
