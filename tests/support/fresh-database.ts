import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../src/server/log.ts';
import { type Database, type DatabaseAddress, openDatabase } from '../../src/server/store/database.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { command } from './postgres.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/databases');
const MIGRATIONS = join(ROOT, 'src/server/store/migrations');
/** What determines the template's contents besides the migrations. */
const SOURCES = [
  'package-lock.json',
  'src/server/store/database.ts',
  'src/server/store/embedded.ts',
  'src/server/worker/job-queues.ts',
];

/** The PostgreSQL that all test files of a run share, if PostgreSQL is installed; `global-setup.ts` starts it. */
const SHARED = 'POSTGRES_OF_TESTS';
const TEMPLATE = 'template_of_tests';

/** A database of the test's own, empty as after a first start: on PostgreSQL, if that is installed. */
export const FRESH = 'fresh' as const;
/** The same, embedded in this process as with the default settings. */
export const EMBEDDED = 'embedded' as const;
export type TestAddress = DatabaseAddress | typeof FRESH | typeof EMBEDDED;

/** Opens a database for a test. If it was created for the test, it is deleted when it is closed. */
export async function openTestDatabase(address: TestAddress): Promise<Database> {
  if (typeof address === 'object') return openDatabase(address);
  const shared = address === FRESH ? await createSharedDatabase() : null;
  return shared === null ? openEmbedded() : closedThen(await openDatabase(shared), shared.drop);
}

/**
 * A fresh database on the tests' PostgreSQL; `null` if PostgreSQL isn't installed. Most tests use this, because PGlite
 * is compiled again in every process and takes its processor time there.
 */
export async function createSharedDatabase(): Promise<{ url: string; drop: () => Promise<void> } | null> {
  const server = process.env[SHARED];
  if (server === undefined) return null;
  const url = await createDatabase(server, TEMPLATE);
  return { url, drop: async () => void (await command(server, `drop database ${nameOf(url)} with (force)`)) };
}

/** A new, empty database on the tests' PostgreSQL, without migrations. */
export async function createEmptyDatabase(): Promise<string> {
  const server = process.env[SHARED];
  if (server === undefined) throw new Error('PostgreSQL is not installed.');
  return createDatabase(server, 'template1');
}

/** The database, with something to do after it has been closed. */
function closedThen(database: Database, after: () => Promise<void>): Database {
  return {
    ...database,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await after();
    },
  };
}

async function createDatabase(server: string, from: string): Promise<string> {
  const url = new URL(server);
  url.pathname = `/test_${randomUUID().replaceAll('-', '')}`;
  await command(server, `create database ${nameOf(url.href)} template ${from} ${await strategyOf(server)}`);
  return url.href;
}

let strategy: string | undefined;

/** From version 15 on, unless told so, a database is copied page by page, which takes twice the processor time. */
async function strategyOf(server: string): Promise<string> {
  if (strategy === undefined) {
    const [version] = await command(server, `select current_setting('server_version_num')::int >= 150000 as logs`);
    strategy = version?.['logs'] === true ? 'strategy file_copy' : '';
  }
  return strategy;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** Prepares the server at this address for {@link openTestDatabase}, in all processes that are started from now on. */
export async function shareServer(server: string): Promise<void> {
  const url = new URL(server);
  url.pathname = `/${TEMPLATE}`;
  await command(server, `create database ${TEMPLATE}`);
  await prepare({ url: url.href });
  process.env[SHARED] = server;
}

/** Does what the first start does. */
async function prepare(address: DatabaseAddress): Promise<void> {
  await using database = await openDatabase(address);
  await using _queue = await openJobQueue({ database, log: openLog('silent') });
}

async function openEmbedded(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), 'database-'));
  await layFreshDatabase(folder);
  const database = await openDatabase({ folder: join(folder, 'database') });
  return closedThen(database, () => rm(folder, { recursive: true, force: true }));
}

/** Puts a fresh embedded database into a data folder: a copy takes milliseconds of processor time, `initdb` takes seconds. */
export async function layFreshDatabase(dataFolder: string): Promise<void> {
  await mkdir(dataFolder, { recursive: true });
  await run('cp', ['-r', await template(), join(dataFolder, 'database')]);
}

/** The path of the template, which is created once, and again when its sources have changed. */
export async function template(): Promise<string> {
  const path = join(CACHE, await digestOfSources());
  if (existsSync(path)) return path;
  await mkdir(CACHE, { recursive: true });
  const unfinished = await mkdtemp(join(CACHE, 'unfinished-'));
  await prepare({ folder: unfinished });
  // The template appears atomically; another run may have created the same one first.
  await rename(unfinished, path).catch(() => rm(unfinished, { recursive: true, force: true }));
  if (!existsSync(path)) throw new Error(`The template of a database did not appear at ${path}.`);
  return path;
}

async function digestOfSources(): Promise<string> {
  const migrations = (await readdir(MIGRATIONS)).toSorted().map((name) => join(MIGRATIONS, name));
  const hash = createHash('sha256');
  for (const path of [...migrations, ...SOURCES.map((file) => join(ROOT, file))])
    hash.update(`\n${path.slice(ROOT.length)}\n`).update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}
