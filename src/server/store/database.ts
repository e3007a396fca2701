import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { fromPglite, PgBoss, type ConstructorOptions } from 'pg-boss';
import { SettingsError } from '../../contract/settings.ts';
import type { Log } from '../log.ts';
import { DatabaseUnavailable, embeddedFaultOf, faultOf, POOL_SIZE } from './database-faults.ts';
import { openEmbedded } from './embedded.ts';

/** Runs one statement with `$1`-style parameters and returns its rows. */
export type Sql = {
  query<Row = Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Within a transaction: resolves once it has been committed, and never if it isn't. */
  readonly committed?: Promise<void>;
};

/** With `$1`-style parameters. */
export type Statement = { readonly text: string; readonly parameters?: readonly unknown[] };

/** Either PGlite embedded in this process, or a PostgreSQL that many processes share; both take the same SQL. */
export type Database = Sql &
  AsyncDisposable & {
    readonly kind: 'pglite' | 'postgres';
    /** Runs `work` in a transaction, which is rolled back if it throws. Don't use `BEGIN` by hand. */
    transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
    /**
     * Commits all of the statements or none. They are pipelined in one round trip, so none can use another's result,
     * but each sees the effects of those before it, including any lock that they waited for.
     * @returns the rows of each
     * @throws the error of the first one that failed
     */
    commit(statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]>;
    /** A job queue on this database; the caller starts and stops it. */
    queue(options?: Partial<ConstructorOptions>): PgBoss;
  };

const MIGRATIONS = join(import.meta.dirname, 'migrations');
/** An arbitrary advisory lock ID, which nothing else on a shared PostgreSQL should use. */
const MIGRATION_LOCK = 7_265_301;
/** Others, such as the old processes still running, queue behind a migration that waits for a table lock. */
const TABLES_WITHIN = 'set local lock_timeout = 3000';
const CHANGING = 'the database is being migrated: with large tables this may take minutes, and must not be interrupted';
/** Disables a DBA's timeouts, which are meant for what can be retried; `transaction_timeout` is new in PostgreSQL 17. */
const UNHURRIED = `select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'transaction_timeout')`;
/** Calls that wait longer for a connection are answered with 503. */
const CONNECTED_WITHIN_MS = 20_000;
/** A statement that isn't answered within this time went to a machine that is gone; its connection is abandoned. */
const ANSWERED_WITHIN_MS = 60_000;
/** Of a deadlock, PostgreSQL ends one side, and the other goes on. */
const DEADLOCK = '40P01';
const MIGRATION_TRIES = 5;
/** The longest time for a timer: a migration of large tables would never get done if it were interrupted. */
const CHANGED_WITHIN_MS = 2 ** 31 - 1;
/** When TCP keepalive starts probing a silent machine; if it is gone, the connection fails some 10 s later. */
const ASKED_AFTER_MS = 30_000;
/** A new connection costs both sides some 8 ms of CPU, so workers keep theirs between two transfers. */
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
 * Makes a process that is frozen in the middle of a transaction lose its locks. It can't be a connection parameter,
 * because PgBouncer refuses connections that have it.
 */
const BEGIN = 'begin; set local idle_in_transaction_session_timeout = 10000';

/** A PostgreSQL at `url`, or PGlite in `folder` (`memory://` for tests). */
export type DatabaseAddress = { readonly url: string } | { readonly folder: string };

/**
 * Opens the database and applies all migrations, however long that takes.
 * @param onBroken is told why an embedded one answers nothing more, until another process opens it
 * @throws {DatabaseUnavailable}
 * @throws {EmbeddedUnusable}
 * @throws {SettingsError}
 */
export async function openDatabase(
  address: DatabaseAddress,
  log?: Pick<Log, 'info'>,
  onBroken: (fault: Error) => void = ignore,
): Promise<Database> {
  return openWith(address, onBroken, (opened) => migrateDespiteOthers(opened, log));
}

/**
 * Opens a database for a command that works beside the product, and migrates nothing.
 * @throws {DatabaseUnavailable}
 * @throws {EmbeddedUnusable}
 * @throws {SettingsError} unless its tables are those of this version
 */
export async function openDatabaseBeside(address: DatabaseAddress): Promise<Database> {
  return openWith(address, ignore, ({ database }) => requireMigrated(database));
}

async function openWith(
  address: DatabaseAddress,
  onBroken: (fault: Error) => void,
  prepare: (opened: Opened) => Promise<void>,
): Promise<Database> {
  const opened = 'url' in address ? openPostgres(address.url) : await openPglite(address.folder, onBroken);
  const { database } = opened;
  try {
    if (database.kind === 'postgres') await requireFitting(database);
    await prepare(opened);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw startFault(error);
  }
  return database;
}

/** The error for a command that would otherwise work in a database of which the product knows nothing. */
export function neverUsed(kind: Database['kind']): SettingsError {
  return new SettingsError([
    kind === 'pglite'
      ? 'DATA_DIR holds no database of the product, so nothing was done. Give its own. Example: DATA_DIR=/var/lib/portal'
      : 'DATABASE_URL names a database that the product has never used, so nothing was done. Give its own. Example: DATABASE_URL=postgres://portal:secret@db.example.com/portal',
  ]);
}

/** The error for a database from a newer version, which this one could damage. @param sign what is newer */
export function madeByNewer({ kind }: Pick<Database, 'kind'>, sign: string): SettingsError {
  return new SettingsError([
    `${whereOf(kind)} a database that a newer version of this program has changed (${sign}): start that version, or restore a backup from before it.`,
  ]);
}

function whereOf(kind: Database['kind']): string {
  return kind === 'pglite' ? 'DATA_DIR holds' : 'DATABASE_URL names';
}

/** At the start, everything that PostgreSQL refuses is for the operator to fix, such as a missing privilege. */
export function startFault(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? new DatabaseUnavailable(error) : embeddedFaultOf(error);
}

/**
 * Settings that a DBA may have changed. Our concurrency control relies on the first; the way that the driver parses
 * dates and numbers, and that our SQL quotes names, relies on the others.
 */
const FITTING = [
  { name: 'default_transaction_isolation', fits: /^read committed$/, value: 'read committed' },
  { name: 'datestyle', fits: /^ISO/, value: 'ISO' },
  { name: 'extra_float_digits', fits: /^[1-3]$/, value: '1' },
  { name: 'standard_conforming_strings', fits: /^on$/, value: 'on' },
] as const;

/**
 * Mailbox names and subjects can be in any script, so the encoding must be UTF8.
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

/** `unhurried` is a transaction whose statements may take as long as they need. */
type Opened = { readonly database: Database; readonly unhurried: Database['transaction'] };

function openPostgres(url: string): Opened {
  // Sends statements without waiting for the answers to earlier ones.
  const pool = new pg.Pool({ connectionString: url, ...POOL, pipeline: true });
  // The pool replaces an idle connection that the server closes; without a listener, the error would end the process.
  pool.on('error', ignore);
  // The same for a connection that is just being handed out: the pool removes its own listener before its user goes on.
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
        // After a failed statement, PostgreSQL refuses the others and treats `commit` as `rollback`.
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
    // pg-boss passes options that it doesn't know on to its own pool.
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
    // A connection that can't even roll back, or whose server is read-only, is not used again.
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
 * Rewrites the files of an embedded database, because deleted rows stay in them until their space is reused, and in the
 * write-ahead log. Nothing else may be using the database.
 */
export async function overwriteDeleted(database: Database): Promise<void> {
  if (database.kind !== 'pglite') return;
  for (const statement of ['vacuum full', 'set wal_recycle = off', 'select pg_switch_wal()', 'checkpoint'])
    await database.query(statement);
}

function ignore(): void {}

async function openPglite(folder: string, onBroken: (fault: Error) => void): Promise<Opened> {
  const lite = await openEmbedded(folder, onBroken);
  const transaction: Database['transaction'] = async (work) => {
    const { promise: committed, resolve } = Promise.withResolvers<void>();
    const result = await lite
      .transaction((transacting) =>
        work({
          query: async <Row>(text: string, parameters?: readonly unknown[]) =>
            (await transacting.query<Row>(text, parameters === undefined ? undefined : [...parameters])).rows,
          committed,
        }),
      )
      .catch(throwEmbeddedFault);
    resolve();
    return result;
  };
  const database: Database = {
    kind: 'pglite',
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await lite.query<Row>(text, parameters === undefined ? undefined : [...parameters]).catch(throwEmbeddedFault))
        .rows,
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

function throwEmbeddedFault(error: unknown): never {
  throw embeddedFaultOf(error);
}

/** Migrates again after a deadlock with what another process does meanwhile. */
async function migrateDespiteOthers(opened: Opened, log?: Pick<Log, 'info'>, tries = MIGRATION_TRIES): Promise<void> {
  try {
    await migrate(opened, log);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable && error.code === DEADLOCK) || tries === 1) throw error;
    await migrateDespiteOthers(opened, log, tries - 1);
  }
}

/**
 * Applies the migrations that this database doesn't have yet, all in one transaction.
 * @throws {SettingsError} if it has unknown ones
 */
async function migrate({ database, unhurried }: Opened, log?: Pick<Log, 'info'>): Promise<void> {
  const files = await migrationFiles();
  await unhurried(async (sql) => {
    await sql.query(UNHURRIED);
    const [lock] = await sql.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (lock?.taken !== true) {
      log?.info('another process is migrating the database: waiting until it is done');
      await sql.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    }
    await sql.query(
      'create table if not exists schema_migrations (name text primary key, applied timestamptz not null default now())',
    );
    const applied = await appliedIn(sql);
    requireKnown(database, applied, files);
    await sql.query(TABLES_WITHIN);
    for (const name of files.filter((file) => !applied.has(file))) {
      // At the first start, nothing takes long.
      if (applied.size > 0) log?.info({ migration: name }, CHANGING);
      const text = await readFile(join(MIGRATIONS, name), 'utf8');
      for (const statement of statementsOf(text)) await sql.query(statement);
      await sql.query('insert into schema_migrations (name) values ($1)', [name]);
    }
  });
}

/** @throws {SettingsError} if it lacks some, or has unknown ones */
async function requireMigrated(database: Database): Promise<void> {
  const [found] = await database.query<{ used: boolean }>(
    `select to_regclass('schema_migrations') is not null as used`,
  );
  if (found?.used !== true) throw neverUsed(database.kind);
  const [files, applied] = await Promise.all([migrationFiles(), appliedIn(database)]);
  requireKnown(database, applied, files);
  const missing = files.find((name) => !applied.has(name));
  if (missing !== undefined)
    throw new SettingsError([
      `${whereOf(database.kind)} a database of an older version of this program (without ${missing}), so nothing was done: give the command to that version, or start this one first, which changes the tables.`,
    ]);
}

async function migrationFiles(): Promise<readonly string[]> {
  return (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).toSorted();
}

async function appliedIn(sql: Sql): Promise<ReadonlySet<string>> {
  return new Set((await sql.query<{ name: string }>('select name from schema_migrations')).map(({ name }) => name));
}

function requireKnown(database: Database, applied: ReadonlySet<string>, files: readonly string[]): void {
  const unknown = [...applied].find((name) => !files.includes(name));
  if (unknown !== undefined) throw madeByNewer(database, unknown);
}

/** Migrations consist of plain statements, each ending with a semicolon at the end of a line; no function bodies. */
function statementsOf(text: string): string[] {
  return text
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
