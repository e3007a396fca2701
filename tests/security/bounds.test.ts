import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EXPORTS_AT_ONCE } from '../../src/server/web/calls/load.ts';
import { openStatusStreams, STREAMS_AT_MOST, STREAMS_PER_CLIENT } from '../../src/server/web/calls/status-events.ts';
import { LIMITS } from '../../src/server/web/limits.ts';
import { limitSockets, SOCKETS_AT_MOST, SOCKETS_PER_NETWORK } from '../../src/server/web/sockets.ts';
import { BROWSERS_AT_MOST } from '../../src/server/transfers/owners.ts';
import { eraseEnded, eraseSubscriber } from '../../src/server/transfers/retention.ts';
import { run } from '../support/run.ts';
import { fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const DAY_MS = 86_400_000;

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld();
  for (const name of ['ann', 'bob']) world.passwords.set(`${name}@${LEGACY_DOMAIN}`, PASSWORD);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'known_clients', 'transfers', 'sessions'])
    await world.database.query(`delete from ${table}`);
  world.logLines.length = 0;
});

type Order = { readonly mailbox?: string; readonly contact?: string; readonly destination?: string };

/** Orders an export and ends it at once, without files. */
const order = (change: Order = {}) => orderOf({ ...change, isExport: true });

/** The same of a transfer to another mailbox, for which no password has to be kept. */
const orderMove = (change: Order, client?: string) => orderOf({ ...change, isExport: false }, client);

async function orderOf(change: Order & { readonly isExport: boolean }, client = '203.0.113.1') {
  const email = change.destination ?? 'ann@mail.example';
  world.passwords.set(email, PASSWORD);
  const answer = await world.post(
    '/api/load/',
    {
      source_account: { email: change.mailbox ?? ANN, password: PASSWORD, provider: 'sanbruno' },
      parameters: {
        ...(change.contact === undefined ? {} : { notification_email: change.contact }),
        ...(change.isExport ? {} : { destination_imap: world.trustedImap }),
      },
      ...(change.isExport
        ? {
            destination_account: { email, provider: 'file_export' },
            operations: ['emailmigration', 'contactsmigration'],
            file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
          }
        : {
            destination_account: { email, password: PASSWORD, provider: 'other' },
            operations: ['emailmigration'],
          }),
    },
    fromClient(client),
  );
  await world.database.query("update operations set finished = now(), status = 'review'");
  await world.database.query('update transfers set finished = now()');
  return answer;
}

const signIn = (password: string, client: string, headers: Record<string, string> = {}, claim: object = {}) =>
  world.post(
    '/api/validate/',
    { email: ANN, password, provider: 'sanbruno', ...claim },
    { ...fromClient(client), ...headers },
  );

describe('the owner of a mailbox', () => {
  test('is not kept out by guesses at a server that a stranger names, which are not made', async () => {
    const named = { provider: 'other', imap: world.trustedImap };
    const spelled = [
      LEGACY_DOMAIN,
      LEGACY_DOMAIN.replace('s', 'ｓ'),
      LEGACY_DOMAIN.replace('b', 'b\u034f'),
      'ＳanBrunoCable．example',
    ];
    for (let at = 0; at <= LIMITS['sign-ins to a mailbox'].burst; at += 1) {
      const claim = { ...named, email: `ann@${spelled[at % spelled.length] ?? ''}` };
      expect((await signIn('guess', `198.51.100.${at}`, {}, claim)).body).toMatchObject({ error: 'INVALID_EMAIL' });
    }
    expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('elsewhere is guessed at no more often where its server is spelled in other ways', async () => {
    const [name = '', port = ''] = world.trustedImap.split(':');
    const spelled = [name, name.toUpperCase(), name.replace('i', 'ｉ'), name.replace('e', 'ｅ')];
    const claim = { email: 'ann@mail.example', provider: 'other' };
    const statuses = [];
    for (const [at, host] of [...spelled, ...spelled].entries())
      statuses.push((await signIn('guess', `198.51.100.${at}`, {}, { ...claim, imap: `${host}:${port}` })).status);
    const { burst } = LIMITS['sign-ins to a mailbox'];
    expect(statuses.filter((status) => status === 401)).toHaveLength(burst);
    expect(statuses.slice(burst).filter((status) => status !== 429)).toEqual([]);
  });

  test('is guessed at no more often where the address is spelled in other ways', async () => {
    const [, domain = ''] = ANN.split('@');
    const spelled = ['ann', 'ａnn', 'aｎn', 'anｎ', 'a\ufe0fnn', 'an\u034fn', 'ＡNN', 'änn', 'an\u0303n', 'ann+1'];
    const statuses = [];
    for (const [at, name] of spelled.entries()) {
      const claim = { email: `${name}@${domain}` };
      statuses.push((await signIn('guess', `198.51.100.${at}`, {}, claim)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429, 429]);
  });

  test('is guessed at no more often where letters are taken for others that a directory finds them by', async () => {
    const statuses = [];
    for (const [at, name] of ['ole', 'øle', 'ołe', 'Øłe', 'ölé', 'øl\u0117', 'ōle'].entries())
      statuses.push((await signIn('guess', `198.51.100.${at}`, {}, { email: `${name}@${LEGACY_DOMAIN}` })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  test(
    'gets in from anywhere in a browser that has signed in before, through six hours of guesses',
    { timeout: 240_000 },
    async () => {
      const first = await signIn(PASSWORD, '203.0.113.9');
      const cookie = { cookie: first.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
      let refused = 0;
      for (let minute = 0; minute < 6 * 60; minute += 15) {
        for (let at = 0; at < 25; at += 1)
          refused += (await signIn('guess', `198.51.100.${at}`)).status === 429 ? 1 : 0;
        expect((await signIn(PASSWORD, `192.0.2.${minute % 250}`, cookie)).status, `after ${minute} minutes`).toBe(200);
        world.advance(15 * 60_000);
      }
      expect(refused).toBeGreaterThan(0);
      world.advance(-6 * 3_600_000);
    },
  );
});

const send = (client: string, headers: Record<string, string> = {}, change: object = {}) =>
  world.post(
    '/api/v2/support-form/',
    { email_address: ANN, issue: 'Please visit evil.example.', ...change },
    { ...fromClient(client), ...headers },
  );
const cookieOf = ({ headers }: Awaited<ReturnType<typeof send>>) => ({
  cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '',
});

test('who only asks for the head of a status stream takes no place of those who watch', async () => {
  const { jobid } = (await order()).body as { jobid: string };
  for (let at = 0; at < 2 * STREAMS_PER_CLIENT; at += 1) {
    const address = `${world.url}/api/v2/status/events/?job_id=${jobid}`;
    const head = await fetch(address, { method: 'HEAD', headers: fromClient('203.0.113.1') });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  }
  const unknown = `${world.url}/api/v2/status/events/?job_id=${'0'.repeat(32)}`;
  expect((await fetch(unknown, { method: 'HEAD', headers: fromClient('203.0.113.1') })).status).toBe(404);
  const watching = await world.get(`/api/v2/status/events/?job_id=${jobid}`, fromClient('203.0.113.1'));
  expect(watching.status).toBe(200);
});

const crowd = (amount: number) => Array.from({ length: amount }, (_, at) => `10.${at >> 8}.${at & 255}.9`);
/** @returns those that stand when all have been answered */
async function opened(id: string, clients: readonly string[], streams: ReturnType<typeof openStatusStreams>) {
  const standing = new Set<number>();
  const answers = clients.map(async (client, at) => {
    const viewer = { changed: () => {}, ended: () => standing.delete(at) };
    standing.add(at);
    const { close } = await streams.open(id, client, viewer).catch((error: unknown) => {
      standing.delete(at);
      throw error;
    });
    return close;
  });
  const closes = (await Promise.allSettled(answers)).flatMap((each) => (each.status === 'fulfilled' ? [each] : []));
  return { standing, close: () => closes.forEach(({ value }) => value()) };
}

async function streamsOfOneTransfer() {
  const { jobid } = (await order()).body as { jobid: string };
  const status = await world.services.transfers.status(jobid);
  const transfers = { ...world.services.transfers, status: () => Promise.resolve(status) };
  return { jobid, streams: openStatusStreams({ ...world.services, transfers }) };
}

describe('streams that are opened all at once', () => {
  test('are no more than there may be, and nobody who watches alone loses theirs', async () => {
    const { jobid, streams } = await streamsOfOneTransfer();
    const { standing, close } = await opened(jobid, crowd(3 * STREAMS_AT_MOST), streams);
    expect([...standing]).toEqual(Array.from({ length: STREAMS_AT_MOST }, (_, at) => at));
    close();
    const again = await opened(jobid, crowd(STREAMS_AT_MOST), streams);
    expect(again.standing.size).toBe(STREAMS_AT_MOST);
    again.close();
  });

  test('are let in for the oldest of whoever has more', async () => {
    const { jobid, streams } = await streamsOfOneTransfer();
    const alone = crowd(STREAMS_AT_MOST - 3);
    const { standing, close } = await opened(jobid, ['192.0.2.1', '192.0.2.1', '192.0.2.1', ...alone], streams);
    const newcomers = await opened(jobid, ['203.0.113.1', '203.0.114.1', '203.0.115.1'], streams);
    expect([standing.has(0), standing.has(1), standing.has(2), standing.size]).toEqual([
      false,
      false,
      true,
      STREAMS_AT_MOST - 2,
    ]);
    expect([...newcomers.standing]).toEqual([0, 1]);
    newcomers.close();
    close();
  });
});

/** One mailbox by an address with another detail each time (RFC 5233). */
const detailed = (at: number, name: string) => `${name}${at === 0 ? '' : `+${at}`}@mail.example`;

describe('what costs money or disk has a bound', () => {
  test.each(['+19005550123', '+18765550123', '+18005550123'])('no message goes to %s', async (contact) => {
    const answer = await world.post('/api/load/', {
      source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
      destination_account: { email: ANN, provider: 'yahoo', password: 'any' },
      operations: ['emailmigration'],
      parameters: { notification_email: contact },
    });
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_EMAIL' }]);
  });

  test('one contact is told of so many transfers, whoever orders them', async () => {
    const most =
      LIMITS['transfers that tell a contact'].burst + LIMITS['transfers of a mailbox that tell a contact'].burst;
    const statuses = [];
    for (let at = 0; at <= most; at += 1)
      statuses.push((await orderMove({ contact: detailed(at, 'tom'), destination: `ann${at}@mail.example` })).status);
    expect(statuses).toEqual([...Array.from({ length: most }, () => 200), 429]);
    expect((await orderMove({ destination: 'another@mail.example' })).status, 'without a contact').toBe(200);
    const bob = { mailbox: `bob@${LEGACY_DOMAIN}`, contact: 'tom@mail.example', destination: 'bob@mail.example' };
    expect((await orderMove(bob)).status, 'of another mailbox, whose contact it may really be').toBe(200);
  });

  test('one contact is told of no more transfers of a mailbox whose server overlooks how it is spelled', async () => {
    const most =
      LIMITS['transfers that tell a contact'].burst + LIMITS['transfers of a mailbox that tell a contact'].burst;
    const contacts = ['tom@b\u00FCcher.example', 't\u00F3m@b\u00FCcher.example', 'tom@xn--bcher-kva.example'];
    const statuses = [];
    for (let at = 0; at <= most; at += 1) {
      const mailbox = `${at % 2 === 0 ? 'ann' : '\u00E1nn'}+${at}@${LEGACY_DOMAIN}`;
      world.passwords.set(mailbox, PASSWORD);
      const change = { mailbox, contact: contacts[at % contacts.length] ?? '', destination: `ann${at}@mail.example` };
      statuses.push((await orderMove(change)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: most }, () => 200), 429]);
  });

  test('who signs in to one mailbox over and over leaves only so much in the database, by whatever networks', async () => {
    const statuses = new Set<number>();
    const kept = async (table: string) => (await world.database.query(`select 1 from ${table}`)).length;
    const sessions = LIMITS['sessions of a mailbox'].burst;
    const remembered = LIMITS['visitors remembered at a mailbox'].burst;
    for (let at = 0; at < sessions; at += 1) statuses.add((await signIn(PASSWORD, `198.51.100.${at}`)).status);
    expect([...statuses]).toEqual([200]);
    const more = { email: `ann@${LEGACY_DOMAIN}`, password: PASSWORD, provider: 'sanbruno' };
    // A directory may overlook accents.
    const accented = `\u00E1nn@${LEGACY_DOMAIN}`;
    world.passwords.set(accented, PASSWORD);
    for (const email of [more.email, accented])
      expect((await world.post('/api/validate/', { ...more, email }, fromClient('203.0.113.7'))).status).toBe(429);
    expect(await kept('sessions')).toBe(sessions);
    // The network and the browser that came, and the one that was made of it.
    expect(await kept('known_clients')).toBeLessThanOrEqual(3 * remembered);
    const bob = { ...more, email: `bob@${LEGACY_DOMAIN}` };
    expect((await world.post('/api/validate/', bob, fromClient('203.0.113.7'))).status, 'of another').toBe(200);
  });

  test('who orders the same again and again, each time without a cookie, leaves only so many owners of it', async () => {
    const { jobid } = (await orderMove({})).body as { jobid: string };
    const owners = () => world.database.query('select 1 from transfer_browsers where transfer_id = $1', [jobid]);
    await world.database.query(
      "insert into transfer_browsers (transfer_id, browser) select $1, 'browser ' || n from generate_series(3, $2::int) n",
      [jobid, BROWSERS_AT_MOST],
    );
    for (const client of ['203.0.113.1', '203.0.113.2']) {
      await world.database.query("update operations set finished = null, status = 'inprogress'");
      await world.database.query('update transfers set finished = null');
      expect((await orderMove({}, client)).body).toEqual({ jobid });
    }
    expect(await owners()).toHaveLength(BROWSERS_AT_MOST);
  });

  test('one mailbox is transferred so often', async () => {
    const statuses = [];
    for (let at = 0; at <= LIMITS['transfers of a mailbox'].burst; at += 1)
      statuses.push((await orderMove({ destination: `ann${at}@mail.example` }, `198.51.100.${at}`)).status);
    expect(statuses.at(-2)).toBe(200);
    expect(statuses.at(-1)).toBe(429);
  });

  test('one mailbox has so many exports that can be downloaded, and the subscriber is told what to do', async () => {
    for (let at = 0; at < EXPORTS_AT_ONCE; at += 1) {
      const { jobid } = (await orderMove({ destination: `ann${at}@mail.example` })).body as { jobid: string };
      await world.database.query("update transfers set destination_provider = 'file_export'");
      await world.database.query(
        "insert into exports (transfer_id, name, finished, expires) values ($1, $1, now(), now() + interval '1 day')",
        [jobid],
      );
    }
    expect((await order({ destination: 'one-more@mail.example' })).body).toMatchObject({
      error: 'OPERATION_NOT_ALLOWED',
      message: expect.stringContaining('delete one of them'),
    });
  });

  test('the support desk gets so many letters about one mailbox, wherever they come from', async () => {
    const statuses = [];
    for (let at = 0; at <= LIMITS['support messages about a mailbox'].burst; at += 1)
      statuses.push((await send(`198.51.100.${at}`)).status);
    expect(statuses.at(-2)).toBe(200);
    expect(statuses.at(-1)).toBe(429);
  });

  test('who is signed in to the mailbox, or ordered the transfer, can write when strangers have used that up', async () => {
    const signedIn = cookieOf(await signIn(PASSWORD, '203.0.113.9'));
    const ordered = await order();
    const { jobid } = ordered.body as { jobid: string };
    for (let at = 0; at <= LIMITS['support messages about a mailbox'].burst; at += 1) await send(`198.51.100.${at}`);
    expect((await send('192.0.2.1')).status).toBe(429);
    expect((await send('192.0.2.1', signedIn)).status).toBe(200);
    expect((await send('192.0.2.2', cookieOf(ordered), { migration_id: jobid })).status).toBe(200);
    expect((await send('192.0.2.3', {}, { migration_id: jobid })).status, 'with the ID alone').toBe(429);
  });

  test('an address that a stranger gives to support gets one letter a day, with none of their words', async () => {
    world.outbox.length = 0;
    for (let at = 0; at < 5; at += 1) {
      const victim = { destination_email: detailed(at, 'victim') };
      expect((await send(`198.51.100.${at}`, {}, victim)).status).toBe(200);
    }
    // Who is signed in to another mailbox is a stranger too.
    const bob = { email: `bob@${LEGACY_DOMAIN}`, password: PASSWORD, provider: 'sanbruno' };
    const another = cookieOf(await world.post('/api/validate/', bob, fromClient('203.0.113.9')));
    await send('203.0.113.9', another, { destination_email: 'tom@mail.example' });
    const letters = world.outbox.filter(({ to }) => !to.includes('support@operator.example'));
    expect(letters.map(({ to }) => to)).toEqual([['victim@mail.example'], ['tom@mail.example']]);
    for (const { raw } of letters) {
      expect(raw).toMatch(/Reference number: \S+/);
      expect(raw).not.toContain('evil.example');
      expect(raw).not.toContain(ANN);
    }
  });

  test('an address at Gmail, where dots count for nothing, gets no more of them by ever new dots', async () => {
    world.outbox.length = 0;
    const spelled = ['victim@gmail.com', 'vic.tim@gmail.com', 'v.i.c.t.i.m+1@gmail.com', 'v.ictim@googlemail.com'];
    for (const [at, name] of spelled.entries())
      expect((await send(`198.51.100.${at}`, {}, { destination_email: name })).status).toBe(200);
    await send('198.51.100.9', {}, { destination_email: 'vic.tim@mail.example' });
    await send('198.51.100.9', {}, { destination_email: 'victim@mail.example' });
    const letters = world.outbox.filter(({ to }) => !to.includes('support@operator.example'));
    expect(letters.map(({ to }) => to)).toEqual([[spelled[0]], ['vic.tim@mail.example'], ['victim@mail.example']]);
  });

  test('the list of an address has only transfers that were proven to go there', async () => {
    await order();
    await world.database.query("update transfers set destination_email = 'bob@mail.example'");
    expect(await world.services.transfers.newestTo({ email: 'bob@mail.example', persons: [] }, 5)).toEqual([]);
    await world.database.query("update transfers set destination_provider = 'other', destination_imap = 'own.example'");
    expect(await world.services.transfers.newestTo({ email: 'bob@mail.example', persons: [] }, 5)).toEqual([]);
    await world.database.query('update transfers set destination_imap = null');
    expect(await world.services.transfers.newestTo({ email: 'bob@mail.example', persons: [] }, 5)).toHaveLength(1);
  });
});

test('one network holds so many connections, and frees them when they end', async () => {
  const server = createServer();
  limitSockets(server, 0);
  const seen: Socket[] = [];
  server.on('connection', (socket) => seen.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** What the server sees of one more. */
  const open = async (): Promise<Socket> => {
    const arrived = once(server, 'connection');
    connect(port, '127.0.0.1').on('error', () => {});
    await arrived;
    return seen.at(-1) ?? new Socket();
  };
  for (let at = 0; at < SOCKETS_PER_NETWORK; at += 1) expect((await open()).destroyed).toBe(false);
  expect((await open()).destroyed).toBe(true);
  const [first] = seen;
  first?.destroy();
  if (first !== undefined) await once(first, 'close');
  expect((await open()).destroyed).toBe(false);
  for (const socket of seen) socket.destroy();
  server.close();
});

test('networks that hold all connections together let a newcomer in, and lose their oldest', () => {
  const server = createServer();
  limitSockets(server, 0);
  const open = (remoteAddress: string): Socket => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
    server.emit('connection', socket);
    return socket;
  };
  const quiet = open('203.0.113.1');
  const first = open('198.51.0.1');
  const others = Array.from({ length: SOCKETS_AT_MOST - 2 }, (_, at) =>
    open(`198.51.${Math.floor((at + 1) / SOCKETS_PER_NETWORK)}.1`),
  );
  expect([first, ...others].filter(({ destroyed }) => destroyed)).toHaveLength(0);
  const newcomers = Array.from({ length: 20 }, (_, at) => open(`192.0.${at}.9`));
  expect(newcomers.filter(({ destroyed }) => destroyed)).toHaveLength(0);
  expect([quiet.destroyed, first.destroyed]).toEqual([false, true]);
  expect(others.filter(({ destroyed }) => destroyed)).toHaveLength(19);
  // Node itself refuses none of them.
  expect(server.maxConnections).toBeGreaterThan(SOCKETS_AT_MOST);
  for (const socket of [quiet, ...others, ...newcomers]) socket.destroy();
});

test('a process that may have few files open keeps half of them from visitors', async () => {
  const program = `import { openFilesAtMost } from '${import.meta.resolve('../../src/server/web/sockets.ts')}';
    console.log(await openFilesAtMost());`;
  const node = ['--input-type=module', '--eval', program];
  const said = await run('sh', ['-c', 'ulimit -n 300; exec "$@"', 'sh', process.execPath, ...node]);
  expect(said.toString().trim()).toBe(process.platform === 'linux' ? '300' : 'Infinity');

  const server = createServer();
  limitSockets(server, 0, 8);
  const sockets = Array.from({ length: 6 }, (_, at) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: `198.51.${at}.1` });
    server.emit('connection', socket);
    return socket;
  });
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false, false, false]);
  for (const socket of sockets) socket.destroy();
  limitSockets(server, 1, 8);
  expect(server.maxConnections).toBe(4);
});

describe('what is known of a transfer', () => {
  test('is erased so many days after its end, and not while its files lie somewhere', async () => {
    const { jobid } = (await order({ contact: 'tom@mail.example' })).body as { jobid: string };
    expect(await eraseEnded(world.database, 30, Date.now() + 29 * DAY_MS)).toBe(0);
    await world.database.query(
      `with made as (insert into exports (transfer_id, name, finished) values ($1, $1, now()) returning id)
       insert into export_files (export_id, part, name, size, sha256) select id, 1, 'a', 1, 'b' from made`,
      [jobid],
    );
    expect(await eraseEnded(world.database, 30, Date.now() + 31 * DAY_MS)).toBe(0);
    await world.database.query('delete from export_files');
    const queued = () => world.database.query("select 1 from pgboss.job where data->>'transferId' = $1", [jobid]);
    expect(await queued()).not.toEqual([]);
    expect(await eraseEnded(world.database, 30, Date.now() + 31 * DAY_MS)).toBe(1);
    expect(await queued()).toEqual([]);
    expect(await world.database.query('select 1 from transfers')).toEqual([]);
    expect(await world.database.query('select 1 from transfer_browsers')).toEqual([]);
  });

  test('is erased with that of others only as far as one statement may delete', async () => {
    await world.database.query(
      `with ended as (insert into transfers (id, submit_key, source_email, source_provider, destination_email,
         destination_provider, operations, finished)
         select md5(number::text), number, number, 'sanbruno', number, 'yahoo', '{emailmigration}', now()
         from generate_series(1, 5) as number returning id)
       insert into operations (transfer_id, operation, done, total) select id, 'emailmigration', 60000, 60000 from ended`,
    );
    const erased = () => eraseEnded(world.database, 30, Date.now() + 31 * DAY_MS);
    expect([await erased(), await erased(), await erased(), await erased()]).toEqual([2, 2, 1, 0]);
  });

  test('is erased at once when its subscriber asks for it, files and running transfers with it', async () => {
    const { jobid } = (await order()).body as { jobid: string };
    await world.database.query('update transfers set finished = null');
    await world.database.query('insert into exports (transfer_id, name, finished) values ($1, $1, now())', [jobid]);
    const removed: string[] = [];
    const services = {
      ...world.services,
      safe: world.safe,
      exports: {
        remove: async (name: string) => {
          removed.push(name);
        },
      },
    };
    expect(await eraseSubscriber(services, ANN)).toBe(1);
    expect(removed).toEqual([jobid]);
    for (const table of [
      'transfers',
      'operations',
      'credentials',
      'exports',
      'export_verifiers',
      'transfer_browsers',
      'sessions',
    ])
      expect([table, await world.database.query(`select 1 from ${table}`)]).toEqual([table, []]);
  });
});

test('a subscriber is erased also where what a transfer signs in with can not be opened any more', async () => {
  await orderMove({});
  await world.database.query('update transfers set finished = null');
  await world.database.query("update credentials set sealed = ''");
  const services = { ...world.services, safe: world.safe, exports: { remove: async () => {} } };
  expect(await eraseSubscriber(services, ANN)).toBe(1);
  expect(await world.database.query('select 1 from transfers')).toEqual([]);
});

test('the security log tells who did what by digests, and names nobody', async () => {
  await signIn('guess', '203.0.113.9');
  await signIn(PASSWORD, '203.0.113.9');
  const { jobid } = (await order()).body as { jobid: string };
  await world.get(`/api/exports/${jobid}/part-1-00000000.zip`);
  const lines = world.logLines.filter((line) => line.includes('"log":"security"'));
  const events = lines.map((line) => JSON.parse(line) as { security: string; mailbox?: string });
  expect(events.map(({ security }) => security)).toEqual([
    'sign-in refused',
    'sign-in accepted',
    'sign-in accepted',
    'transfer ordered',
  ]);
  expect(new Set(events.map(({ mailbox }) => mailbox)).size).toBe(1);
  expect(lines.join('')).not.toMatch(/ann@|203\.0\.113/);
});
