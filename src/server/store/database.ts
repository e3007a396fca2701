import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { fromPglite, PgBoss, type ConstructorOptions } from 'pg-boss';

/** Runs one statement with `$1`-style parameters and answers its rows. */
export type Sql = {
  query<Row = Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
};

/** The same SQL on both: PGlite embedded in this process, or a PostgreSQL that many processes share. */
export type Database = Sql &
  AsyncDisposable & {
    readonly kind: 'pglite' | 'postgres';
    /** Commits what `work` did, or nothing if it throws. Use no `BEGIN` by hand. */
    transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
    /** A job queue on this database; the caller starts and stops it. */
    queue(options?: Partial<ConstructorOptions>): PgBoss;
  };

const MIGRATIONS = join(import.meta.dirname, 'migrations');
/** Any number that nothing else on a shared PostgreSQL locks with. */
const MIGRATION_LOCK = 7_265_301;
const POOL_SIZE = 10;

/** Where the database is: a PostgreSQL by `url`, else PGlite in `folder` (`memory://` for tests). */
export type DatabaseAddress = { readonly url: string } | { readonly folder: string };

/** The PostgreSQL of `DATABASE_URL` can't be used. The message is for the operator. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/**
 * Opens the database and brings its tables up to date.
 * @throws {DatabaseUnavailable}
 */
export async function openDatabase(address: DatabaseAddress): Promise<Database> {
  const database = 'url' in address ? openPostgres(address.url) : await openPglite(address.folder);
  try {
    if (database.kind === 'postgres') await reach(database);
    await migrate(database);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
  return database;
}

async function reach(database: Database): Promise<void> {
  try {
    await database.query('select 1');
  } catch (cause) {
    const { code = 'no code' } = cause as { code?: string };
    throw new DatabaseUnavailable(
      `DATABASE_URL can't be used: the database did not let us in (${code}). Start it, or mend the address. Example: DATABASE_URL=postgres://portal:secret@db.example.com/portal`,
      { cause },
    );
  }
}

function openPostgres(url: string): Database {
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  // An idle connection that the server ends is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return {
    kind: 'postgres',
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await pool.query(text, parameters === undefined ? undefined : [...parameters])).rows as Row[],
    transaction: async (work) => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const result = await work({
          query: async <Row>(text: string, parameters?: readonly unknown[]) =>
            (await client.query(text, parameters === undefined ? undefined : [...parameters])).rows as Row[],
        });
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    queue: (options) => new PgBoss({ connectionString: url, max: POOL_SIZE, ...options }),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

async function openPglite(folder: string): Promise<Database> {
  const lite = await PGlite.create(folder);
  return {
    kind: 'pglite',
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await lite.query<Row>(text, parameters === undefined ? undefined : [...parameters])).rows,
    transaction: (work) =>
      lite.transaction((transaction) =>
        work({
          query: async <Row>(text: string, parameters?: readonly unknown[]) =>
            (await transaction.query<Row>(text, parameters === undefined ? undefined : [...parameters])).rows,
        }),
      ),
    queue: (options) => new PgBoss({ backend: 'pglite', db: fromPglite(lite), ...options }),
    [Symbol.asyncDispose]: () => lite.close(),
  };
}

/** Applies the numbered SQL files that this database has not seen, one transaction for all of them. */
async function migrate(database: Database): Promise<void> {
  const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).toSorted();
  await database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await sql.query(
      'create table if not exists schema_migrations (name text primary key, applied timestamptz not null default now())',
    );
    const applied = new Set(
      (await sql.query<{ name: string }>('select name from schema_migrations')).map((row) => row.name),
    );
    for (const name of files.filter((file) => !applied.has(file))) {
      const text = await readFile(join(MIGRATIONS, name), 'utf8');
      for (const statement of statementsOf(text)) await sql.query(statement);
      await sql.query('insert into schema_migrations (name) values ($1)', [name]);
    }
  });
}

/** Migrations hold plain statements, each ended by a semicolon at a line's end; no function bodies. */
function statementsOf(text: string): string[] {
  return text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
