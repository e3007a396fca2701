import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/server/store/database.ts';
import { eraseEnded } from '../../src/server/transfers/retention.ts';
import {
  again,
  call,
  HOST,
  openWorldOfTest,
  PASSWORD,
  statusOf,
  type LifeWorld,
  type Ordered,
  whenEnded,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { fromBrowser } from '../support/web-world.ts';

const DAY_MS = 24 * 3_600_000;
const RETENTION_DAYS = 30;
const some = (from: number, count: number) => Array.from({ length: count }, (_, number) => letter(from + number));
const GIVEN = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD } };

async function everything({ destinationMail }: LifeWorld): Promise<string[]> {
  await using client = await destinationMail();
  const all: string[] = [];
  for (const mailbox of await client.mailboxes())
    for (const { uid, sha256, flags } of await client.read(mailbox))
      all.push(`${mailbox} ${uid} ${sha256} ${flags.join(' ')}`);
  return all.toSorted();
}

async function arrived({ destinationMail }: LifeWorld): Promise<number> {
  await using client = await destinationMail();
  return (await client.read('INBOX')).length;
}

/** @returns what restores all tables as they are now */
async function backUp(database: Database): Promise<() => Promise<void>> {
  const tables = await database.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  await database.query('create schema backup');
  for (const { name } of tables) await database.query(`create table backup.${name} as table public.${name}`);
  return () =>
    database.transaction(async (sql) => {
      await sql.query('set local session_replication_role = replica');
      await sql.query(`truncate ${tables.map(({ name }) => `public.${name}`).join()} cascade`);
      for (const { name } of tables)
        await sql.query(`insert into public.${name} overriding system value table backup.${name}`);
    });
}

describe.each([{ dovecots: false }, { dovecots: true }])('copying what is new, on Dovecot: $dovecots', (options) => {
  const needed = options.dovecots ? needs('dovecot') : needs();

  test('brings only that, and undoes nothing that its owner did', needed, async () => {
    const world = await openWorldOfTest({
      ...options,
      mail: { INBOX: some(0, 8), Family: some(20, 4), 'Family/Old': some(30, 3) },
    });
    await using _worker = await world.work();
    const first = await world.order();
    expect(await whenEnded(world, first)).toMatchObject({ status: 'completed', done: 15 });
    {
      await using client = await world.destinationMail();
      await client.create('Mine');
      await client.command('SELECT INBOX');
      await client.command('UID STORE 2 +FLAGS (\\Seen \\Flagged)');
      await client.command('UID MOVE 4 Mine');
      await client.command('UID STORE 5 +FLAGS (\\Deleted)');
      await client.command('UID EXPUNGE 5');
    }
    const before = await everything(world);

    const nothing = await again(world, first);
    expect(nothing.id).not.toBe(first.id);
    expect(await whenEnded(world, nothing)).toMatchObject({
      status: 'completed',
      done: 15,
      present: 13,
      moved: 2,
      bytes: 0,
      lost: 0,
    });
    expect(await everything(world)).toEqual(before);

    {
      await using client = await world.sourceMail();
      await client.command('RENAME Family Relatives');
      await client.append('INBOX', [letter(50)]);
      await client.append('Relatives', [letter(51)]);
      await client.append('Relatives/Old', [letter(52)]);
      await client.create('Fresh');
      await client.append('Fresh', [letter(53)]);
    }
    const second = await again(world, first);
    expect(await whenEnded(world, second)).toMatchObject({
      status: 'completed',
      done: 19,
      present: 13,
      moved: 2,
      lost: 0,
      duplicated: 0,
    });
    const after = await everything(world);
    const came = after.filter((line) => !before.includes(line));
    expect(before.filter((line) => !after.includes(line))).toEqual([]);
    expect(came.map((line) => line.split(' ')[0])).toEqual(['Family', 'Family/Old', 'Fresh', 'INBOX']);
  });

  test('duplicates nothing after everything that was known has been erased', needed, async () => {
    const twin = letter(3);
    const world = await openWorldOfTest({
      ...options,
      mail: { INBOX: [...some(0, 8), twin, { ...letter(70), date: letter(71).date }], Family: some(20, 4) },
    });
    await using _worker = await world.work();
    const first = await world.order();
    expect(await whenEnded(world, first)).toMatchObject({ status: 'completed', done: 14 });
    await eraseEnded(world.web.database, RETENTION_DAYS, Date.now() + (RETENTION_DAYS + 1) * DAY_MS);
    expect(await world.web.database.query('select 1 from ledger')).toEqual([]);
    {
      await using client = await world.destinationMail();
      // One of two that are equal, and one that is there with another date.
      await client.command('SELECT INBOX');
      await client.command('UID STORE 4,10 +FLAGS (\\Deleted)');
      await client.command('UID EXPUNGE 4,10');
      await client.append('INBOX', [letter(70)]);
    }
    {
      await using client = await world.sourceMail();
      await client.append('Family', [letter(50)]);
    }
    const before = await everything(world);
    const second = await world.order();
    expect(await whenEnded(world, second)).toMatchObject({
      status: 'completed',
      done: 15,
      present: 12,
      copied: 3,
      bytes: [twin, letter(70), letter(50)].reduce((octets, { bytes }) => octets + bytes.length, 0),
      lost: 0,
      duplicated: 0,
    });
    const after = await everything(world);
    expect(before.filter((line) => !after.includes(line))).toEqual([]);
    const came = after.filter((line) => !before.includes(line));
    expect(came.map((line) => line.split(' ')[0])).toEqual(['Family', 'INBOX', 'INBOX']);
  });

  test('duplicates nothing after an older backup has been restored', { tags: 'proof', ...needed }, async () => {
    const world = await openWorldOfTest({ ...options, mail: { INBOX: some(0, 8), Family: some(20, 4) } });
    const { database } = world.web;
    let ordered: Ordered;
    {
      await using _worker = await world.work();
      ordered = await world.order();
      expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 12 });
    }
    const restore = await backUp(database);
    {
      await using client = await world.sourceMail();
      await client.append('INBOX', [letter(50), letter(3)]);
      await client.append('Family', [letter(51)]);
    }
    {
      await using _worker = await world.work();
      expect(await whenEnded(world, await again(world, ordered))).toMatchObject({ copied: 3 });
    }
    await restore();
    {
      await using client = await world.sourceMail();
      await client.append('Family', [letter(52)]);
    }
    const before = await everything(world);
    await using _worker = await world.work();
    expect(await whenEnded(world, await again(world, ordered))).toMatchObject({
      status: 'completed',
      done: 16,
      present: 15,
      copied: 1,
      lost: 0,
      duplicated: 0,
    });
    const after = await everything(world);
    expect(after.filter((line) => !before.includes(line)).map((line) => line.split(' ')[0])).toEqual(['Family']);
    expect(after).toHaveLength(16);
  });
});

describe('copying what is new', () => {
  test('is ordered by who may manage the transfer, when it has ended, with what signs in', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2) } });
    const ordered = await world.order();
    const { id } = ordered;
    for (const given of [GIVEN, {}])
      expect(await call(world, 'again', ordered, given)).toMatchObject({
        status: 409,
        body: { error: 'OPERATION_NOT_ALLOWED' },
      });
    {
      await using _worker = await world.work();
      await whenEnded(world, ordered);
    }
    // Whose the transfer is comes before what the order lacks.
    for (const given of [GIVEN, {}]) {
      for (const headers of [{}, fromBrowser('d'.repeat(64))])
        expect((await call(world, 'again', { id, headers }, given)).body).toMatchObject({ error: 'INVALID_TOKEN' });
      expect((await call(world, 'again', { id: 'e'.repeat(32), headers: {} }, given)).status).toBe(404);
    }
    for (const [side, wrong] of [
      ['source', {}],
      ['source', { destination_account: { password: PASSWORD } }],
      ['source', { source_account: { password: 'wrong' }, destination_account: { password: PASSWORD } }],
      ['destination', { source_account: { password: PASSWORD }, destination_account: { password: 'wrong' } }],
      ['destination', { source_account: { password: PASSWORD } }],
    ] as const)
      expect((await call(world, 'again', ordered, wrong)).body).toMatchObject({ error: 'INVALID_CREDENTIALS', side });
    const presses = await Promise.all([call(world, 'again', ordered, GIVEN), call(world, 'again', ordered, GIVEN)]);
    const ids = new Set(presses.map(({ body }) => (body as { jobid: string }).jobid));
    expect(ids.size).toBe(1);
    expect(ids.has(id)).toBe(false);
    expect(await world.web.database.query('select 1 from transfers')).toHaveLength(2);
    const [next = ''] = ids;
    expect((await statusOf(world, { id: next, headers: ordered.headers })).limited).toBeUndefined();
    expect((await call(world, 'again', { id: next, headers: ordered.headers }, GIVEN)).status).toBe(409);
  });
});

test('an order that waits while the one before it would be erased brings nothing twice', async () => {
  const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
  const { database, services, advance } = world.web;
  const first = await world.order();
  {
    await using _worker = await world.work();
    await whenEnded(world, first);
  }
  advance((RETENTION_DAYS - 1) * DAY_MS);
  const second = await again(world, first);
  advance(2 * DAY_MS);
  expect(await eraseEnded(database, RETENTION_DAYS, services.now())).toBe(0);
  await using _worker = await world.work();
  expect(await whenEnded(world, second)).toMatchObject({ status: 'completed', done: 5, present: 5 });
  expect(await arrived(world)).toBe(5);
  await eraseEnded(database, RETENTION_DAYS, services.now());
  expect(await database.query('select 1 from transfers where id = $1', [first.id])).toEqual([]);
});

test('what came since is neither copied nor brought back twice where a clock of the database was ahead by days once', async () => {
  const world = await openWorldOfTest({ mail: { INBOX: some(0, 3) } });
  await using _worker = await world.work();
  const first = await world.order();
  await whenEnded(world, first);
  await world.web.database.query("update transfers set finished = finished + interval '10 days'");
  {
    await using client = await world.sourceMail();
    await client.append('INBOX', some(3, 2));
  }
  await whenEnded(world, await again(world, first));
  expect(await arrived(world)).toBe(5);
  {
    await using client = await world.destinationMail();
    await client.command('SELECT INBOX');
    await client.command('UID STORE 5 +FLAGS (\\Deleted)');
    await client.command('EXPUNGE');
  }
  expect(await whenEnded(world, await again(world, first))).toMatchObject({ status: 'completed', copied: 0 });
  expect(await arrived(world)).toBe(4);
});

test('the same order is a new one where the clock of the database was ahead by days when the first had ended', async () => {
  const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
  await using _worker = await world.work();
  const first = await world.order();
  await whenEnded(world, first);
  expect((await world.order({ headers: first.headers })).id).toBe(first.id);
  await world.web.database.query("update transfers set finished = finished + interval '3 days'");
  expect((await world.order({ headers: first.headers })).id).not.toBe(first.id);
});

describe('a second order to the same server', () => {
  test('that leaves the server to be discovered brings nothing twice', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    const { dns, services } = world.web;
    dns.zones.set('_imap._tcp.mail.example', { srv: [{ name: HOST, port: world.proxy.port }] });
    const discover = async (email: string) => (await services.discovery.find(email))?.imap ?? null;
    await using _worker = await world.work({ discover });
    const first = await world.order();
    await whenEnded(world, first);
    const second = await world.order({ headers: first.headers, parameters: { destination_imap: undefined } });
    expect(second.id).not.toBe(first.id);
    expect(await whenEnded(world, second)).toMatchObject({ status: 'completed', done: 5, present: 5 });
    expect(await arrived(world)).toBe(5);
  });

  test('that names it where it had been another provider’s brings nothing twice', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    // As if it had gone there by a sign-in at Yahoo; now it goes to Yahoo's server by an app password.
    await world.web.database.query(
      "update transfers set destination_imap = null, destination_provider = 'yahoo', submit_key = 'another'",
    );
    const second = await world.order({ headers: first.headers });
    expect(second.id).not.toBe(first.id);
    expect(await whenEnded(world, second)).toMatchObject({ status: 'completed', done: 5, present: 5 });
    expect(await arrived(world)).toBe(5);
  });
});
