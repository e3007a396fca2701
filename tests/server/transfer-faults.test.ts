import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_CLOCK, type Clock } from '../../src/server/clock.ts';
import { openLog } from '../../src/server/log.ts';
import { openUncheckedCertificates } from '../../src/server/mail/imap/tls.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { checkSignIn } from '../../src/server/mail/imap/sign-in.ts';
import { MAIL_TIMES, type MailAccount, type MailPlace, type MailTimes } from '../../src/server/mail/imap/connection.ts';
import { selfSigned } from '../support/certificate.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { freePort } from '../support/free-port.ts';
import { FRESH } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

/** For servers that say nothing. Those that answer have all the time that a busy machine needs. */
const SHORT: MailTimes = { ...MAIL_TIMES, greeting: 500, silence: 500 };
const TRUSTED = ['127.0.0.1'];

function at(port: number, security: MailPlace['security'] = 'open', password = DOVECOT_PASSWORD): MailAccount {
  return {
    email: SUBSCRIBER,
    place: { host: '127.0.0.1', port, security, named: 'by operator' },
    credentials: { kind: 'password', password },
  };
}

async function listening(server: Server): Promise<{ port: number } & AsyncDisposable> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

function greet(socket: Socket): void {
  socket
    .resume()
    .on('error', () => {})
    .write('* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hello\r\n');
}

function hangUp(socket: Socket): void {
  socket
    .resume()
    .on('error', () => {})
    .end('* OK hello\r\n');
}

describe('a sign-in', () => {
  test('tells a right password from a wrong one', needs('dovecot'), async () => {
    await using dovecot = await startDovecot();
    const options = { trusted: TRUSTED, times: MAIL_TIMES };
    expect(await checkSignIn(at(dovecot.port), options)).toBe('ok');
    expect(await checkSignIn(at(dovecot.port, 'open', 'wrong'), options)).toBe('credentials');
  });

  test('sends no password where TLS is required and not available', needs('dovecot'), async () => {
    await using dovecot = await startDovecot();
    expect(await checkSignIn(at(dovecot.port, 'starttls'), { trusted: [], times: MAIL_TIMES })).toBe('certificate');
    expect(await dovecot.log()).not.toContain(SUBSCRIBER);
  });

  test(
    'uses TLS towards a host that the operator trusts, though nobody can check its certificate, and warns once',
    needs('dovecot', 'openssl'),
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'unchecked-'));
      try {
        const [key, certificate] = [join(folder, 'key'), join(folder, 'cert')];
        const made = await selfSigned('127.0.0.1');
        // Dovecot reads them as another user.
        await chmod(folder, 0o755);
        await writeFile(key, made.key);
        await writeFile(certificate, made.cert);
        await using dovecot = await startDovecot({ tls: { key, certificate } });
        const lines: string[] = [];
        const onUncheckedCertificate = openUncheckedCertificates(
          openLog('warn', { write: (line) => void lines.push(line) }),
        );
        const options = { trusted: TRUSTED, times: MAIL_TIMES, onUncheckedCertificate };
        for (let time = 0; time < 2; time += 1) expect(await checkSignIn(at(dovecot.port, 'open'), options)).toBe('ok');
        expect(await dovecot.log()).toMatch(/Login: user=<anna@[^>]*>.*TLS/);
        expect(lines).toHaveLength(1);
        expect(lines[0]).toContain(`127.0.0.1:${dovecot.port}`);
        expect(await checkSignIn(at(dovecot.port, 'starttls'), options)).toBe('certificate');
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  test('reports a server that is down as unreachable', async () => {
    expect(await checkSignIn(at(await freePort()), { trusted: TRUSTED, times: MAIL_TIMES })).toBe('unreachable');
  });

  test('reports a server that says nothing as slow', async () => {
    await using silent = await listening(createTcpServer((socket) => socket.resume().on('error', () => {})));
    expect(await checkSignIn(at(silent.port), { trusted: TRUSTED, times: SHORT })).toBe('slow');
  });

  test('counts as unanswered when a server greets, is sent the password and then says nothing', async () => {
    await using mute = await listening(createTcpServer(greet));
    expect(
      await checkSignIn(at(mute.port), { trusted: TRUSTED, times: { ...SHORT, greeting: MAIL_TIMES.greeting } }),
    ).toBe('unanswered');
  });

  test.each(['', '* BYE no\r\n'])(
    'counts as unanswered when a server is sent the password and hangs up: %j',
    async (last) => {
      const hangsUp = (socket: Socket) => {
        socket.on('error', () => {}).write('* OK [CAPABILITY IMAP4rev1] hello\r\n');
        socket.on('data', (line) => {
          if (line.includes(' LOGIN ')) socket.end(last);
        });
      };
      await using server = await listening(createTcpServer(hangsUp));
      expect(await checkSignIn(at(server.port), { trusted: TRUSTED, times: MAIL_TIMES })).toBe('unanswered');
    },
  );

  test('reports a server that hangs up before it is sent the password as unreachable', async () => {
    await using server = await listening(createTcpServer(hangUp));
    expect(await checkSignIn(at(server.port), { trusted: TRUSTED, times: MAIL_TIMES })).toBe('unreachable');
  });

  test('does not trust a self-signed certificate', needs('openssl'), async () => {
    const received: Buffer[] = [];
    const server = createTlsServer(await selfSigned('127.0.0.1'), (socket) => {
      socket.on('data', (chunk) => received.push(chunk)).on('error', () => {});
      socket.write('* OK hello\r\n');
    });
    server.on('tlsClientError', () => {});
    await using listener = await listening(server);
    expect(await checkSignIn(at(listener.port, 'tls'), { trusted: TRUSTED, times: MAIL_TIMES })).toBe('certificate');
    expect(Buffer.concat(received).toString()).toBe('');
  });

  test('reaches no private address because a visitor named the host', async () => {
    const place: MailPlace = { host: '127.0.0.1', port: 993, security: 'tls', named: 'by visitor' };
    const account = { ...at(993), place };
    expect(await checkSignIn(account, { trusted: [], times: MAIL_TIMES })).toBe('unreachable');
  });
});

describe('a transfer', { ...needs('dovecot'), timeout: 120_000 }, () => {
  let source: Dovecot;
  beforeAll(async () => {
    source = await startDovecot();
    await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
    await mail.append(
      'INBOX',
      Array.from({ length: 40 }, (_, index) => letter(index, 60_000)),
    );
  });
  afterAll(() => source[Symbol.asyncDispose]());

  test('with a wrong password waits for its owner, and forgets that password', async () => {
    await using world = await openWorld(FRESH, { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: source.url });
    const wrong = { email: NEW_ADDRESS, password: 'wrong', provider: 'yahoo' } as const;
    const { id } = await world.transfers.start(order({ destination: wrong }));
    expect(await mailUntil(world.transfers, id)).toMatchObject({
      status: 'authentication_error',
      failure: SENTENCES.destinationCredentials,
      attention: { side: 'destination', reason: 'password' },
    });
    await expect.poll(() => world.database.query('select role from credentials')).toEqual([{ role: 'source' }]);
    expect(await world.database.query('select finished from transfers')).toEqual([{ finished: null }]);
  });

  test('waits at a full mailbox, with what it has copied', async () => {
    await using small = await startDovecot({ quota: 1 });
    await using world = await openWorld(FRESH, { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: small.url });
    const { id } = await world.transfers.start(order());
    const stopped = await mailUntil(world.transfers, id);
    expect(stopped).toMatchObject({
      status: 'review',
      failure: SENTENCES.full,
      attention: { side: 'destination', reason: 'full' },
    });
    expect(stopped.done).toBeGreaterThan(5);
    expect(stopped.done).toBeLessThan(stopped.total ?? 0);
    await using mail = await openMailClient(small.port, NEW_ADDRESS, DOVECOT_PASSWORD);
    expect(await mail.read('INBOX')).toHaveLength(stopped.done ?? -1);
  });

  test('copies nothing twice when the subscriber orders it again', async () => {
    await using destination = await startDovecot();
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url };
    await using world = await openWorld(FRESH, environment);
    const first = await world.transfers.start(order());
    await mailUntil(world.transfers, first.id);
    // Within a minute the same order is the same transfer; later it is a new one.
    expect((await world.transfers.start(order())).id).toBe(first.id);
    await world.database.query("update transfers set finished = now() - interval '1 hour'");
    {
      await using mail = await openMailClient(destination.port, NEW_ADDRESS, DOVECOT_PASSWORD);
      await mail.command('SELECT INBOX');
      await mail.command('UID STORE 5 +FLAGS (\\Deleted)');
      await mail.command('UID EXPUNGE 5');
    }
    const second = await world.transfers.start(order());
    expect(second.id).not.toBe(first.id);
    expect(await mailUntil(world.transfers, second.id)).toMatchObject({ status: 'completed', done: 40, lost: 0 });
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    const difference = await differenceOf(
      { ...account, port: source.port },
      { ...account, port: destination.port, user: NEW_ADDRESS },
    );
    // What the subscriber has deleted there is not brought back.
    expect(difference).toMatchObject({ messages: 40, duplicated: [], changed: [] });
    expect(difference.lost).toHaveLength(1);
  });

  test('waits for a server that is down, and ends when it is back', async () => {
    await using destination = await startDovecot();
    const port = await freePort();
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: `imap://127.0.0.1:${port}` };
    const pauses: number[] = [];
    const clock: Clock = {
      ...MACHINE_CLOCK,
      after: (milliseconds, run) => {
        // Only the pauses of the engine are cut short.
        if (![1000, 2000, 4000].includes(milliseconds)) return MACHINE_CLOCK.after(milliseconds, run);
        pauses.push(milliseconds);
        return MACHINE_CLOCK.after(0, run);
      },
    };
    await using world = await openWorld(FRESH, environment, { clock });
    const { id } = await world.transfers.start(order());
    await expect.poll(() => pauses.length, { timeout: 20_000 }).toBeGreaterThan(2);
    expect(pauses.slice(0, 3)).toEqual([1000, 2000, 4000]);
    expect((await world.transfers.status(id))?.emailmigration?.status).toBe('inprogress');
    // The server comes back on the port that was dead.
    await using _bridge = await bridge(port, destination.port);
    expect(await mailUntil(world.transfers, id)).toMatchObject({ status: 'completed', done: 40 });
  });

  test('refuses to move a mailbox to two places at once, and answers a second press with the same ID', async () => {
    const quiet = await freePort();
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: `imap://127.0.0.1:${quiet}` };
    await using world = await openWorld(FRESH, environment);
    const presses = await Promise.all(Array.from({ length: 10 }, () => world.transfers.start(order())));
    expect(new Set(presses.map((press) => press.id)).size).toBe(1);
    expect(await world.database.query('select * from transfers')).toHaveLength(1);
    const elsewhere = order({ destination: { email: 'x@other.example', password: 'y', provider: 'aol' } });
    expect(await world.transfers.start(elsewhere)).toEqual({ kind: 'busy', id: presses[0]?.id });
  });
});

test('a transfer that was queued twice goes on once after its pause, so that its tries last as long as any', async () => {
  const quiet = `imap://127.0.0.1:${await freePort()}`;
  const clock: Clock = {
    ...MACHINE_CLOCK,
    after: (milliseconds, run) =>
      MACHINE_CLOCK.after([1000, 2000, 4000].includes(milliseconds) ? 0 : milliseconds, run),
  };
  await using world = await openWorld(FRESH, { LEGACY_IMAP_URL: quiet, YAHOO_IMAP_URL: quiet }, { clock });
  const { id } = await world.transfers.start(order());
  const jobs = async () =>
    (
      await world.database.query<{ state: string }>(
        "select state from pgboss.job where name = 'transfers' and state in ('created', 'retry', 'active')",
      )
    ).map(({ state }) => state);
  const rests = async (runs: number) => {
    await expect
      .poll(() => world.database.query('select idle_runs as runs from operations where waiting_reason is not null'))
      .toEqual([{ runs }]);
    await expect.poll(jobs).not.toContain('active');
  };
  await rests(1);
  await world.database.query("update pgboss.job set start_after = now() + interval '1 hour' where state = 'created'");
  await world.sendOn(id);
  await rests(2);
  expect(await jobs()).toEqual(['created']);
});

test('a message with a keyword longer than a Dovecot takes is brought without it', needs('dovecot'), async () => {
  await using source = await startDovecot({ keywordLength: 200 });
  await using destination = await startDovecot();
  // As Thunderbird writes a tag of two Russian words.
  const long = `&${'BDIEMAQ2BD0'.repeat(5)}-`;
  const letters = [letter(0, 300), { ...letter(1, 300), flags: ['\\Seen', '$Label1', long] }, letter(2, 300)];
  {
    await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
    await mail.append('INBOX', letters);
  }
  const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url };
  await using world = await openWorld(FRESH, environment);
  const { id } = await world.transfers.start(order());
  const { done, total, skipped, lost, changed } = await mailUntil(world.transfers, id);
  expect({ done, total, skipped, lost, changed }).toEqual({ done: 3, total: 3, skipped: [], lost: 0, changed: 0 });
  await using client = await openMailClient(destination.port, NEW_ADDRESS, DOVECOT_PASSWORD);
  const all = await client.read('INBOX');
  const flagged = all.filter(({ flags }) => flags.includes('$label1'));
  expect(all).toHaveLength(3);
  expect(flagged.map(({ flags }) => flags.toSorted())).toEqual([['$label1', '\\seen']]);
});

test(
  'folders whose names are too long for the new mailbox, or have dots that it does not take, are made with other names',
  needs('dovecot'),
  async () => {
    await using source = await startDovecot();
    // A whole name is that of one file there, with dots between its parts.
    await using destination = await startDovecot({ maildir: true });
    const long = ['Customers', 'Projects', 'Letters', 'Answers'].map((name) => name.padEnd(70, ' of 2004')).join('/');
    {
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      for (const [at, name] of [long, 'Dr. Smith'].entries()) {
        await mail.create(name);
        await mail.append(name, [letter(at, 300)]);
      }
    }
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url };
    await using world = await openWorld(FRESH, environment);
    const { id } = await world.transfers.start(order());
    const { status, done, total, skipped } = await mailUntil(world.transfers, id);
    expect({ status, done, total, skipped }).toEqual({ status: 'completed', done: 2, total: 2, skipped: [] });
  },
);

/** Passes everything on to another port. */
async function bridge(port: number, to: number): Promise<AsyncDisposable> {
  const server = createTcpServer((socket) => {
    const other = connect(to, '127.0.0.1');
    socket.pipe(other).pipe(socket);
    for (const end of [socket, other]) end.on('error', () => [socket, other].forEach((each) => each.destroy()));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}
