import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { setImmediate as later } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { type MailPlace, placeOf } from '../../src/server/mail/imap/connection.ts';
import { checkSignIn } from '../../src/server/mail/imap/sign-in.ts';
import { openDial } from '../../src/server/mail/imap/wire/dial.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import type { Resolver } from '../../src/server/network/resolver.ts';
import { selfSigned, signedBy } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';

type Certificate = { readonly key: Buffer; readonly cert: Buffer };

/** Answers OK to everything; encrypts when it is asked to and can. */
function serve(socket: Socket | TLSSocket, certificate: Certificate | undefined, heard: string[]): void {
  const capabilities = certificate !== undefined && !(socket instanceof TLSSocket) ? 'IMAP4rev1 STARTTLS' : 'IMAP4rev1';
  socket.on('error', () => {});
  const onData = (chunk: Buffer) => {
    for (const line of chunk.toString().split('\r\n')) {
      if (line === '') continue;
      const [tag, command] = line.split(' ');
      heard.push(`${socket instanceof TLSSocket ? 'secret' : 'open'} ${command}`);
      if (command === 'CAPABILITY') socket.write(`* CAPABILITY ${capabilities}\r\n`);
      socket.write(`${tag} OK done\r\n`);
      if (command !== 'STARTTLS' || certificate === undefined) continue;
      socket.off('data', onData);
      serve(new TLSSocket(socket, { isServer: true, ...certificate }), certificate, heard);
    }
  };
  socket.on('data', onData);
}

const { providers: PROVIDERS } = readSettings({ SANDBOX: 'on' });

async function signIn(place: Partial<MailPlace> & { port: number }, trusted: string[] = []): Promise<void> {
  const connection = await openSession(
    {
      email: 'anna',
      place: { host: 'localhost', security: 'tls', named: 'by operator', ...place },
      credentials: { kind: 'password', password: 'x' },
    },
    { dial: openDial({ trusted }), clock: MACHINE_CLOCK },
  );
  await connection.logout();
}

/** As a visitor's sign-in is checked. */
const check = (place: MailPlace) =>
  checkSignIn({ email: 'anna', place, credentials: { kind: 'password', password: 'x' } }, { trusted: [] });

describe('The way to a mail server', needs('openssl'), () => {
  const before = getCACertificates('default');
  let good: Certificate;
  let other: Certificate;
  const servers: Server[] = [];
  beforeAll(async () => {
    [good, other] = await Promise.all([selfSigned('localhost'), selfSigned('elsewhere.example')]);
    setDefaultCACertificates([...before, good.cert.toString(), other.cert.toString()]);
  });
  afterAll(() => {
    setDefaultCACertificates(before);
    for (const server of servers) server.close();
  });

  async function listening(kind: 'tls' | 'starttls' | 'plain', certificate: Certificate, greeting = '* OK hello') {
    const heard: string[] = [];
    const greet = (socket: Socket) => {
      socket.write(`${greeting}\r\n`);
      serve(socket, kind === 'plain' ? undefined : certificate, heard);
    };
    const server = kind === 'tls' ? createTlsServer(certificate, greet) : createServer(greet);
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    const address = server.address();
    return { port: typeof address === 'object' && address !== null ? address.port : 0, heard };
  }

  test('TLS from the first octet, for a certificate that fits the name', async () => {
    const { port, heard } = await listening('tls', good);
    await signIn({ port });
    expect(heard).toEqual(['secret CAPABILITY', 'secret LOGIN', 'secret CAPABILITY', 'secret LOGOUT']);
  });

  test.each(['starttls', 'open'] as const)('STARTTLS before the password, where the place is %s', async (security) => {
    const { port, heard } = await listening('starttls', good);
    await signIn({ port, security });
    expect(heard.slice(0, 4)).toEqual(['open CAPABILITY', 'open STARTTLS', 'secret CAPABILITY', 'secret LOGIN']);
  });

  test('a server without TLS is sent a password only where the operator trusts it', async () => {
    const { port, heard } = await listening('plain', good);
    await expect(signIn({ port, security: 'starttls' })).rejects.toMatchObject({ fault: 'certificate' });
    await expect(signIn({ port, security: 'tls' })).rejects.toMatchObject({ fault: 'certificate' });
    expect(heard.filter((line) => line.includes('LOGIN'))).toEqual([]);
    await signIn({ port, security: 'open' });
    expect(heard).toContain('open LOGIN');
  });

  test.each(['tls', 'starttls'] as const)('a certificate of another name is refused by %s', async (security) => {
    const { port, heard } = await listening(security === 'tls' ? 'tls' : 'starttls', other);
    await expect(signIn({ port, security })).rejects.toMatchObject({ fault: 'certificate' });
    expect(heard.filter((line) => line.includes('LOGIN'))).toEqual([]);
  });

  test('a server that may be spoken to in clear is spoken to by TLS, whatever its certificate', async () => {
    const { port, heard } = await listening('starttls', other);
    await signIn({ port, security: 'open' });
    expect(heard).toContain('secret LOGIN');
    expect(heard).not.toContain('open LOGIN');
  });

  test.each(['tls', 'starttls'] as const)(
    'a trusted host whose certificate is named is spoken to with that one only, by %s',
    async (kind) => {
      const { port, heard } = await listening(kind, other);
      const settings = {
        providers: PROVIDERS,
        trustedMailHosts: [`localhost:${port}`],
        legacyImapUrl: `${kind === 'tls' ? 'imaps' : 'imap'}://localhost:${port}`,
      };
      const placeWith = (...certificates: Certificate[]) =>
        placeOf(
          { ...settings, trustedMailCertificates: certificates.map(({ cert }) => String(cert)) },
          { email: 'anna', provider: 'sanbruno' },
          () => Promise.resolve(null),
        );
      const wrong = await placeWith(good);
      await expect(signIn(wrong)).rejects.toMatchObject({ fault: 'certificate' });
      expect(await check(wrong)).toBe('certificate');
      expect(heard.filter((line) => /LOGIN|AUTHENTICATE/.test(line))).toEqual([]);
      const right = await placeWith(good, other);
      await signIn(right);
      expect(await check(right)).toBe('ok');
      expect(heard).not.toContain('open LOGIN');
      const plain = await listening('plain', other);
      await expect(signIn({ ...right, port: plain.port })).rejects.toMatchObject({ fault: 'certificate' });
      expect(plain.heard.filter((line) => line.includes('LOGIN'))).toEqual([]);
    },
  );

  test.each(['tls', 'starttls', 'plain'] as const)(
    'a server that takes anybody for signed in is no proof of a password (%s)',
    async (kind) => {
      const { port } = await listening(kind, good, '* PREAUTH you are in');
      const security = kind === 'plain' ? 'open' : kind;
      expect(await check({ host: 'localhost', port, security, named: 'by operator' })).toBe(
        kind === 'starttls' ? 'certificate' : 'unreachable',
      );
    },
  );

  test('a named authority vouches for its own names only', async () => {
    const authority = await selfSigned('An authority');
    const [fitting, foreign] = [await signedBy(authority, 'localhost'), await signedBy(authority, 'elsewhere.example')];
    const place = { security: 'starttls', certificates: [String(authority.cert)] } as const;
    const [mine, another] = [await listening('starttls', fitting), await listening('starttls', foreign)];
    await signIn({ ...place, port: mine.port });
    expect(mine.heard).toContain('secret LOGIN');
    await expect(signIn({ ...place, port: another.port })).rejects.toMatchObject({ fault: 'certificate' });
  });

  test('a host that a visitor named is not reached at a private address, unless it is trusted', async () => {
    const { port, heard } = await listening('plain', good);
    const place = { port, host: '127.0.0.1', security: 'open', named: 'by visitor' } as const;
    await expect(signIn(place)).rejects.toMatchObject({ fault: 'unreachable' });
    await expect(signIn({ ...place, port: 143 })).rejects.toMatchObject({ fault: 'unreachable' });
    expect(heard).toEqual([]);
    await signIn(place, [`127.0.0.1:${port}`]);
    expect(heard).toContain('open LOGIN');
  });

  test.each(['tls', 'starttls', 'plain'] as const)(
    'a host whose first addresses refuse is reached at the next, and its name is resolved only once (%s)',
    async (kind) => {
      const { port, heard } = await listening(kind, good);
      const asked: string[] = [];
      // No other resolver knows the name.
      const resolver = {
        resolve4: (name: string) => {
          asked.push(name);
          return Promise.resolve(['127.0.0.2', '127.0.0.3', '127.0.0.1']);
        },
        resolve6: () => Promise.resolve([]),
      } as unknown as Resolver;
      const place: MailPlace = {
        host: 'several.example',
        port,
        named: 'by visitor',
        security: kind === 'plain' ? 'open' : kind,
        ...(kind === 'plain' ? {} : { certificates: [String(good.cert)] }),
      };
      const account = { email: 'anna', place, credentials: { kind: 'password', password: 'x' } } as const;
      const options = { trusted: ['several.example'], resolver };
      expect(await checkSignIn(account, options)).toBe('ok');
      const connection = await openSession(account, { dial: openDial(options), clock: MACHINE_CLOCK });
      await connection.logout();
      expect(heard.filter((line) => line.includes('LOGIN'))).toHaveLength(2);
      expect(asked).toEqual(['several.example', 'several.example']);
    },
  );

  test('a port where nobody listens is unreachable', async () => {
    const port = await freePort();
    for (const security of ['tls', 'open'] as const)
      await expect(signIn({ port, security })).rejects.toMatchObject({ fault: 'unreachable' });
  });

  test.each(['tls', 'starttls', 'plain'] as const)(
    'nothing more is sent once a slow server has been given up (%s)',
    async (kind) => {
      const { port } = await listening(kind, good);
      const line = Promise.withResolvers<Socket>();
      let arrived = 0;
      const between = createServer((near) => {
        const far = connect(port, '127.0.0.1');
        for (const end of [near, far]) end.on('error', () => {});
        far.pipe(near).pipe(far);
        near.on('data', ({ length }: Buffer) => {
          arrived += length;
        });
        line.resolve(near);
      });
      servers.push(between.listen(0, '127.0.0.1'));
      await once(between, 'listening');
      const connection = await openSession(
        {
          email: 'anna',
          place: {
            host: 'localhost',
            port: (between.address() as AddressInfo).port,
            security: kind === 'plain' ? 'open' : kind,
            named: 'by operator',
          },
          credentials: { kind: 'password', password: 'x' },
        },
        { dial: openDial({ trusted: kind === 'plain' ? ['localhost'] : [] }), clock: MACHINE_CLOCK },
      );
      const slow = await line.promise;
      slow.pause();
      arrived = 0;
      const { done } = connection.begin({});
      connection.outgoing.write(Buffer.alloc(32_000_000));
      await later();
      connection.destroy();
      await expect(done).rejects.toThrow('The connection was closed.');
      slow.resume();
      await new Promise((resolve) => slow.once('close', resolve));
      // What the other side had taken in by then is its own; the kernel here had megabytes more.
      expect(arrived).toBeLessThan(1_000_000);
    },
  );
});
