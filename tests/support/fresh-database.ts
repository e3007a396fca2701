import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../src/server/log.ts';
import { type Database, type DatabaseAddress, openDatabase } from '../../src/server/store/database.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/databases');
const MIGRATIONS = join(ROOT, 'src/server/store/migrations');
/** What makes the template's content besides the migrations. */
const SOURCES = ['package-lock.json', 'src/server/store/database.ts', 'src/server/worker/queue.ts'];

/** A database as a first start leaves it, with nothing in it, of this test alone. */
export const FRESH = 'fresh' as const;

/** Opens a database for a test; a fresh one is an embedded one, and gone when it is closed. */
export async function openTestDatabase(address: DatabaseAddress | typeof FRESH): Promise<Database> {
  if (address !== FRESH) return openDatabase(address);
  const folder = await mkdtemp(join(tmpdir(), 'database-'));
  await layFreshDatabase(folder);
  const database = await openDatabase({ folder: join(folder, 'database') });
  return {
    ...database,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Lays a fresh embedded database into a data folder: a copy takes milliseconds of the processor, `initdb` seconds. */
export async function layFreshDatabase(dataFolder: string): Promise<void> {
  await run('cp', ['-r', await template(), join(dataFolder, 'database')]);
}

/** Where the template lies; it is made once, and again when its sources have changed. */
export async function template(): Promise<string> {
  const path = join(CACHE, await digestOfSources());
  if (existsSync(path)) return path;
  await mkdir(CACHE, { recursive: true });
  const unfinished = await mkdtemp(join(CACHE, 'unfinished-'));
  {
    await using database = await openDatabase({ folder: unfinished });
    await using _queue = await openJobQueue({ database, log: openLog('silent') });
  }
  // It appears all at once; another run may have been faster with the same.
  await rename(unfinished, path).catch(() => rm(unfinished, { recursive: true, force: true }));
  if (!existsSync(path)) throw new Error(`No template of a database came to ${path}.`);
  return path;
}

async function digestOfSources(): Promise<string> {
  const migrations = (await readdir(MIGRATIONS)).toSorted().map((name) => join(MIGRATIONS, name));
  const hash = createHash('sha256');
  for (const path of [...migrations, ...SOURCES.map((file) => join(ROOT, file))])
    hash.update(`\n${path.slice(ROOT.length)}\n`).update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}
