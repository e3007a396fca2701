import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Stopped } from '../../src/server/stopped.ts';
import { openLog } from '../../src/server/log.ts';
import { openJobQueue, toldNowAndThen } from '../../src/server/worker/queue.ts';
import { watchUntaken } from '../../src/server/worker/untaken.ts';
import {
  LOOKED_AT_EVERY_MS,
  MOVED_AT_LEAST,
  SLOW_AFTER_LOOKS,
  TAKE_BACK_WHILE_OTHERS_WAIT_MS,
  TURN_MS,
} from '../../src/server/worker/turns.ts';
import { sampleOf } from '../folders.ts';
import { EMBEDDED, FRESH, openTestDatabase, type TestAddress } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { openWorld } from '../support/transfer-world.ts';
import { notedDatabase, rowsRead } from '../support/rows-read.ts';
import { steppedLooks } from '../support/stepped-looks.ts';

const LOOK = 'select 1 from pgboss.job';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a process starts while another one, on a new database, makes the queue', needs('postgresql'), async () => {
  await using database = await openTestDatabase(FRESH);
  await database.query('drop schema pgboss cascade');
  const { opening } = await database.transaction(async (another) => {
    await another.query('create schema pgboss');
    const begun = openJobQueue({ database, log: openLog('silent') });
    await vi.waitFor(
      async () =>
        expect(
          await database.query(
            "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        ).toHaveLength(1),
      10_000,
    );
    return { opening: begun };
  });
  await using queue = await opening;
  await queue.send('first');
});

test.each([FRESH, EMBEDDED])(
  'an order is taken at once by a worker of the same process, when it has been committed (%s)',
  async (address) => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    // Nobody looks again after the first time.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const taken: string[] = [];
    let next = Promise.withResolvers<void>();
    await using _working = await queue.workOnTransfers(2, async (id) => {
      taken.push(id);
      next.resolve();
    });
    for (let looks = 0; looks < 50; looks += 1) {
      await database.query(LOOK);
      await turn();
    }

    await queue.send('alone');
    await next.promise;
    next = Promise.withResolvers();
    await database.transaction(async (sql) => {
      await queue.send('within', { sql });
      for (let turns = 0; turns < 20; turns += 1) await sql.query('select 1');
      expect(taken).toEqual(['alone']);
    });
    await next.promise;
    expect(taken).toEqual(['alone', 'within']);
    await expect(
      database.transaction(async (sql) => {
        await queue.send('never', { sql });
        throw new Error('It does not come true.');
      }),
    ).rejects.toThrow('It does not come true.');
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(taken).toEqual(['alone', 'within']);
    vi.useRealTimers();
  },
);

test.each(sampleOf([FRESH, EMBEDDED], 2))(
  'the transfers of a worker that died continue before orders that wait (%s)',
  { tags: 'sampled' },
  async (address) => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    for (const id of ['first', 'second']) await queue.send(id);
    await queue.sendUnlessWaiting('held', 0);
    const taken: string[] = [];
    const all = Promise.withResolvers<void>();
    await using _working = await queue.workOnTransfers(1, async (id) => {
      if (taken.push(id) === 3) all.resolve();
    });
    await all.promise;
    expect(taken).toEqual(['held', 'first', 'second']);
  },
);

test.each(['transfers', 'take-backs'] as const)(
  '%s that a slow server holds up go on behind what waits, so that they have no place for good',
  async (kind) => {
    await using database = await openTestDatabase(FRESH);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    for (const id of ['slow', 'first', 'second'])
      await (kind === 'transfers' ? queue.send(id) : queue.sendTakeBack(id));
    const taken: string[] = [];
    const [begun, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const run = async (id: string, signal: AbortSignal) => {
      if (taken.push(id) === 4) all.resolve();
      if (taken.length > 1) return;
      begun.resolve();
      await once(signal, 'abort');
      throw new Stopped('It is asked to stop.');
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await using _working = await (kind === 'transfers' ? queue.workOnTransfers(1, run) : queue.workOnTakeBacks(run));
    await begun.promise;
    vi.advanceTimersByTime(TURN_MS[kind]);
    vi.useRealTimers();
    await all.promise;
    expect(taken).toEqual(['slow', 'first', 'second', 'slow']);
  },
);

test('a take-back goes on behind those that wait, and without any it keeps its place', async () => {
  await using database = await openTestDatabase(FRESH);
  const asked = vi.spyOn(database, 'query');
  const looks = vi.spyOn(globalThis, 'setInterval');
  await using queue = await openJobQueue({ database, log: openLog('silent') });
  await queue.sendTakeBack('slow');
  const taken: string[] = [];
  const [begun, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using _working = await queue.workOnTakeBacks(async (id, signal) => {
    if (taken.push(id) === 3) all.resolve();
    if (taken.length > 1) return;
    begun.resolve();
    await once(signal, 'abort');
    throw new Stopped('It is asked to stop.');
  });
  await begun.promise;
  const look = async () => {
    asked.mockClear();
    for (const [each, every] of looks.mock.calls) if (every === TAKE_BACK_WHILE_OTHERS_WAIT_MS) each();
    await Promise.all(asked.mock.results.map(({ value }) => value as unknown));
    await turn();
  };
  await look();
  await queue.send('a transfer');
  await look();
  expect(await database.query("select 1 from pgboss.job where name = 'take-backs' and state <> 'active'")).toEqual([]);
  await queue.sendTakeBack('other');
  await look();
  await all.promise;
  expect(taken).toEqual(['slow', 'other', 'slow']);
});

describe('when all places are taken while others wait', () => {
  const places = ['a', 'b', 'c', 'd'].map((sign) => sign.repeat(32));

  /** @returns what was taken, in order, and which of the `places` had to go, after so many looks at their progress */
  async function afterLooks(looks: number, beforeEach = LOOK) {
    await using database = await openTestDatabase(FRESH);
    const asked = vi.spyOn(database, 'query');
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    for (const id of places)
      await database.query(
        `with made as (insert into transfers (id, submit_key, source_email, source_provider, destination_email,
           destination_provider, operations) values ($1, $1, $1, 'sanbruno', $1, 'yahoo', '{emailmigration}') returning id)
         insert into operations (transfer_id, operation) select id, 'emailmigration' from made`,
        [id],
      );
    for (const id of [...places, 'next', 'last']) await queue.send(id);
    const [taken, gone]: [string[], Set<string>] = [[], new Set()];
    const [all, half] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const end = new AbortController();
    const begun = vi.spyOn(globalThis, 'setInterval');
    await using _working = await queue.workOnTransfers(places.length, async (id, signal) => {
      taken.push(id);
      if (taken.length === places.length) all.resolve();
      // Both hold their places until the other one is taken: who had to go is behind both.
      if (taken.filter((each) => !places.includes(each)).length === 2) half.resolve();
      if (!places.includes(id)) await half.promise;
      if (!places.includes(id) || gone.has(id)) return;
      await once(AbortSignal.any([signal, end.signal]), 'abort');
      if (end.signal.aborted) return;
      gone.add(id);
      throw new Stopped('It is asked to stop.');
    });
    using _ended = {
      [Symbol.dispose]: () => {
        end.abort();
        half.resolve();
      },
    };
    await all.promise;
    const looksAtAll = begun.mock.calls.flatMap(([look, every]) => (every === LOOKED_AT_EVERY_MS ? look : []));
    expect(looksAtAll).toHaveLength(places.length);
    for (let look = 0; look < looks; look += 1) {
      await database.query(beforeEach);
      asked.mockClear();
      for (const each of looksAtAll) each();
      for (let seen = 0; seen < asked.mock.results.length;) {
        seen = asked.mock.results.length;
        await Promise.all(asked.mock.results.map(({ value }) => value as unknown));
        await turn();
      }
    }
    await expect.poll(() => taken.length).toBe(places.length + (gone.size > 0 ? 2 : 0) + gone.size);
    return { taken, gone };
  }

  test('half of a worker is kept from transfers that are slow for an hour, the others go on', async () => {
    const { taken, gone } = await afterLooks(SLOW_AFTER_LOOKS);
    expect(gone.size).toBe(2);
    expect(taken.slice(4, 6).toSorted()).toEqual(['last', 'next']);
    expect(new Set(taken.slice(6))).toEqual(gone);
  });

  test('transfers that are slow for a shorter time keep their places', async () => {
    expect((await afterLooks(SLOW_AFTER_LOOKS - 1)).gone.size).toBe(0);
  });

  test('transfers that move their mail keep their places', async () => {
    const moving = `update operations set bytes = bytes + ${Math.ceil(MOVED_AT_LEAST / SLOW_AFTER_LOOKS)}`;
    expect((await afterLooks(3 * SLOW_AFTER_LOOKS, moving)).gone.size).toBe(0);
  });
});

test.each(sampleOf([FRESH, EMBEDDED], 2))(
  'the transfer of a worker that died continues soon, though it has something to do at a later time as well (%s)',
  { tags: 'sampled' },
  async (address) => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    await queue.send('limited', { afterSeconds: 3600 });
    await queue.sendUnlessWaiting('limited', 0);
    await queue.sendUnlessWaiting('limited', 5);
    const taken: string[] = [];
    await using _working = await queue.workOnTransfers(1, async (id) => void taken.push(id));
    await expect.poll(() => taken).toEqual(['limited']);
    const open = "select 1 from pgboss.job where name = 'transfers' and state <> 'completed'";
    // What it has to do later is known by then.
    await expect.poll(() => database.query(open)).toEqual([]);
  },
);

test.each(sampleOf([FRESH, EMBEDDED], 2))(
  'what was queued while the clock of the database was ahead begins once that is right, and dead workers are looked for (%s)',
  { tags: 'sampled' },
  async (address) => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    const putClock = (now: string) =>
      database.query(
        `create or replace function pgboss.job_now() returns timestamptz language sql stable as $$ select ${now} $$`,
      );
    await putClock("now() + interval '1 day'");
    await queue.send('ordered');
    await queue.send('waiting', { afterSeconds: 3600 });
    await database.query('update pgboss.queue set monitor_claim_on = pgboss.job_now()');
    await putClock('now()');
    await queue.send('after', { afterSeconds: 7200 });
    // Of a worker that was stopped while the clock was ahead.
    await queue.send('stopped', { afterSeconds: 86_400 });
    await database.query("update pgboss.job set state = 'retry' where singleton_key = 'stopped'");
    const taken: string[] = [];
    await using _working = await queue.workOnTransfers(1, async (id) => void taken.push(id));
    await queue.mendTimes();
    await expect.poll(() => taken.toSorted()).toEqual(['ordered', 'stopped']);
    const waiting = `select singleton_key as id, round(extract(epoch from start_after - now()) / 3600)::integer as hours
      from pgboss.job where state = 'created' order by start_after`;
    expect(await database.query(waiting)).toEqual([
      { id: 'waiting', hours: 1 },
      { id: 'after', hours: 2 },
    ]);
    expect(
      await database.query("select 1 from pgboss.queue where monitor_claim_on > now() + interval '1 minute'"),
    ).toEqual([]);
  },
);

test.each(sampleOf([FRESH, EMBEDDED], 2))(
  'a worker has a limited number of transfers at a time, and then takes the next one (%s)',
  { tags: 'sampled' },
  async (address) => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    for (const id of ['first', 'second', 'third']) await queue.send(id);
    const taken: string[] = [];
    const [both, all, ended] = [0, 0, 0].map(() => Promise.withResolvers<void>());
    await using _working = await queue.workOnTransfers(2, async (id) => {
      taken.push(id);
      if (taken.length === 2) both?.resolve();
      if (taken.length === 3) all?.resolve();
      else await ended?.promise;
    });
    await both?.promise;
    for (let looks = 0; looks < 50; looks += 1) await database.query(LOOK);
    const atOnce = [...taken];
    ended?.resolve();
    await all?.promise;
    // Which of the two begins first is chance.
    expect(atOnce.toSorted()).toEqual(['first', 'second']);
    expect(taken.at(2)).toBe('third');
  },
);

test('a worker takes as many transfers at a time as its setting says', async () => {
  await using database = await openTestDatabase(FRESH);
  await using queue = await openJobQueue({ database, log: openLog('silent') });
  const atOnce: number[] = [];
  const recording: typeof queue = {
    ...queue,
    workOnTransfers: (number, work) => {
      atOnce.push(number);
      return queue.workOnTransfers(number, work);
    },
  };
  for (const environment of [{}, { TRANSFERS_AT_ONCE: '7' }]) {
    await using _world = await openWorld(FRESH, environment, { queue: recording });
  }
  expect(atOnce).toEqual([4, 7]);
});

test('what is to go on in a moment is brought forward by a machine whose clock is far ahead, too', async () => {
  await using database = await openTestDatabase(FRESH);
  await using queue = await openJobQueue({ database, log: openLog('silent') });
  await queue.send('transfer', { afterSeconds: 12 * 3600 });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20 * 3_600_000 });
  await queue.sendAfterPause('transfer', 5);
  const due = "select 1 from pgboss.job where start_after < now() + interval '1 minute'";
  expect(await database.query(due)).toHaveLength(1);
});

test('what waits is not deleted, however long it waits and however far the clock of the database is ahead', async () => {
  await using database = await openTestDatabase(FRESH);
  await using queue = await openJobQueue({ database, log: openLog('silent') });
  await queue.send('transfer');
  await queue.sendTakeBack('take-back');
  await queue.announce('transfer', 'finished');
  await database.query(
    "create or replace function pgboss.job_now() returns timestamptz language sql stable as $$ select now() + interval '1 year' $$",
  );
  const waiting = () => database.query('select name from pgboss.job order by name');
  // As long as a letter would be of use.
  await expect.poll(waiting, { timeout: 20_000 }).toEqual([{ name: 'take-backs' }, { name: 'transfers' }]);
});

test.each(sampleOf([FRESH, EMBEDDED], 2))(
  'what the database refuses when something is queued has a remedy, and is tried again soon once it is there (%s)',
  async (address) => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent') });
    const refuse = (code: string) =>
      database.query(
        `create or replace function refuse() returns trigger language plpgsql
         as $$ begin raise exception 'no' using errcode = '${code}'; end $$`,
      );
    await refuse('53100');
    await database.query(
      'create trigger refuse before insert on pgboss.job_common for each row execute function refuse()',
    );
    const full = {
      name: 'DatabaseUnavailable',
      wasAway: false,
      remedy: expect.stringContaining('Make room') as string,
    };
    await expect(queue.send('one')).rejects.toMatchObject(full);
    await expect(queue.announce('one', 'finished')).rejects.toMatchObject(full);
    await refuse('57P03');
    const away = { name: 'DatabaseUnavailable', wasAway: true };
    await expect(queue.sendAfterPause('one', 5)).rejects.toMatchObject(away);
    await expect(queue.sendUnlessWaiting('one', 5)).rejects.toMatchObject(away);
  },
);

test('a letter is tried for three days, so that a mail server may be away for a weekend, also where the queue is older', async () => {
  await using database = await openTestDatabase(FRESH);
  const open = () => openJobQueue({ database, log: openLog('silent') });
  await (await open())[Symbol.asyncDispose]();
  await database.query("update pgboss.queue set retry_limit = 30 where name = 'notifications'");
  await using queue = await open();
  await queue.announce('transfer', 'finished');
  const [job] = await database.query<{ tries: number; first: number; last: number }>(
    `select retry_limit as tries, retry_delay as first, retry_delay_max as last from pgboss.job where name = 'notifications'`,
  );
  const { tries = 0, first = 0, last = 0 } = job ?? {};
  // pg-boss shortens a pause below the last by half at most.
  const pauses = Array.from({ length: tries }, (_, failures) => Math.min(last, (first * 2 ** failures) / 2));
  const days = pauses.reduce((sum, pause) => sum + pause, 0) / (24 * 3600);
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.5);
});

test('that orders wait and no worker takes any is told once, and that they have been taken', async () => {
  await using database = await openTestDatabase(FRESH);
  await using queue = await openJobQueue({ database, log: openLog('silent') });
  const lines: { msg: string; waiting?: number }[] = [];
  const log = openLog('info', { write: (line) => void lines.push(JSON.parse(line) as { msg: string }) });
  const looks = steppedLooks();
  await using _watch = watchUntaken({ database, clock: looks, log });
  const lookNow = async () => {
    await looks.next();
    return lines.splice(0);
  };
  for (const id of ['one', 'two']) await queue.send(id);
  await queue.sendTakeBack('three');
  expect(await lookNow()).toEqual([]);
  await database.query("update pgboss.job set start_after = now() - interval '11 minutes'");
  const oneIs = (job: string) => database.query(`update pgboss.job set ${job} where singleton_key = 'one'`);
  await oneIs("state = 'active'");
  expect(await lookNow()).toEqual([]);
  await oneIs("state = 'completed', completed_on = now() - interval '9 minutes'");
  expect(await lookNow()).toEqual([]);
  await oneIs("completed_on = now() - interval '11 minutes'");
  expect(await lookNow()).toMatchObject([{ waiting: 2, msg: expect.stringMatching(/ROLE=worker run/) as string }]);
  expect(await lookNow()).toEqual([]);
  await oneIs("state = 'active', completed_on = null");
  expect(await lookNow()).toMatchObject([{ msg: 'transfers that waited have been taken' }]);
});

test('a take-back that several workers find in others’ hands is queued again once', async () => {
  await using database = await openTestDatabase(FRESH);
  await using queue = await openJobQueue({ database, log: openLog('silent') });
  for (let worker = 0; worker < 3; worker += 1) await queue.sendTakeBackAgain('held', 5);
  expect(await database.query("select 1 from pgboss.job where name = 'take-backs'")).toHaveLength(1);
});

/** How many calls it takes to put back so many transfers, one of which waits already, twice; and which wait then. */
async function putBack(address: TestAddress, count: number) {
  await using database = await openTestDatabase(address);
  let asked = 0;
  const counting = <Service extends object>(service: Service) =>
    new Proxy(service, {
      get: (of, name) => {
        const found: unknown = Reflect.get(of, name);
        if (typeof found !== 'function') return found;
        return (...given: unknown[]): unknown => {
          asked += 1;
          return found.apply(of, given);
        };
      },
    });
  const counted = counting({ ...database, queue: () => counting(database.queue({ schedule: false })) });
  await using queue = await openJobQueue({ database: counted, log: openLog('silent') });
  await database.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider,
       operations, in_qa, created)
     select lpad(n::text, 32, '0'), n, n, 'sanbruno', n, 'other', '{emailmigration}', false, now() + make_interval(secs => n)
     from generate_series(1, $1::integer) n`,
    [count],
  );
  await queue.send('2'.padStart(32, '0'));
  asked = 0;
  await queue.resume();
  await queue.resume();
  const put = await database.query<{ id: string }>(
    "select singleton_key as id from pgboss.job where name = 'transfers' and state = 'created'",
  );
  return { asked, ids: put.map(({ id }) => Number(id)).toSorted((one, other) => one - other) };
}

test.each(sampleOf([FRESH, EMBEDDED], 2))(
  'a start puts back all jobs that nobody works on, however many, at once (%s)',
  { tags: 'sampled' },
  async (address) => {
    const few = await putBack(address, 3);
    expect(few.ids).toEqual([1, 2, 3]);
    const many = await putBack(address, 300);
    expect(many.ids).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
    expect(many.asked).toBe(few.asked);
  },
);

test('what a server said when a job failed, in which an address may stand, is not kept with the job', async () => {
  await using database = await openTestDatabase(FRESH);
  const log = openLog('silent');
  const told = vi.spyOn(log, 'error');
  await using queue = await openJobQueue({ database, log });
  const said = Object.assign(new Error('550 <ann@third.example>: Recipient address rejected'), {
    code: 'EENVELOPE',
    response: '550 <ann@third.example>',
    cause: new Error('ann@third.example'),
  });
  const refuse = () => Promise.reject(said);
  await queue.send('moved');
  await queue.sendTakeBack('taken back');
  await queue.announce('told', 'finished');
  await using _moves = await queue.workOnTransfers(1, refuse);
  await using _takeBacks = await queue.workOnTakeBacks(refuse);
  await using _letters = await queue.workOnNotifications(refuse);
  // They are tried again and again, each time by a job of its own.
  const failed = "select distinct name from pgboss.job where job::text like '%EENVELOPE%'";
  await expect.poll(() => database.query(failed)).toHaveLength(3);
  expect(JSON.stringify(await database.query('select job::text from pgboss.job'))).not.toContain('third.example');
  // The operator hears of it; of letters their teller tells.
  const heard = told.mock.calls.map(([facts]) => facts);
  expect(heard).toContainEqual({ err: said, queue: 'transfers', transferId: 'moved' });
  expect(heard).toContainEqual({ err: said, queue: 'take-backs', transferId: 'taken back' });
  expect(heard).not.toContainEqual(expect.objectContaining({ transferId: 'told' }));
});

test('a start quickly finds the jobs that nobody works on among ten thousand waiting transfers', async () => {
  await using database = await openTestDatabase(FRESH);
  const noted = notedDatabase(database);
  await using queue = await openJobQueue({ database: noted.database, log: openLog('silent') });
  const add = (count: number, finished: string) =>
    database.query<{ id: string }>(
      `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider,
         operations, finished)
       select md5(number || ' ' || coalesce(${finished}::text, '')), number, number, 'sanbruno', number, 'yahoo', '{emailmigration}',
         ${finished} from generate_series(1, ${count}) as number returning id`,
    );
  // PostgreSQL knows of a quiet week in which none was waiting.
  await add(20_000, 'now()');
  for (const table of ['transfers', 'pgboss.job_common']) {
    await database.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await database.query(`analyze ${table}`);
  }
  const [row] = await add(10_000, 'null::timestamptz');
  await queue.resume();
  await database.query("delete from pgboss.job where name = 'transfers' and singleton_key = $1", [row?.id]);
  const waiting = `select count(*)::integer as count from pgboss.job where name = 'transfers'`;
  expect(await database.query(waiting)).toEqual([{ count: 9999 }]);
  noted.asked.length = 0;
  await queue.resume();
  expect(await database.query(waiting)).toEqual([{ count: 10_000 }]);
  // Each with each of the others would be a hundred million.
  const read = await rowsRead(database, noted.asked);
  expect(read).toBeGreaterThan(10_000);
  expect(read).toBeLessThan(200_000);
});

test('similar errors of the queue are logged once a minute, with how many there were', () => {
  const lines: string[] = [];
  const log = openLog('error', { write: (line: string) => void lines.push(line) });
  let now = 0;
  const tell = toldNowAndThen(log, () => now);
  const away = Object.assign(new Error('No.'), { code: 'ECONNREFUSED' });
  for (; now < 60_000; now += 100) tell(away);
  tell(Object.assign(new Error('No.'), { code: '53300' }));
  tell(away);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ err: expect.objectContaining({ code: 'ECONNREFUSED' }) }),
    expect.objectContaining({
      err: expect.objectContaining({ code: '53300' }),
      remedy: expect.stringContaining('Raise max_connections'),
    }),
    expect.objectContaining({ err: expect.objectContaining({ code: 'ECONNREFUSED' }), alike: 599 }),
  ]);
});

test('an error of the queue that pg-boss has copied is logged as the original error', () => {
  const lines: string[] = [];
  const tell = toldNowAndThen(openLog('error', { write: (line: string) => void lines.push(line) }), () => 0);
  const error = Object.assign(new Error('canary'), { code: '57P01' });
  for (const queue of ['transfers', 'notifications'])
    tell({ code: error.code, message: error.message, stack: error.stack, queue, worker: 'a' });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      err: { name: 'Error', code: '57P01', at: expect.arrayContaining([expect.stringContaining('queue.test.ts')]) },
    }),
  ]);
  expect(lines.join()).not.toContain('canary');
});

test(
  'a transfer that fails every time is retried after longer and longer pauses, logged once, and keeps no other waiting',
  { tags: 'proof' },
  async () => {
    await using database = await openTestDatabase(FRESH);
    const log = openLog('silent');
    const told = vi.spyOn(log, 'error');
    await using queue = await openJobQueue({ database, log });
    const tries = new Map<string, number>();
    let fault: Error | null = new TypeError('Of the program itself.');
    await using _working = await queue.workOnTransfers(1, async (id) => {
      tries.set(id, (tries.get(id) ?? 0) + 1);
      if (id === 'broken' && fault !== null) throw fault;
    });
    /** In seconds, after so many failures; the first ones may be over by themselves before anybody looks. */
    const pauseAfter = async (failures: number) => {
      const [job] = await database.query<{ seconds: number }>(
        `select round(extract(epoch from start_after - created_on))::integer as seconds from pgboss.job
         where name = 'transfers' and data->>'failures' = $1`,
        [String(failures)],
      );
      return job?.seconds;
    };
    const goOn = (failures: number) =>
      database.query("update pgboss.job set start_after = created_on where data->>'failures' = $1", [String(failures)]);
    await queue.send('broken');
    for (const [at, pause] of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1800, 1800, 1800].entries()) {
      await expect.poll(() => pauseAfter(at + 1)).toBe(pause);
      if (at + 1 === 14) fault = new RangeError('Another one.');
      await goOn(at + 1);
    }
    await expect.poll(() => pauseAfter(15)).toBe(1800);
    expect(tries.get('broken')).toBe(15);
    await queue.send('other');
    await expect.poll(() => tries.get('other')).toBe(1);
    expect(told.mock.calls.map(([facts]) => facts)).toEqual([
      { err: expect.any(TypeError), queue: 'transfers', transferId: 'broken' },
      { err: expect.any(RangeError), queue: 'transfers', transferId: 'broken' },
    ]);
    fault = null;
    await goOn(15);
    await expect
      .poll(() => database.query("select 1 from pgboss.job where name = 'transfers' and state <> 'completed'"))
      .toEqual([]);
    expect(tries.get('broken')).toBe(16);
  },
);
