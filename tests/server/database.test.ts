import { mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DatabaseUnavailable, EmbeddedUnavailable } from '../../src/server/store/database-faults.ts';
import { type Database, type DatabaseAddress, openDatabase } from '../../src/server/store/database.ts';
import { SettingsError } from '../../src/contract/settings.ts';
import { openLog } from '../../src/server/log.ts';
import { clockFault, watchClock } from '../../src/server/clock-watch.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import {
  createEmptyDatabase,
  createSharedDatabase,
  EMBEDDED,
  FRESH,
  layFreshDatabase,
  openTestDatabase,
} from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { command } from '../support/postgres.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { steppedLooks } from '../support/stepped-looks.ts';
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

test(
  'a statement behind one that waits for a lock sees what was committed in the meantime',
  needs('postgresql'),
  async () => {
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
  },
);

test(
  'a connection that ends during a commit is reported as such, and the next commit has another',
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

test(
  'a transaction whose process is frozen is ended, without a connection parameter that a pooler might refuse',
  needs('postgresql'),
  async () => {
    const shared = await createSharedDatabase();
    if (shared === null) throw new Error('PostgreSQL is not installed.');
    const asked: string[] = [];
    const proxy = await startTcpProxy(Number(new URL(shared.url).port), {
      change: (direction, part) => {
        if (direction === 'to server') asked.push(part.toString('latin1'));
        return part;
      },
    });
    const url = new URL(shared.url);
    url.port = `${proxy.port}`;
    const limit = `select current_setting('idle_in_transaction_session_timeout') as limit`;
    {
      await using database = await openDatabase({ url: url.href });
      // PgBouncer refuses a connection with parameters that it does not know.
      expect(asked[0]).not.toContain('idle_in_transaction_session_timeout');
      expect(await database.transaction((sql) => sql.query(limit))).toEqual([{ limit: '10s' }]);
      expect(await database.commit([{ text: limit }])).toEqual([[{ limit: '10s' }]]);
      expect(await database.query(limit)).toEqual([{ limit: '0' }]);
    }
    await proxy[Symbol.asyncDispose]();
    await shared.drop();
  },
);

test('a statement that is canceled by a timeout of the DBA is not at fault itself', needs('postgresql'), async () => {
  const url = await createEmptyDatabase();
  await using database = await openDatabase({ url });
  for (const [limit, text] of [
    ['statement_timeout', 'select pg_sleep(60)'],
    ['lock_timeout', 'lock table schema_migrations'],
  ] as const) {
    await using holder = await openDatabase({ url });
    await holder.transaction(async (sql) => {
      await sql.query('lock table schema_migrations');
      const cut = database.transaction(async (own) => {
        await own.query(`set local ${limit} = 10`);
        await own.query(text);
      });
      await expect(cut).rejects.toThrow(DatabaseUnavailable);
    });
  }
});

test.each([
  ['ENOENT', 'there is no file or socket where it points (ENOENT). Mend its path.'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is not one to believe (SELF_SIGNED_CERT_IN_CHAIN). Name who vouches'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired, by the clock of this machine (CERT_HAS_EXPIRED). Renew it there'],
  ['28P01', 'the database refused the name or the password (28P01). Mend them'],
  ['ECONNREFUSED', 'the database did not let us in (ECONNREFUSED). Start it, or mend the address.'],
  ['57P01', 'an administrator ended the connection, or stopped the database (57P01). Where it was stopped, start it.'],
  ['57P02', 'a process of the database crashed, and it starts anew (57P02). Its own log says why.'],
  ['57P03', 'the database is starting, stopping or recovering (57P03). Wait for it.'],
  ['57P04', 'the database was dropped (57P04). Create it'],
  ['42P07', 'the database refused what is done with its tables at the start (42P07). Its own log says what and why.'],
  [
    '08P01',
    'what stands before the database, such as PgBouncer, refused (08P01). Its own log says why: its pool_mode must be session or transaction, and its max_client_conn',
  ],
  [
    undefined,
    'the database did not let us in, hung up, gave no answer in time, or does not speak TLS (no code). Start it, mend',
  ],
])('an operator is told what to do about %s', (code, said) => {
  expect(new DatabaseUnavailable(Object.assign(new Error('canary'), { code })).message).toContain(
    `DATABASE_URL can't be used: ${said}`,
  );
});

test.each([
  ['08006', true, true],
  ['08P01', true, false],
  ['25006', true, true],
  ['28P01', false, true],
  ['3D000', false, true],
  ['3F000', false, false],
  ['40P01', true, false],
  ['42501', false, false],
  ['53100', true, false],
  ['53300', true, false],
  ['55P03', true, false],
  ['57014', true, false],
  ['57P03', true, false],
  ['58030', true, false],
  ['CERT_HAS_EXPIRED', true, false],
  ['CERT_NOT_YET_VALID', true, false],
  ['CERT_UNTRUSTED', false, true],
  ['ECONNREFUSED', true, true],
  [undefined, true, true],
])(
  'whether %s may pass: %s; whether the address may be at fault, of which an example is given: %s',
  (code, passes, ofAddress) => {
    const fault = new DatabaseUnavailable(Object.assign(new Error('canary'), { code }));
    expect(fault.mayPass).toBe(passes);
    expect(fault.message.includes('Example: DATABASE_URL=')).toBe(ofAddress);
  },
);

const nameOf = (url: string) => new URL(url).pathname.slice(1);

/** What is said of it at the two moments at which it is looked at. */
async function startsOnNewer(address: DatabaseAddress): Promise<unknown[]> {
  const said: unknown[] = [];
  const note = (error: unknown) => said.push(error instanceof SettingsError ? error.message : error);
  {
    await using database = await openDatabase(address);
    await database.query('update pgboss.version set version = 9999');
    await openJobQueue({ database, log: openLog('silent') }).catch(note);
    await database.query("insert into schema_migrations (name) values ('999-later.sql')");
  }
  await openDatabase(address).catch(note);
  return said;
}

const bothOf = (where: string) =>
  ['pgboss 9999', '999-later.sql'].map(
    (sign) =>
      `${where} a database that a newer version of this program has changed (${sign}): start that version, or restore a backup from before it.`,
  );

describe('a database that the product can not work on is refused at the start, with what to do', () => {
  test('a PostgreSQL that a newer version has changed', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    {
      await using database = await openDatabase({ url });
      await using _queue = await openJobQueue({ database, log: openLog('silent') });
    }
    expect(await startsOnNewer({ url })).toEqual(bothOf('DATABASE_URL names'));
  });

  test('an embedded one that a newer version has changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'newer-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await layFreshDatabase(folder);
    expect(await startsOnNewer({ folder: join(folder, 'database') })).toEqual(bothOf('DATA_DIR holds'));
  });

  test('its encoding', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    const name = `${nameOf(url)}_latin1`;
    await command(url, `create database ${name} template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`);
    await expect(openDatabase({ url: url.replace(nameOf(url), name) })).rejects.toThrow(
      new SettingsError([
        "DATABASE_URL names a database whose encoding is LATIN1, and it must be UTF8. Example: CREATE DATABASE portal TEMPLATE template0 ENCODING 'UTF8'",
      ]),
    );
    await command(url, `drop database ${name}`);
  });

  test.each(['serializable', 'repeatable read'])(
    'its default isolation level: %s',
    needs('postgresql'),
    async (isolation) => {
      const url = await createEmptyDatabase();
      await command(url, `alter database ${nameOf(url)} set default_transaction_isolation = '${isolation}'`);
      await expect(openDatabase({ url })).rejects.toThrow(
        `default_transaction_isolation is ${isolation}, and it must be read committed. Example: ALTER ROLE portal`,
      );
    },
  );

  test.each([
    [
      'may not make tables',
      'revoke create on schema public from public',
      'its role lacks a right (42501). Let it create',
    ],
    ['has no schema', "alter role ROLE set search_path = 'nowhere'", 'names no schema that it may use (3F000)'],
    ['only reads', 'alter role ROLE set default_transaction_read_only = on', 'the database only reads (25006)'],
    [
      'has no connection',
      'alter role ROLE connection limit 0',
      'has no connection left, and a process takes up to 20 (53300)',
    ],
  ])('a role that %s', needs('postgresql'), async (_, statement, said) => {
    const url = await createEmptyDatabase();
    const role = `role_${nameOf(url)}`;
    await command(url, `create role ${role} login`);
    await command(url, statement.replace('ROLE', role));
    const opening = openDatabase({ url: url.replace('//portal@', `//${role}@`) });
    await expect(opening).rejects.toThrow(DatabaseUnavailable);
    await expect(opening).rejects.toThrow(said);
    await command(url, `drop owned by ${role}`);
    await command(url, `drop role ${role}`);
  });

  test.each([
    ['datestyle', 'German, DMY', 'ISO'],
    ['extra_float_digits', '0', '1'],
    ['standard_conforming_strings', 'off', 'on'],
  ])('a %s of %s', needs('postgresql'), async (name, value, right) => {
    const url = await createEmptyDatabase();
    await command(url, `alter database ${nameOf(url)} set ${name} = '${value}'`);
    await expect(openDatabase({ url })).rejects.toThrow(
      new SettingsError([
        `DATABASE_URL names a database or a role whose ${name} is ${value}, and it must be ${right}. Example: ALTER ROLE portal SET ${name} = '${right}'`,
      ]),
    );
  });

  test(
    'a table to be migrated that somebody else holds, and nobody else then queues for it',
    needs('postgresql'),
    async () => {
      const url = await createEmptyDatabase();
      await using old = await openDatabase({ url });
      await using backup = await openDatabase({ url });
      await old.query("delete from schema_migrations where name = '068-export-pieces.sql'");
      await old.query('alter table export_files drop column pieces');
      const read = 'select 1 from export_files';
      await backup.transaction(async (sql) => {
        await sql.query('set local idle_in_transaction_session_timeout = 0');
        await sql.query(read);
        await expect(openDatabase({ url })).rejects.toThrow(
          /somebody has tables that are to be changed, such as a backup or an open psql \(55P03\)\. Wait for its end/,
        );
        expect(await old.query(read)).toEqual([]);
      });
      await using _new = await openDatabase({ url });
    },
  );

  test('a role that may create tables, but no schema for the queue', needs('postgresql'), async () => {
    const url = await createEmptyDatabase();
    const role = `role_${nameOf(url)}`;
    await command(url, `create role ${role} login`);
    await command(url, `grant all on schema public to ${role}`);
    {
      await using database = await openDatabase({ url: url.replace('//portal@', `//${role}@`) });
      await expect(openJobQueue({ database, log: openLog('silent') })).rejects.toThrow(DatabaseUnavailable);
    }
    await command(url, `drop owned by ${role}`);
    await command(url, `drop role ${role}`);
  });
});

/** Waits until a query has rows. */
async function comesTrue(database: Database, query: string): Promise<void> {
  while ((await database.query(query)).length === 0);
}

describe('a change of the tables', needs('postgresql'), () => {
  const FORGOTTEN = [
    "delete from schema_migrations where name = '068-export-pieces.sql'",
    'alter table export_files drop column pieces',
  ];
  /** What any other statement may take here: more, where a machine is too busy for the first. */
  const LIMITS_MS = [1500, 6000, 18_000];

  async function openHeld(hold: string, waits: string): Promise<string[]> {
    for (const limit of LIMITS_MS.slice(0, -1)) {
      const lines = await openHeldWithin(limit, hold, waits).catch(() => null);
      if (lines !== null) return lines;
    }
    return openHeldWithin(LIMITS_MS.at(-1) ?? 0, hold, waits);
  }

  async function openHeldWithin(limit: number, hold: string, waits: string): Promise<string[]> {
    const waiting = `select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query ~ '${waits}' and now() - query_start > '${limit + 300} ms'`;
    const url = await createEmptyDatabase();
    await using old = await openDatabase({ url });
    for (const statement of FORGOTTEN) await old.query(statement);
    await command(url, `alter database ${nameOf(url)} set statement_timeout = ${limit}`);
    const lines: string[] = [];
    const log = openLog('info', { write: (line) => void lines.push(line) });
    let opening: Promise<Database> | undefined;
    await old.transaction(async (sql) => {
      await sql.query('set local idle_in_transaction_session_timeout = 0');
      await sql.query(hold);
      opening = openDatabase({ url: `${url}?query_timeout=${limit}` }, log);
      await Promise.race([opening, comesTrue(old, waiting)]);
    });
    await using database = await opening;
    expect(await database?.query('select pieces from export_files')).toEqual([]);
    return lines.map((line) => (JSON.parse(line) as { msg: string; migration?: string }).migration ?? 'waits');
  }

  test('takes as long as it needs, whatever timeout statements have, and is logged', async () => {
    expect(await openHeld('select 1 from export_files', 'alter table')).toEqual(['068-export-pieces.sql']);
  });

  test('that ends in a deadlock with another transaction is made once that has ended', async () => {
    const url = await createEmptyDatabase();
    await using old = await openDatabase({ url });
    for (const statement of FORGOTTEN) await old.query(statement);
    // The change finds the deadlock, before it gives the table up after 3 s.
    await command(url, `alter database ${nameOf(url)} set deadlock_timeout = 2000`);
    let opening: Promise<Database> | undefined;
    await old.transaction(async (sql) => {
      await sql.query("set local idle_in_transaction_session_timeout = 0; set local deadlock_timeout = '1min'");
      await sql.query('select 1 from export_files');
      opening = openDatabase({ url });
      const waits = `select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query ~ 'alter table'`;
      await Promise.race([opening, comesTrue(old, waits)]);
      await sql.query('select pg_advisory_xact_lock(7265301)');
    });
    await using database = await opening;
    expect(await database?.query('select pieces from export_files')).toEqual([]);
  });

  test('by another process is waited for as long as it takes, and logged', async () => {
    const lines = await openHeld('select pg_advisory_xact_lock(7265301)', 'advisory');
    expect(lines).toEqual(['waits', '068-export-pieces.sql']);
  });
});

test("a clock that differs from the database's is reported, with the difference and what to do", async () => {
  await using database = await openTestDatabase(FRESH);
  const told = (by: number) => clockFault(database, () => Date.now() + by);
  expect(await told(0)).toBeNull();
  expect(await told(30_000)).toBeNull();
  expect(await told(3_600_000)).toMatch(/^This machine's clock is 3600 s ahead of the database's: /);
  expect(await told(-86_400_000)).toMatch(/ 86400 s behind the database's: .* Put both right \(NTP\)/);
});

test('a clock that goes wrong while the process runs is reported once, and again when it does so again', async () => {
  await using database = await openTestDatabase(FRESH);
  const lines: string[] = [];
  const log = openLog('info', { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  let ahead = 0;
  const looks = steppedLooks();
  let isAway = false;
  const query: Database['query'] = (...asked) =>
    isAway ? Promise.reject(new Error('away')) : database.query(...asked);
  await using _watch = await watchClock({
    database: { query },
    clock: { now: () => Date.now() + ahead, after: looks.after },
    log,
  });
  for (const [by, away] of [[0], [3_600_000], [3_600_000], [3_600_000, true], [0], [-3_600_000]] as const) {
    ahead = by;
    isAway = away === true;
    await looks.next();
  }
  expect(lines).toEqual([
    expect.stringContaining('3600 s ahead'),
    "this machine's clock and the database's are right again",
    expect.stringContaining('3600 s behind'),
  ]);
});

describe('the files of an embedded database', () => {
  test("are its own user's, whatever folder they are made in", { tags: 'proof' }, async () => {
    const folder = join(await temporaryFolder(), 'database');
    await using _database = await openDatabase({ folder });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test("that are damaged, or another user's, are reported as such, with what to do", async () => {
    const data = await temporaryFolder();
    await layFreshDatabase(data);
    const folder = join(data, 'database');
    await truncate(join(folder, 'global/pg_control'), 100);
    await expect(openDatabase({ folder })).rejects.toThrow(
      /^DATA_DIR holds a database that can't be opened\. Its disk must have room, all files in \S+ must be this user's/,
    );
  });
});

describe('an embedded database whose disk is full', needs('the right to mount a disk'), () => {
  const FILL = 'insert into numbers select generate_series(1, 100000)';

  test('is unavailable, as a PostgreSQL is, until there is room', async () => {
    await using disk = await mountSmallDisk(100);
    await layFreshDatabase(disk.root);
    await using database = await openDatabase({ folder: join(disk.root, 'database') });
    await database.query('create table numbers (number integer)');
    await disk.fillBut(500_000);
    await expect(database.query(FILL)).rejects.toThrow(EmbeddedUnavailable);
    await expect(database.transaction((sql) => sql.query(FILL))).rejects.toThrow(EmbeddedUnavailable);
    await expect(database.commit([{ text: FILL }])).rejects.toThrow(EmbeddedUnavailable);
    await disk.resize(200);
    await database.query(FILL);
  });

  test('has no room for its log: it answers nothing more, and says so, rather than compute without end', async () => {
    await using disk = await mountSmallDisk(100);
    await layFreshDatabase(disk.root);
    const broken: string[] = [];
    const database = await openDatabase({ folder: join(disk.root, 'database') }, undefined, ({ message }) =>
      broken.push(message),
    );
    await database.query('create table numbers (number integer)');
    await database.query('insert into numbers select generate_series(1, 2000)');
    await disk.fillBut(3_000_000);
    const write = async () => {
      for (let segment = 0; segment < 10; segment += 1) {
        await database.query('update numbers set number = number');
        await database.query('select pg_switch_wal()');
      }
    };
    await expect(write()).rejects.toThrow(/No space left|the disk of the database is full/);
    expect(broken).toEqual([
      "The database in DATA_DIR can't be used: the disk of the database is full. Make room there.",
    ]);
    await expect(database.query('select 1')).rejects.toThrow(EmbeddedUnavailable);
    await expect(database.transaction((sql) => sql.query('select 1'))).rejects.toThrow(EmbeddedUnavailable);
    await database[Symbol.asyncDispose]();
    await disk.resize(200);
    await using again = await openDatabase({ folder: join(disk.root, 'database') });
    expect(await again.query('select count(*)::integer as count from numbers')).toEqual([{ count: 2000 }]);
    expect(broken).toHaveLength(1);
  });

  test('between its start and its migrations is told in a sentence', { tags: 'proof' }, async () => {
    await using disk = await mountSmallDisk(100);
    const folder = join(disk.root, 'database');
    await (await PGlite.create(folder)).close();
    await disk.fillBut(100_000);
    await expect(openDatabase({ folder })).rejects.toThrow(
      /^The database in DATA_DIR can't be used: the disk of the database is full\. Make room there\.$/,
    );
  });
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'database-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
