import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { startNotifier, type NotifierSettings } from '../../src/server/notifications/notifier.ts';
import { claimNotification, queueNotification } from '../../src/server/notifications/outbox.ts';
import { openDatabase, type Database } from '../../src/server/store/database.ts';
import { insertTransfer } from '../../src/server/transfers/operations.ts';

const ID = 'b'.repeat(32);
const STATUS = `https://portal.example/status?migration_id=${ID}`;

async function openFilled(): Promise<Database> {
  const database = await openDatabase({ folder: 'memory://' });
  await insertTransfer(
    database,
    {
      id: ID,
      sourceEmail: 'a@b.example',
      sourceProvider: 'sanbruno',
      destinationEmail: 'c@d.example',
      destinationProvider: 'yahoo',
      operations: ['emailmigration', 'contactsmigration'],
      inQa: false,
    },
    'key',
  );
  return database;
}

function start(database: Database, settings: Partial<NotifierSettings>, log = openLog('silent')): AsyncDisposable {
  return startNotifier({
    database,
    settings: { publicUrl: 'https://portal.example', legacyName: 'San Bruno', smtpInClear: true, ...settings },
    log,
    exportFiles: async () => [],
  });
}

async function startSmtp(answer: (letters: number) => Error | null | Promise<null>) {
  const letters: string[] = [];
  let deliveries = 0;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      void (async () => {
        const letter = await text(stream);
        deliveries += 1;
        const error = await answer(deliveries);
        if (error === null) letters.push(letter);
        done(error);
      })();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    letters,
    deliveries: () => deliveries,
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

describe('a notification', () => {
  test('is a letter with the result first, the transfer ID and the link, and is sent once', async () => {
    await using smtp = await startSmtp(() => null);
    await using database = await openFilled();
    await database.query("update operations set done = 12, status = 'completed' where operation = 'emailmigration'");
    for (let time = 0; time < 2; time += 1) await queueNotification(database, ID, 'finished', 'new@home.example');
    await using _notifier = start(database, { smtpUrl: smtp.url, mailFrom: 'Portal <no-reply@portal.example>' });
    await expect.poll(() => smtp.letters.length, { timeout: 10_000 }).toBe(1);
    const [letter = ''] = smtp.letters;
    expect(letter).toContain('To: new@home.example');
    expect(letter).toContain('Subject: The transfer of your San Bruno email data is complete.');
    expect(letter).toMatch(
      /text\/plain[\s\S]*The transfer of your San Bruno email data is complete\.[\s\S]*12 messages were copied/,
    );
    expect(letter).toContain('text/html');
    expect(letter.replaceAll('=\r\n', '').replaceAll('=3D', '=')).toContain(STATUS);
    await expect.poll(() => database.query('select 1 from notifications where sent is null')).toEqual([]);
    expect(smtp.deliveries()).toBe(1);
  });

  test('that the mail server does not take is kept and tried again later', async () => {
    await using smtp = await startSmtp((letters) => (letters === 1 ? new Error('not now') : null));
    await using database = await openFilled();
    await queueNotification(database, ID, 'started', 'new@home.example');
    await using _notifier = start(database, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.deliveries(), { timeout: 10_000 }).toBe(1);
    const waiting = `select attempts, sent is null as unsent, due > now() and due < now() + interval '1 minute' as later
      from notifications`;
    await expect.poll(() => database.query(waiting)).toEqual([{ attempts: 1, unsent: true, later: true }]);
    await database.query('update notifications set due = now()');
    await expect.poll(() => smtp.letters.length, { timeout: 10_000 }).toBe(1);
  });

  test('that takes a slow mail server minutes is sent by nobody else meanwhile', async () => {
    const slow = Promise.withResolvers<null>();
    await using smtp = await startSmtp(() => slow.promise);
    await using database = await openFilled();
    await queueNotification(database, ID, 'started', 'new@home.example');
    await using _notifier = start(database, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.deliveries(), { timeout: 10_000 }).toBe(1);
    // Two minutes later another process looks.
    await database.query("update notifications set due = due - interval '2 minutes'");
    expect(await claimNotification(database)).toBeNull();
    slow.resolve(null);
    await expect.poll(() => smtp.letters.length, { timeout: 10_000 }).toBe(1);
    await expect.poll(() => database.query('select 1 from notifications where sent is null')).toEqual([]);
  });

  test('that was sent is not sent again at once when that can not be noted', async () => {
    await using smtp = await startSmtp(() => null);
    await using database = await openFilled();
    await queueNotification(database, ID, 'started', 'new@home.example');
    await database.query('alter table notifications add constraint unnoted check (sent is null)');
    const lines: string[] = [];
    const log = openLog('error', { write: (line) => void lines.push(line) });
    await using _notifier = start(database, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' }, log);
    await expect.poll(() => lines.join(''), { timeout: 10_000 }).toContain('could not be looked through');
    const held = "select due > now() + interval '5 minutes' as held from notifications";
    expect(await database.query(held)).toEqual([{ held: true }]);
    expect(smtp.deliveries()).toBe(1);
  });

  test('to an address that begins like a phone number is a letter', async () => {
    await using smtp = await startSmtp(() => null);
    await using database = await openFilled();
    await queueNotification(database, ID, 'started', '+16505550100@home.example');
    await using _notifier = start(database, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.letters.length, { timeout: 10_000 }).toBe(1);
    expect(smtp.letters[0]).toContain('To: +16505550100@home.example');
  });

  test('to a phone number goes to the gateway for SMS, with its token', async () => {
    const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
    const gateway = createServer((request, response) => {
      void text(request).then((body) => {
        requests.push({ headers: request.headers, body });
        return response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    try {
      await using database = await openFilled();
      await queueNotification(database, ID, 'attention', '+16505550100');
      const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`;
      await using _notifier = start(database, { sms: { url, token: 'gateway-token' } });
      await expect.poll(() => requests.length, { timeout: 10_000 }).toBe(1);
      expect(requests[0]?.headers).toMatchObject({
        authorization: 'Bearer gateway-token',
        'idempotency-key': `attention.${ID}`,
      });
      expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
        to: '+16505550100',
        text: `The transfer of your San Bruno email data needs your attention. Transfer ID: ${ID}. ${STATUS}`,
      });
    } finally {
      gateway.close();
    }
  });
});
