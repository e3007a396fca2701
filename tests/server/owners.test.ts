import { expect, test } from 'vitest';
import { openVault } from '../../src/server/store/vault.ts';
import { BROWSERS_AT_MOST, copyBrowser, openOwners } from '../../src/server/transfers/owners.ts';
import { EMBEDDED, openTestDatabase } from '../support/fresh-database.ts';
import { notedDatabase, rowsRead } from '../support/rows-read.ts';

test('a sign-in reads what its browser owns, not what all others do, and leaves only so many owners', async () => {
  await using database = await openTestDatabase(EMBEDDED);
  const vault = openVault(new Uint8Array(32).fill(7));
  await database.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider,
       operations)
     select md5(number::text), number, number, 'sanbruno', number, 'yahoo', '{emailmigration}'
     from generate_series(1, 5000) as number`,
  );
  await database.query('insert into transfer_browsers (transfer_id, browser) select id, submit_key from transfers');
  const [transfer] = await database.query<{ id: string }>("select id from transfers where submit_key = '17'");
  const owners = openOwners({ database, vault });
  await owners.add(transfer?.id ?? '', 'former');
  await database.query('analyze transfer_browsers');
  const noted = notedDatabase(database);
  await copyBrowser(noted.database, vault, 'former', 'new');
  expect(await owners.has(transfer?.id ?? '', 'new')).toBe(true);
  expect(await rowsRead(database, noted.asked)).toBeLessThan(100);
  for (let at = 0; at < BROWSERS_AT_MOST + 20; at += 1)
    await copyBrowser(database, vault, at === 0 ? 'new' : `browser ${at - 1}`, `browser ${at}`);
  const owned = await database.query('select 1 from transfer_browsers where transfer_id = $1', [transfer?.id]);
  expect(owned).toHaveLength(BROWSERS_AT_MOST);
  expect(await owners.has(transfer?.id ?? '', `browser ${BROWSERS_AT_MOST + 19}`)).toBe(true);
});
