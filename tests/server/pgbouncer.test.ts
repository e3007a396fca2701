import { expect, test } from 'vitest';
import { openDatabase } from '../../src/server/store/database.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';

/** More than fit through a pool of 20 at once, so that connections change hands between their transactions. */
const AT_ONCE = 40;

test.each(['session', 'transaction'] as const)(
  'through a PgBouncer that pools by %s, tables are made, transactions kept apart and jobs done',
  needs('postgresql', 'pgbouncer'),
  async (mode) => {
    await using pooler = await startPgBouncer(await createEmptyDatabase(), { mode });
    await using database = await openDatabase({ url: pooler.url });
    await database.query('create table counted (number integer)');
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, number) =>
        number % 2 === 0
          ? database.transaction((sql) => sql.query('insert into counted values ($1)', [number]))
          : database.commit([{ text: 'insert into counted values ($1)', parameters: [number] }, { text: 'select 1' }]),
      ),
    );
    const undone = database.commit([{ text: 'insert into counted values (-1)' }, { text: 'select 1 / 0' }]);
    await expect(undone).rejects.toMatchObject({ code: '22012' });
    expect(await database.query('select sum(number)::integer as sum, count(*)::integer as count from counted')).toEqual(
      [{ sum: (AT_ONCE * (AT_ONCE - 1)) / 2, count: AT_ONCE }],
    );
    const queue = database.queue();
    await queue.start();
    await queue.createQueue('letters');
    const done = Promise.withResolvers<unknown>();
    await queue.work('letters', { pollingIntervalSeconds: 0.5 }, async ([job]) => done.resolve(job?.data));
    await queue.send('letters', { number: 1 });
    expect(await done.promise).toEqual({ number: 1 });
    await queue.stop({ graceful: false });
  },
);

test('a PgBouncer that pools by statement is refused at the start', needs('postgresql', 'pgbouncer'), async () => {
  await using pooler = await startPgBouncer(await createEmptyDatabase(), { mode: 'statement' });
  await expect(openDatabase({ url: pooler.url })).rejects.toThrow('its pool_mode must be session or transaction');
});

test('one that lets too few in is told by its own setting', needs('postgresql', 'pgbouncer'), async () => {
  await using pooler = await startPgBouncer(await createEmptyDatabase(), { mode: 'transaction', clients: 2 });
  await using database = await openDatabase({ url: pooler.url });
  const asked = Promise.all(Array.from({ length: 3 }, () => database.query('select pg_sleep(0.5)')));
  await expect(asked).rejects.toThrow('its max_client_conn allow all processes');
});
