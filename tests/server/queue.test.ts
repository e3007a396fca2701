import { describe, expect, test } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { EMBEDDED, FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';

const HOUR = 3600;
const ID = 'a'.repeat(32);

describe.each([
  { on: 'PGlite', address: EMBEDDED, needed: needs() },
  { on: 'PostgreSQL', address: FRESH, needed: needs('postgresql') },
])('the queue on $on', ({ address, needed }) => {
  test('tells a worker that hardly looks by itself of a transfer, once its order is committed', needed, async () => {
    await using database = await openTestDatabase(address);
    await using queue = await openJobQueue({ database, log: openLog('silent'), looksEvery: HOUR });
    const told = Promise.withResolvers<string>();
    let isCommitted = false;
    await using _work = await queue.workOnTransfers(1, async (id) => told.resolve(`${id} ${isCommitted}`));
    await database.transaction(async (sql) => {
      await queue.send(ID, { sql });
      isCommitted = true;
    });
    expect(await told.promise).toBe(`${ID} true`);
  });
});
