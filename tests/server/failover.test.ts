import pg from 'pg';
import { expect, test } from 'vitest';
import type { WorkerServices } from '../../src/server/worker/worker.ts';
import { DOVECOT_PASSWORD } from '../support/dovecot.ts';
import { openFilledServers } from '../support/filled-servers.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { command, startPostgres } from '../support/postgres.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const MESSAGES = 150;
/** At most 100 messages each. */
const GROUPS = 2;
/** What other sessions are doing. */
const WORK = `select from pg_stat_activity
  where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`;
/** Another taker gets it, beside the one who has it. */
const JOB_IS_FREE =
  "update pgboss.job set state = 'created', started_on = null, heartbeat_on = null where name = 'transfers'";

/** A mailbox to be moved, and a worker that says each step before it goes on. */
async function openFilled(onStep: NonNullable<WorkerServices['onStep']>) {
  const { stack, source, destination, places } = await openFilledServers(MESSAGES);
  const world = stack.use(await openWorld({ url: await createEmptyDatabase() }, places, { onStep }));
  return { world, query: (text: string) => world.database.query(text), source, destination };
}

test(
  'a database that has forgotten that a transfer was taken gives it to another worker, and it goes on to its end',
  needs('dovecot', 'postgresql'),
  async () => {
    /** As a replica does that is promoted, which has not got the last commits. */
    const forget = async () => {
      await world.database.commit([
        { text: 'update transfers set epoch = 2000, leased_until = null' },
        { text: 'delete from ledger_mailboxes' },
        { text: JOB_IS_FREE },
      ]);
      await expect.poll(() => query('select 1 from transfers where epoch > 2000')).toHaveLength(1);
    };
    let forgetting: Promise<void> | undefined;
    const { world, query, source, destination } = await openFilled(async (step) => {
      if (step === 'appended') await (forgetting ??= forget());
    });
    const { id } = await world.transfers.start(order());
    const end = await mailUntil(world.transfers, id);
    // Both had the same job, which ends with the first of them: who lost it has queued another, and so has whoever took that too soon.
    await expect
      .poll(async () => (await query("select 1 from pgboss.job where name = 'transfers'")).length)
      .toBeGreaterThan(1);
    expect(end).toMatchObject({ status: 'completed', done: MESSAGES, lost: 0, duplicated: 0, changed: 0 });
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    const difference = await differenceOf(
      { ...account, port: source.port },
      { ...account, port: destination.port, user: NEW_ADDRESS },
    );
    expect(difference).toEqual({ messages: MESSAGES, lost: [], duplicated: [], changed: [] });
  },
);

test(
  'a clock of the database that jumps ahead takes no transfer from a worker that is at work',
  needs('dovecot', 'postgresql'),
  async () => {
    /** Leases and signs of life are all too old at once, and another taker has the job before the worker goes on. */
    const jump = async () => {
      await world.database.commit([
        { text: "update transfers set leased_until = leased_until - interval '1 hour'" },
        { text: JOB_IS_FREE },
      ]);
      await expect
        .poll(() => query("select 1 from pgboss.job where name = 'transfers' and state = 'active'"))
        .toHaveLength(1);
      await expect.poll(() => query('select 1 from transfers where leased_until > now()')).toHaveLength(1);
    };
    let jumping: Promise<void> | undefined;
    const epochs = new Set<unknown>();
    const { world, query } = await openFilled(async (step) => {
      if (step === 'intent committed') await (jumping ??= jump());
      for (const { epoch } of await query('select epoch from transfers')) epochs.add(epoch);
    });
    const { id } = await world.transfers.start(order());
    const end = await mailUntil(world.transfers, id);
    expect(end).toMatchObject({ status: 'completed', done: MESSAGES, copied: MESSAGES, duplicated: 0 });
    expect(epochs.size).toBe(1);
  },
);

test(
  'a standby that is promoted without the last commits is told what they had told, while the worker goes on',
  needs('dovecot', 'postgresql'),
  async () => {
    const [LATER, IN_LATER] = ['Later', 20];
    const { stack, source, destination, places } = await openFilledServers(MESSAGES);
    await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
    await mail.create(LATER);
    await mail.append(
      LATER,
      Array.from({ length: IN_LATER }, (_, number) => letter(MESSAGES + number)),
    );
    const primary = stack.use(await startPostgres());
    const url = new URL(await primary.create());
    const standby = stack.use(await startPostgres({ standbyOf: primary.url }));
    let leader = primary;
    const proxy = stack.use(await startTcpProxy(() => Number(new URL(leader.url).port)));
    url.port = String(proxy.port);
    const lag = async () => {
      await command(standby.url, `alter system set primary_conninfo = ''`);
      await command(standby.url, 'select pg_reload_conf()');
      await expect.poll(() => answer(standby.url, 'select from pg_stat_wal_receiver')).toHaveLength(0);
    };
    const failOver = async () => {
      // What goes on beside is done: no write of the run fails.
      await expect.poll(() => answer(primary.url, WORK)).toHaveLength(0);
      await primary.crash();
      await command(standby.url, 'select pg_promote()');
      leader = standby;
      proxy.resetAll();
    };
    let [lagging, failing]: (Promise<void> | undefined)[] = [];
    const failed = Promise.withResolvers<void>();
    let outcomes = 0;
    const onStep: WorkerServices['onStep'] = async (step, path) => {
      if (step === 'listed' && path === 'INBOX') await (lagging ??= lag());
      if (step === 'outcome committed' && path === 'INBOX') outcomes += 1;
      if (outcomes < GROUPS) return;
      failing ??= failOver();
      failing.then(failed.resolve, failed.reject);
      await failing;
    };
    const world = stack.use(await openWorld({ url: url.href }, places, { onStep }));
    const { id } = await world.transfers.start(order());
    await failed.promise;
    const all = MESSAGES + IN_LATER;
    const end = await mailUntil(world.transfers, id, undefined, 90_000);
    expect(end).toMatchObject({ status: 'completed', done: all, compared: all, lost: 0, duplicated: 0, changed: 0 });
    expect((end.copied ?? 0) + (end.present ?? 0)).toBe(all);
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    const difference = await differenceOf(
      { ...account, port: source.port },
      { ...account, port: destination.port, user: NEW_ADDRESS },
    );
    expect(difference).toEqual({ messages: all, lost: [], duplicated: [], changed: [] });
  },
);

async function answer(url: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
