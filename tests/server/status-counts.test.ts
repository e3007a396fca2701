import { expect, test } from 'vitest';
import { putToRest, restingOperations } from '../../src/server/transfers/attention.ts';
import {
  beginRun,
  endOperation,
  noteProgress,
  noteWaiting,
  waitingOperations,
} from '../../src/server/transfers/operations.ts';
import { statusOf } from '../../src/server/transfers/status.ts';
import { newsOf } from '../../src/server/transfers/transfer-news.ts';
import { openTransfers } from '../../src/server/transfers/orders.ts';
import { openSharedSafe } from '../../src/server/store/safe.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { type Lease, releaseLease, takeTransfer } from '../../src/server/transfers/lease.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';

const ID = 'c'.repeat(32);
const LEASE = { transferId: ID, epoch: 0 };
const TRANSFER: Parameters<typeof insertTransfer>[1] = {
  id: ID,
  sourceEmail: 'a@b.example',
  sourceProvider: 'sanbruno',
  destinationEmail: 'c@d.example',
  destinationProvider: 'yahoo',
  operations: ['emailmigration'],
  inQa: false,
};
const NOTHING_ELSE = {
  skippedMessages: async () => [],
  countSkippedMessages: async () => 0,
  takenBack: async () => null,
  bringsBack: async () => false,
  arrivals: async () => ({ compared: 0, present: 0, moved: 0 }),
  canTell: () => true,
  daily: async () => null,
  folders: async () => [],
  contactCounts: async () => null,
  contactRemarks: async () => [],
  exportStanding: async () => null,
  exportFiles: async () => [],
};

test('an operation that completed without anything to count has a total of 0; one that failed early has none', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, operations: ['emailmigration', 'contactsmigration'] }, 'key');
  await endOperation(database, LEASE, 'contactsmigration', { status: 'completed' });
  await endOperation(database, LEASE, 'emailmigration', { status: 'review', failure: 'It stopped.' });
  const status = await statusOf(database, NOTHING_ELSE, ID);
  expect(status?.contactsmigration).toMatchObject({ status: 'completed', done: 0, total: 0 });
  expect(status?.emailmigration).not.toHaveProperty('total');
});

test('the files of an export are there when its mail has ended, though they were finished before', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, destinationProvider: 'file_export' }, 'key');
  const file = {
    url: 'https://portal.example/api/exports/a/b.zip',
    name: 'b.zip',
    size: 1,
    sha256: 'd'.repeat(64),
    expires: '2026-12-07T00:00:00.000Z',
  };
  const written = { exportStanding: async () => 'finished' as const, exportFiles: async () => [file] };
  const shown = () => statusOf(database, { ...NOTHING_ELSE, ...written }, ID);
  const before = await shown();
  expect(before).toMatchObject({ files: 'coming', emailmigration: { status: 'started' } });
  expect(before).not.toHaveProperty('exports');
  await endOperation(database, LEASE, 'emailmigration', { status: 'completed' });
  expect(await shown()).toMatchObject({ files: 'there', exports: [file], emailmigration: { status: 'completed' } });
});

test('counts that come late or out of order never make a status fall, and done never exceeds total', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  await noteProgress(database, LEASE, 'emailmigration', { done: 5, total: 9, bytes: 50 });
  await noteProgress(database, LEASE, 'emailmigration', { done: 3, total: 4, bytes: 20 });
  expect((await statusOf(database, NOTHING_ELSE, ID))?.emailmigration).toMatchObject({ done: 5, total: 9, bytes: 50 });
  await noteProgress(database, LEASE, 'emailmigration', { done: 12, total: 9, bytes: 60 });
  expect((await statusOf(database, NOTHING_ELSE, ID))?.emailmigration).toMatchObject({
    done: 12,
    total: 12,
    bytes: 60,
  });
});

test('what was copied is never more than what is done, until it has ended', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  await noteProgress(database, LEASE, 'emailmigration', { done: 30, total: 50, bytes: 50 });
  const sources = { ...NOTHING_ELSE, arrivals: async () => ({ compared: 0, present: 4, moved: 0, copied: 40 }) };
  const mail = async () => (await statusOf(database, sources, ID))?.emailmigration;
  expect(await mail()).toMatchObject({ done: 30, copied: 26, present: 4 });
  await endOperation(database, LEASE, 'emailmigration', { status: 'review', failure: 'It stopped.' });
  expect(await mail()).toMatchObject({ copied: 40, present: 4 });
});

test('a status that many ask for at once is read once at a time, and whoever asks after a change is told of it', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const vault = openVault(new Uint8Array(32).fill(7));
  const gate = Promise.withResolvers<void>();
  let [reads, atOnce, most] = [0, 0, 0];
  const arrivals = async () => {
    reads += 1;
    most = Math.max(most, (atOnce += 1));
    await gate.promise;
    atOnce -= 1;
    return { compared: 0, present: 0, moved: 0, copied: 0 };
  };
  const sources = { ...NOTHING_ELSE, arrivals };
  const queue = { send: async () => {}, announce: async () => {} };
  const transfers = openTransfers({ database, vault, safe: openSharedSafe(vault), queue, sources });
  const done = async () => (await transfers.status(ID))?.emailmigration?.done;
  const asked = [done()];
  await expect.poll(() => reads).toBe(1);
  await noteProgress(database, LEASE, 'emailmigration', { done: 5, total: 9, bytes: 50 });
  for (let at = 0; at < 20; at += 1) asked.push(done());
  gate.resolve();
  expect(await Promise.all(asked)).toEqual([0, ...Array.from({ length: 20 }, () => 5)]);
  expect([reads, most]).toEqual([2, 1]);
  await noteProgress(database, LEASE, 'emailmigration', { done: 6, total: 9, bytes: 60 });
  expect(await done()).toBe(6);
});

test('a run that stores what an earlier one had counted as refused is not idle, and one that moves nothing is', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const begin = async () => (await beginRun(database, LEASE, 'emailmigration')).idleRuns;
  expect(await begin()).toBe(1);
  // Ten were refused.
  await noteProgress(database, LEASE, 'emailmigration', { done: 10, total: 10, bytes: 0 });
  expect([await begin(), await begin()]).toEqual([1, 2]);
  await noteProgress(database, LEASE, 'emailmigration', { done: 4, total: 10, bytes: 500 });
  expect(await begin()).toBe(1);
  await noteProgress(database, LEASE, 'emailmigration', { done: 4, total: 10, bytes: 500 });
  expect(await begin()).toBe(2);
});

test('a run in which goodbyes have only left more is idle, and the wait is as long as before', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const wait = { reason: 'unreachable', until: Date.now() } as const;
  await beginRun(database, LEASE, 'emailmigration');
  await noteWaiting(database, LEASE, 'emailmigration', wait, Date.now());
  await database.query("update operations set waiting_since = now() - interval '7 hours'");
  const idle = await beginRun(database, LEASE, 'emailmigration');
  await noteProgress(database, LEASE, 'emailmigration', { done: 5, total: 10, bytes: 0 });
  const since = await noteWaiting(database, LEASE, 'emailmigration', { ...wait, idle }, Date.now());
  expect([since, (await beginRun(database, LEASE, 'emailmigration')).idleRuns]).toEqual([
    idle.waitingSince?.getTime(),
    3,
  ]);
});

test('an order that no worker has taken for a while is reported as waiting in line, until one takes it', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, operations: ['emailmigration', 'contactsmigration'] }, 'key');
  const waits = async () => {
    const status = await statusOf(database, NOTHING_ELSE, ID);
    return [status?.emailmigration?.waiting, status?.contactsmigration?.waiting];
  };
  expect(await waits()).toEqual([undefined, undefined]);
  await database.query("update transfers set created = created - interval '11 seconds'");
  expect(await waits()).toEqual([{ reason: 'queue' }, { reason: 'queue' }]);
  await takeTransfer(database, ID, 30);
  expect(await waits()).toEqual([undefined, undefined]);
});

test('a transfer that nobody takes over from a worker that has died is reported as waiting, and not as being copied', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  await takeTransfer(database, ID, 30);
  const waitsAfter = async (seconds: number) => {
    await database.query('update transfers set leased_until = now() - make_interval(secs => $1)', [seconds]);
    return (await statusOf(database, NOTHING_ELSE, ID))?.emailmigration?.waiting;
  };
  expect([await waitsAfter(-30), await waitsAfter(50), await waitsAfter(70)]).toEqual([
    undefined,
    undefined,
    { reason: 'queue' },
  ]);
  await database.query('update transfers set finished = now()');
  expect((await statusOf(database, NOTHING_ELSE, ID))?.emailmigration?.waiting).toBeUndefined();
});

test('what a worker that stops leaves behind is reported as waiting in line at once, and what waits or rests as before', async () => {
  await using database = await openTestDatabase(FRESH);
  const operations = ['emailmigration', 'contactsmigration'] as const;
  await insertTransfer(database, { ...TRANSFER, operations }, 'key');
  const held = async () => {
    const taken = await takeTransfer(database, ID, 30);
    if (taken === null || !('lease' in taken)) throw new Error('It was not taken.');
    for (const operation of operations) await beginRun(database, taken.lease, operation);
    return taken.lease;
  };
  const waits = async () => {
    const status = await statusOf(database, NOTHING_ELSE, ID);
    return [status?.emailmigration?.waiting, status?.contactsmigration?.waiting];
  };
  const first = await held();
  expect(await waits()).toEqual([undefined, undefined]);
  await releaseLease(database, first);
  expect(await waits()).toEqual([{ reason: 'queue' }, { reason: 'queue' }]);

  const second = await held();
  await releaseLease(database, first);
  expect(await waits()).toEqual([undefined, undefined]);
  await noteWaiting(database, second, 'emailmigration', { reason: 'provider_limit' }, Date.now());
  const rest = { side: 'destination', reason: 'consent', status: 'authentication_error', failure: 'No.' } as const;
  const services = { database, queue: { announce: async () => {} } };
  await putToRest(services, second, 'contactsmigration', rest, { resumed: 0 }, Date.now());
  await releaseLease(database, second);
  expect(await waits()).toEqual([{ reason: 'provider_limit' }, undefined]);
});

test('contacts that are read for an export don’t wait for their turn while its mail waits for a server or its owner', async () => {
  await using database = await openTestDatabase(FRESH);
  const operations = ['emailmigration', 'contactsmigration'] as const;
  await insertTransfer(database, { ...TRANSFER, destinationProvider: 'file_export', operations }, 'key');
  const services = { database, queue: { announce: async () => {} } };
  const rest = { side: 'source', reason: 'password', status: 'authentication_error', failure: 'No.' } as const;
  const waitsAfter = async (end?: (lease: Lease) => Promise<unknown>) => {
    const taken = await takeTransfer(database, ID, 30);
    if (taken === null || !('lease' in taken)) throw new Error('It was not taken.');
    for (const operation of operations) await beginRun(database, taken.lease, operation);
    await end?.(taken.lease);
    await releaseLease(database, taken.lease);
    const rows = await database.query(
      'select operation, waiting_reason as waits from operations order by operation desc',
    );
    return rows.map(({ waits }) => waits);
  };
  expect(await waitsAfter()).toEqual(['queue', 'queue']);
  const limit = { reason: 'provider_limit' } as const;
  expect(await waitsAfter((lease) => noteWaiting(database, lease, 'emailmigration', limit, Date.now()))).toEqual([
    'provider_limit',
    null,
  ]);
  expect(
    await waitsAfter((lease) => putToRest(services, lease, 'emailmigration', rest, { resumed: 0 }, Date.now())),
  ).toEqual([null, null]);
});

test('the time left counts down between estimates, and is omitted once it is over', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  await beginRun(database, LEASE, 'emailmigration');
  const leftAfter = async (seconds: number) => {
    await noteProgress(database, LEASE, 'emailmigration', { done: 5, total: 9, bytes: 50, left: 90 });
    await database.query('update operations set left_noted = left_noted - make_interval(secs => $1)', [seconds]);
    return (await statusOf(database, NOTHING_ELSE, ID))?.emailmigration?.left;
  };
  expect(await leftAfter(0)).toBe(90);
  expect(await leftAfter(30)).toBe(60);
  expect(await leftAfter(91)).toBeUndefined();
});

test('a wait, a rest, what is kept, the folders and what was taken back are reported as decided', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const now = Date.parse('9998-03-01T12:00:00Z');
  const folders = [
    { name: 'INBOX', done: 5, total: 5 },
    { name: 'Archive', done: 0, total: 4 },
  ];
  const sources = {
    ...NOTHING_ELSE,
    folders: async () => folders.map((folder) => ({ ...folder, settled: folder.done, gone: 0 })),
    takenBack: async () => ({ removed: 3, goesOn: false }),
  };
  const mail = async () => (await statusOf(database, sources, ID))?.emailmigration;
  await noteProgress(database, LEASE, 'emailmigration', { done: 5, total: 9, bytes: 50, kept: 2 });
  for (const reason of ['provider_limit', 'unreachable', 'busy', 'queue', 'disk'] as const) {
    await noteWaiting(database, LEASE, 'emailmigration', { reason, until: now + 3_600_000 }, now);
    const [noted] = await database.query<{ until: Date; seconds: number }>(
      `select waiting_until as until, extract(epoch from waiting_until - now())::float8 as seconds from operations
       where operation = 'emailmigration'`,
    );
    expect(noted?.seconds).toBeGreaterThan(3500);
    expect(noted?.seconds).toBeLessThanOrEqual(3600);
    expect((await mail())?.waiting).toEqual({ reason, until: noted?.until.toISOString() });
  }
  await noteWaiting(database, LEASE, 'emailmigration', { reason: 'queue' }, now);
  expect(await mail()).toMatchObject({ waiting: { reason: 'queue' }, kept: 2, folders, taken_back: 3 });

  const queue = { announce: async () => {} };
  for (const side of ['source', 'destination'] as const)
    for (const [reason, status] of [
      ['password', 'authentication_error'],
      ['consent', 'authentication_error'],
      ['full', 'review'],
      ['refused', 'review'],
    ] as const) {
      const rest = { status, side, reason, failure: 'It stopped.' };
      await putToRest({ database, queue }, LEASE, 'emailmigration', rest, { resumed: 0 }, now);
      const { waiting, ...told } = (await mail()) ?? { status: '' };
      expect(waiting).toBeUndefined();
      expect(told).toMatchObject({ status, attention: { side, reason, until: '9998-03-15T12:00:00.000Z' } });
    }
});

test('of a folder that is complete, what was left out is no part of what is done, and what was deleted before it was read is of no folder', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const sources = {
    ...NOTHING_ELSE,
    folders: async () => [{ name: 'INBOX', done: 52, total: 61, settled: 60, gone: 1 }],
    arrivals: async () => ({ compared: 52, present: 0, moved: 0, copied: 52 }),
  };
  const mail = async () => (await statusOf(database, sources, ID))?.emailmigration;
  await noteProgress(database, LEASE, 'emailmigration', { done: 60, total: 61, bytes: 50, kept: 0 });
  expect((await mail())?.folders).toEqual([{ name: 'INBOX', done: 52, total: 61 }]);
  await endOperation(database, LEASE, 'emailmigration', { status: 'completed' });
  expect(await mail()).toMatchObject({ done: 60, total: 60, copied: 52 });
  expect((await mail())?.folders).toEqual([{ name: 'INBOX', done: 52, total: 60 }]);
});

test('nor is it at the end of a transfer that is to be reviewed', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const sources = {
    ...NOTHING_ELSE,
    folders: async () => [{ name: 'INBOX', done: 97, total: 100, settled: 97, gone: 2 }],
  };
  await noteProgress(database, LEASE, 'emailmigration', { done: 97, total: 100, bytes: 50, kept: 0 });
  await endOperation(database, LEASE, 'emailmigration', {
    status: 'review',
    measured: { lost: 1, duplicated: 0, changed: 0 },
  });
  const mail = (await statusOf(database, sources, ID))?.emailmigration;
  expect(mail?.folders).toEqual([{ name: 'INBOX', done: 97, total: 98 }]);
});

test('the end of a wait or a rest is omitted once that time has passed', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, notificationContact: 'c@d.example' }, 'key');
  const mail = async () => (await statusOf(database, NOTHING_ELSE, ID))?.emailmigration;
  const past = Date.parse('2020-03-01T12:00:00Z');
  await noteWaiting(database, LEASE, 'emailmigration', { reason: 'provider_limit', until: past }, past);
  await database.query("update operations set waiting_until = now() - interval '1 second'");
  expect((await mail())?.waiting).toEqual({ reason: 'provider_limit' });
  expect((await newsOf(database, NOTHING_ELSE, ID))?.waiting).toEqual({
    operation: 'emailmigration',
    reason: 'provider_limit',
  });
  const rest = { status: 'review', side: 'destination', reason: 'full', failure: 'It stopped.' } as const;
  await putToRest(
    { database, queue: { announce: async () => {} } },
    LEASE,
    'emailmigration',
    rest,
    { resumed: 0 },
    past,
  );
  await database.query("update operations set attention_since = now() - interval '15 days'");
  expect((await mail())?.attention).toEqual({ side: 'destination', reason: 'full' });
});

test.each([
  ['ahead', 20],
  ['behind', -20],
])('a wait is as long as it was asked for, though the clock of the worker that noted it is %s', async (_, hours) => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, operations: ['emailmigration', 'contactsmigration'] }, 'key');
  const now = Date.now() + hours * 3_600_000;
  const until = now + 7_200_000;
  expect(await noteWaiting(database, LEASE, 'contactsmigration', { reason: 'busy', until }, now)).toBeNull();
  const waiting = await waitingOperations(database, ID);
  expect([...waiting.keys()]).toEqual(['contactsmigration']);
  expect(waiting.get('contactsmigration')).toBeGreaterThan(7100);
  expect(waiting.get('contactsmigration')).toBeLessThanOrEqual(7200);
  await database.query("update operations set waiting_since = waiting_since - interval '5 hours'");
  expect(await noteWaiting(database, LEASE, 'contactsmigration', { reason: 'busy', until }, now)).not.toBeNull();
});

test('a wait that was noted while the clock of the database was ahead is as long as it was asked for once that is right', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, operations: ['emailmigration', 'contactsmigration'] }, 'key');
  const now = Date.now();
  await noteWaiting(database, LEASE, 'contactsmigration', { reason: 'busy', until: now + 7_200_000 }, now);
  await database.query(
    `update operations set waiting_until = waiting_until + interval '20 hours',
       waiting_noted = waiting_noted + interval '20 hours', waiting_since = waiting_since + interval '20 hours'
     where operation = 'contactsmigration'`,
  );
  for (const passed of [0, 1000]) {
    await database.query('update operations set waiting_until = waiting_until - make_interval(secs => $1)', [passed]);
    const waiting = await waitingOperations(database, ID);
    expect([...waiting.keys()]).toEqual(['contactsmigration']);
    expect(waiting.get('contactsmigration')).toBeGreaterThan(7100 - passed);
    expect(waiting.get('contactsmigration')).toBeLessThanOrEqual(7200 - passed);
  }
  const [row] = await database.query<{ began: boolean }>(
    "select waiting_since <= now() as began from operations where operation = 'contactsmigration'",
  );
  expect(row?.began).toBe(true);
});

test('an owner has two weeks, though the clock of the worker that came to a stop was behind', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const rest = { status: 'review', side: 'destination', reason: 'full', failure: 'It stopped.' } as const;
  const queue = { announce: async () => {} };
  const monthAgo = Date.now() - 30 * 24 * 3_600_000;
  await putToRest({ database, queue }, LEASE, 'emailmigration', rest, { resumed: 0 }, monthAgo);
  const [resting] = await restingOperations(database, ID);
  expect(Math.abs((resting?.since.getTime() ?? 0) - Date.now())).toBeLessThan(3_600_000);
});

test('an export that has ended without files reports nothing as copied', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, { ...TRANSFER, destinationProvider: 'file_export' }, 'key');
  await noteProgress(database, LEASE, 'emailmigration', { done: 12, total: 30, bytes: 500 });
  const mail = async () => (await statusOf(database, NOTHING_ELSE, ID))?.emailmigration;
  expect(await mail()).toMatchObject({ done: 12, copied: 12 });
  await endOperation(database, LEASE, 'emailmigration', { status: 'review', failure: 'It stopped.' });
  expect(await mail()).toMatchObject({ done: 12, copied: 0 });
});

test('waits for what is refused and waits for trouble are counted apart, and neither run counts as idle', async () => {
  await using database = await openTestDatabase(FRESH);
  await insertTransfer(database, TRANSFER, 'key');
  const now = Date.now();
  const until = now + 5000;
  const waiting = ['troubleWaits', 'troubleWaits', 'refusalWaits', undefined] as const;
  for (const waited of waiting)
    await noteWaiting(database, LEASE, 'emailmigration', { reason: 'busy', until, ...(waited && { waited }) }, now);
  await beginRun(database, LEASE, 'emailmigration');
  await noteWaiting(database, LEASE, 'emailmigration', { reason: 'busy', until, waited: 'troubleWaits' }, now);
  expect(await beginRun(database, LEASE, 'emailmigration')).toMatchObject({
    refusalWaits: 1,
    troubleWaits: 3,
    idleRuns: 1,
  });
});
