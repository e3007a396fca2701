import { expect, test } from 'vitest';
import { startExportSweeper } from '../../src/server/export/download/sweeper.ts';
import { openLog } from '../../src/server/log.ts';
import { earlierTime } from '../../src/server/store/earlier-time.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';

const DAY_MS = 24 * 3_600_000;
const [ID, NAME] = ['a'.repeat(32), 'b'.repeat(32)];

const aMonthAhead = () => Date.now() + 30 * DAY_MS;

test('of a machine and its database, the time of the one that is behind counts', async () => {
  await using database = await openTestDatabase(FRESH);
  const began = Date.now();
  expect(await earlierTime(database, () => began - DAY_MS)).toBe(began - DAY_MS);
  const at = await earlierTime(database, () => began + DAY_MS);
  expect(Math.abs(at - began)).toBeLessThan(DAY_MS / 2);
});

test('the files of an export are not deleted by a machine whose clock is far ahead, and are when their days are over', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(
    database,
    {
      id: ID,
      sourceEmail: 'ann@sanbrunocable.example',
      sourceProvider: 'sanbruno',
      destinationEmail: '',
      destinationProvider: 'file_export',
      operations: ['emailmigration'],
      inQa: false,
    },
    'key',
  );
  await database.query(
    `with made as (insert into exports (transfer_id, name, finished, expires)
       values ($1, $2, now(), now() + interval '7 days') returning id)
     insert into export_files (export_id, part, name, size, sha256) select id, 1, 'mail.zip', 4, '' from made`,
    [ID, NAME],
  );
  const removed: string[] = [];
  const exports = {
    staging: `/nowhere/${NAME}`,
    remove: async (name: string) => void removed.push(name),
  } as unknown as Parameters<typeof startExportSweeper>[0]['exports'];
  const sweep = async () => {
    const { promise: swept, resolve } = Promise.withResolvers<void>();
    const verifiers = { purge: async () => resolve() };
    await using _sweeper = startExportSweeper({
      database,
      exports,
      log: openLog('silent'),
      verifiers,
      now: aMonthAhead,
    });
    await swept;
    return removed;
  };
  expect(await sweep()).toEqual([]);
  await database.query("update exports set expires = now() - interval '1 minute'");
  expect(await sweep()).toEqual([NAME]);
});
