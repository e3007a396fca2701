import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { markOf } from '../../src/server/forwarding/mark.ts';
import {
  FORWARDING_SCRIPT,
  setUpForwarding,
  switchOffForwarding,
} from '../../src/server/forwarding/set-up-forwarding.ts';
import { readReply, SieveSyntaxError } from '../../src/server/forwarding/sieve-reply.ts';
import { openSieveSession, sievePlaceOf, type SieveSession } from '../../src/server/forwarding/sieve-session.ts';
import { SieveSocket } from '../../src/server/forwarding/sieve-socket.ts';
import { openLog } from '../../src/server/log.ts';
import { openForwarded } from '../../src/server/mail/copy/forwarded.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import type { MailReader } from '../../src/server/mail/imap/streams.ts';
import { Stopped } from '../../src/server/stopped.ts';
import { forwardingOf, noteForwardingOff, noteForwardingSet } from '../../src/server/transfers/forwardings.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { runForwarding } from '../../src/server/worker/forwarding.runner.ts';
import type { Run, RunnerServices } from '../../src/server/worker/runner.ts';
import { selfSigned } from '../support/certificate.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot, type DovecotOptions } from '../support/dovecot.ts';
import { freePort } from '../support/free-port.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER, type World } from '../support/transfer-world.ts';
import { openWebWorld, startSmtp } from '../support/web-world.ts';

const WITHIN_MS = 30_000;
const CAPABILITIES = '"SASL" "PLAIN"\r\n"SIEVE" "copy imap4flags include"\r\nOK\r\n';
/** Files what has "lists" in the subject, throws away what has "advert", and leaves the rest. */
const RULES = [
  'require ["fileinto", "mailbox"];',
  'if header :contains "subject" "lists" { fileinto :create "Lists"; stop; }',
  'if header :contains "subject" "advert" { discard; }',
  '',
].join('\r\n');

const message = (subject: string) =>
  `From: sender@mail.example\r\nTo: ${SUBSCRIBER}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@mail.example>\r\n\r\nHello.\r\n`;

/** Scripts of which the subscriber makes another one active, as often as said, while ours is stored. */
function changedMeanwhile(changes: number, others: Readonly<Record<string, string>> = {}) {
  const scripts = new Map([['old', RULES], ...Object.entries(others)]);
  let active = 'old';
  let left = changes;
  const session: SieveSession = {
    extensions: new Set(['copy', 'imap4flags', 'include']),
    scripts: async () => [...scripts.keys()].map((name) => ({ name, active: name === active })),
    read: async (name) => scripts.get(name) ?? '',
    put: async (name, script) => {
      scripts.set(name, script);
      if (left === 0) return;
      active = `new ${left}`;
      scripts.set(active, RULES);
      left -= 1;
    },
    activate: async (name) => {
      active = name;
    },
    remove: async (name) => void scripts.delete(name),
    [Symbol.asyncDispose]: async () => {},
  };
  return { session, script: () => scripts.get(FORWARDING_SCRIPT), active: () => active };
}

function scriptsOf(dovecot: Dovecot, trusted: string = '127.0.0.1'): Promise<SieveSession> {
  const settings = readSettings({
    SANDBOX: 'on',
    LEGACY_SIEVE_URL: dovecot.sieveUrl,
    ...(trusted === '' ? {} : { TRUSTED_MAIL_HOSTS: trusted }),
  });
  const place = sievePlaceOf(settings);
  if (place === null) throw new Error('The setting is not read.');
  return openSieveSession({ email: SUBSCRIBER, password: DOVECOT_PASSWORD, place }, AbortSignal.timeout(WITHIN_MS));
}

async function addRules(dovecot: Dovecot, name = 'my rules'): Promise<void> {
  await using session = await scriptsOf(dovecot);
  await session.put(name, RULES);
  await session.activate(name);
}

async function scriptsNow(dovecot: Dovecot): Promise<Record<string, { script: string; active: boolean }>> {
  await using session = await scriptsOf(dovecot);
  const now: Record<string, { script: string; active: boolean }> = {};
  for (const { name, active } of await session.scripts()) now[name] = { script: await session.read(name), active };
  return now;
}

async function subjectsIn(dovecot: Dovecot, mailbox: string, user = SUBSCRIBER): Promise<string[]> {
  await using client = await openMailClient(dovecot.port, user, DOVECOT_PASSWORD);
  if (isEmpty(await client.command(`EXAMINE "${mailbox}"`))) return [];
  return (await client.command('FETCH 1:* (ENVELOPE)')).flatMap(
    (line) => /ENVELOPE \((?:NIL|"[^"]*") "([^"]*)"/.exec(line)?.[1] ?? [],
  );
}

/** Keywords and flags of each message, `\Recent` left out. */
async function flagsIn(dovecot: Dovecot, mailbox: string): Promise<string[][]> {
  await using client = await openMailClient(dovecot.port, SUBSCRIBER, DOVECOT_PASSWORD);
  return (await client.read(mailbox)).map(({ flags }) => [...flags]);
}

const isEmpty = (examined: readonly string[]) => examined.some((line) => /^\* 0 EXISTS/i.test(line));

async function isForwarding(dovecot: Dovecot): Promise<boolean> {
  return (await scriptsNow(dovecot))[FORWARDING_SCRIPT]?.active === true;
}

const subjectsOf = (outbox: readonly { to: readonly string[]; raw: string }[]) =>
  outbox.map(({ to, raw }) => [to.join(), /^Subject: (.*)\r$/m.exec(raw)?.[1]]);

type Operations = Record<string, { status: string; failure: string | null }>;

async function operationsOnceEnded(world: World, id: string): Promise<Operations> {
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await wait(50)) {
    const rows = await world.database.query<{ operation: string; status: string; failure: string | null }>(
      `select operation, status, failure from operations join transfers on id = transfer_id
       where transfer_id = $1 and transfers.finished is not null`,
      [id],
    );
    if (rows.length > 0)
      return Object.fromEntries(rows.map(({ operation, status, failure }) => [operation, { status, failure }]));
  }
  throw new Error('The transfer has not ended.');
}

const FORWARDED = order({ operations: ['emailmigration', 'emailforwarding'] });

type Line = Parameters<typeof startTcpProxy>[1];

/** @param lineTo by which the server of scripts is reached */
async function start(
  options: DovecotOptions,
  environment: Record<string, string> = {},
  lineTo?: (source: Dovecot) => Line,
) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const source = stack.use(await startDovecot(options));
  const destination = stack.use(await startDovecot());
  {
    await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
    await mail.append('INBOX', [letter(1), letter(2)]);
  }
  const scripts =
    lineTo === undefined ? null : stack.use(await startTcpProxy(Number(new URL(source.sieveUrl).port), lineTo(source)));
  const sieveUrl = scripts === null ? source.sieveUrl : `sieve://127.0.0.1:${scripts.port}`;
  const world = stack.use(
    await openWorld(
      FRESH,
      {
        LEGACY_IMAP_URL: source.url,
        YAHOO_IMAP_URL: destination.url,
        ...(options.sieve === undefined ? {} : { LEGACY_SIEVE_URL: sieveUrl }),
        ...environment,
      },
      { pause: async () => {} },
    ),
  );
  return { source, destination, world, scripts };
}

describe(
  'a transfer with forwarding',
  { ...needs('dovecot', 'sievec', 'managesieve', 'dovecot-lda'), timeout: 90_000 },
  () => {
    test('sends on what comes after it, beside the rules that were there', async () => {
      await using smtp = new AsyncDisposableStack();
      const { outbox, smtpPort } = await startSmtp(smtp);
      const { source, world } = await start({ sieve: { smtpPort } });
      await addRules(source);
      const { id } = await world.transfers.start(FORWARDED);
      expect(await mailUntil(world.transfers, id)).toMatchObject({ status: 'completed', done: 2, lost: 0 });
      expect(await operationsOnceEnded(world, id)).toEqual({
        emailmigration: { status: 'completed', failure: null },
        emailforwarding: { status: 'completed', failure: null },
      });
      expect(await world.transfers.status(id)).toMatchObject({
        emailforwarding: { status: 'completed', to: NEW_ADDRESS, since: expect.any(String) as string },
      });
      expect(await scriptsNow(source)).toMatchObject({
        'my rules': { script: RULES, active: false },
        [FORWARDING_SCRIPT]: { active: true },
      });

      for (const subject of ['plain', 'lists', 'advert']) await source.deliver(SUBSCRIBER, message(subject));
      expect(subjectsOf(outbox)).toEqual([
        [NEW_ADDRESS, 'plain'],
        [NEW_ADDRESS, 'lists'],
        [NEW_ADDRESS, 'advert'],
      ]);
      expect(await subjectsIn(source, 'INBOX')).toEqual(['Letter 1', 'Letter 2', 'plain']);
      expect(await subjectsIn(source, 'Lists')).toEqual(['lists']);
      expect(await flagsIn(source, 'INBOX')).toEqual([expect.anything(), expect.anything(), [markOf(NEW_ADDRESS)]]);
      expect(await flagsIn(source, 'Lists')).toEqual([[markOf(NEW_ADDRESS)]]);
    });

    test(
      'brings what arrives just before and just after it exactly once, and so does every later transfer',
      { tags: 'proof' },
      async () => {
        await using smtp = new AsyncDisposableStack();
        const { outbox, smtpPort } = await startSmtp(smtp);
        const { source, destination, world } = await start({ sieve: { smtpPort } }, {}, (legacy) => ({
          // All mail is copied by now, and nothing is forwarded yet.
          before: () => legacy.deliver(SUBSCRIBER, message('before')),
          change: async (direction, part) => {
            if (direction === 'to server' && part.toString().startsWith('LISTSCRIPTS') && (await isForwarding(legacy)))
              await legacy.deliver(SUBSCRIBER, message('after'));
            return part;
          },
        }));
        const transfer = async (changes = {}) => {
          await world.database.query("update transfers set finished = now() - interval '1 hour'");
          const { id } = await world.transfers.start({ ...FORWARDED, ...changes });
          expect(await mailUntil(world.transfers, id)).toMatchObject({ status: 'completed', lost: 0, duplicated: 0 });
          await operationsOnceEnded(world, id);
        };
        await transfer();
        expect(await subjectsIn(source, 'INBOX')).toEqual(['Letter 1', 'Letter 2', 'before', 'after']);
        expect(await subjectsIn(destination, 'INBOX', NEW_ADDRESS)).toEqual(['Letter 1', 'Letter 2', 'before']);
        expect(subjectsOf(outbox)).toEqual([[NEW_ADDRESS, 'after']]);
        // It is on its way meanwhile; so it is again for a transfer with forwarding, which sends nothing twice either.
        await transfer({ operations: ['emailmigration'] });
        expect(await subjectsIn(destination, 'INBOX', NEW_ADDRESS)).toEqual(['Letter 1', 'Letter 2', 'before']);
        for (const { raw } of outbox.splice(0)) await destination.deliver(NEW_ADDRESS, raw);
        const all = ['Letter 1', 'Letter 2', 'before', 'after'];
        expect(await subjectsIn(destination, 'INBOX', NEW_ADDRESS)).toEqual(all);

        // A month ago one was forwarded that the new provider has filed away, and one that it refused.
        const LONG_AGO = '01-Jan-2024 10:00:00 +0000';
        const kept = (subject: string) => ({
          bytes: Buffer.from(message(subject)),
          flags: [markOf(NEW_ADDRESS)],
          date: LONG_AGO,
        });
        {
          await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
          await mail.append('INBOX', [kept('filed'), kept('refused')]);
          await using other = await openMailClient(destination.port, NEW_ADDRESS, DOVECOT_PASSWORD);
          await other.create('Spam');
          const filed = Buffer.from(`Received: by yahoo.example\r\n${message('filed')}`);
          await other.append('Spam', [{ bytes: filed, flags: [], date: LONG_AGO }]);
        }
        for (let again = 0; again < 2; again += 1) {
          await transfer({ operations: ['emailmigration'] });
          expect(await subjectsIn(destination, 'INBOX', NEW_ADDRESS)).toEqual([...all, 'refused']);
          expect(await subjectsIn(destination, 'Spam', NEW_ADDRESS)).toEqual(['filed']);
        }

        // To somebody else's address nothing of it has been forwarded.
        const other = { ...FORWARDED.destination, email: 'bea@yahoo.example' };
        await transfer({ operations: ['emailmigration'], destination: other });
        expect(await subjectsIn(destination, 'INBOX', other.email)).toEqual([...all, 'filed', 'refused']);
      },
    );

    test(
      'is not set up beside rules that the server can not include, and the mail is complete',
      { tags: 'proof' },
      async () => {
        const { source, world } = await start({ sieve: { extensions: '-include' } });
        await addRules(source);
        const { id } = await world.transfers.start(FORWARDED);
        expect(await operationsOnceEnded(world, id)).toEqual({
          emailmigration: { status: 'completed', failure: null },
          emailforwarding: { status: 'review', failure: expect.stringContaining('Your rules are as they were') },
        });
        expect(await scriptsNow(source)).toEqual({ 'my rules': { script: RULES, active: true } });
      },
    );

    test('is given up when the server of scripts stays down, and the mail is complete', { tags: 'proof' }, async () => {
      const { world } = await start({}, { LEGACY_SIEVE_URL: `sieve://127.0.0.1:${await freePort()}` });
      const { id } = await world.transfers.start(FORWARDED);
      expect(await operationsOnceEnded(world, id)).toEqual({
        emailmigration: { status: 'completed', failure: null },
        emailforwarding: { status: 'review', failure: expect.stringContaining('could not reach the mail server') },
      });
      expect(await world.database.query('select * from credentials')).toEqual([]);
    });

    test('is not set up by a worker that has lost the transfer meanwhile', async () => {
      const over = Promise.withResolvers<void>();
      let database: World['database'] | undefined;
      const { source, world } = await start({ sieve: {} }, {}, () => ({
        change: async (direction, part) => {
          if (direction === 'to server' && part.toString().startsWith('LISTSCRIPTS'))
            await database?.query('update transfers set epoch = epoch + 1, finished = now()');
          if (part.toString().startsWith('LOGOUT')) over.resolve();
          return part;
        },
      }));
      ({ database } = world);
      await world.transfers.start(FORWARDED);
      await over.promise;
      expect(await scriptsNow(source)).toEqual({});
    });

    test(
      'is waited for when the server of scripts goes down as it is switched on: it may be on',
      { tags: 'proof' },
      async () => {
        let [isDown, wasDown] = [false, false];
        const { world, scripts } = await start({ sieve: {} }, {}, (source) => ({
          before: async () => !isDown,
          change: async (direction, part) => {
            if (direction === 'to client' && !wasDown && (await isForwarding(source))) {
              [isDown, wasDown] = [true, true];
              scripts?.resetAll();
            }
            return part;
          },
        }));
        const { id } = await world.transfers.start(FORWARDED);
        const runs = async () => {
          const [row] = await world.database.query<{ runs: number }>(
            "select idle_runs as runs from operations where operation = 'emailforwarding'",
          );
          return row?.runs;
        };
        await expect.poll(runs, { timeout: 20_000 }).toBe(2);
        expect(await world.transfers.status(id)).toMatchObject({ emailforwarding: { status: 'inprogress' } });
        isDown = false;
        await world.sendOn(id);
        expect(await operationsOnceEnded(world, id)).toMatchObject({
          emailmigration: { status: 'completed' },
          emailforwarding: { status: 'completed' },
        });
      },
    );

    test('is not set up while the mail waits for its owner', async () => {
      const { source, world } = await start({ sieve: {} });
      const { id } = await world.transfers.start({
        ...FORWARDED,
        destination: { ...FORWARDED.destination, password: 'wrong' },
      });
      await expect
        .poll(() => world.transfers.status(id), { timeout: 20_000 })
        .toMatchObject({
          emailmigration: { status: 'authentication_error', attention: { side: 'destination', reason: 'password' } },
          emailforwarding: { status: 'started' },
        });
      expect(await scriptsNow(source)).toEqual({});
    });
  },
);

test('goes on with the rules that the subscriber makes active meanwhile', async () => {
  const { session, script, active } = changedMeanwhile(1);
  expect(await setUpForwarding(session, NEW_ADDRESS)).toBe('set');
  expect(active()).toBe(FORWARDING_SCRIPT);
  expect(script()).toContain('include :personal :optional "new 1";');
});

test('leaves the rules active that the subscriber makes active all the time', async () => {
  const { session, script, active } = changedMeanwhile(99);
  await expect(setUpForwarding(session, NEW_ADDRESS)).rejects.toMatchObject({ fault: 'refused' });
  expect(active()).toMatch(/^new/);
  expect(script()).toBeUndefined();
});

test.each([
  ['set', 'keep;'],
  [{ refused: 'rules' }, 'setflag "x";'],
])('is %j beside rules that include long ones: %s', async (becomes, rules) => {
  const long = { long: `${'keep;'.repeat(200_000)}\r\n${rules}`, old: 'require "include";\r\ninclude "long";' };
  expect(await setUpForwarding(changedMeanwhile(0, long).session, NEW_ADDRESS)).toEqual(becomes);
});

describe('forwarding', needs('dovecot', 'sievec', 'managesieve', 'dovecot-lda'), () => {
  test.each([
    ['', 1],
    ['-copy', 0],
    ['-imap4flags', 0],
  ])('without rules keeps what it sends on only if it can mark it (extensions "%s")', async (extensions, kept) => {
    await using smtp = new AsyncDisposableStack();
    const { outbox, smtpPort } = await startSmtp(smtp);
    await using dovecot = await startDovecot({
      sieve: { smtpPort, ...(extensions === '' ? {} : { extensions }) },
    });
    {
      await using session = await scriptsOf(dovecot);
      expect(await setUpForwarding(session, NEW_ADDRESS)).toBe(kept === 1 ? 'set' : 'set without copies');
    }
    await dovecot.deliver(SUBSCRIBER, message(`hello${extensions}`));
    expect(subjectsOf(outbox.splice(0))).toEqual([[NEW_ADDRESS, `hello${extensions}`]]);
    expect(await subjectsIn(dovecot, 'INBOX')).toEqual(kept === 1 ? [`hello${extensions}`] : []);
    expect(await flagsIn(dovecot, 'INBOX')).toEqual(kept === 1 ? [[markOf(NEW_ADDRESS)]] : []);
  });

  test.each([
    ['set', 'redirect :copy "a@x.example"; redirect "b@x.example"; redirect "c@x.example"; # redirect'],
    ['set', 'if false { addflag "$Later"; } fileinto "INBOX";'],
    [
      'rules',
      'redirect :copy "a@x.example"; redirect "b@x.example";\r\nif true { redirect "c@x.example"; }redirect "d@x.example";',
    ],
    ['rules', 'if header :contains "subject" "lists" { setflag "\\\\Seen"; }'],
    ['rules', '/* Lists are read. */ setflag "\\\\Seen";'],
    ['set', '/* setflag "\\\\Seen"; */ # setflag "\\\\Seen";'],
    ['rules', 'fileinto :create :flags "\\\\Seen" "Lists";'],
    ['rules', 'if header :contains "subject" "advert" { reject "No, thank you."; }'],
  ])('is %s beside what it would break, or would take its mark: %s', async (becomes, rules) => {
    await using smtp = new AsyncDisposableStack();
    const { outbox, smtpPort } = await startSmtp(smtp);
    await using dovecot = await startDovecot({ sieve: { smtpPort, maxRedirects: 4 } });
    await using session = await scriptsOf(dovecot);
    const script = `require ["copy", "fileinto", "mailbox", "imap4flags", "reject", "include"];\r\n${rules}\r\n`;
    await session.put('mine', script);
    await session.put('all', 'require "include";\r\ninclude :personal "mine";\r\n');
    const isSet = becomes === 'set';
    for (const active of ['mine', 'all']) {
      await session.activate(active);
      expect(await setUpForwarding(session, NEW_ADDRESS)).toEqual(isSet ? 'set' : { refused: 'rules' });
      await dovecot.deliver(SUBSCRIBER, message(active));
      const forwarded = subjectsOf(outbox.splice(0)).filter(([to]) => to === NEW_ADDRESS);
      expect(forwarded).toEqual(isSet ? [[NEW_ADDRESS, active]] : []);
      await switchOffForwarding(session, NEW_ADDRESS);
      expect((await session.scripts()).filter((each) => each.active)).toEqual([{ name: active, active: true }]);
    }
  });

  test('set up again goes to the new address and keeps the rules', async () => {
    await using smtp = new AsyncDisposableStack();
    const { outbox, smtpPort } = await startSmtp(smtp);
    await using dovecot = await startDovecot({ sieve: { smtpPort } });
    await addRules(dovecot, 'rules "of" \\ mine');
    {
      await using session = await scriptsOf(dovecot);
      for (const address of [NEW_ADDRESS, NEW_ADDRESS, 'other@mail.example'])
        expect(await setUpForwarding(session, address)).toBe('set');
    }
    await dovecot.deliver(SUBSCRIBER, message('lists'));
    expect(subjectsOf(outbox)).toEqual([['other@mail.example', 'lists']]);
    expect(await subjectsIn(dovecot, 'Lists')).toEqual(['lists']);
  });

  test('goes on when the subscriber deletes the rules that were there before, also where it is set up once more', async () => {
    await using smtp = new AsyncDisposableStack();
    const { outbox, smtpPort } = await startSmtp(smtp);
    await using dovecot = await startDovecot({ sieve: { smtpPort } });
    await addRules(dovecot);
    await using session = await scriptsOf(dovecot);
    expect(await setUpForwarding(session, NEW_ADDRESS)).toBe('set');
    await dovecot.deliver(SUBSCRIBER, message('beside'));
    await session.remove('my rules');
    await dovecot.deliver(SUBSCRIBER, message('alone'));
    expect(await setUpForwarding(session, NEW_ADDRESS)).toBe('set');
    await dovecot.deliver(SUBSCRIBER, message('again'));
    expect(subjectsOf(outbox)).toEqual(['beside', 'alone', 'again'].map((subject) => [NEW_ADDRESS, subject]));
    expect(await session.read(FORWARDING_SCRIPT)).not.toContain('include');
  });

  test('leaves what the subscriber has added to our script, and does not say that it is off', async () => {
    await using dovecot = await startDovecot({ sieve: {} });
    await addRules(dovecot);
    await using session = await scriptsOf(dovecot);
    expect(await setUpForwarding(session, NEW_ADDRESS)).toBe('set');
    const own = await session.read(FORWARDING_SCRIPT);
    const changed = `${own.replace('require [', 'require ["fileinto", ')}fileinto "INBOX";\r\n`;
    await session.put(FORWARDING_SCRIPT, changed);
    expect(await setUpForwarding(session, NEW_ADDRESS)).toEqual({ refused: 'name' });
    await expect(switchOffForwarding(session, NEW_ADDRESS)).rejects.toMatchObject({ fault: 'refused' });
    expect(await scriptsNow(dovecot)).toMatchObject({ [FORWARDING_SCRIPT]: { script: changed, active: true } });
    // One of an earlier version, from a server that ends lines its own way, is still ours.
    await session.put(FORWARDING_SCRIPT, own.replace(' :optional', '').replaceAll('\r\n', '\n'));
    await switchOffForwarding(session, NEW_ADDRESS);
    expect(await scriptsNow(dovecot)).toEqual({ 'my rules': { script: RULES, active: true } });
  });

  test('leaves a script of the subscriber alone that has the name of ours', async () => {
    await using dovecot = await startDovecot({ sieve: {} });
    await addRules(dovecot, FORWARDING_SCRIPT);
    await using session = await scriptsOf(dovecot);
    expect(await setUpForwarding(session, NEW_ADDRESS)).toEqual({ refused: 'name' });
    expect(await session.read(FORWARDING_SCRIPT)).toBe(RULES);
  });

  test('is refused where no script may redirect', async () => {
    await using dovecot = await startDovecot({ sieve: { maxRedirects: 0 } });
    await using session = await scriptsOf(dovecot);
    expect(await setUpForwarding(session, NEW_ADDRESS)).toEqual({ refused: 'redirects' });
    expect(await session.scripts()).toEqual([]);
  });

  test('finds a wrong password', async () => {
    await using dovecot = await startDovecot({ sieve: {} });
    const { port } = new URL(dovecot.sieveUrl);
    const place = { host: '127.0.0.1', port: Number(port), security: 'open' } as const;
    await expect(
      openSieveSession({ email: SUBSCRIBER, password: 'wrong', place }, AbortSignal.timeout(WITHIN_MS)),
    ).rejects.toMatchObject({ fault: 'credentials' });
  });
});

describe('the server of scripts', needs('dovecot', 'sievec', 'managesieve', 'dovecot-lda'), () => {
  test('is not sent the password without TLS', async () => {
    await using dovecot = await startDovecot({ sieve: {} });
    await expect(scriptsOf(dovecot, '')).rejects.toMatchObject({ fault: 'certificate' });
    expect(await dovecot.log()).not.toContain(SUBSCRIBER);
  });

  test('is sent the password over TLS with a trusted certificate, and with no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [key, certificate] = [join(folder, 'key'), join(folder, 'cert')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, '-keyout', key, '-out', certificate];
    await promisify(execFile)('openssl', ['req', '-x509', ...made]);
    await chmod(folder, 0o755);
    await chmod(key, 0o644);
    await using dovecot = await startDovecot({ sieve: {}, tls: { certificate, key } });
    await expect(scriptsOf(dovecot, '')).rejects.toMatchObject({ fault: 'certificate' });
    expect(await dovecot.log()).not.toContain(SUBSCRIBER);

    const before = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(before));
    setDefaultCACertificates([...before, await readFile(certificate, 'utf8')]);
    await using session = await scriptsOf(dovecot, '');
    expect(session.extensions).toContain('copy');
  });
});

function headersOf(readable: readonly number[]) {
  return async function* headers(_: string, uids: readonly number[]) {
    for (const uid of uids) if (readable.includes(uid)) yield { uid, header: Buffer.from(letter(uid).bytes) };
  };
}

const NOTHING_KNOWN = {
  claimed: async () => new Set<number>(),
  groups: async () => [],
  mailboxes: async () => [],
  rows: async function* () {},
};

const FAULTS = {
  ...openFaults(),
  looked: () => {},
  opened: { source: new Set<string>(), destination: new Set<string>() },
  sourcePaths: () => [],
  destinationPaths: () => [],
  copy: { refusalWaits: 0, troubleWaits: 0 },
};

test('what forwarding has brought since a transfer was put to rest, with messages on their way, is not copied', async () => {
  const mark = markOf(NEW_ADDRESS);
  const marked = [{ uid: 7, size: 500, flags: [mark], internalDate: new Date(2_000_000) }];
  const sent = { uid: 3, size: 400, date: 1000 };
  const listed = [
    { uid: 5, size: 400, flags: [], internalDate: new Date(1_000_000) },
    { uid: 7, size: 560, flags: [], internalDate: new Date(2_001_000) },
  ];
  const ledger = {
    ...NOTHING_KNOWN,
    groups: async () => [{ id: 1, mailboxId: 1, uidValidity: 1n, uidNext: 5, messages: [sent] }],
    mailboxes: async () => [{ id: 1, sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX' }],
  };
  const destination = {
    open: async () => ({ uidValidity: 1n }),
    search: async () => [5, 7],
    look: async function* () {
      yield listed;
    },
    headers: headersOf([7]),
  };
  const source = { headers: headersOf([7]) } as unknown as MailReader;
  const forwarded = openForwarded(() => ['INBOX'], MACHINE_CLOCK, ledger, FAULTS);
  expect(await forwarded.brought('INBOX', 1n, marked, source, destination as never)).toEqual(new Set([7]));
});

test('a forwarded message that the source lists but does not return is left to the copy, which reports it', async () => {
  const mark = markOf(NEW_ADDRESS);
  const marked = [1, 2].map((uid) => ({ uid, size: 1, flags: [mark], internalDate: new Date(0) }));
  const source = { headers: headersOf([1]) };
  const destination = {
    open: async () => ({ uidValidity: 1n }),
    search: async () => [1, 2],
    headers: headersOf([1, 2]),
  };
  const forwarded = openForwarded(() => ['INBOX'], MACHINE_CLOCK, NOTHING_KNOWN, FAULTS);
  for (let listing = 1; listing <= 2; listing += 1)
    expect(await forwarded.brought('INBOX', 1n, marked, source as unknown as MailReader, destination as never)).toEqual(
      new Set([1]),
    );
});

test('forwarding that goes to an address once more is on in all transfers to it, and no longer told as over', async () => {
  await using database = await openTestDatabase(FRESH);
  const ordered = async (id: string, destinationEmail: string) => {
    const transfer = {
      id: id.repeat(32),
      sourceEmail: SUBSCRIBER,
      sourceProvider: 'sanbruno',
      destinationEmail,
    } as const;
    const operations = ['emailforwarding'] as const;
    await insertTransfer(database, { ...transfer, destinationProvider: 'other', operations, inQa: false }, id);
  };
  const set = async (id: string, copies = true) => {
    await database.query('update transfers set finished = now()');
    await database.query("update operations set status = 'completed', finished = now() where finished is null");
    await noteForwardingSet(database, id.repeat(32), copies);
  };
  const moved = async (id: string, destinationEmail: string) => {
    await ordered(id, destinationEmail);
    await set(id);
  };
  const areOn = async () =>
    Promise.all(['a', 'b', 'c'].map(async (id) => (await forwardingOf(database, id.repeat(32)))?.isOn));
  await moved('a', NEW_ADDRESS);
  await moved('b', 'ann@elsewhere.example');
  expect(await areOn()).toEqual([false, true, undefined]);
  await moved('c', NEW_ADDRESS);
  expect(await areOn()).toEqual([true, false, true]);
  // It was off for a while, and nobody says that it has been on since the first time.
  const sinceOf = async (id: string) => (await forwardingOf(database, id.repeat(32)))?.since?.getTime();
  await noteForwardingOff(database, 'c'.repeat(32));
  expect(await areOn()).toEqual([false, false, false]);
  await moved('d', NEW_ADDRESS);
  const last = await sinceOf('d');
  expect(await Promise.all(['a', 'c'].map(sinceOf))).toEqual([last, last]);
  // It was switched off while a later one was to come, which is on all the same.
  await ordered('e', NEW_ADDRESS);
  await noteForwardingOff(database, 'e'.repeat(32));
  await set('e');
  expect(await Promise.all(['d', 'e'].map(async (id) => (await forwardingOf(database, id.repeat(32)))?.isOn))).toEqual([
    true,
    true,
  ]);
  // There is one script: whether copies stay is so for each of them.
  await ordered('f', NEW_ADDRESS);
  await set('f', false);
  expect((await forwardingOf(database, 'e'.repeat(32)))?.copies).toBe(false);
});

test(
  'a copy is said to stay only where the server can mark it',
  { ...needs('dovecot', 'sievec', 'managesieve', 'dovecot-lda'), tags: 'proof' },
  async () => {
    expect(await toldOfCopies({})).toBe(true);
    expect(await toldOfCopies({ extensions: '-imap4flags' })).toBe(false);
  },
);

test('forwarding is offered where there is a server of scripts, and not to the mailbox itself or a file', async () => {
  await using world = await openWebWorld({ environment: { LEGACY_SIEVE_URL: 'sieve://127.0.0.1:9' } });
  world.passwords.set(SUBSCRIBER, DOVECOT_PASSWORD);
  world.passwords.set(NEW_ADDRESS, DOVECOT_PASSWORD);
  expect((await world.post('/api/capabilities/', { email: SUBSCRIBER })).body).toMatchObject({
    allowed_operations: ['emailmigration', 'contactsmigration', 'emailforwarding'],
  });
  const load = (destination: object) =>
    world.post('/api/load/', {
      source_account: { email: SUBSCRIBER, password: DOVECOT_PASSWORD, provider: 'sanbruno' },
      destination_account: { email: NEW_ADDRESS, password: DOVECOT_PASSWORD, provider: 'yahoo', ...destination },
      operations: ['emailforwarding'],
      parameters: {},
    });
  for (const destination of [{ email: SUBSCRIBER }, { email: 'other@sbcable.example' }])
    expect((await load(destination)).body).toEqual({
      error: 'OPERATION_NOT_ALLOWED',
      message: "Operation 'emailforwarding' not allowed.",
    });
  expect((await load({ provider: 'file_export' })).body).toMatchObject({ error: 'OPERATION_NOT_ALLOWED' });
  const { status, body } = await load({});
  expect(status).toBe(200);
  const { jobid } = body as { jobid: string };
  // It implies the mail.
  expect(
    await world.database.query('select operation from operations where transfer_id = $1 order by operation', [jobid]),
  ).toEqual([{ operation: 'emailforwarding' }, { operation: 'emailmigration' }]);
  expect((await world.get(`/api/status/?job_id=${jobid}`)).body).toEqual({ emailmigration: { status: 'started' } });
});

/** Sets up forwarding at a server of scripts that is asked to stop as it makes our script active. */
/** Whether the status of a transfer says that copies stay. */
async function toldOfCopies(extensions: object): Promise<boolean | undefined> {
  await using stack = new AsyncDisposableStack();
  const source = stack.use(await startDovecot({ sieve: extensions }));
  const destination = stack.use(await startDovecot());
  const environment = {
    LEGACY_IMAP_URL: source.url,
    YAHOO_IMAP_URL: destination.url,
    LEGACY_SIEVE_URL: source.sieveUrl,
  };
  const world = stack.use(await openWorld(FRESH, environment, { pause: async () => {} }));
  const { id } = await world.transfers.start(FORWARDED);
  expect(await operationsOnceEnded(world, id)).toMatchObject({ emailforwarding: { status: 'completed' } });
  return (await world.transfers.status(id))?.emailforwarding?.copies;
}

async function stopAsItIsActivated(answersThen: boolean) {
  const stop = new AbortController();
  let isActive = false;
  const answerTo = (asked: string) => {
    if (asked.startsWith('LISTSCRIPTS')) return isActive ? `"${FORWARDING_SCRIPT}" ACTIVE\r\nOK\r\n` : 'OK\r\n';
    if (!asked.startsWith('SETACTIVE')) return asked.startsWith('CAPABILITY') ? CAPABILITIES : 'OK\r\n';
    isActive = true;
    stop.abort();
    return answersThen ? 'OK\r\n' : '';
  };
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', (part) => socket.write(answerTo(part.toString())));
    socket.write(CAPABILITIES);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const run = {
    transfer: { id: 'a'.repeat(32), sourceEmail: SUBSCRIBER, destinationEmail: NEW_ADDRESS },
    lease: { mayWrite: () => true },
    source: { kind: 'password', password: DOVECOT_PASSWORD },
    signal: stop.signal,
    idleRuns: () => 1,
    isOpen: () => true,
  };
  const settings = readSettings({
    SANDBOX: 'on',
    LEGACY_SIEVE_URL: `sieve://127.0.0.1:${(server.address() as AddressInfo).port}`,
    TRUSTED_MAIL_HOSTS: '127.0.0.1',
  });
  const services = {
    settings,
    database: { query: async () => [{}] },
    clock: {
      ...MACHINE_CLOCK,
      after: (_: number, late: () => void) => MACHINE_CLOCK.after(answersThen ? 30_000 : 0, late),
    },
    log: openLog('silent'),
    pause: async () => {},
  };
  return runForwarding(run as unknown as Run, services as unknown as RunnerServices);
}

test('a stop that comes as forwarding is switched on waits a moment for the answer, so that it can be switched off', async () => {
  expect(await stopAsItIsActivated(true)).toEqual({ status: 'completed' });
  await expect(stopAsItIsActivated(false)).rejects.toThrow(Stopped);
});

async function talkTo(greet: (socket: Socket) => void, security: 'open' | 'starttls' = 'open', withinMs = 30_000) {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', (part) => heard.push(part.toString()));
    greet(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  const place = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, security };
  const account = { email: SUBSCRIBER, password: 'canary-password', place };
  const fault = await openSieveSession(account, AbortSignal.timeout(withinMs)).catch((error: unknown) => error);
  return { fault, heard: heard.join('') };
}

describe('an odd server of scripts', () => {
  test(
    'scripts are given to a trusted server only with the certificate that is named for it',
    needs('openssl'),
    async () => {
      const [named, other] = [await selfSigned('scripts.internal'), await selfSigned('scripts.internal')];
      const heard: string[] = [];
      const greeting = '"SASL" "PLAIN"\r\n"STARTTLS"\r\nOK\r\n';
      const server = createServer((socket) => {
        socket.on('error', () => {}).write(greeting);
        socket.once('data', () => {
          socket.write('OK "go on"\r\n');
          const secure = new TLSSocket(socket, { isServer: true, ...named });
          secure
            .on('error', () => {})
            .on('data', (part) => {
              heard.push(part.toString());
              secure.write('OK\r\n');
            });
          secure.write(greeting);
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      onTestFinished(() => {
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const trust = { legacySieveUrl: `sieve://127.0.0.1:${port}`, trustedMailHosts: ['127.0.0.1'] };
      const signInWith = async ({ cert }: { cert: Buffer }) => {
        const place = sievePlaceOf({ ...trust, trustedMailCertificates: [String(cert)] });
        if (place === null) throw new Error('There is no server of scripts.');
        const account = { email: SUBSCRIBER, password: 'canary-password', place };
        await using _session = await openSieveSession(account, AbortSignal.timeout(WITHIN_MS));
      };
      await expect(signInWith(other)).rejects.toMatchObject({ fault: 'certificate' });
      expect(heard).toEqual([]);
      await signInWith(named);
      expect(heard[0]).toContain('AUTHENTICATE');
    },
  );

  test('that injects a response before the handshake is told nothing', async () => {
    const { fault, heard } = await talkTo((socket) => {
      socket.write('"SASL" "PLAIN"\r\n"STARTTLS"\r\nOK\r\n');
      socket.once('data', () => socket.write('OK "go on"\r\n"SASL" "PLAIN"\r\nOK "injected"\r\n'));
    }, 'starttls');
    expect(fault).toMatchObject({ fault: 'certificate' });
    expect(heard).toBe('STARTTLS\r\n');
  });

  test.each([
    ['says something else', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<html>)', 'lost'],
    ['says goodbye', 'BYE (TRYLATER) "busy"\r\n', 'busy'],
    ['has no end', '"x" "y"\r\n'.repeat(300_000), 'lost'],
  ])('that %s is a fault of mail', async (_what, greeting, fault) => {
    expect(await talkTo((socket) => socket.end(greeting))).toMatchObject({ fault: { fault } });
  });

  test('that is silent is abandoned when the time is over', async () => {
    expect(await talkTo(() => {}, 'open', 100)).toMatchObject({ fault: { name: 'TimeoutError' }, heard: '' });
  });

  test('that goes on talking while nothing is asked is hung up on', async () => {
    const hungUp = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('close', () => hungUp.resolve());
      socket.write('OK\r\n'.repeat(300_000));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    using socket = new SieveSocket({ host: '127.0.0.1', port }, AbortSignal.timeout(WITHIN_MS));
    expect(await socket.reply()).toMatchObject({ status: 'OK' });
    await hungUp.promise;
    await expect(socket.reply()).rejects.toMatchObject({ fault: 'lost' });
  });

  test('that puts lists into lists does not end the process', () => {
    expect(() => readReply(Buffer.from(`OK ${'('.repeat(60_000)}`))).toThrow(SieveSyntaxError);
    expect(readReply(Buffer.from('NO (X-LIMIT (1 (2)) 3) "no"\r\n'))?.reply).toMatchObject({ code: 'X-LIMIT' });
  });

  test('is understood the same, however its answer is split', () => {
    const answer = Buffer.from(
      '"a \\"b\\" \\\\" ACTIVE\r\n{6}\r\nx\r\ny\r\n\r\n"Grüße"\r\nNO (QUOTA/MAXSIZE "1)") {3+}\r\nfoo\r\n',
    );
    const reply = {
      lines: [['a "b" \\', 'ACTIVE'], ['x\r\ny\r\n'], ['Grüße']],
      status: 'NO',
      code: 'QUOTA/MAXSIZE',
    };
    expect(readReply(Buffer.concat([answer, Buffer.from('next')]))).toEqual({ reply, length: answer.length });
    for (let cut = 0; cut < answer.length; cut += 1) expect(readReply(answer.subarray(0, cut)), `${cut}`).toBeNull();
  });
});
