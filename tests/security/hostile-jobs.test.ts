import { createServer, type Socket } from 'node:net';
import { setImmediate as later } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { MAIL_TIMES } from '../../src/server/mail/imap/connection.ts';
import { openControl } from '../../src/server/mail/imap/control.ts';
import { ANSWER_WITHIN_MS } from '../../src/server/mail/imap/wire/answer-within.ts';
import { checkSignIn } from '../../src/server/mail/imap/sign-in.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { LISTING_LIMIT } from '../../src/server/mail/imap/wire/listings.ts';
import { SETTLED_WITHIN } from '../../src/server/mail/imap/wire/session.ts';
import type { Database } from '../../src/server/store/database.ts';
import { countDeaths, noteShortage } from '../../src/server/transfers/deaths.ts';
import { watchMemory } from '../../src/server/worker/memory-watch.ts';
import { startWorker } from '../../src/server/worker/worker.ts';
import { gathered } from '../support/imap-session.ts';
import { scriptedServer, scriptedSession } from '../support/scripted-imap.ts';
import { LEGACY_DOMAIN, openWebWorld } from '../support/web-world.ts';

const MEGABYTE = 1024 * 1024;

/** A server that signs anybody in and lists mailboxes for as long as somebody listens. */
async function endlessServer() {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n');
    socket.on('data', (part) => {
      for (const line of part.toString().split('\r\n')) {
        const [tag = '', verb = '', ...rest] = line.split(' ');
        if (verb === '') continue;
        if (verb === 'LIST' && rest.join(' ').includes('*')) listFor(socket);
        else socket.write(`${tag} OK done\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => void server.close() };
}

function listFor(socket: Socket): void {
  let at = 0;
  const more = () => {
    while (!socket.destroyed) {
      at += 1;
      if (!socket.write(`* LIST () "/" "box ${at} ${'x'.repeat(40)}"\r\n`)) break;
    }
  };
  socket.on('drain', more);
  more();
}

test('a server that lists mailboxes without end is given up before it has taken the memory', async () => {
  using server = await endlessServer();
  const place = { host: '127.0.0.1', port: server.port, security: 'open', named: 'by operator' } as const;
  await using control = await openControl(
    { email: 'ann@mail.example', place, credentials: { kind: 'password', password: 'any' } },
    { trusted: ['127.0.0.1'], times: MAIL_TIMES },
  );
  const before = process.memoryUsage().rss;
  await expect(control.mailboxes()).rejects.toMatchObject({ name: 'MailError', fault: 'refused' });
  expect((process.memoryUsage().rss - before) / MEGABYTE).toBeLessThan(400);
});

test('a server that has a million messages, and lets one command name no more than one, does not take the memory', async () => {
  let asked = 0;
  const server = scriptedServer(
    (line, { tag, say, hangUp }) => {
      if (line.includes('EXAMINE')) say(`* ${LISTING_LIMIT} EXISTS`, '* OK [UIDVALIDITY 7]', `${tag} OK done`);
      else if (!line.includes('FETCH')) return false;
      else if (++asked < 10) say(`* ${asked} FETCH (UID ${asked} RFC822.SIZE 3 FLAGS ())`, `${tag} OK done`);
      else hangUp();
    },
    { capabilities: 'IMAP4rev1 SASL-IR AUTH=PLAIN MESSAGELIMIT=1' },
  );
  const reader = openStreamReader(await scriptedSession(server));
  const before = process.memoryUsage().rss;
  await expect(gathered(reader.list('INBOX'))).rejects.toMatchObject({ name: 'MailError', fault: 'lost' });
  expect((process.memoryUsage().rss - before) / MEGABYTE).toBeLessThan(400);
});

/** What this process works from one turn to the next: not what it waits for, as where other programs are busy. */
function watchTurns() {
  let most = 0;
  let before = process.cpuUsage();
  let turn = setImmediate(function look() {
    const { user, system } = process.cpuUsage(before);
    most = Math.max(most, user + system);
    before = process.cpuUsage();
    turn = setImmediate(look);
  });
  return { most: () => most / 1000, [Symbol.dispose]: () => clearImmediate(turn) };
}

/** A server that answers one command with short lines for as long as somebody listens. */
async function floodingServer(at: string, words = 'A '.repeat(3500)) {
  const line = `* CAPABILITY ${words}\r\n`;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).write('* OK ready\r\n');
    const flood = () => {
      while (!socket.destroyed && socket.write(line));
    };
    socket.on('data', (part) => {
      const [tag = '', verb = ''] = part.toString().split(/[ \r]/);
      if (verb === at) {
        socket.on('drain', flood);
        flood();
        return;
      }
      if (verb === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1\r\n');
      socket.write(`${tag} OK done\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    said: () => sockets.reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0),
    [Symbol.dispose]: () => void server.close(),
  };
}

test.each([
  ['CAPABILITY', 'unreachable'],
  ['LOGIN', 'unanswered'],
  ['LOGOUT', 'ok'],
] as const)(
  'a server that floods who signs in, from %s on, is left at once, and others have their turn',
  async (at, result) => {
    using server = await floodingServer(at);
    const place = { host: '127.0.0.1', port: server.port, security: 'open', named: 'by operator' } as const;
    using turns = watchTurns();
    const account = { email: 'ann@mail.example', place, credentials: { kind: 'password', password: 'any' } } as const;
    expect(await checkSignIn(account, { trusted: [] })).toBe(result);
    expect(server.said(), 'octets').toBeLessThan(32_000_000);
    expect(turns.most(), 'milliseconds of work in which nobody else had a turn').toBeLessThan(1000);
  },
);

test('so is one that begins to when it is worked with', async () => {
  using server = await floodingServer('DELETE', 'A'.repeat(7000));
  const place = { host: '127.0.0.1', port: server.port, security: 'open', named: 'by operator' } as const;
  const account = { email: 'ann@mail.example', place, credentials: { kind: 'password', password: 'any' } } as const;
  await using control = await openControl(account, { trusted: [], times: MAIL_TIMES });
  await expect(control.remove('A folder')).rejects.toMatchObject({ name: 'MailError' });
});

test('a server that refuses a sign-in, and goes on with a literal that is too long, ends no process', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write('* OK ready\r\n');
    socket.on('data', (part) => {
      const [tag = '', verb = ''] = part.toString().split(/[ \r]/);
      if (verb === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1\r\n');
      socket.write(verb === 'LOGIN' ? `${tag} NO no\r\n* X {99999999}\r\n` : `${tag} OK done\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const uncaught = vi.fn<(error: unknown) => void>();
  process.once('uncaughtExceptionMonitor', uncaught);
  onTestFinished(() => {
    server.close();
    process.off('uncaughtExceptionMonitor', uncaught);
  });
  const place = { host: '127.0.0.1', port, security: 'open', named: 'by operator' } as const;
  const account = { email: 'ann@mail.example', place, credentials: { kind: 'password', password: 'any' } } as const;
  expect(await checkSignIn(account, { trusted: [] })).toBe('credentials');
  await later();
  expect(uncaught).not.toHaveBeenCalled();
});

test('a server that asks for a pause without end is asked again the next day', async () => {
  using server = await namelessServer([], `BAD Request is throttled. Backoff Time: ${'9'.repeat(300)} milliseconds`);
  await using control = await openControl(server.account, { trusted: [], times: MAIL_TIMES });
  await expect(control.remove('A folder')).rejects.toMatchObject({ fault: 'busy', pause: 86_400_000 });
});

/** A server that announces NAMESPACE and says so much to it, and nothing to DELETE unless that is given. */
async function namelessServer(namespaces: readonly string[], toDelete?: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write('* OK [CAPABILITY IMAP4rev1 NAMESPACE] ready\r\n');
    socket.on('data', (part) => {
      for (const line of part
        .toString()
        .split('\r\n')
        .filter((each) => each !== '')) {
        const [tag = '', verb = ''] = line.split(' ');
        if (verb === 'NAMESPACE') for (const said of namespaces) socket.write(`* NAMESPACE ${said}\r\n`);
        if (verb === 'LIST') socket.write('* LIST () "/" INBOX\r\n');
        if (verb === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1 NAMESPACE\r\n');
        const answer = verb === 'DELETE' ? toDelete : 'OK done';
        if (answer !== undefined) socket.write(`${tag} ${answer}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const account = {
    email: 'ann@mail.example',
    place: { host: '127.0.0.1', port, security: 'open', named: 'by operator' },
    credentials: { kind: 'password', password: 'any' },
  } as const;
  return { account, [Symbol.dispose]: () => void server.close() };
}

test.each([
  [[]],
  [['NIL NIL NIL']],
  [['(("" "/")) NIL NIL', 'NIL NIL NIL']],
  [['((NIL NIL)) NIL NIL']],
  [['(NIL) NIL NIL']],
])('a server with no namespace, by %j, is worked with and holds nobody up', async (namespaces) => {
  using server = await namelessServer(namespaces);
  await using control = await openControl(server.account, { trusted: [], times: MAIL_TIMES });
  expect((await control.namespace()).prefix).toBe('');
  expect((await control.mailboxes()).map(({ path }) => path)).toEqual(['INBOX']);
});

test('a server with more namespaces than any account has is refused, before each is looked for among its mailboxes', async () => {
  using server = await namelessServer([`(("" "/")${'("x/" "/")'.repeat(100)}) NIL NIL`]);
  await using control = await openControl(server.account, { trusted: [], times: MAIL_TIMES });
  await expect(control.mailboxes()).rejects.toMatchObject({ name: 'MailError', fault: 'refused' });
});

test('a server that owes an answer is left soon after the work is called off, and after a while anyhow', async () => {
  using server = await namelessServer([]);
  const stop = new AbortController();
  const options = { trusted: [], times: MAIL_TIMES };
  await using stopped = await openControl(server.account, { ...options, signal: stop.signal });
  await using patient = await openControl(server.account, options);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [first, second] = [stopped.remove('A folder'), patient.remove('A folder')].map((asked) =>
    asked.catch((error: unknown) => error),
  );
  stop.abort();
  vi.advanceTimersByTime(SETTLED_WITHIN);
  expect(await first).toMatchObject({ name: 'MailError' });
  vi.advanceTimersByTime(ANSWER_WITHIN_MS);
  expect(await second).toMatchObject({ name: 'MailError' });
  vi.useRealTimers();
});

const ANN = `ann@${LEGACY_DOMAIN}`;

async function ordered() {
  const world = await openWebWorld();
  const started = await world.services.transfers.start({
    source: { email: ANN, password: 'any', provider: 'sanbruno' },
    destination: { email: 'ann@mail.example', password: 'any', provider: 'aol' },
    operations: ['emailmigration'],
    notificationContact: 'ann@home.example',
    inQa: false,
  });
  if (started.kind === 'busy') throw new Error('There is one already.');
  return {
    world,
    database: world.database,
    id: started.id,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe('a transfer that kills its worker', () => {
  test('is known by the want of memory in which its run was cut off, and by nothing else', async () => {
    await using opened = await ordered();
    const { database, id } = opened;
    expect(await countDeaths(database, id)).toBe(0);
    await noteShortage(database, [id]);
    expect(await countDeaths(database, id)).toBe(1);
    expect(await countDeaths(database, id), 'killed from outside').toBe(1);
    using memory = watchMemory({ database, log: openLog('silent'), memoryUsed: () => 0.9 });
    {
      await using _run = memory.during(id);
      const short = () => database.query('select short_of_memory as short from transfers');
      await expect.poll(short).toEqual([{ short: true }]);
    }
    expect(await countDeaths(database, id), 'outlived by its worker').toBe(1);
  });

  test('is not the one that was under way when memory was short for a while, and that was killed from outside later', async () => {
    await using opened = await ordered();
    const { database, id } = opened;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    let used = 0.9;
    using memory = watchMemory({ database, log: openLog('silent'), memoryUsed: () => used });
    await using _run = memory.during(id);
    const after = (seconds: number, share: number) => {
      used = share;
      vi.advanceTimersByTime(seconds * 1000);
    };
    const short = () => database.query('select short_of_memory as short from transfers');
    after(1, 0.9);
    await expect.poll(short).toEqual([{ short: true }]);
    // As between two collections of garbage.
    after(9, 0.5);
    after(1, 0.9);
    after(9, 0.5);
    // What would be written by now is.
    await short();
    expect(await short()).toEqual([{ short: true }]);
    after(1, 0.5);
    await expect.poll(short).toEqual([{ short: false }]);
    after(1, 0.9);
    await expect.poll(short).toEqual([{ short: true }]);
  });

  test('is watched on by a process that can open no more files, in one of which the system says its size', () => {
    vi.useFakeTimers();
    const size = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
      throw new Error('EMFILE: too many open files, uv_resident_set_memory');
    });
    const allowed = vi.spyOn(process, 'constrainedMemory').mockReturnValue(1e9);
    using memory = watchMemory({ database: {} as Database, log: openLog('silent') });
    memory.during('a transfer');
    expect(() => vi.advanceTimersByTime(1000)).not.toThrow();
    expect(size).toHaveBeenCalled();
    size.mockRestore();
    allowed.mockRestore();
    vi.useRealTimers();
  });

  test('does not run beside those that its worker has died with, so that they are not blamed for the next death', async () => {
    await using world = await openWebWorld();
    for (const name of ['ann', 'bo'])
      await world.services.transfers.start({
        source: { email: `${name}@${LEGACY_DOMAIN}`, password: 'any', provider: 'sanbruno' },
        destination: { email: `${name}@mail.example`, password: 'any', provider: 'other' },
        operations: ['emailmigration'],
        inQa: false,
      });
    await world.database.query('update transfers set deaths = 1');
    const looked: string[] = [];
    const found = Promise.withResolvers<null>();
    await using _worker = await startWorker({
      ...world.services,
      safe: world.safe,
      queue: world.queue,
      discover: (email) => {
        looked.push(email);
        return found.promise;
      },
    });
    await using _found = { [Symbol.asyncDispose]: async () => found.resolve(null) };
    const later = () =>
      world.database.query<{ id: string }>(
        `select singleton_key as id from pgboss.job where name = 'transfers' and state = 'created' and start_after > now()`,
      );
    await expect.poll(later, { timeout: 20_000 }).toHaveLength(1);
    await expect.poll(() => looked, { timeout: 20_000 }).toHaveLength(1);
    const [waiting] = await later();
    found.resolve(null);
    const lookedFor = async () => {
      await world.queue.send(waiting?.id ?? '');
      return new Set(looked).size;
    };
    await expect.poll(lookedFor, { timeout: 20_000, interval: 500 }).toBe(2);
  });

  test('keeps the others that were under way at its death waiting for a quarter of an hour at most', () => {
    vi.useFakeTimers();
    using memory = watchMemory({ database: {} as Database, log: openLog('silent'), memoryUsed: () => 0 });
    const first = memory.suspect();
    expect(first).not.toBeNull();
    vi.advanceTimersByTime(15 * 60_000 - 1);
    expect(memory.suspect()).toBeNull();
    vi.advanceTimersByTime(1);
    const second = memory.suspect();
    expect(second).not.toBeNull();
    first?.[Symbol.dispose]();
    expect(memory.suspect(), 'the first has no say any more').toBeNull();
    second?.[Symbol.dispose]();
    using third = memory.suspect();
    expect(third).not.toBeNull();
    vi.useRealTimers();
  });

  test('is set aside for the operator when it has done so twice', async () => {
    await using opened = await ordered();
    const { world, id } = opened;
    await world.database.query('update transfers set deaths = 2');
    await world.database.query("update operations set waiting_reason = 'busy', waiting_since = now()");
    await using _worker = await startWorker({
      ...world.services,
      safe: world.safe,
      queue: world.queue,
      discover: () => Promise.resolve(null),
    });
    const status = async () => (await world.services.transfers.status(id))?.emailmigration;
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({
      status: 'review',
      failure: expect.stringContaining('Nothing was deleted'),
    });
    expect(await status(), 'it does not go on').not.toHaveProperty('waiting');
    const told = () => world.outbox.some(({ raw }) => raw.includes('needs your attention'));
    await expect.poll(told, { timeout: 20_000 }).toBe(true);
    expect(world.signIns).toEqual([]);
    expect(world.logLines.join('')).toContain('set aside');
  });
});
