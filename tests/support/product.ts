import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSharedDatabase, layFreshDatabase } from './fresh-database.ts';
import { freePort } from './free-port.ts';
import { startFlags } from './start-command.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Enough for a start that includes a build of the portal, on a loaded machine. */
const START_WITHIN_MS = 120_000;

export type Product = AsyncDisposable & {
  readonly url: string;
  readonly sandboxUrl: string;
  readonly subscribers: readonly { readonly email: string; readonly password: string }[];
  readonly folder: string;
  /** The ports of the sandbox's servers, by name, such as `mail legacy`. */
  ports(): Promise<Readonly<Record<string, number>>>;
  /** Everything that it has printed so far, on both streams. */
  output(): string;
  /** Kills it with `kill -9`, as in a power cut. */
  kill(): Promise<void>;
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<number | null>;
};

export type Run = {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
};

/** Runs `npm start`'s program in a folder, with these settings and nothing from the tests' environment. */
export function runProduct(environment: Readonly<Record<string, string>>, folder = ROOT): Run {
  const child = spawn(process.execPath, [...startFlags(), join(ROOT, 'src/main.ts')], {
    cwd: folder,
    env: { ...ofTheTests('PATH', 'HOME', 'NODE_COMPILE_CACHE'), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, output: () => text, ended };
}

function ofTheTests(...names: readonly string[]): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/** What the sandbox would set otherwise, and the portal is built with; fixed, so that one build does for every start. */
export const PAGES = {
  FAQ_URL: 'https://help.sanbrunocable.example/faq',
  PRIVACY_URL: 'https://www.sanbrunocable.example/privacy',
  TERMS_URL: 'https://www.sanbrunocable.example/terms',
  DESTINATION_MAIL_URL: 'https://mail.yahoo.example/',
};

/** Starts the whole product with its embedded defaults and the sandbox. `DATA_DIR` defaults to a folder of its own with a fresh database. */
export async function startProduct(environment: Readonly<Record<string, string>> = {}): Promise<Product> {
  if (environment['DATA_DIR'] !== undefined) return startIn(environment['DATA_DIR'], environment);
  const folder = await mkdtemp(join(tmpdir(), 'product-'));
  await layFreshDatabase(folder);
  return startIn(folder, environment, () => rm(folder, { recursive: true, force: true }));
}

/** Like {@link startProduct}, but on the tests' PostgreSQL if there is one, which takes less processor time. */
export async function startProductOnPostgres(environment: Readonly<Record<string, string>> = {}): Promise<Product> {
  const database = await createSharedDatabase();
  if (database === null) return startProduct(environment);
  const folder = await mkdtemp(join(tmpdir(), 'product-'));
  const own = { SANDBOX: 'on', DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64') };
  return startIn(folder, { ...own, ...environment }, async () => {
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });
}

async function startIn(
  folder: string,
  environment: Readonly<Record<string, string>>,
  clear?: () => Promise<void>,
): Promise<Product> {
  const port = environment['PORT'] ?? String(await freePort());
  const { child, output, ended } = runProduct({ ...PAGES, DATA_DIR: folder, PORT: port, ...environment });
  const url = await said(child, output, /^Listening on (\S+)$/m);
  const subscribers = [...output().matchAll(/^ {2}(\S+@\S+) {2}(\S+) {2}/gm)].map(([, email = '', password = '']) => ({
    email,
    password,
  }));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    url,
    sandboxUrl: /The sandbox is the outside world: (\S+)/.exec(output())?.[1] ?? '',
    subscribers,
    folder,
    ports: async () => {
      const { ports } = JSON.parse(await readFile(join(folder, 'sandbox/sandbox.json'), 'utf8')) as {
        ports: Record<string, number>;
      };
      return ports;
    },
    output,
    kill: async () => void (await end('SIGKILL')),
    stop: (signal = 'SIGTERM') => end(signal),
    [Symbol.asyncDispose]: async () => {
      await end('SIGTERM');
      await clear?.();
    },
  };
}

async function said(child: ChildProcess, output: () => string, line: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const look = () => {
    const found = line.exec(output())?.[1];
    if (found !== undefined) resolve(found);
  };
  const late = setTimeout(() => reject(new Error(`The product did not start in time:\n${output()}`)), START_WITHIN_MS);
  child.stdout?.on('data', look);
  child.once('exit', () => reject(new Error(`The product exited during its start:\n${output()}`)));
  try {
    return await promise;
  } catch (error) {
    // Nobody else knows it, and it would go on for ever.
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(late);
  }
}
