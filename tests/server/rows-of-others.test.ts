import { expect, test } from 'vitest';
import { statusSources } from '../../src/server/main.ts';
import type { Database } from '../../src/server/store/database.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { openOwners } from '../../src/server/transfers/owners.ts';
import { statusOf } from '../../src/server/transfers/status.ts';
import { newsOf } from '../../src/server/transfers/transfer-news.ts';
import { mayManage } from '../../src/server/web/permission.ts';
import { openSessions } from '../../src/server/web/sessions.ts';
import { EMBEDDED, openTestDatabase } from '../support/fresh-database.ts';
import { notedDatabase, rowsRead } from '../support/rows-read.ts';

const NOW = Date.parse('2026-11-01T00:00:00Z');
const SETTINGS = { publicUrl: 'http://localhost', legacyName: 'San Bruno', accessEnd: '2030-01-31T23:59:59-08:00' };

/** A town whose transfers have ended, each with its mail and contacts. */
async function openTown(): Promise<Database> {
  const database = await openTestDatabase(EMBEDDED);
  await database.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider,
       operations, notification_contact, finished)
     select md5(number::text), number, number || '@b.example', 'sanbruno', number || '@d.example', 'yahoo',
       '{emailmigration,contactsmigration}', 'e@f.example', now()
     from generate_series(1, 5000) as number`,
  );
  await database.query(
    `insert into operations (transfer_id, operation, status, started, finished)
     select id, operation, 'completed', now(), now() from transfers, unnest(operations) as operation`,
  );
  await database.query(
    `insert into sessions (token, mailbox, browser, expires)
     select md5(number::text), 'mailbox ' || number, 'browser ' || number, $1 from generate_series(1, 5000) as number`,
    [NOW + 1000],
  );
  await database.query('analyze');
  return database;
}

test('the status of a transfer, and the letters about it, read its own rows, however many others there are', async () => {
  await using town = await openTown();
  const [transfer] = await town.query<{ id: string }>("select id from transfers where submit_key = '17'");
  const id = transfer?.id ?? '';
  const { database, asked } = notedDatabase(town);
  const sources = statusSources({ database, settings: SETTINGS, now: () => NOW });
  expect(await statusOf(database, sources, id)).toMatchObject({ emailmigration: { status: 'completed' } });
  expect(await newsOf(database, sources, id)).toMatchObject({ contact: 'e@f.example' });
  expect(await rowsRead(town, asked)).toBeLessThan(200);
});

test('whether somebody may manage a transfer reads their sign-ins, however many others have signed in', async () => {
  await using town = await openTown();
  const vault = openVault(new Uint8Array(32).fill(7));
  const [transfer] = await town.query<{ id: string }>("select id from transfers where submit_key = '17'");
  const { database, asked } = notedDatabase(town);
  const guard = {
    owners: openOwners({ database, vault }),
    sessions: openSessions({ database, vault, now: () => NOW }),
  };
  const stranger = { browser: { key: 'unknown', keep: () => '', change: () => {} }, bearer: 'unknown' };
  expect(await mayManage(guard, stranger, transfer?.id ?? '')).toBe(false);
  expect(await guard.sessions.wasEndedEverywhere('unknown', '17@b.example')).toBe(false);
  expect(await rowsRead(town, asked)).toBeLessThan(100);
});
