import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { installed } from './installed.ts';
import { giveAway, unprivileged } from './unprivileged.ts';

const READY_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 100;
const USER = 'portal';

const INITDB = installed('initdb');
const POSTGRES = installed('postgres');
const BASE_BACKUP = installed('pg_basebackup');
export const POSTGRESQL = INITDB === null ? null : POSTGRES;

/** Each test's database consists of three hundred new files, which are slow to create and remove on a disk. */
const IN_MEMORY = '/dev/shm';
const ROOM = 4 * 1024 ** 3;

/** Faster, but loses the latest commits if the machine crashes, which doesn't matter in tests. */
const UNSAFE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=400'];

export type Postgres = AsyncDisposable & {
  /** The superuser's, for the database `postgres`. */
  readonly url: string;
  /** Creates a new, empty database. @returns its address */
  create(): Promise<string>;
  /** Stops it as in a crash (immediate shutdown). */
  crash(): Promise<void>;
  /** Restarts it after a crash, at the same port. */
  recover(): Promise<void>;
};

type Given = {
  readonly settings?: readonly string[];
  readonly above?: string;
  /** The address of the one that it is a streaming standby of. */
  readonly standbyOf?: string;
};

/** Starts an unprivileged PostgreSQL in a temporary folder (within `above`), on a port of its own. */
export async function startPostgres({ settings = [], above = tmpdir(), standbyOf }: Given = {}): Promise<Postgres> {
  if (INITDB === null || POSTGRES === null || BASE_BACKUP === null) throw new Error('PostgreSQL is not installed.');
  const folder = await mkdtemp(join(above, 'postgres-'));
  const port = await freePort();
  await giveAway(folder);
  const data = join(folder, 'data');
  const laid: readonly [string, ...string[]] =
    standbyOf === undefined
      ? [INITDB, '-U', USER, '--auth=trust', '-E', 'UTF8', '--no-sync']
      : [BASE_BACKUP, '-d', standbyOf, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  await promisify(execFile)(...unprivileged(...laid, '-D', data));
  const [program, args] = unprivileged(
    POSTGRES,
    '-D',
    data,
    '-p',
    `${port}`,
    '-k',
    folder,
    ...['listen_addresses=127.0.0.1', ...settings].flatMap((setting) => ['-c', setting]),
  );
  let child = spawn(program, args, { stdio: 'ignore' });
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  const stop = async () => {
    await end('SIGINT');
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  const address = (name: string) => `postgres://${USER}@127.0.0.1:${port}/${name}`;
  const url = address('postgres');
  const ready = async () => {
    const until = Date.now() + READY_WITHIN_MS;
    while (!(await answers(url))) {
      if (child.exitCode !== null || Date.now() > until) {
        await stop();
        throw new Error('PostgreSQL did not start.');
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  };
  await ready();
  let count = 0;
  return {
    url,
    create: async () => {
      count += 1;
      await command(url, `create database test_${count}`);
      return address(`test_${count}`);
    },
    crash: () => end('SIGQUIT'),
    recover: async () => {
      child = spawn(program, args, { stdio: 'ignore' });
      await ready();
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts the one that all test files of a run share, each with its own databases. */
export async function startSharedPostgres(): Promise<Postgres> {
  return startPostgres({ settings: UNSAFE, above: (await hasRoom(IN_MEMORY)) ? IN_MEMORY : tmpdir() });
}

async function hasRoom(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}

/** Runs one statement on a connection of its own. @returns its rows */
export async function command(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
