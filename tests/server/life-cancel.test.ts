import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../src/server/store/database-faults.ts';
import { stopTransfer } from '../../src/server/transfers/stopping.ts';
import {
  call,
  openWorldOfTest,
  orderExport,
  PASSWORD,
  statusOf,
  type LifeWorld,
  whenEnded,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { fromBrowser, LEGACY_DOMAIN, type Answer } from '../support/web-world.ts';

const many = (count: number, octets = 300) => Array.from({ length: count }, (_, number) => letter(number, octets));
const STRANGER = fromBrowser('d'.repeat(64));

async function erased({ web }: LifeWorld, id: string): Promise<void> {
  expect(await web.database.query('select 1 from credentials where transfer_id = $1', [id])).toEqual([]);
  expect(await web.database.query('select finished is not null as ended from transfers where id = $1', [id])).toEqual([
    { ended: true },
  ]);
}

describe('a stop', () => {
  test('of a transfer under way leaves what is copied, and nothing comes after it', async () => {
    const stopped = Promise.withResolvers<Answer>();
    const world = await openWorldOfTest({ mail: { INBOX: many(104) } });
    const { database } = world.web;
    const ordered = await world.order();
    const confirmations = async (more: number) => {
      let seen = 0;
      let last: unknown;
      await expect
        .poll(async () => {
          const [row] = await database.query(
            'select stop_asked is not null as asked, leased_until::text from transfers',
          );
          if (row?.['asked'] === true && row['leased_until'] !== last) seen += 1;
          if (row?.['asked'] === true) last = row['leased_until'];
          return seen;
        })
        .toBeGreaterThan(more);
    };
    let isFirst = true;
    await using _worker = await world.work({
      onStep: async (step) => {
        if (step !== 'octets sent' || !isFirst) return;
        isFirst = false;
        // The first group is on its way; the worker hears of the stop before it begins the second.
        call(world, 'cancel', ordered).then(stopped.resolve, stopped.reject);
        await confirmations(2);
      },
    });
    expect((await stopped.promise).status).toBe(200);
    expect(await whenEnded(world, ordered)).toMatchObject({
      status: 'review',
      ended: 'cancelled',
      done: 100,
      total: 104,
    });
    await erased(world, ordered.id);
    await using client = await world.destinationMail();
    expect(await client.read('INBOX')).toHaveLength(100);
  });

  test('that comes while the transfer ends by itself is told as too late', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const { database, services } = world.web;
    const { id } = await world.order();
    await database.query("update transfers set leased_until = now() + interval '1 hour'");
    const wait = async () => {
      await database.query("update operations set status = 'completed', finished = now()");
      await database.query('update transfers set finished = now()');
    };
    expect(await stopTransfer(services, id, wait)).toBe(false);
  });

  test('under way takes in no order that comes meanwhile, which is answered once it is over', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const ordered = await world.order();
    // Another browser is stopping it.
    await world.web.database.query('update transfers set stop_asked = now()');
    await expect(world.order({ headers: ordered.headers })).rejects.toThrow('MIGRATION_IN_PROGRESS');
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({ ended: 'cancelled' });
    const next = await world.order({ headers: ordered.headers });
    expect(next.id).not.toBe(ordered.id);
    expect(await whenEnded(world, next)).toMatchObject({ status: 'completed', copied: 3 });
  });

  test('that comes when all is done, and its worker has died before it could say so, is too late as well', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const { database, services } = world.web;
    const ordered = await world.order({ parameters: { notification_email: 'new@home.example' } });
    // It was asked for while there was something to stop.
    const wait = async () => {
      await database.query("update operations set status = 'completed', finished = now()");
    };
    await database.query("update transfers set leased_until = now() + interval '1 hour'");
    expect(await stopTransfer(services, ordered.id, wait)).toBe(false);
    expect(await stopTransfer(services, ordered.id, wait)).toBe(false);
    await database.query('update transfers set leased_until = null');
    await using _worker = await world.work();
    await whenEnded(world, ordered);
    await erased(world, ordered.id);
    const told = "select data->>'kind' as kind from pgboss.job where name = 'notifications' order by created_on";
    expect(await database.query(told)).toEqual([{ kind: 'started' }, { kind: 'finished' }]);
  });

  test(
    'that a worker hears of while the answer to its last commit is lost ends the transfer as what it is',
    { tags: 'proof' },
    async () => {
      const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
      const { database } = world.web.services;
      const ordered = await world.order({ parameters: { notification_email: 'new@home.example' } });
      const leasedUntil = async () =>
        (await database.query('select leased_until::text as until from transfers'))[0]?.['until'];
      const confirmed = async () => {
        const before = await leasedUntil();
        await expect.poll(leasedUntil, { timeout: 15_000 }).not.toBe(before);
      };
      let isLost = false;
      const query: typeof database.query = async (text, parameters) => {
        const rows = await database.query<never>(text, parameters);
        if (isLost || !text.startsWith('update operations set status = $4')) return rows;
        isLost = true;
        await database.query('update transfers set stop_asked = now()');
        await confirmed();
        await confirmed();
        throw new DatabaseUnavailable(new Error('Connection terminated unexpectedly'));
      };
      await using _worker = await world.work({ database: { ...database, query } });
      expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 3 });
      expect(isLost).toBe(true);
      await erased(world, ordered.id);
      const told = "select data->>'kind' as kind from pgboss.job where name = 'notifications' order by created_on";
      expect(await database.query(told)).toEqual([{ kind: 'started' }, { kind: 'finished' }]);
    },
  );

  test('comes within 5 s of a worker whose server does not answer, and what it took after that is taken back', async () => {
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const world = await openWorldOfTest({
      mail: { INBOX: many(3) },
      change: async (direction, part) => {
        if (direction === 'to client' && part.toString('latin1').includes('APPENDUID')) {
          reached.resolve();
          await held.promise;
        }
        return part;
      },
    });
    const ordered = await world.order();
    await using _worker = await world.work();
    await reached.promise;
    let waited = 0;
    const pause = async (milliseconds: number) => {
      waited += milliseconds;
      await wait(milliseconds);
    };
    const services = { ...world.web.services, safe: world.web.safe };
    expect(await stopTransfer(services, ordered.id, pause)).toBe(true);
    expect(waited).toBeLessThan(5000);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ status: 'review', ended: 'cancelled' });
    await erased(world, ordered.id);
    held.resolve();
    await expect
      .poll(async () => {
        await using client = await world.destinationMail();
        return (await client.read('INBOX')).length;
      })
      .toBe(0);
  });

  test('works while it is queued, and no worker takes it afterwards', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const ordered = await world.order();
    expect((await call(world, 'cancel', ordered)).status).toBe(200);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ status: 'review', ended: 'cancelled' });
    await using _worker = await world.work();
    await expect
      .poll(() => world.web.database.query("select state from pgboss.job where name = 'transfers'"))
      .toEqual([{ state: 'completed' }]);
    await using client = await world.destinationMail();
    expect(await client.read('INBOX')).toEqual([]);
  });

  test('works when its worker has died, and the next transfer waits until nothing of it can arrive any more', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const { database } = world.web;
    const ordered = await world.order();
    await database.query("update transfers set epoch = 5, leased_until = clock_timestamp() + interval '25 seconds'");
    expect((await call(world, 'cancel', ordered)).status).toBe(200);
    await erased(world, ordered.id);
    const next = await world.order();
    expect(next.id).not.toBe(ordered.id);
    const { takeTransfer } = await import('../../src/server/transfers/lease.ts');
    expect(await takeTransfer(database, next.id, 30)).toMatchObject({ heldForSeconds: expect.any(Number) as number });
    await database.query(
      "update transfers set leased_until = clock_timestamp() - interval '1 second' where finished is not null",
    );
    expect(await takeTransfer(database, next.id, 30)).toHaveProperty('lease');
  });

  test('that was asked for before the web process died is carried out by the next worker', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(3) } });
    const ordered = await world.order();
    await world.web.database.query('update transfers set stop_asked = now()');
    await using _worker = await world.work();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'review', ended: 'cancelled' });
    await expect.poll(async () => (await call(world, 'cancel', ordered)).status).toBe(409);
    await erased(world, ordered.id);
  });

  test('is told by one letter', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(1) } });
    const ordered = await world.order({ parameters: { notification_email: 'new@home.example' } });
    const answers = await Promise.all([call(world, 'cancel', ordered), call(world, 'cancel', ordered)]);
    expect(answers.map(({ status }) => status)).toContain(200);
    await using _worker = await world.work();
    await expect.poll(() => world.web.outbox.filter(({ raw }) => raw.includes('was stopped')).length).toBe(1);
    expect((await call(world, 'cancel', ordered)).status).toBe(409);
    expect(
      await world.web.database.query(
        "select count(*)::integer as told from pgboss.job where name = 'notifications' and data->>'kind' = 'stopped'",
      ),
    ).toEqual([{ told: 1 }]);
  });

  test('of an export removes what was written of it', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: many(5) } });
    const ordered = await orderExport(world);
    await using _worker = await world.work();
    // The address book can't be reached, so the archive waits.
    await expect
      .poll(() => world.web.database.query('select 1 from export_messages'), { timeout: 20_000 })
      .toHaveLength(5);
    expect((await call(world, 'cancel', ordered)).status).toBe(200);
    expect(await statusOf(world, ordered)).toMatchObject({
      files: 'coming',
      emailmigration: { status: 'error', ended: 'cancelled' },
    });
    for (const table of ['export_messages', 'export_mailboxes', 'export_contacts', 'export_cards', 'export_files'])
      expect(await world.web.database.query(`select '${table}' as kept from ${table}`)).toEqual([]);
    // Its name is kept until nothing can arrive any more.
    expect(await world.web.database.query('select mail_skipped, contacts_skipped from exports')).toEqual([
      { mail_skipped: null, contacts_skipped: null },
    ]);
  });

  test('is for who may manage the transfer', async () => {
    const world = await openWorldOfTest();
    const ordered = await world.order();
    const { id } = ordered;
    expect(await call(world, 'cancel', { id, headers: {} })).toMatchObject({
      status: 401,
      body: { error: 'INVALID_TOKEN' },
    });
    expect((await call(world, 'cancel', { id, headers: STRANGER })).status).toBe(401);
    expect((await call(world, 'cancel', { id: 'f'.repeat(32), headers: ordered.headers })).status).toBe(404);
    expect((await call(world, 'cancel', { id: 'nonsense', headers: ordered.headers })).status).toBe(404);
    const bob = `bob@${LEGACY_DOMAIN}`;
    const signedIn = await world.web.post('/api/validate/', { email: bob, password: PASSWORD, provider: 'sanbruno' });
    const { token = '' } = signedIn.body as { token?: string };
    expect((await call(world, 'cancel', { id, headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    expect((await statusOf(world, ordered)).emailmigration?.status).toBe('started');
    expect(world.web.logLines.filter((line) => line.includes('call refused: not the owner')).length).toBe(3);
    expect((await call(world, 'cancel', ordered)).status).toBe(200);
    expect(world.web.logLines.filter((line) => line.includes('"security":"transfer stopped"'))).toHaveLength(1);
  });
});
