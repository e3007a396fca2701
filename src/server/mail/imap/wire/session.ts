import type { Duplex } from 'node:stream';
import type { Clock } from '../../../clock.ts';
import type { Dial, Line, MayWrite } from '../wire.ts';
import { MAIL_TIMES, type MailAccount, type MailPlace, type MailTimes } from '../connection.ts';
import type { Hold } from '../hold.ts';
import { isRefusal, MailError, type MailRole } from '../mail-error.ts';
import { ImapConnection } from './imap-connection.ts';
import { isQuotable, quoted } from './mailbox-name.ts';

/** The client's name for the ID command. Some servers want it before they open a mailbox (NetEase). */
const CLIENT = '("name" "email-data-transfer")';

/**
 * How long a server may take for what it owes after the work is called off, in milliseconds; then the connection is
 * closed.
 */
export const SETTLED_WITHIN = 10_000;

export type SessionOptions = {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly times?: MailTimes;
  /** Cancels the sign-in. A connection that is signed in waits for no pause any more, and is closed soon after. */
  readonly signal?: AbortSignal;
  readonly mayWrite?: MayWrite;
  /**
   * Whether to compress if the server offers it. That pays off if the network is slower than about 100 Mbit/s or paid
   * by the octet, and for listings; on a fast network it only costs processor time on both sides.
   */
  readonly compress?: boolean;
  /** How much may wait in memory for its reader, in octets. */
  readonly readAhead?: number;
  /** Shared by all connections of the account. */
  readonly hold?: Hold;
  /** It waits for no turn among the account's sign-ins. */
  readonly isUrgent?: boolean;
  /** Which of a transfer's accounts it is. */
  readonly role?: MailRole;
  /** Called before the password or token is sent. */
  readonly onSecret?: () => void;
};

/**
 * Opens a connection, signs in, and makes it ready for mailboxes. A refused access token is renewed once.
 * @throws {MailError}
 */
export async function openSession(account: MailAccount, options: SessionOptions): Promise<ImapConnection> {
  const { credentials } = account;
  if (credentials.kind === 'password')
    return signIn(account, { kind: 'password', secret: credentials.password }, options);
  try {
    return await signIn(account, { kind: 'token', secret: await credentials.accessToken() }, options);
  } catch (error) {
    if (!(error instanceof MailError) || error.fault !== 'credentials') throw error;
    return signIn(account, { kind: 'token', secret: await credentials.accessToken({ renew: true }) }, options);
  }
}

type Secret = { readonly kind: 'password' | 'token'; readonly secret: string };

async function signIn(account: MailAccount, secret: Secret, options: SessionOptions): Promise<ImapConnection> {
  const { dial, clock, times = MAIL_TIMES, signal, mayWrite, readAhead, hold, isUrgent = false, role } = options;
  const { place } = account;
  await (isUrgent ? hold?.over(signal) : hold?.beforeSignIn(signal));
  signal?.throwIfAborted();
  const giveUp = new AbortController();
  const slow = new MailError('slow', 'The mail server took too long for the sign-in.');
  let connection: ImapConnection | undefined;
  const end = (reason: unknown) => {
    giveUp.abort(reason);
    connection?.end(slow);
  };
  const calledOff = () => end(signal?.reason);
  signal?.addEventListener('abort', calledOff, { once: true });
  let off = clock.after(times.connect, () => end(slow));
  try {
    const { socket, inlet, startTls } = await dial(place, giveUp.signal);
    off();
    off = clock.after(times.greeting, () => end(slow));
    connection = new ImapConnection(socket, {
      clock,
      silence: times.silence,
      ...(inlet === undefined ? {} : { inlet }),
      ...(mayWrite === undefined ? {} : { mayWrite }),
      ...(readAhead === undefined ? {} : { readAhead }),
      ...(hold === undefined ? {} : { hold }),
      ...(role === undefined ? {} : { role }),
      ...(signal === undefined ? {} : { signal }),
    });
    giveUp.signal.throwIfAborted();
    const greeting = await connection.greeting();
    off();
    off = clock.after(times.silence, () => end(slow));
    // With PREAUTH, nobody would know whose mailbox this is, and there would be no TLS (RFC 9051 §11.1).
    if (greeting.status === 'PREAUTH') {
      const isClear = startTls !== undefined && account.place.security === 'starttls';
      throw new MailError(isClear ? 'certificate' : 'refused', 'The mail server asks for no sign-in.');
    }
    await prepare(connection, startTls, account.place);
    options.onSecret?.();
    await authenticate(connection, account, secret);
    await learn(connection);
    // The answer to ID does not matter, and the end of the connection shows in everything else.
    if (connection.capabilities.has('ID')) connection.command(`ID ${CLIENT}`).catch(() => {});
    if (options.compress === true && connection.capabilities.has('COMPRESS=DEFLATE')) await connection.compress();
    if (signal !== undefined) closeWhenCalledOff(connection, signal, clock);
    return connection;
  } catch (error) {
    connection?.destroy();
    signal?.throwIfAborted();
    throw giveUp.signal.aborted ? slow : error;
  } finally {
    off();
    signal?.removeEventListener('abort', calledOff);
  }
}

/**
 * Closes the connection some time after the work is called off. By then its users are done, unless the server is gone
 * or slow.
 */
function closeWhenCalledOff(connection: ImapConnection, signal: AbortSignal, clock: Clock): void {
  let callOff: (() => void) | undefined;
  const end = () => connection.end(new MailError('lost', 'The work was called off before the mail server was done.'));
  const settle = () => {
    callOff = clock.after(SETTLED_WITHIN, end);
  };
  signal.addEventListener('abort', settle, { once: true });
  connection.whenEnded(() => {
    signal.removeEventListener('abort', settle);
    callOff?.();
  });
}

/**
 * Encrypts the connection, if it is not encrypted yet and the server can.
 * @throws {MailError} `certificate` if it has to be encrypted and can't be
 */
async function prepare(connection: ImapConnection, startTls: Line['startTls'], { security }: MailPlace): Promise<void> {
  await learn(connection);
  if (startTls === undefined) return;
  const isOffered = connection.capabilities.has('STARTTLS');
  if (isOffered && (await isEncrypted(connection, startTls))) return learn(connection);
  if (security === 'starttls') throw new MailError('certificate', 'The mail server offers no TLS.');
}

/** @returns false if the server refuses STARTTLS though it has offered it */
async function isEncrypted(connection: ImapConnection, startTls: () => Promise<Duplex>): Promise<boolean> {
  try {
    await connection.startTls(startTls);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

async function learn(connection: ImapConnection): Promise<void> {
  if (connection.capabilities.size === 0) await connection.command('CAPABILITY');
}

/** Signs in by the best mechanism that the server offers. Its capabilities have to be learnt anew after that. */
async function authenticate(
  connection: ImapConnection,
  { email, place: { host, port } }: MailAccount,
  { kind, secret }: Secret,
): Promise<void> {
  const offered = connection.capabilities;
  connection.forgetCapabilities();
  const initial = offered.has('SASL-IR');
  if (kind === 'token' && offered.has('AUTH=OAUTHBEARER')) {
    const name = email.replaceAll('=', '=3D').replaceAll(',', '=2C');
    const response = `n,a=${name},\x01host=${host}\x01port=${port}\x01auth=Bearer ${secret}\x01\x01`;
    return exchange(connection, { mechanism: 'OAUTHBEARER', responses: [response], initial, afterRefusal: 'AQ==' });
  }
  if (kind === 'token') {
    if (!offered.has('AUTH=XOAUTH2')) throw new MailError('credentials', 'The mail server takes no access tokens.');
    const response = `user=${email}\x01auth=Bearer ${secret}\x01\x01`;
    return exchange(connection, { mechanism: 'XOAUTH2', responses: [response], initial, afterRefusal: '' });
  }
  if (offered.has('AUTH=PLAIN')) {
    const response = `\0${email}\0${secret}`;
    return exchange(connection, { mechanism: 'PLAIN', responses: [response], initial, afterRefusal: '*' });
  }
  if (!offered.has('LOGINDISABLED')) return login(connection, email, secret);
  if (!offered.has('AUTH=LOGIN')) throw new MailError('credentials', 'The mail server takes no passwords.');
  return exchange(connection, {
    mechanism: 'LOGIN',
    responses: [email, secret],
    initial: false,
    afterRefusal: '*',
  });
}

type Exchange = {
  readonly mechanism: string;
  /** The answers to the server's challenges, in this order. */
  readonly responses: readonly string[];
  /** SASL-IR (RFC 4959): the first response goes with the command. */
  readonly initial: boolean;
  /** The answer to one challenge more, which holds the reason of a refusal (RFC 7628 §3.2.3). */
  readonly afterRefusal: string;
};

async function exchange(
  connection: ImapConnection,
  { mechanism, responses, initial, afterRefusal }: Exchange,
): Promise<void> {
  const said = responses.map((response) => Buffer.from(response).toString('base64'));
  await connection.mayAsk();
  await connection.outgoing.takeTurn();
  const { tag, done } = connection.begin({ signingIn: true });
  try {
    connection.outgoing.write(`${tag} AUTHENTICATE ${mechanism}${initial ? ` ${said.shift()}` : ''}\r\n`);
    for (const line of [...said, afterRefusal])
      if (await connection.continuation(done)) connection.outgoing.write(`${line}\r\n`);
  } finally {
    connection.outgoing.giveTurn();
  }
  await done;
}

async function login(connection: ImapConnection, email: string, password: string): Promise<void> {
  await connection.mayAsk();
  await connection.outgoing.takeTurn();
  const { tag, done } = connection.begin({ signingIn: true });
  try {
    connection.outgoing.write(`${tag} LOGIN`);
    for (const text of [email, password]) {
      if (isQuotable(text)) connection.outgoing.write(` ${quoted(text)}`);
      else {
        const octets = Buffer.from(text);
        connection.outgoing.write(` {${octets.length}}\r\n`);
        if (!(await connection.continuation(done))) break;
        connection.outgoing.write(octets);
      }
    }
    connection.outgoing.write('\r\n');
  } finally {
    connection.outgoing.giveTurn();
  }
  await done;
}
