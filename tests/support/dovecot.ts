import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { once } from 'node:events';
import { freePort } from './free-port.ts';
import { DELIVERY_AGENT, installed } from './installed.ts';
import { giveAway, IS_ROOT, NOBODY, unprivileged } from './unprivileged.ts';

const READY_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 50;

export const DOVECOT = installed('dovecot');
/** The password of every account of a test's Dovecot. An account is created at the first sign-in. */
export const DOVECOT_PASSWORD = 'correct-horse';

export type DovecotOptions = {
  /** The hierarchy delimiter; `/` by default. */
  readonly separator?: string;
  /** Mailbox names by special-use attribute, such as `{ '\\Sent': 'Sent Items' }`. */
  readonly roles?: Readonly<Record<string, string>>;
  /** The quota of each account, in MB. */
  readonly quota?: number;
  /** The capabilities it announces, in place of its own list (`imap_capability`). */
  readonly capabilities?: string;
  /** The longest keyword that it takes; 50 by default. */
  readonly keywordLength?: number;
  /** It offers COMPRESS=DEFLATE. */
  readonly compress?: boolean;
  /** In place of {@link DOVECOT_PASSWORD}. */
  readonly password?: string;
  /** Where its temporary folder is created. */
  readonly under?: string;
  /** Enables ManageSieve. `extensions` is Pigeonhole's setting, such as `-include`; redirects go to `smtpPort`. */
  readonly sieve?: { readonly extensions?: string; readonly maxRedirects?: number; readonly smtpPort?: number };
  /** Stores each message unchanged in a file of its own. */
  readonly maildir?: true;
  /** The files of a certificate and its key. Enables STARTTLS, and implicit TLS at a port of its own. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Keeps Dovecot's default of syncing to the disk before it reports that something is stored. */
  readonly durable?: true;
};

export type Dovecot = AsyncDisposable & {
  readonly port: number;
  /** The port of implicit TLS; 0 if there is none. */
  readonly tlsPort: number;
  /** Its address, in the form used in settings. */
  readonly url: string;
  /** The ManageSieve server, if it was asked for. */
  readonly sieveUrl: string;
  /** Delivers a message as an MTA does, so that the user's Sieve script is applied. */
  deliver(user: string, message: string): Promise<void>;
  /**
   * Truncates messages of an inbox on the disk, by their position: a server with `maildir` still lists them as before,
   * and hangs up in the middle of sending them.
   */
  damage(user: string, places: readonly number[], octets: number): Promise<void>;
  /** Lets nobody, not even the server, read a mailbox's folder on the disk. */
  forbid(user: string, mailbox: string): Promise<void>;
  log(): Promise<string>;
  /** Removes all mail; nobody may be signed in. */
  wipe(): Promise<void>;
};

/** Starts an unprivileged Dovecot in a temporary folder, on a port of its own. */
export async function startDovecot(options: DovecotOptions = {}): Promise<Dovecot> {
  if (DOVECOT === null) throw new Error('Dovecot is not installed.');
  const folder = await mkdtemp(join(options.under ?? tmpdir(), 'dovecot-'));
  const port = await freePort();
  const tlsPort = options.tls === undefined ? 0 : await freePort();
  const sievePort = options.sieve === undefined ? 0 : await freePort();
  const { username, uid } = userInfo();
  const user = IS_ROOT ? { name: 'nobody', uid: NOBODY, group: 'nogroup' } : { name: username, uid, group: '' };
  await mkdir(join(folder, 'mail'));
  await writeFile(
    join(folder, 'dovecot.conf'),
    configuration(folder, { imap: port, imaps: tlsPort, sieve: sievePort }, user, options),
  );
  for (const path of [folder, join(folder, 'mail')]) await giveAway(path);
  const config = ['-F', '-c', join(folder, 'dovecot.conf')];
  const child = spawn(...unprivileged(DOVECOT, ...config), { stdio: 'ignore' });
  const log = () => readFile(join(folder, 'dovecot.log'), 'utf8').catch(() => '');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  const ports = sievePort === 0 ? [port] : [port, sievePort];
  const until = Date.now() + READY_WITHIN_MS;
  while (!(await answersAll(ports))) {
    if (child.exitCode !== null || Date.now() > until) {
      const text = await log();
      await stop();
      throw new Error(`Dovecot did not start.\n${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return {
    port,
    tlsPort,
    url: `imap://127.0.0.1:${port}`,
    sieveUrl: `sieve://127.0.0.1:${sievePort}`,
    deliver: async (to, message) => {
      const agent = spawn(
        ...unprivileged(DELIVERY_AGENT, '-c', join(folder, 'dovecot.conf'), '-d', to, '-f', 'sender@mail.example'),
        { stdio: ['pipe', 'ignore', 'ignore'] },
      );
      agent.stdin.end(message);
      const [code] = (await once(agent, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`The message was not delivered (${code}).\n${await log()}`);
    },
    damage: async (owner, places, octets) => {
      const files: string[] = [];
      for (const part of ['cur', 'new'])
        for (const name of await readdir(join(folder, 'mail', owner, part)))
          files.push(join(folder, 'mail', owner, part, name));
      const inOrder = files.toSorted((a, b) => basename(a).localeCompare(basename(b), 'en', { numeric: true }));
      for (const place of places) await truncate(inOrder[place] ?? '', octets);
    },
    forbid: async (owner, mailbox) => {
      const own = join(folder, 'mail', owner);
      await chmod(join(own, 'mailboxes', mailbox), 0);
      // It would go on listing what it remembers.
      for (const name of await readdir(own)) if (name.startsWith('dovecot.list.index')) await rm(join(own, name));
    },
    log,
    wipe: async () => {
      for (const owner of await readdir(join(folder, 'mail')))
        await rm(join(folder, 'mail', owner), { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: stop,
  };
}

function configuration(
  folder: string,
  ports: { imap: number; imaps: number; sieve: number },
  user: { name: string; group: string },
  {
    separator = '/',
    roles = {},
    quota,
    password = DOVECOT_PASSWORD,
    sieve,
    tls,
    capabilities,
    keywordLength,
    compress,
    maildir,
    durable,
  }: DovecotOptions,
): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/dovecot.log
instance_name = test-${ports.imap}
protocols = imap ${sieve === undefined ? '' : 'sieve'}
listen = 127.0.0.1
${tls === undefined ? 'ssl = no' : `ssl = yes\nssl_cert = <${tls.certificate}\nssl_key = <${tls.key}`}
disable_plaintext_auth = no
auth_mechanisms = plain login
default_internal_user = ${user.name}
default_login_user = ${user.name}
${user.group === '' ? '' : `default_internal_group = ${user.group}`}
auth_failure_delay = 0
first_valid_uid = 1
mail_location = ${maildir === true ? 'maildir' : 'sdbox'}:${folder}/mail/%u
mail_max_userip_connections = 100
mail_fsync = ${durable === true ? 'optimized' : 'never'}
${quota === undefined ? '' : 'mail_plugins = quota'}
${capabilities === undefined ? '' : `imap_capability = ${capabilities}`}
${keywordLength === undefined ? '' : `mail_max_keyword_length = ${keywordLength}`}
${compress === true ? 'protocol imap {\n  mail_plugins = $mail_plugins imap_zlib\n}' : ''}
service imap-login {
  chroot =
  service_count = 0
  process_min_avail = 1
  client_limit = 500
  inet_listener imap {
    address = 127.0.0.1
    port = ${ports.imap}
  }
  inet_listener imaps {
    address = 127.0.0.1
    port = ${ports.imaps}
    ssl = yes
  }
}
${sieve === undefined ? '' : sieveConfiguration(folder, ports.sieve, sieve)}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
${quota === undefined ? '' : `plugin {\n  quota = count:User quota\n  quota_rule = *:storage=${quota}M\n  quota_vsizes = yes\n}`}
passdb {
  driver = static
  args = password=${password}
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

function sieveConfiguration(
  folder: string,
  port: number,
  { extensions, maxRedirects, smtpPort }: NonNullable<DovecotOptions['sieve']>,
): string {
  return `
service managesieve-login {
  chroot =
  inet_listener sieve {
    address = 127.0.0.1
    port = ${port}
  }
}
protocol lda {
  mail_plugins = sieve
}
postmaster_address = postmaster@sanbrunocable.example
hostname = mail.sanbrunocable.example
${smtpPort === undefined ? '' : `submission_host = 127.0.0.1:${smtpPort}`}
plugin {
  sieve = file:${folder}/mail/%u/sieve;active=${folder}/mail/%u/active.sieve
  ${extensions === undefined ? '' : `sieve_extensions = ${extensions}`}
  ${maxRedirects === undefined ? '' : `sieve_max_redirects = ${maxRedirects}`}
}`;
}

async function answersAll(ports: readonly number[]): Promise<boolean> {
  return (await Promise.all(ports.map(answers))).every((answer) => answer);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    return /^(?:\* OK|"IMPLEMENTATION")/.test(greeting.toString());
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
