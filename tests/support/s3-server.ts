import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './free-port.ts';

export type S3Server = AsyncDisposable & {
  readonly port: number;
  /** The `EXPORTS_URL` of its bucket. */
  readonly url: string;
  /** The keys of all objects. */
  keys(): Promise<string[]>;
};

const LOOK_TRIES = 200;
/** The only credentials that s3rver accepts. */
export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

/** Sets variables of this process, which other files of tests share; the answer puts them back. */
export function setVariables(variables: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  setAll(Object.entries(variables));
  return () => {
    setAll(before);
  };
}

function setAll(variables: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of variables)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}

/** An S3-compatible server (s3rver) in a process of its own, with one bucket. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  const port = await freePort();
  const program = join(dirname(fileURLToPath(import.meta.resolve('s3rver'))), '../bin/s3rver.js');
  const child = spawn(
    process.execPath,
    [
      '--no-deprecation',
      program,
      '-d',
      folder,
      '-a',
      '127.0.0.1',
      '-p',
      String(port),
      '-s',
      '--configure-bucket',
      'exports',
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  for (let attempt = 1; !(await answers(port)); attempt += 1) {
    if (attempt > LOOK_TRIES || child.exitCode !== null) throw new Error('s3rver did not start');
    await wait(50);
  }
  return {
    port,
    url: `s3://exports/some/prefix?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
    keys: async () => {
      const entries = await readdir(join(folder, 'exports'), { recursive: true }).catch(() => []);
      return entries
        .filter((name) => name.endsWith('._S3rver_object') && !name.includes('_uploads'))
        .map((name) => name.replace('._S3rver_object', ''));
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`);
    return true;
  } catch {
    return false;
  }
}
