import { expect, test } from 'vitest';
import { type Database, DatabaseUnavailable, openDatabase } from '../../src/server/store/database.ts';
import { createSharedDatabase, EMBEDDED, FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const ADD = 'insert into numbers (number) values ($1) returning number';

async function numbersIn(database: Database): Promise<number[]> {
  const rows = await database.query<{ number: number }>('select number from numbers order by number');
  return rows.map(({ number }) => number);
}

test.each([FRESH, EMBEDDED])(
  'statements that are committed together are committed all or not at all (%s)',
  async (address) => {
    await using database = await openTestDatabase(address);
    await database.query('create table numbers (number integer primary key)');
    const answers = await database.commit([
      { text: ADD, parameters: [1] },
      { text: 'select count(*)::integer as count from numbers' },
      { text: ADD, parameters: [2] },
    ]);
    expect(answers).toEqual([[{ number: 1 }], [{ count: 1 }], [{ number: 2 }]]);

    const refused = database.commit([
      { text: ADD, parameters: [3] },
      { text: 'select 1 / (count(*) - 3) from numbers' },
      { text: ADD, parameters: [4] },
      { text: ADD, parameters: [4] },
    ]);
    // What the first one said, not what was refused for that.
    await expect(refused).rejects.toMatchObject({ code: '22012' });
    expect(await numbersIn(database)).toEqual([1, 2]);
    await database.commit([{ text: ADD, parameters: [5] }]);
    expect(await numbersIn(database)).toEqual([1, 2, 5]);
  },
);

/** What PostgreSQL says when it is ready, and right behind it when it ends a connection (57P01). */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const FIELDS = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0', 'latin1');
const ENDED = Buffer.concat([Buffer.from('E\0\0\0', 'latin1'), Buffer.from([FIELDS.length + 4]), FIELDS]);

/** A database behind a proxy that can keep its answers back until it is asked to `commit`, or end a connection that has just begun. */
async function proxied() {
  const shared = await createSharedDatabase();
  if (shared === null) throw new Error('PostgreSQL is not installed.');
  const url = new URL(shared.url);
  let asked: PromiseWithResolvers<void> | undefined;
  let ending = false;
  const proxy: TcpProxy = await startTcpProxy(Number(url.port), {
    change: async (direction, part) => {
      if (direction === 'to server' && part.includes('commit')) asked?.resolve();
      if (direction === 'to client') await asked?.promise;
      if (!ending || direction === 'to server' || !part.subarray(-READY.length).equals(READY)) return part;
      ending = false;
      return Buffer.concat([part, ENDED]);
    },
  });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const database = await openDatabase({ url: url.href });
  await database.query('create table numbers (number integer primary key)');
  return {
    database,
    proxy,
    holdUntilCommit: () => {
      asked = Promise.withResolvers();
    },
    endTheNext: () => {
      ending = true;
      proxy.resetAll();
    },
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await shared.drop();
    },
  };
}

test('they take one round trip', needs('postgresql'), async () => {
  await using world = await proxied();
  world.holdUntilCommit();
  await world.database.commit([1, 2, 3].map((number) => ({ text: ADD, parameters: [number] })));
  expect(await numbersIn(world.database)).toEqual([1, 2, 3]);
});

test('one that waits for a lock sees, behind it, what was committed meanwhile', needs('postgresql'), async () => {
  await using database = await openTestDatabase(FRESH);
  await database.query('create table numbers (number integer primary key)');
  await database.query(ADD, [1]);
  let waiting: Promise<unknown> | undefined;
  await database.transaction(async (sql) => {
    await sql.query('select 1 from numbers where number = 1 for update');
    waiting = database.commit([
      { text: 'select 1 from numbers where number = 1 for share' },
      { text: 'select count(*)::integer as count from numbers' },
    ]);
    const isWaiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await database.query(isWaiting)).length === 0);
    await sql.query(ADD, [2]);
  });
  expect(await waiting).toEqual([[{ '?column?': 1 }], [{ count: 2 }]]);
});

test(
  'a connection that ends under them is told as such, and the next ones have another',
  needs('postgresql'),
  async () => {
    await using world = await proxied();
    world.proxy.resetAfter('to client', 0);
    await expect(world.database.commit([{ text: ADD, parameters: [1] }])).rejects.toThrow(DatabaseUnavailable);
    await world.database.commit([{ text: ADD, parameters: [2] }]);
    expect(await numbersIn(world.database)).toContain(2);
  },
);

test(
  'a connection that is ended in the very moment in which it is handed out does not end the process',
  needs('postgresql'),
  async () => {
    await using world = await proxied();
    for (const work of [
      () => world.database.commit([{ text: ADD, parameters: [1] }]),
      () => world.database.transaction((sql) => sql.query(ADD, [1])),
    ]) {
      world.endTheNext();
      await expect(work()).rejects.toThrow(DatabaseUnavailable);
    }
    await world.database.commit([{ text: ADD, parameters: [2] }]);
    expect(await numbersIn(world.database)).toEqual([2]);
  },
);
