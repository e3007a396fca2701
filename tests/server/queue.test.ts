import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { EMBEDDED, FRESH, openTestDatabase } from '../support/fresh-database.ts';

const LOOK = 'select 1 from pgboss.job';

afterEach(() => {
  vi.useRealTimers();
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

test.each([FRESH, EMBEDDED])('what a worker that died had goes on before orders that wait (%s)', async (address) => {
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
});

test('what a server said when a job failed, in which an address may stand, is not kept with the job', async () => {
  await using database = await openTestDatabase(FRESH);
  const log = openLog('silent');
  const warned = vi.spyOn(log, 'warn');
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
  const failed = 'select name, output::text as output from pgboss.job where output is not null order by name';
  await expect.poll(() => database.query(failed), { timeout: 20_000 }).toHaveLength(3);
  for (const { output } of await database.query<{ output: string }>(failed)) {
    expect(output).toContain('EENVELOPE');
    expect(output).not.toContain('third.example');
  }
  // The operator hears of it; of letters their teller tells.
  const heard = warned.mock.calls.map(([facts]) => facts);
  expect(heard).toContainEqual({ err: said, queue: 'transfers', transferId: 'moved' });
  expect(heard).toContainEqual({ err: said, queue: 'take-backs', transferId: 'taken back' });
  expect(heard).not.toContainEqual(expect.objectContaining({ transferId: 'told' }));
});
