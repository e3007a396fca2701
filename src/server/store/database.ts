import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { fromPglite, PgBoss, type ConstructorOptions } from 'pg-boss';
import { SettingsError } from '../../contract/settings.ts';
import type { Log } from '../log.ts';
import { DatabaseUnavailable, EmbeddedUnusable, faultOf, POOL_SIZE } from './database-faults.ts';

/** Runs one statement with `$1`-style parameters and answers its rows. */
export type Sql = {
  query<Row = Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Of a transaction: resolves when it has been committed, and never when it was not. */
  readonly committed?: Promise<void>;
};

/** With `$1`-style parameters. */
export type Statement = { readonly text: string; readonly parameters?: readonly unknown[] };

/** The same SQL on both: PGlite embedded in this process, or a PostgreSQL that many processes share. */
export type Database = Sql &
  AsyncDisposable & {
    readonly kind: 'pglite' | 'postgres';
    /** Commits what `work` did, or nothing if it throws. Use no `BEGIN` by hand. */
    transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
    /**
     * Commits all of the statements or none. They are sent together, so that it takes one round trip: none can depend on
     * the answer to another, but each sees what those before it have waited for. @returns the rows of each
     * @throws what the first one that failed did
     */
    commit(statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]>;
    /** A job queue on this database; the caller starts and stops it. */
    queue(options?: Partial<ConstructorOptions>): PgBoss;
  };

const MIGRATIONS = join(import.meta.dirname, 'migrations');
/** Any number that nothing else on a shared PostgreSQL locks with. */
const MIGRATION_LOCK = 7_265_301;
/** While a change waits for a table, everybody else waits behind it, such as the old processes beside this one. */
const TABLES_WITHIN = 'set local lock_timeout = 3000';
const CHANGING =
  'the tables of the database are being changed: where they are large that may take minutes, and must not be broken off';
/** A DBA's limits are for what can be tried again; `transaction_timeout` is one of PostgreSQL 17. */
const UNHURRIED = `select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'transaction_timeout')`;
/** A call that waits longer for a connection is answered with 503. */
const CONNECTED_WITHIN_MS = 20_000;
/** A statement without an answer for so long went to a machine that is gone; its connection is given up. */
const ANSWERED_WITHIN_MS = 60_000;
/** A change of large tables takes as long as it takes, and would never be done if it were cut short: a timer's longest time. */
const CHANGED_WITHIN_MS = 2 ** 31 - 1;
/** Then a machine that says nothing is asked whether it is there: what waits for one that is gone ends after some 10 s more. */
const ASKED_AFTER_MS = 30_000;
/** Each new connection costs both sides some 8 ms of CPU; a worker between two transfers keeps those that it has. */
const IDLE_FOR_MS = 60_000;
const POOL = {
  max: POOL_SIZE,
  connectionTimeoutMillis: CONNECTED_WITHIN_MS,
  query_timeout: ANSWERED_WITHIN_MS,
  idleTimeoutMillis: IDLE_FOR_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: ASKED_AFTER_MS,
} as const;

/**
 * A process that stands still in the middle of a transaction lets go of what it has locked. PgBouncer lets nobody in who
 * asks for that with the connection.
 */
const BEGIN = 'begin; set local idle_in_transaction_session_timeout = 10000';

/** Where the database is: a PostgreSQL by `url`, else PGlite in `folder` (`memory://` for tests). */
export type DatabaseAddress = { readonly url: string } | { readonly folder: string };

/**
 * Opens the database and brings its tables up to date, however long that takes.
 * @throws {DatabaseUnavailable}
 * @throws {EmbeddedUnusable}
 * @throws {SettingsError}
 */
export async function openDatabase(address: DatabaseAddress, log?: Pick<Log, 'info'>): Promise<Database> {
  const opened = 'url' in address ? openPostgres(address.url) : await openPglite(address.folder);
  const { database } = opened;
  try {
    if (database.kind === 'postgres') await requireFitting(database);
    await migrate(opened, log);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw startFault(error);
  }
  return database;
}

/** Nobody knows what an older version would do to tables that it does not know. @param sign what is newer */
export function madeByNewer({ kind }: Pick<Database, 'kind'>, sign: string): SettingsError {
  const where = kind === 'pglite' ? 'DATA_DIR holds' : 'DATABASE_URL names';
  return new SettingsError([
    `${where} a database that a newer version of this program has changed (${sign}): start that version, or restore a backup from before it.`,
  ]);
}

/** At the start whatever PostgreSQL refuses is for the operator to mend, such as a right that its role lacks. */
export function startFault(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? new DatabaseUnavailable(error) : error;
}

/**
 * What a DBA may have set otherwise: what two processes do at once is written for the first, and the driver reads dates and
 * numbers, as we write names, by the others.
 */
const FITTING = [
  { name: 'default_transaction_isolation', fits: /^read committed$/, value: 'read committed' },
  { name: 'datestyle', fits: /^ISO/, value: 'ISO' },
  { name: 'extra_float_digits', fits: /^[1-3]$/, value: '1' },
  { name: 'standard_conforming_strings', fits: /^on$/, value: 'on' },
] as const;

/**
 * Names of mailboxes and subjects are in any script, so its encoding is UTF8.
 * @throws {SettingsError}
 */
async function requireFitting(database: Database): Promise<void> {
  const rows = await database.query<{ name: string; set: string }>(
    'select name, current_setting(name) as set from unnest($1::text[]) as name',
    [['server_encoding', ...FITTING.map(({ name }) => name)]],
  );
  const set = new Map(rows.map((row) => [row.name, row.set]));
  const encoding = set.get('server_encoding');
  if (encoding !== 'UTF8')
    throw new SettingsError([
      `DATABASE_URL names a database whose encoding is ${encoding}, and it must be UTF8. Example: CREATE DATABASE portal TEMPLATE template0 ENCODING 'UTF8'`,
    ]);
  const others = FITTING.filter(({ name, fits }) => !fits.test(set.get(name) ?? ''));
  if (others.length > 0)
    throw new SettingsError(
      others.map(
        ({ name, value }) =>
          `DATABASE_URL names a database or a role whose ${name} is ${set.get(name)}, and it must be ${value}. Example: ALTER ROLE portal SET ${name} = '${value}'`,
      ),
    );
}

/** `unhurried`: a transaction whose statements may take as long as they need. */
type Opened = { readonly database: Database; readonly unhurried: Database['transaction'] };

function openPostgres(url: string): Opened {
  // Statements that a client is given at once are sent at once.
  const pool = new pg.Pool({ connectionString: url, ...POOL, pipeline: true });
  // An idle connection that the server ends is replaced by the pool; without a listener it would end the process.
  pool.on('error', ignore);
  // So is one that is handed out just then: the pool's own listener is off before whoever waits for it goes on.
  pool.on('connect', (client) => client.on('error', ignore));
  const database: Database = {
    kind: 'postgres',
    ...sqlOn(pool),
    commit: async (statements) => {
      const client = await connected(pool);
      let isThere = true;
      try {
        const sql = sqlOn(client);
        const all: Statement[] = [{ text: BEGIN }, ...statements, { text: 'commit' }];
        const answers = await Promise.allSettled(all.map(({ text, parameters }) => sql.query(text, parameters)));
        // Behind one that fails PostgreSQL refuses the others, and takes `commit` for `rollback`.
        const rows = answers.map((answer) => {
          if (answer.status === 'rejected') throw answer.reason;
          return answer.value;
        });
        return rows.slice(1, -1);
      } catch (error) {
        isThere = !(error instanceof DatabaseUnavailable);
        throw error;
      } finally {
        client.release(!isThere);
      }
    },
    transaction: (work) => transactionOn(pool, work),
    // pg-boss hands what it does not know itself on to its own pool.
    queue: (options) => new PgBoss({ connectionString: url, ...POOL, ...options }),
    [Symbol.asyncDispose]: () => pool.end(),
  };
  return { database, unhurried: (work) => transactionOn(pool, work, { query_timeout: CHANGED_WITHIN_MS }) };
}

type Timing = { readonly query_timeout?: number };

async function transactionOn<Result>(
  pool: pg.Pool,
  work: (sql: Sql) => Promise<Result>,
  timing: Timing = {},
): Promise<Result> {
  const client = await connected(pool);
  const sql = sqlOn(client, timing);
  const { promise: committed, resolve } = Promise.withResolvers<void>();
  try {
    await sql.query(BEGIN);
    const result = await work({ ...sql, committed });
    await sql.query('commit');
    resolve();
    client.release();
    return result;
  } catch (error) {
    // One that can't even roll back, or only reads, is not used again.
    await sql.query('rollback').then(
      () => client.release(error instanceof DatabaseUnavailable),
      () => client.release(true),
    );
    throw error;
  }
}

function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw faultOf(error);
  });
}

function sqlOn(client: pg.Pool | pg.PoolClient, timing: Timing = {}): Sql {
  return {
    query: async <Row>(text: string, parameters?: readonly unknown[]) => {
      try {
        const values = parameters === undefined ? {} : { values: [...parameters] };
        return (await client.query({ text, ...values, ...timing })).rows as Row[];
      } catch (error) {
        throw faultOf(error);
      }
    },
  };
}

/**
 * Writes the files of an embedded database anew: what was deleted lies in them until its room is taken again, and in the
 * write-ahead log. Nobody else may be at work on it.
 */
export async function overwriteDeleted(database: Database): Promise<void> {
  if (database.kind !== 'pglite') return;
  for (const statement of ['vacuum full', 'set wal_recycle = off', 'select pg_switch_wal()', 'checkpoint'])
    await database.query(statement);
}

function ignore(): void {}

async function createPglite(folder: string): Promise<PGlite> {
  // It makes its files as the umask lets it, and they are for nobody else, as PostgreSQL's are.
  if (!folder.startsWith('memory:')) await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await PGlite.create(folder);
  } catch (cause) {
    throw new EmbeddedUnusable(folder, cause);
  }
}

async function openPglite(folder: string): Promise<Opened> {
  const lite = await createPglite(folder);
  const transaction: Database['transaction'] = async (work) => {
    const { promise: committed, resolve } = Promise.withResolvers<void>();
    const result = await lite.transaction((transacting) =>
      work({
        query: async <Row>(text: string, parameters?: readonly unknown[]) =>
          (await transacting.query<Row>(text, parameters === undefined ? undefined : [...parameters])).rows,
        committed,
      }),
    );
    resolve();
    return result;
  };
  const database: Database = {
    kind: 'pglite',
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await lite.query<Row>(text, parameters === undefined ? undefined : [...parameters])).rows,
    transaction,
    commit: (statements) =>
      transaction(async (sql) => {
        const rows: unknown[][] = [];
        for (const { text, parameters } of statements) rows.push(await sql.query(text, parameters));
        return rows;
      }),
    queue: (options) => new PgBoss({ backend: 'pglite', db: fromPglite(lite), ...options }),
    [Symbol.asyncDispose]: () => lite.close(),
  };
  return { database, unhurried: transaction };
}

/**
 * Applies the numbered SQL files that this database has not seen, one transaction for all of them.
 * @throws {SettingsError} when it has seen others
 */
async function migrate({ database, unhurried }: Opened, log?: Pick<Log, 'info'>): Promise<void> {
  const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).toSorted();
  await unhurried(async (sql) => {
    await sql.query(UNHURRIED);
    const [lock] = await sql.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (lock?.taken !== true) {
      log?.info('another process is at work on the tables of the database: this one waits until it is done');
      await sql.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    }
    await sql.query(
      'create table if not exists schema_migrations (name text primary key, applied timestamptz not null default now())',
    );
    const applied = new Set(
      (await sql.query<{ name: string }>('select name from schema_migrations')).map((row) => row.name),
    );
    const unknown = [...applied].find((name) => !files.includes(name));
    if (unknown !== undefined) throw madeByNewer(database, unknown);
    await sql.query(TABLES_WITHIN);
    for (const name of files.filter((file) => !applied.has(file))) {
      // At a first start there is nothing that could take long.
      if (applied.size > 0) log?.info({ migration: name }, CHANGING);
      const text = await readFile(join(MIGRATIONS, name), 'utf8');
      for (const statement of statementsOf(text)) await sql.query(statement);
      await sql.query('insert into schema_migrations (name) values ($1)', [name]);
    }
  });
}

/** Migrations hold plain statements, each ended by a semicolon at a line's end; no function bodies. */
function statementsOf(text: string): string[] {
  return text
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
