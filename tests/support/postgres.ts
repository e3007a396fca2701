import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { installed } from './installed.ts';

const READY_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 100;
const NOBODY = 65_534;
const USER = 'portal';

const INITDB = installed('initdb');
const POSTGRES = installed('postgres');
export const POSTGRESQL = INITDB === null ? null : POSTGRES;

export type Postgres = AsyncDisposable & {
  /** A new, empty database. */
  create(): Promise<string>;
  /** Stops it as a crash does (immediate shutdown). */
  crash(): Promise<void>;
  /** Starts it again after a crash, at the same port. */
  recover(): Promise<void>;
};

/** A PostgreSQL of our own, without root's rights, in a temporary folder and on a port of its own. */
export async function startPostgres(): Promise<Postgres> {
  if (INITDB === null || POSTGRES === null) throw new Error('PostgreSQL is not installed.');
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  const port = await freePort();
  const asNobody = process.getuid?.() === 0;
  if (asNobody) await chown(folder, NOBODY, NOBODY);
  const unprivileged = (program: string, ...args: string[]): [string, string[]] =>
    asNobody
      ? ['setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', program, ...args]]
      : [program, args];
  const data = join(folder, 'data');
  await promisify(execFile)(...unprivileged(INITDB, '-D', data, '-U', USER, '--auth=trust', '-E', 'UTF8', '--no-sync'));
  const [program, args] = unprivileged(
    POSTGRES,
    '-D',
    data,
    '-p',
    `${port}`,
    '-k',
    folder,
    '-c',
    'listen_addresses=127.0.0.1',
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
  const ready = async () => {
    const until = Date.now() + READY_WITHIN_MS;
    while (!(await answers(address('postgres')))) {
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
    create: async () => {
      count += 1;
      const client = new pg.Client({ connectionString: address('postgres') });
      await client.connect();
      try {
        await client.query(`create database test_${count}`);
      } finally {
        await client.end();
      }
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
