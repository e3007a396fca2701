import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAutoconfig } from '../../src/server/mail/discovery/autoconfig.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { selfSigned } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

/** The legacy mail server, and any that hangs, is given up within this time. */
const GIVEN_UP_WITHIN_MS = 20_000;

let world: WebWorld;
const servers: Server[] = [];
const sockets = new Set<Socket>();
/** Everything that was sent to a faulty server. */
let heard = '';

beforeAll(async () => {
  world = await openWebWorld();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  await world[Symbol.asyncDispose]();
});

async function listen(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

/** What the operator is told of sign-ins; each is told once. */
function told(): unknown[] {
  const errors = world.logLines.splice(0).filter((line) => line.includes('"level":50'));
  return errors.map((line) => {
    const { setting, result } = JSON.parse(line) as { setting?: string; result?: string };
    return { setting, result };
  });
}

/** A sign-in through a portal whose legacy mail server is at this address. */
async function signInAt(legacyImapUrl: string) {
  const services = { ...world.services, settings: { ...world.settings, legacyImapUrl, trustedMailHosts: [] } };
  await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: null });
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${web.port}/api/validate/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `ann@${LEGACY_DOMAIN}`, password: 'canary-password', provider: 'sanbruno' }),
  });
  const body = (await response.json()) as { error: string; message: string };
  return { status: response.status, ...body, took: performance.now() - began };
}

describe('a legacy mail server', () => {
  const safe = /Your mail is safe\. Please try again/;

  test('that is down is reported as such', async () => {
    expect(await signInAt(`imaps://127.0.0.1:${await freePort()}`)).toMatchObject({
      status: 502,
      error: 'GENERAL_ERROR',
      message: expect.stringMatching(safe),
    });
    expect(told()).toEqual([{ setting: 'LEGACY_IMAP_URL', result: 'unreachable' }]);
  });

  test('that never says a word is given up in time', { tags: 'proof' }, async () => {
    const port = await listen(createServer());
    const answer = await signInAt(`imap://127.0.0.1:${port}`);
    expect(answer).toMatchObject({ status: 502, message: expect.stringMatching(/did not answer in time.*safe/) });
    expect(answer.took).toBeLessThan(GIVEN_UP_WITHIN_MS);
    expect(told()).toEqual([{ setting: 'LEGACY_IMAP_URL', result: 'slow' }]);
  });

  test('with an untrusted certificate is not sent the password', async () => {
    const port = await listen(
      createTlsServer(await selfSigned('localhost'), (socket) => {
        socket.write('* OK ready\r\n');
        socket.on('data', (data) => {
          heard += data.toString('latin1');
        });
        socket.on('error', () => socket.destroy());
      }),
    );
    expect(await signInAt(`imaps://localhost:${port}`)).toMatchObject({
      status: 502,
      message: expect.stringMatching(/your password was not sent.*safe/),
    });
    expect(told()).toEqual([{ setting: 'LEGACY_IMAP_URL', result: 'certificate' }]);
    expect(heard).not.toContain('canary-password');
  });

  test('without TLS is not sent the password, unless the operator trusts it', async () => {
    const port = await listen(
      createServer((socket) => {
        socket.write('* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n');
        socket.on('data', (data) => {
          heard += data.toString('latin1');
          const tag = data.toString('latin1').split(' ')[0];
          socket.write(`${tag} BAD no\r\n`);
        });
      }),
    );
    expect(await signInAt(`imap://127.0.0.1:${port}`)).toMatchObject({ status: 502, error: 'GENERAL_ERROR' });
    expect(heard).not.toContain('canary-password');
  });

  test('that fails does not use up the owner’s attempts', async () => {
    const rows = await world.database.query<{ attempts: number }>(
      `select count(*)::integer as attempts from limits where free_at > ${Date.now() + 60_000}`,
    );
    expect(rows).toEqual([{ attempts: 0 }]);
  });
});

const document = (servers: string) =>
  `<?xml version="1.0"?><clientConfig><emailProvider>${servers}</emailProvider></clientConfig>`;
const server = (type: string, host: string, port: string, socket: string) =>
  `<incomingServer type="${type}"><hostname>${host}</hostname><port>${port}</port><socketType>${socket}</socketType></incomingServer>`;

describe('an autoconfiguration document', () => {
  test('names the first IMAP server with TLS', () => {
    expect(
      readAutoconfig(
        document(
          server('pop3', 'pop.club.example', '995', 'SSL') +
            server('imap', 'plain.club.example', '143', 'plain') +
            server('imap', 'IMAP.club.example', '993', 'SSL'),
        ),
        'club.example',
      ),
    ).toEqual({ host: 'imap.club.example', port: 993 });
  });

  test('may leave the domain of the address to be filled in', () => {
    const text = document(server('imap', 'imap.%EMAILDOMAIN%', '993', 'SSL'));
    expect(readAutoconfig(text, 'club.example')).toEqual({ host: 'imap.club.example', port: 993 });
  });

  test('says nothing in its comments', () => {
    const old = server('imap', 'old.club.example', '993', 'SSL');
    const text = document(`<!-- moved --><!--${old}-->${server('imap', 'imap.club.example', '993', 'SSL')}<!-- ${old}`);
    expect(readAutoconfig(text, 'club.example')).toEqual({ host: 'imap.club.example', port: 993 });
    expect(readAutoconfig(document(`<!--${old}-->`), 'club.example')).toBeNull();
    expect(readAutoconfig(document(`<!-- ${old}`), 'club.example')).toBeNull();
  });

  test.each([
    ['nothing', ''],
    ['no IMAP', document(server('pop3', 'pop.club.example', '995', 'SSL'))],
    ['no TLS', document(server('imap', 'imap.club.example', '143', 'plain'))],
    ['an address', document(server('imap', '127.0.0.1', '993', 'SSL'))],
    ['no port', document(server('imap', 'imap.club.example', '99999', 'SSL'))],
    [
      'an entity for a host',
      `<!DOCTYPE c [<!ENTITY h SYSTEM "file:///etc/hostname"><!ENTITY g "imap.club.example">]>${document(server('imap', '&h;', '993', 'SSL') + server('imap', '&g;', '993', 'SSL'))}`,
    ],
    ['an unclosed element', `<incomingServer type="imap">${'x'.repeat(60_000)}`],
  ])('with %s names none', (_what, text) => {
    expect(readAutoconfig(text, 'club.example')).toBeNull();
  });
});
