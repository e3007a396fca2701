import type { Settings } from '../../contract/settings.ts';
import { MailError } from '../mail/imap/mail-error.ts';
import { trustIn } from '../mail/imap/connection.ts';
import { writeString, type SieveReply } from './sieve-reply.ts';
import { SieveSocket } from './sieve-socket.ts';

const SIEVE_PORT = 4190;

/** `starttls` before anything else is said; `open` TLS if the server has it: only towards hosts that the operator trusts. */
export type SievePlace = {
  readonly host: string;
  readonly port: number;
  readonly security: 'starttls' | 'open';
  /** As `MailPlace` has them. */
  readonly certificates?: readonly string[];
};

/** A subscriber's scripts at a ManageSieve server (RFC 5804). Everything throws {@link MailError}. */
export type SieveSession = AsyncDisposable & {
  /** Extensions of Sieve that scripts may use. */
  readonly extensions: ReadonlySet<string>;
  /** How many messages a script may redirect one to, if the server says so. */
  readonly maxRedirects?: number;
  scripts(): Promise<{ readonly name: string; readonly active: boolean }[]>;
  read(name: string): Promise<string>;
  /** Stores a script, in place of the one of that name; the server checks it first. */
  put(name: string, script: string): Promise<void>;
  /** Makes a script the active one; none with an empty name. */
  activate(name: string): Promise<void>;
  remove(name: string): Promise<void>;
};

/** `null` when there is no server of scripts. */
export function sievePlaceOf(
  settings: Pick<Settings, 'legacySieveUrl' | 'trustedMailHosts' | 'trustedMailCertificates'>,
): SievePlace | null {
  if (settings.legacySieveUrl === undefined) return null;
  const url = new URL(settings.legacySieveUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? SIEVE_PORT : Number(url.port);
  return { host, port, ...trustIn(host, port, settings) };
}

type Account = { readonly email: string; readonly password: string; readonly place: SievePlace };

/**
 * Signs in. The password is sent only over TLS, or to a host that the operator trusts.
 * @param signal ends the session at any time.
 * @throws {MailError}
 */
export async function openSieveSession(account: Account, signal: AbortSignal): Promise<SieveSession> {
  const socket = new SieveSocket(account.place, signal);
  try {
    const capabilities = await signIn(account, socket);
    return sessionOn(socket, capabilities);
  } catch (error) {
    socket[Symbol.dispose]();
    throw error;
  }
}

type Capabilities = ReadonlyMap<string, string>;

async function signIn({ email, password, place }: Account, socket: SieveSocket): Promise<Capabilities> {
  let capabilities = capabilitiesOf(expectOk(await socket.reply()));
  if (capabilities.has('STARTTLS')) {
    await command(socket, 'STARTTLS');
    await socket.secure();
    capabilities = capabilitiesOf(expectOk(await socket.reply()));
  } else if (place.security === 'starttls')
    throw new MailError('certificate', 'The server of scripts has no TLS, so no password was sent.');
  if (!wordsOf(capabilities, 'SASL').has('PLAIN'))
    throw new MailError('refused', 'The server of scripts takes no password.');
  const token = Buffer.from(`\0${email}\0${password}`).toString('base64');
  socket.write(`AUTHENTICATE "PLAIN" ${writeString(token)}\r\n`);
  const answer = await socket.reply();
  if (answer.status === 'NO' && (answer.code === undefined || answer.code.startsWith('AUTH')))
    throw new MailError('credentials', 'The server of scripts refused the sign-in.');
  expectOk(answer);
  return capabilitiesOf(await command(socket, 'CAPABILITY'));
}

function sessionOn(socket: SieveSocket, capabilities: Capabilities): SieveSession {
  // Dovecot's Pigeonhole names a maximum of 0 by leaving it out, takes scripts all the same, and redirects nothing.
  const implied = /pigeonhole/i.test(capabilities.get('IMPLEMENTATION') ?? '') ? 0 : Number.NaN;
  const maxRedirects = Number(capabilities.get('MAXREDIRECTS') ?? implied);
  return {
    extensions: new Set([...wordsOf(capabilities, 'SIEVE')].map((word) => word.toLowerCase())),
    ...(Number.isNaN(maxRedirects) ? {} : { maxRedirects }),
    scripts: async () =>
      (await command(socket, 'LISTSCRIPTS')).lines.flatMap(([name, mark]) =>
        name === undefined ? [] : [{ name, active: mark?.toUpperCase() === 'ACTIVE' }],
      ),
    read: async (name) => (await command(socket, `GETSCRIPT ${writeString(name)}`)).lines[0]?.[0] ?? '',
    put: async (name, script) => {
      await command(socket, `PUTSCRIPT ${writeString(name)} ${writeString(script)}`);
    },
    activate: async (name) => {
      await command(socket, `SETACTIVE ${writeString(name)}`);
    },
    remove: async (name) => {
      await command(socket, `DELETESCRIPT ${writeString(name)}`);
    },
    [Symbol.asyncDispose]: async () => {
      socket.write('LOGOUT\r\n');
      await socket.reply().catch(() => {});
      socket[Symbol.dispose]();
    },
  };
}

async function command(socket: SieveSocket, text: string): Promise<SieveReply> {
  socket.write(`${text}\r\n`);
  return expectOk(await socket.reply());
}

/** The response codes are those of RFC 5804 §1.3. */
function expectOk(reply: SieveReply): SieveReply {
  if (reply.status === 'OK') return reply;
  const options = reply.code === undefined ? {} : { responseCode: reply.code };
  const said = `The server of scripts said ${reply.status} (${reply.code ?? 'no code'}).`;
  if (reply.code === 'TRYLATER') throw new MailError('busy', said, options);
  if (reply.code === 'ENCRYPT-NEEDED') throw new MailError('certificate', said, options);
  if (reply.code?.startsWith('QUOTA') === true) throw new MailError('full', said, options);
  throw new MailError(reply.status === 'BYE' ? 'lost' : 'refused', said, options);
}

function capabilitiesOf({ lines }: SieveReply): Capabilities {
  return new Map(lines.map(([name = '', value = '']) => [name.toUpperCase(), value]));
}

function wordsOf(capabilities: Capabilities, name: string): ReadonlySet<string> {
  return new Set((capabilities.get(name) ?? '').split(' ').filter((word) => word !== ''));
}
