import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { MailAccount, MailPlace } from '../../src/server/mail/imap/connection.ts';
import { openControl } from '../../src/server/mail/imap/control.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { checkSignIn } from '../../src/server/mail/imap/sign-in.ts';
import { openDial } from '../../src/server/mail/imap/wire/dial.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';

const EMAIL = 'anna/post@mail.example';
const PASSWORD = 'Käse "und" Brot';

type Odd = {
  readonly capabilities: string;
  readonly security?: MailPlace['security'];
  /** What it says to a line in place of what it usually says; `null`: it hangs up. */
  readonly says?: (line: string, tag: string) => string | null | undefined;
};

const isSecret = (line: string) => /LOGIN|AUTHENTICATE/.test(line);

async function serverWith({ capabilities, security = 'open', says = () => undefined }: Odd) {
  const lines: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('* OK ready\r\n');
    let last = '';
    socket.on('data', (part) => {
      for (const line of part.toString().split('\r\n')) {
        if (line === '') continue;
        lines.push(line);
        const tag = /^[A-Z\d]+(?= )/.exec(line)?.[0] ?? last;
        last = tag;
        const said = says(line, tag);
        if (said === null) socket.destroy();
        else if (said !== undefined) socket.write(said);
        else if (line.endsWith('}')) socket.write('+ go on\r\n');
        else
          socket.write(line.includes('CAPABILITY') ? `* CAPABILITY ${capabilities}\r\n${tag} OK\r\n` : `${tag} OK\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const account: MailAccount = {
    email: EMAIL,
    place: { host: '127.0.0.1', port, security, named: 'by operator' },
    credentials: { kind: 'password', password: PASSWORD },
  };
  return { lines, account, [Symbol.dispose]: () => void server.close() };
}

/** As a transfer signs in, for messages and for the list of mailboxes. */
async function session(account: MailAccount): Promise<string> {
  try {
    await using _connection = await openSession(account, { dial: openDial({ trusted: [] }), clock: MACHINE_CLOCK });
    await using _control = await openControl(account, { trusted: [] });
    return 'ok';
  } catch (error) {
    return error instanceof MailError ? error.fault : String(error);
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** AUTH=LOGIN, which nothing but old software speaks. */
const asksOneByOne = (line: string, tag: string) => {
  if (line.endsWith('AUTHENTICATE LOGIN')) return `+ ${base64('Username:')}\r\n`;
  if (line === base64(EMAIL)) return `+ ${base64('Password:')}\r\n`;
  if (line === base64(PASSWORD)) return `${tag} OK in\r\n`;
  return isSecret(line) ? `${tag} NO not so\r\n` : undefined;
};
const noTls = (line: string, tag: string) => (line.includes('STARTTLS') ? `${tag} NO no certificate\r\n` : undefined);

test.each<[string, Odd, string, string]>([
  ['LOGIN only', { capabilities: 'IMAP4rev1' }, 'ok', 'ok'],
  ['no LOGIN, but AUTH=LOGIN', { capabilities: 'IMAP4rev1 LOGINDISABLED AUTH=LOGIN', says: asksOneByOne }, 'ok', 'ok'],
  [
    'no LOGIN, but AUTH=PLAIN',
    {
      capabilities: 'IMAP4rev1 LOGINDISABLED AUTH=PLAIN',
      says: (line) => (line.endsWith('PLAIN') ? '+ \r\n' : undefined),
    },
    'ok',
    'ok',
  ],
  ['no password at all', { capabilities: 'IMAP4rev1 LOGINDISABLED' }, 'credentials', 'credentials'],
  ['STARTTLS that it refuses, in clear', { capabilities: 'IMAP4rev1 STARTTLS', says: noTls }, 'ok', 'ok'],
  [
    'STARTTLS that it refuses, and must have',
    { capabilities: 'IMAP4rev1 STARTTLS', says: noTls, security: 'starttls' },
    'certificate',
    'certificate',
  ],
])('by %s the check finds what a transfer finds', async (_what, odd, checked, opened) => {
  using server = await serverWith(odd);
  expect(await checkSignIn(server.account, { trusted: [] })).toBe(checked);
  expect(await session(server.account)).toBe(opened);
});

test('a password that is no ASCII goes by LOGIN as it is', async () => {
  using server = await serverWith({ capabilities: 'IMAP4rev1' });
  expect(await checkSignIn(server.account, { trusted: [] })).toBe('ok');
  expect(server.lines).toContain(PASSWORD);
});

test.each<[string, Odd['says'], string]>([
  ['hangs up at a password', (line) => (isSecret(line) ? null : undefined), 'unanswered'],
  ['says goodbye to it', (line) => (isSecret(line) ? '* BYE too many failures\r\n' : undefined), 'unanswered'],
  ['hangs up before', (line) => (line.includes('CAPABILITY') ? null : undefined), 'unreachable'],
  [
    'has no mailbox for who is signed in (Exchange)',
    (line, tag) => (line.includes('LIST') ? `${tag} BAD User is authenticated but not connected.\r\n` : undefined),
    'busy',
  ],
  [
    'lets no mail programs in',
    (line, tag) => (isSecret(line) ? `${tag} NO IMAP access is disabled for your domain.\r\n` : undefined),
    'credentials',
  ],
  ['lists nothing', (line, tag) => (line.includes('LIST') ? `${tag} BAD what?\r\n` : undefined), 'ok'],
])('a server that %s', async (_what, says, result) => {
  using server = await serverWith({ capabilities: 'IMAP4rev1', ...(says === undefined ? {} : { says }) });
  expect(await checkSignIn(server.account, { trusted: [] })).toBe(result);
});
