import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { installed } from './installed.ts';
import { giveAway, unprivileged } from './unprivileged.ts';

const READY_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;

export type PgBouncer = AsyncDisposable & {
  /** The address of the same database, through it. */
  readonly url: string;
};

type Options = {
  readonly mode: 'session' | 'transaction' | 'statement';
  /** `max_client_conn`; 100 by default. */
  readonly clients?: number;
};

/** Starts an unprivileged PgBouncer, on a port of its own, in front of the database at `url`, which trusts everybody. */
export async function startPgBouncer(url: string, { mode, clients = 100 }: Options): Promise<PgBouncer> {
  const program = installed('pgbouncer');
  if (program === null) throw new Error('PgBouncer is not installed.');
  const { hostname, port: serverPort, username, pathname } = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users'), `"${username}" ""\n`);
  await writeFile(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users')}
pool_mode = ${mode}
max_client_conn = ${clients}
`,
  );
  await giveAway(folder);
  const child = spawn(...unprivileged(program, '-q', file), { stdio: 'ignore' });
  const gone = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await gone;
    await rm(folder, { recursive: true, force: true });
  };
  for (const until = Date.now() + READY_WITHIN_MS; !(await answers(port));) {
    if (Date.now() > until) {
      await stop();
      throw new Error('PgBouncer did not start.');
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const through = new URL(url);
  through.port = String(port);
  return { url: through.href, [Symbol.asyncDispose]: stop };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
