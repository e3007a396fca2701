import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as v from 'valibot';
import { Email } from '../../src/contract/email.ts';
import { readSettings, SettingsError } from '../../src/contract/settings.ts';
import { eraseFromServer } from '../../src/server/erase.ts';
import { openDatabase, type Database, type DatabaseAddress } from '../../src/server/store/database.ts';
import { requireSealingKey } from '../../src/server/store/sealing-key.ts';
import { eraseSubscriber } from '../../src/server/transfers/retention.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { createEmptyDatabase, layFreshDatabase } from '../support/fresh-database.ts';
import { LEGACY_DOMAIN, openWebWorld } from '../support/web-world.ts';

const ROOT = join(import.meta.dirname, '../..');
const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const THEIRS = 'bob@mail.example';

const exportOf = (source: string, destination: string, contact?: string) => ({
  source_account: { email: source, password: PASSWORD, provider: 'sanbruno' },
  destination_account: { email: destination, provider: 'file_export' },
  operations: ['emailmigration', 'contactsmigration'],
  parameters: contact === undefined ? {} : { notification_email: contact },
  file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
});

/** What the product keeps of Ann, and of Bob, who has named her address. @returns what must not be found afterwards */
async function fill(address: DatabaseAddress, key: Uint8Array): Promise<string[]> {
  await using world = await openWebWorld({ address, key, providers: ['yahoo'] });
  const { services, database } = world;
  await requireSealingKey(database, services.vault, () => Promise.resolve());
  for (const email of [ANN, BOB]) world.passwords.set(email, PASSWORD);
  for (const provider of ['sanbruno', 'other'])
    await world.post('/api/validate/', {
      email: ANN,
      password: PASSWORD,
      provider,
      ...(provider === 'other' ? { imap: world.trustedImap } : {}),
    });
  if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
  await new OauthBrowser(world).until('/api/oauth/?provider=yahoo', isPage);
  await new OauthBrowser(world).until('/api/oauth-for-status/?provider=yahoo', isPage);
  const ordered = await world.post('/api/load/', exportOf(ANN, 'ann@mail.example', 'ann@mail.example'));
  const { jobid } = ordered.body as { jobid: string };
  const others = await world.post('/api/load/', exportOf(BOB, THEIRS));
  const { jobid: bobs } = others.body as { jobid: string };
  await database.query('update transfers set destination_email = $2, notification_contact = $2 where id = $1', [
    bobs,
    ANN,
  ]);
  await world.queue.announce(jobid, 'finished');
  // As an earlier version kept what a mail server said.
  await database.query(`update pgboss.job set output = to_jsonb($2::text) where data->>'transferId' = $1`, [
    bobs,
    `550 <${ANN}>`,
  ]);
  await world.post('/api/v2/san-bruno-set-migration-started/', { email: ANN });
  const kept = await everything(database);
  for (const sign of [ANN, jobid, services.vault.digest('announced move', ANN)]) expect(kept, 'before').toContain(sign);
  return [
    ANN,
    jobid,
    services.vault.digest('session mailbox', ANN),
    services.vault.digest('known mailbox', ANN),
    services.vault.digest('verifier mailbox', ANN),
    services.vault.digest('announced move', ANN),
  ];
}

/** Every row of every table, as JSON. */
async function everything(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  let found = '';
  for (const { name } of tables)
    found += JSON.stringify(await database.query(`select to_jsonb(t) as row from ${name} t`));
  return found;
}

/** The files in which one of the signs lies as it is written. */
async function filesWith(signs: readonly string[], folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = join(entry.parentPath, entry.name);
    const octets = await readFile(file);
    if (signs.some((sign) => octets.includes(sign))) found.push(file);
  }
  return found;
}

/** As an operator does it. */
async function erase(environment: Record<string, string>, ...addresses: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'erase', '--', ...addresses], {
    cwd: ROOT,
    env: { ...process.env, LEGACY_IMAP_URL: 'imaps://imap.sanbruno.example', LOG_LEVEL: 'silent', ...environment },
  });
  return stdout;
}

const settingsOn = (url: string) =>
  readSettings({
    DATABASE_URL: url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    SANDBOX: 'on',
    LOG_LEVEL: 'silent',
  });

/** The names of all tables and indexes. */
async function tablesOf(url: string): Promise<readonly unknown[]> {
  await using client = Object.assign(new pg.Client({ connectionString: url }), {
    [Symbol.asyncDispose]: () => client.end(),
  });
  await client.connect();
  const text = `select relname from pg_class where relnamespace = 'public'::regnamespace order by relname`;
  return (await client.query(text)).rows;
}

describe('nothing is said to be erased', () => {
  test('where the product has no database, and none is made there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'erase-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await expect(eraseFromServer(readSettings({ DATA_DIR: folder, LOG_LEVEL: 'silent' }), ANN)).rejects.toThrow(
      'DATA_DIR holds no database of the product, so nothing was done.',
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test('of a PostgreSQL that the product has never used, and no table is made there', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    await expect(eraseFromServer(settingsOn(url), ANN)).rejects.toThrow(
      'DATABASE_URL names a database that the product has never used, so nothing was done.',
    );
    expect(await tablesOf(url)).toEqual([]);
  });

  test('of a PostgreSQL of an older version, which may still be running on it', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    {
      await using database = await openDatabase({ url });
      await database.query('drop index sessions_by_mailbox, sessions_by_browser');
      await database.query(`delete from schema_migrations where name = '074-sessions-by-browser.sql'`);
    }
    const before = await tablesOf(url);
    await expect(eraseFromServer(settingsOn(url), ANN)).rejects.toThrow(
      'DATABASE_URL names a database of an older version of this program (without 074-sessions-by-browser.sql), so nothing was done',
    );
    expect(await tablesOf(url)).toEqual(before);
  });

  test('of a PostgreSQL of a newer version', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    {
      await using database = await openDatabase({ url });
      await database.query(`insert into schema_migrations (name) values ('999-of-the-future.sql')`);
    }
    await expect(eraseFromServer(settingsOn(url), ANN)).rejects.toThrow('a newer version of this program');
  });

  test('while the PostgreSQL is away, which may pass', async () => {
    const away = `postgres://portal:hunter2@127.0.0.1:${await freePort()}/portal`;
    const SECRET_KEY = randomBytes(32).toString('base64');
    await expect(erase({ DATABASE_URL: away, SECRET_KEY, EXPORTS_URL: tmpdir() }, ANN)).rejects.toMatchObject({
      code: 69,
      stderr: expect.stringContaining("DATABASE_URL can't be used"),
    });
  });

  test('when two addresses are named', async () => {
    await expect(erase({}, ANN, BOB)).rejects.toMatchObject({
      code: 64,
      stderr: 'Name the one address whose data are to be erased. Example: npm run erase -- ann@sanbruno.example\n',
    });
  });
});

test('the tokens of a transfer under way, which are of an address elsewhere, are erased and revoked with its subscriber', async () => {
  await using world = await openWebWorld({ providers: ['google'] });
  const { google } = world.providers;
  if (google === undefined) throw new Error('Google was not started.');
  world.passwords.set(ANN, PASSWORD);
  google.person.email = 'ann@mail.example';
  const browser = new OauthBrowser(world);
  const page = await browser.until('/api/oauth/?provider=google', isPage);
  const ordered = await world.post(
    '/api/load/',
    {
      source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
      destination_account: {
        email: 'ann@mail.example',
        provider: 'google',
        token_id: page.searchParams.get('token_id'),
      },
      operations: ['emailmigration'],
      parameters: {},
    },
    browser.headers,
  );
  expect(ordered.status).toBe(200);
  expect(await world.database.query('select 1 from oauth_tokens')).toHaveLength(1);
  expect(await eraseSubscriber({ ...world.services, safe: world.safe }, ANN)).toBe(1);
  expect(await world.database.query('select 1 from oauth_tokens')).toEqual([]);
  expect(google.revocations.map((each) => each.get('token_type_hint'))).toEqual(['refresh_token']);
});

/** A PostgreSQL in which something is known of Ann, and a folder of the test's own. */
async function openFilled() {
  const folder = await mkdtemp(join(tmpdir(), 'erase-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const url = await createEmptyDatabase();
  const key = randomBytes(32);
  await fill({ url }, key);
  return { folder, url, key };
}

test(
  'a subscriber whose files are kept elsewhere is not erased, until EXPORTS_URL says where',
  needs('postgresql'),
  async () => {
    const { folder, url, key } = await openFilled();
    await using database = await openDatabase({ url });
    const name = 'a'.repeat(32);
    await database.query(
      `with made as (insert into exports (transfer_id, name, finished, expires)
       select id, $2, now(), now() + interval '1 day' from transfers where source_email = $1 returning id)
     insert into export_files (export_id, part, name, size, sha256) select id, 1, 'mail.zip', 4, '' from made`,
      [ANN, name],
    );
    const file = join(folder, 'there', name, 'mail.zip');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'mail');
    const at = (place: string) =>
      readSettings({
        DATABASE_URL: url,
        SECRET_KEY: key.toString('base64'),
        EXPORTS_URL: join(folder, place),
        SANDBOX: 'on',
        LOG_LEVEL: 'silent',
      });
    await expect(eraseFromServer(at('elsewhere'), ANN)).rejects.toThrow(SettingsError);
    expect(await database.query('select 1 from transfers where source_email = $1', [ANN])).toHaveLength(1);
    expect(await eraseFromServer(at('there'), ANN)).toBe(1);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  },
);

test(
  'a subscriber whose files can not be removed is told of in a sentence, and erased once they can',
  needs('postgresql'),
  async () => {
    const { folder, url, key } = await openFilled();
    await using database = await openDatabase({ url });
    await database.query(
      `insert into exports (transfer_id, name) select id, repeat('a', 32) from transfers where source_email = $1`,
      [ANN],
    );
    // In a file no other can be removed.
    const place = join(folder, 'exports');
    await writeFile(place, '');
    const settings = readSettings({
      DATABASE_URL: url,
      SECRET_KEY: key.toString('base64'),
      EXPORTS_URL: place,
      SANDBOX: 'on',
      LOG_LEVEL: 'silent',
    });
    await expect(eraseFromServer(settings, ANN)).rejects.toThrow(SettingsError);
    await rm(place);
    expect(await eraseFromServer(settings, ANN)).toBe(1);
    expect(await database.query('select 1 from transfers where source_email = $1', [ANN])).toEqual([]);
  },
);

test(
  'a subscriber at an internationalized domain is erased however its name is spelled',
  needs('postgresql'),
  async () => {
    const { folder, url, key } = await openFilled();
    await using database = await openDatabase({ url });
    for (const [from, email] of [
      [ANN, 'ann@bücher.example'],
      [BOB, 'ann@xn--bcher-kva.example'],
    ])
      await database.query('update transfers set source_email = $2 where source_email = $1', [from, email]);
    const settings = readSettings({
      DATABASE_URL: url,
      SECRET_KEY: key.toString('base64'),
      EXPORTS_URL: folder,
      SANDBOX: 'on',
      LOG_LEVEL: 'silent',
    });
    expect(await eraseFromServer(settings, v.parse(Email, 'Ann@BU\u{308}CHER.example'))).toBe(2);
  },
);

describe('the command that erases a subscriber leaves nothing of them in any table', () => {
  describe('of PostgreSQL (needs postgresql)', needs('postgresql'), () => {
    test('by its address', async () => {
      const url = await createEmptyDatabase();
      const key = randomBytes(32);
      const signs = await fill({ url }, key);
      // Nobody sees that the first letter of this domain is a wide one; every call takes it for the plain one.
      const written = ` ${ANN.toUpperCase().replace('@S', '@\uff33')} `;
      await erase({ DATABASE_URL: url, SECRET_KEY: key.toString('base64'), SANDBOX: 'off' }, written);
      await using database = await openDatabase({ url });
      const left = await everything(database);
      for (const sign of signs) expect(left).not.toContain(sign);
      expect(left, 'the transfer of somebody else').toContain(BOB);
    }, 120_000);
  });

  test('of the embedded database', { tags: 'proof', timeout: 120_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'erase-'));
    try {
      await layFreshDatabase(folder);
      const key = randomBytes(32);
      const signs = await fill({ folder: join(folder, 'database') }, key);
      expect(await filesWith(signs, folder), 'before').not.toEqual([]);
      const said = await erase({ DATA_DIR: folder, SECRET_KEY: key.toString('base64') }, ANN.toUpperCase());
      expect(said).toBe('Erased. Transfers from, to or about this address: 1\n');
      expect(await filesWith(signs, folder), 'nor in deleted rows, nor in the log of changes').toEqual([]);
      await using database = await openDatabase({ folder: join(folder, 'database') });
      const left = await everything(database);
      for (const sign of signs) expect(left).not.toContain(sign);
      expect(left, 'the transfer of somebody else').toContain(BOB);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
