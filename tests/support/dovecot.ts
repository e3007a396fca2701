import { spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { installed } from './installed.ts';

const READY_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 50;
const NOBODY = { name: 'nobody', uid: 65_534, group: 'nogroup' };

export const DOVECOT = installed('dovecot');
/** Every account of a test's Dovecot has this password; the account is made when it is first signed in to. */
export const DOVECOT_PASSWORD = 'correct-horse';

export type DovecotOptions = {
  /** Hierarchy delimiter; `/` when left out. */
  readonly separator?: string;
  /** Special-use attribute to mailbox name, such as `{ '\\Sent': 'Sent Items' }`. */
  readonly roles?: Readonly<Record<string, string>>;
  /** Megabytes that an account may hold. */
  readonly quota?: number;
};

export type Dovecot = AsyncDisposable & {
  readonly port: number;
  /** What to connect to, as settings spell it. */
  readonly url: string;
  log(): Promise<string>;
};

/** A Dovecot of our own, without root's rights, in a temporary folder and on a port of its own. */
export async function startDovecot(options: DovecotOptions = {}): Promise<Dovecot> {
  if (DOVECOT === null) throw new Error('Dovecot is not installed.');
  const folder = await mkdtemp(join(tmpdir(), 'dovecot-'));
  const port = await freePort();
  const user = process.getuid?.() === 0 ? NOBODY : { name: userInfo().username, uid: userInfo().uid, group: '' };
  await mkdir(join(folder, 'mail'));
  await writeFile(join(folder, 'dovecot.conf'), configuration(folder, port, user, options));
  if (user === NOBODY) for (const path of [folder, join(folder, 'mail')]) await chown(path, user.uid, -1);
  const config = ['-F', '-c', join(folder, 'dovecot.conf')];
  const child =
    user === NOBODY
      ? spawn('setpriv', [`--reuid=${user.uid}`, '--regid=65534', '--clear-groups', DOVECOT, ...config], {
          stdio: 'ignore',
        })
      : spawn(DOVECOT, config, { stdio: 'ignore' });
  const log = () => readFile(join(folder, 'dovecot.log'), 'utf8').catch(() => '');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  const until = Date.now() + READY_WITHIN_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > until) {
      const text = await log();
      await stop();
      throw new Error(`Dovecot did not start.\n${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return { port, url: `imap://127.0.0.1:${port}`, log, [Symbol.asyncDispose]: stop };
}

function configuration(
  folder: string,
  port: number,
  user: { name: string; group: string },
  { separator = '/', roles = {}, quota }: DovecotOptions,
): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/dovecot.log
instance_name = test-${port}
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
default_internal_user = ${user.name}
default_login_user = ${user.name}
${user.group === '' ? '' : `default_internal_group = ${user.group}`}
auth_failure_delay = 0
first_valid_uid = 1
mail_location = sdbox:${folder}/mail/%u
mail_max_userip_connections = 100
mail_fsync = never
${quota === undefined ? '' : 'mail_plugins = quota'}
service imap-login {
  chroot =
  inet_listener imap {
    address = 127.0.0.1
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
${quota === undefined ? '' : `plugin {\n  quota = count:User quota\n  quota_rule = *:storage=${quota}M\n  quota_vsizes = yes\n}`}
passdb {
  driver = static
  args = password=${DOVECOT_PASSWORD}
}
userdb {
  driver = static
  args = uid=${user.name} gid=${user.group === '' ? user.name : user.group} home=${folder}/mail/%u allow_all_users=yes
}
namespace inbox {
  inbox = yes
  separator = ${separator}
${Object.entries(roles)
  .map(([use, name]) => `  mailbox "${name}" {\n    special_use = ${use}\n    auto = subscribe\n  }`)
  .join('\n')}
}
`;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    return greeting.toString().startsWith('* OK');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
