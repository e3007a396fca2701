import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Database } from '../../src/server/store/database.ts';
import { openVault, type Vault } from '../../src/server/store/vault.ts';
import { eraseAnnouncement, openAnnouncements } from '../../src/server/transfers/announcements.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';

const EMAIL = 'ann@sanbrunocable.example';
const DAY_MS = 24 * 3_600_000;

function announcementsOf(database: Database, { vault = openVault(randomBytes(32)), endsInDays = 1 } = {}) {
  const accessEnd = new Date(Date.now() + endsInDays * DAY_MS).toISOString();
  return openAnnouncements({ database, vault, settings: { accessEnd, retentionDays: 30 }, now: Date.now });
}

test.each([
  ['as long as access lasts', 1, 60, true],
  ['for 30 days, also after access has ended', -1, 29, true],
  ['no longer', -1, 31, false],
])('a move that was announced is known %s', async (_, endsInDays, daysAgo, isKnown) => {
  await using database = await openTestDatabase(FRESH);
  const announcements = announcementsOf(database, { endsInDays });
  await announcements.note(EMAIL);
  await database.query("update announced_moves set announced = now() - $1 * interval '1 day'", [daysAgo]);
  await announcements.purge();
  expect(await announcements.has(EMAIL)).toBe(isKnown);
});

test('a clock that is ahead of the database forgets no move', async () => {
  await using database = await openTestDatabase(FRESH);
  const settings = { accessEnd: new Date(Date.now() + DAY_MS).toISOString(), retentionDays: 30 };
  const ahead = () => Date.now() + 60 * DAY_MS;
  const announcements = openAnnouncements({ database, vault: openVault(randomBytes(32)), settings, now: ahead });
  await announcements.note(EMAIL);
  await announcements.purge();
  expect(await announcements.has(EMAIL)).toBe(true);
});

test('a move that was announced is known, and can be erased, after SECRET_KEY has been replaced', async () => {
  await using database = await openTestDatabase(FRESH);
  const former = randomBytes(32);
  await announcementsOf(database, { vault: openVault(former) }).note(EMAIL);
  const vault: Vault = openVault(randomBytes(32), [former]);
  const announcements = announcementsOf(database, { vault });
  expect(await announcements.has(EMAIL.toUpperCase())).toBe(true);
  await announcements.note(EMAIL);
  await eraseAnnouncement(database, vault, EMAIL);
  expect(await database.query('select 1 from announced_moves')).toEqual([]);
});
