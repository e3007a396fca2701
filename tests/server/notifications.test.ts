import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createMailServer } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { takenBack } from '../../src/server/mail/copy/ledger/take-back-records.ts';
import { freePort } from '../support/free-port.ts';
import { Unanswered } from '../../src/server/notifications/letters.ts';
import { openNotifier, type NotifierSettings } from '../../src/server/notifications/notifier.ts';
import { sendSms } from '../../src/server/notifications/sms.ts';
import type { News, NotificationKind } from '../../src/server/notifications/news.ts';
import type { Database } from '../../src/server/store/database.ts';
import { newsOf } from '../../src/server/transfers/transfer-news.ts';
import { reviewOf } from '../../src/server/transfers/review.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { openJobQueue, type JobQueue } from '../../src/server/worker/queue.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';

const ID = 'b'.repeat(32);
const STATUS = `https://portal.example/status?migration_id=${ID}`;
const JOBS = "select state, retry_count as tries from pgboss.job where name = 'notifications'";

type Filled = AsyncDisposable & { readonly database: Database; readonly queue: JobQueue };

/** @param proven the address of the destination; the contact's own when left out */
async function openFilled(contact = 'new@home.example', proven?: string): Promise<Filled> {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openTestDatabase(FRESH));
  await insertTransfer(
    database,
    {
      id: ID,
      sourceEmail: 'a@b.example',
      sourceProvider: 'sanbruno',
      destinationEmail: proven ?? contact,
      destinationProvider: 'yahoo',
      operations: ['emailmigration', 'contactsmigration'],
      notificationContact: contact,
      inQa: false,
    },
    'key',
  );
  const queue = opening.use(await openJobQueue({ database, log: openLog('silent') }));
  const lifetime = opening.move();
  return { database, queue, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

async function start(
  { database, queue }: Filled,
  settings: Partial<NotifierSettings>,
  log = openLog('silent'),
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const sources = {
    skippedMessages: async () => [],
    countSkippedMessages: async () => 0,
    folders: async () => [],
    takenBack: (id: string) => takenBack(database, id),
    bringsBack: async () => false,
    arrivals: async () => ({ compared: 0, present: 0, moved: 0 }),
    canTell: () => true,
    daily: async () => null,
    contactCounts: async () => null,
    contactRemarks: async () => [],
    exportStanding: async () => null,
    exportFiles: async () => [],
  };
  const notifier = starting.use(
    openNotifier({
      settings: {
        publicUrl: 'https://portal.example',
        legacyName: 'San Bruno',
        supportPhone: '650 555 0100',
        smtpInClear: true,
        ...settings,
      },
      log,
      news: (id) => newsOf(database, sources, id),
      review: (id) => reviewOf(database, id),
    }),
  );
  starting.use(await queue.workOnNotifications(notifier.tell));
  return starting.move();
}

/** @param refusal what is said to each recipient */
async function startSmtp(answer: (letters: number) => Error | null | Promise<null>, refusal?: string) {
  const letters: string[] = [];
  let deliveries = 0;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo: (_address, _session, done) =>
      done(refusal === undefined ? null : Object.assign(new Error(refusal), { responseCode: 550 })),
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

async function startGateway(said: string): Promise<{ readonly url: string; readonly taken: () => number }> {
  let taken = 0;
  const gateway = createServer((request, response) => {
    taken += 1;
    request.resume().on('end', () => {
      if (said === 'hangs up') request.socket.destroy();
      else response.writeHead(Number(said)).end();
    });
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  onTestFinished(() => void gateway.close());
  return { url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`, taken: () => taken };
}

const NEWS: News = {
  contact: 'a@b.example',
  isConfirmed: true,
  source: 'a@b.example',
  destination: { provider: 'yahoo', email: 'new@home.example' },
  messages: 1,
  messagesPresent: 0,
  messagesMoved: 0,
  contacts: 0,
  contactsPresent: 0,
  contactsCompleted: 0,
  remarks: false,
  skipped: 0,
  outcomes: [],
};
const WAITING: Partial<News> = { waiting: { operation: 'emailmigration', reason: 'busy' } };

describe('a notification', () => {
  test.each<[NotificationKind, Partial<News>, number]>([
    ['started', {}, 1],
    ['started', { hasLongEnded: true }, 0],
    ['waiting', WAITING, 1],
    ['waiting', {}, 0],
  ])('that something is %s is sent only while that is news: %j', async (kind, news, letters) => {
    await using smtp = await startSmtp(() => null);
    using notifier = openNotifier({
      settings: {
        publicUrl: 'https://portal.example',
        legacyName: 'San Bruno',
        supportPhone: '650 555 0100',
        smtpUrl: smtp.url,
        smtpInClear: true,
        mailFrom: 'no-reply@portal.example',
      },
      log: openLog('silent'),
      news: async () => ({ ...NEWS, ...news }),
      review: async () => null,
    });
    await notifier.tell({ transferId: ID, kind }, false);
    expect(smtp.deliveries()).toBe(letters);
  });

  test('of a transfer that needs review goes to support once, with what it needs', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await database.query(
      `update operations set status = 'review', done = 7, total = 12, failure = 'It stopped.', finished = now()
       where operation = 'emailmigration'`,
    );
    await database.query('update transfers set finished = now()');
    for (let time = 0; time < 2; time += 1) await queue.announce(ID, 'review');
    await using _notifier = await start(filled, {
      smtpUrl: smtp.url,
      mailFrom: 'Portal <no-reply@portal.example>',
      supportEmail: 'support@operator.example',
    });
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    const [letter = ''] = smtp.letters;
    const said = letter.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    expect(letter).toContain('To: support@operator.example');
    for (const part of [ID, STATUS, 'a@b.example', '7 of 12', 'It stopped.', 'new@home.example'])
      expect(said).toContain(part);
    expect(smtp.deliveries()).toBe(1);
  });

  test.each([
    ['has completed', "update operations set status = 'completed'"],
    ['waits for a password', "update operations set status = 'authentication_error'"],
  ])('of a transfer that %s does not go to support', async (_, change) => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await database.query(change);
    await database.query('update transfers set finished = now()');
    await queue.announce(ID, 'review');
    await using _notifier = await start(filled, {
      smtpUrl: smtp.url,
      mailFrom: 'Portal <no-reply@portal.example>',
      supportEmail: 'support@operator.example',
    });
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    expect(smtp.deliveries()).toBe(0);
  });

  test('is a letter with the result first, the transfer ID and the link, and is sent once', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await database.query("update operations set done = 12, status = 'completed' where operation = 'emailmigration'");
    for (let time = 0; time < 2; time += 1) await queue.announce(ID, 'finished');
    await using _notifier = await start(filled, {
      smtpUrl: smtp.url,
      mailFrom: 'Portal <no-reply@portal.example>',
    });
    await expect.poll(() => smtp.letters.length).toBe(1);
    const [letter = ''] = smtp.letters;
    expect(letter).toContain('To: new@home.example');
    expect(letter).toContain('Subject: Your San Bruno email transfer to Yahoo is complete');
    expect(letter).toMatch(
      /text\/plain[\s\S]*Your San Bruno email transfer to Yahoo is complete\.[\s\S]*12 messages were copied/,
    );
    expect(letter).toContain('text/html');
    expect(letter.replaceAll('=\r\n', '').replaceAll('=3D', '=')).toContain(STATUS);
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    await queue.announce(ID, 'finished');
    expect(await database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    expect(smtp.deliveries()).toBe(1);
  });

  test.each(['started', 'finished', 'attention', 'stopped', 'taken back'] as const)(
    'that says %s has a name that any mail server takes for one (RFC 5322)',
    async (kind) => {
      await using smtp = await startSmtp(() => null);
      await using filled = await openFilled();
      await filled.queue.announce(ID, kind, { occurrence: '1' });
      await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
      await expect.poll(() => smtp.letters.length).toBe(1);
      expect(smtp.letters[0]).toMatch(/^Message-ID: <[\w.-]+@portal\.example>\r$/m);
    },
  );

  test('of what rests tells each need by itself: a second one waits until the first has been put right', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await database.query(
      `update operations set status = 'review', attention_side = 'destination', attention_since = now() - interval '3 days',
         attention_reason = case operation when 'emailmigration' then 'full' else 'consent' end`,
    );
    for (const reason of ['consent', 'full'])
      await queue.announce(ID, 'paused', { occurrence: `0.destination.${reason}.2` });
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    const done = { state: 'completed', tries: 0 };
    await expect.poll(() => database.query(JOBS)).toEqual([done, done]);
    expect(smtp.letters).toEqual([expect.stringContaining('is full')]);
  });

  test('about the end of a transfer is not sent once it is taken back, nor about the end of a take-back that was asked for again', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled();
    const { database, queue } = filled;
    const asked = async () => {
      const [row] = await database.query<{ asked: Date }>(
        `insert into take_backs (transfer_id) values ($1)
         on conflict (transfer_id) do update set asked = now() + interval '1 second' returning asked`,
        [ID],
      );
      return String(row?.asked.getTime());
    };
    await queue.announce(ID, 'attention');
    for (let time = 0; time < 2; time += 1) await queue.announce(ID, 'taken back', { occurrence: await asked() });
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    const done = { state: 'completed', tries: 0 };
    await expect.poll(() => database.query(JOBS), { timeout: 10_000 }).toEqual([done, done, done]);
    expect(smtp.letters).toEqual([
      expect.stringContaining('Subject: Your San Bruno email transfer to Yahoo was taken'),
    ]);
  });

  test('of news that did not come true is not sent', async () => {
    await using filled = await openFilled();
    const { database, queue } = filled;
    const undone = database.transaction(async (sql) => {
      await queue.announce(ID, 'finished', { sql });
      throw new Error('It is undone.');
    });
    await expect(undone).rejects.toThrow('It is undone.');
    expect(await database.query(JOBS)).toEqual([]);
  });

  test('that the mail server does not accept is kept and retried later', async () => {
    await using smtp = await startSmtp((letters) => (letters === 1 ? new Error('not now') : null));
    await using filled = await openFilled();
    const { database, queue } = filled;
    await queue.announce(ID, 'started');
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.deliveries()).toBe(1);
    const waiting = `select state, start_after > now() + interval '10 seconds' and start_after < now() + interval '2 minutes' as later
      from pgboss.job where name = 'notifications'`;
    await expect.poll(() => database.query(waiting)).toEqual([{ state: 'retry', later: true }]);
    await database.query("update pgboss.job set start_after = now() where name = 'notifications'");
    await expect.poll(() => smtp.letters.length).toBe(1);
  });

  test('that the mail server never accepts is logged the last time as given up, not as to be retried', async () => {
    await using smtp = await startSmtp(() => new Error('not now'));
    await using filled = await openFilled();
    const { database, queue } = filled;
    await queue.announce(ID, 'started');
    const lines: string[] = [];
    const log = openLog('warn', { write: (line) => void lines.push(line) });
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' }, log);
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toContain('it is tried again');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { code: 'EMESSAGE', responseCode: 450, command: 'DATA' } });
    const state = "select 1 from pgboss.job where name = 'notifications' and state = $1";
    await expect.poll(() => database.query(state, ['retry'])).toHaveLength(1);
    await database.query(
      "update pgboss.job set retry_count = retry_limit - 1, start_after = now() where name = 'notifications'",
    );
    await expect.poll(() => database.query(state, ['failed'])).toHaveLength(1);
    expect(lines.at(-1)).toContain('is given up');
  });

  test.each([
    ['5.1.1 No such user here', 'given up', 'no such mailbox'],
    ['5.6.7 Non-ASCII addresses not permitted for that sender/recipient', 'given up', 'no such mailbox'],
    ['5.7.1 Relay access denied', 'tried again', 'does it let MAIL_FROM send'],
    ['No reason', 'tried again', 'does it let MAIL_FROM send'],
  ])('that is refused with 550 %s is %s, and told at once', async (refusal, becomes, told) => {
    await using smtp = await startSmtp(() => null, refusal);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await queue.announce(ID, 'started');
    const lines: string[] = [];
    const log = openLog('error', { write: (line) => void lines.push(line) });
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' }, log);
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toContain(told);
    const state = becomes === 'tried again' ? 'retry' : 'completed';
    await expect.poll(() => database.query(JOBS)).toMatchObject([{ state }]);
  });

  test('that can’t be sent for want of a mail server is logged as an error at once, as no other can be sent either', async () => {
    await using filled = await openFilled();
    await filled.queue.announce(ID, 'started');
    const lines: string[] = [];
    const log = openLog('error', { write: (line) => void lines.push(line) });
    const smtpUrl = `smtp://127.0.0.1:${await freePort()}`;
    await using _notifier = await start(filled, { smtpUrl, mailFrom: 'no-reply@portal.example' }, log);
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      transferId: ID,
      kind: 'started',
      err: { code: 'ESOCKET' },
      msg: 'a notification was not sent, and none will be until SMTP_URL can be used. It is tried again',
    });
  });

  test('that takes a slow mail server minutes is sent by nobody else meanwhile', async () => {
    const slow = Promise.withResolvers<null>();
    await using smtp = await startSmtp(() => slow.promise);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await queue.announce(ID, 'started');
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.deliveries()).toBe(1);
    // Two minutes later another process looks for what nobody works on any more.
    await database.query(
      "update pgboss.job set started_on = started_on - interval '2 minutes' where name = 'notifications'",
    );
    await database.query('update pgboss.queue set monitor_on = null, monitor_claim_on = null');
    const other = database.queue({ schedule: false, supervise: false });
    await other.start();
    await other.supervise('notifications');
    await other.stop();
    expect(await database.query(JOBS)).toEqual([{ state: 'active', tries: 0 }]);
    slow.resolve(null);
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    expect(smtp.letters.length).toBe(1);
  });

  test('that was sent is not sent again when the queue could not record it', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled();
    const { database, queue } = filled;
    await queue.announce(ID, 'started');
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    await database.query(
      "update pgboss.job set state = 'retry', completed_on = null, start_after = now() where name = 'notifications'",
    );
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 1 }]);
    expect(smtp.deliveries()).toBe(1);
  });

  test('that a mail server takes and never answers for is given up after some tries, as each may have arrived', async () => {
    let taken = 0;
    const server = createMailServer((socket) => {
      let isLetter = false;
      socket.on('error', () => {}).write('220 mail.example\r\n');
      createInterface({ input: socket }).on('line', (line) => {
        if (isLetter && line !== '.') return;
        if (isLetter) {
          taken += 1;
          socket.destroy();
          return;
        }
        isLetter = line === 'DATA';
        socket.write(isLetter ? '354 go on\r\n' : '250 ok\r\n');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const lines: string[] = [];
    using notifier = openNotifier({
      settings: {
        publicUrl: 'https://portal.example',
        legacyName: 'San Bruno',
        supportPhone: '650 555 0100',
        smtpUrl: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
        smtpInClear: true,
        mailFrom: 'no-reply@portal.example',
      },
      log: openLog('warn', { write: (line) => void lines.push(line) }),
      news: async () => NEWS,
      review: async () => null,
    });
    const tell = (unanswered: number) => notifier.tell({ transferId: ID, kind: 'attention', unanswered }, false);
    for (let tries = 0; tries < 7; tries += 1) await expect(tell(tries)).rejects.toBeInstanceOf(Unanswered);
    expect(lines.at(-1)).toContain('it is tried again');
    await tell(7);
    expect([taken, lines.length]).toEqual([8, 8]);
    expect(lines.at(-1)).toContain('may have arrived each time');
  });

  test.each([
    ['500', true],
    ['504', true],
    ['hangs up', true],
    ['502', false],
    ['302', false],
    ['401', false],
    ['429', false],
  ])('that the gateway for SMS gets, and answers by %s, may have arrived: %s', async (said, mayHaveArrived) => {
    const sending = sendSms(await startGateway(said), '+16505550100', 'text', 'key');
    await expect(sending.catch((error: unknown) => error instanceof Unanswered)).resolves.toBe(mayHaveArrived);
  });

  test('that may have arrived is sent eight times in all, whichever process sends it', async () => {
    const gateway = await startGateway('504');
    await using filled = await openFilled('+16505550100');
    const { database, queue } = filled;
    const jobs = () =>
      database.query(
        "select state, retry_count as tries, data->'unanswered' as counted from pgboss.job where name = 'texts'",
      );
    await queue.announce(ID, 'attention');
    {
      await using _notifier = await start(filled, { sms: { url: gateway.url } });
      await expect.poll(jobs).toEqual([{ state: 'retry', tries: 0, counted: 1 }]);
    }
    await database.query(
      `update pgboss.job set start_after = now(), data = data || '{"unanswered": 7}' where name = 'texts'`,
    );
    await using _notifier = await start(filled, { sms: { url: gateway.url } });
    await expect.poll(jobs).toEqual([{ state: 'completed', tries: 1, counted: 7 }]);
    expect(gateway.taken()).toBe(2);
  });

  test('to an address that begins like a phone number is a letter', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled('+16505550100@home.example');
    await filled.queue.announce(ID, 'started');
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.letters.length).toBe(1);
    expect(smtp.letters[0]).toContain('To: +16505550100@home.example');
  });

  test('to an address that nobody has proven is sent only once, at the end, and without content', async () => {
    await using smtp = await startSmtp(() => null);
    await using filled = await openFilled('typo@home.example', 'c@d.example');
    const { database, queue } = filled;
    await database.query("update operations set done = 12, status = 'completed' where operation = 'emailmigration'");
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await queue.announce(ID, 'started');
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
    await queue.announce(ID, 'finished');
    await expect.poll(() => smtp.letters.length).toBe(1);
    const letter = smtp.letters[0]?.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '';
    expect(letter).toContain('Subject: A San Bruno email transfer is complete');
    expect(letter).toContain(STATUS);
    for (const secret of ['a@b.example', 'c@d.example', '12 messages', 'Yahoo']) expect(letter).not.toContain(secret);
  });

  test('is not held up by one to somebody else that the mail server takes minutes over, but by the owner’s own', async () => {
    const slow = Promise.withResolvers<null>();
    await using smtp = await startSmtp((deliveries) => (deliveries === 1 ? slow.promise : null));
    await using filled = await openFilled();
    const { database, queue } = filled;
    const other = 'c'.repeat(32);
    await insertTransfer(
      database,
      {
        id: other,
        sourceEmail: 'c@b.example',
        sourceProvider: 'sanbruno',
        destinationEmail: 'other@home.example',
        destinationProvider: 'yahoo',
        operations: ['emailmigration'],
        notificationContact: 'other@home.example',
        inQa: false,
      },
      'other key',
    );
    await queue.announce(ID, 'attention');
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example' });
    await expect.poll(() => smtp.deliveries()).toBe(1);
    await queue.announce(ID, 'finished');
    await queue.announce(other, 'attention');
    await expect.poll(() => smtp.letters.length, { timeout: 10_000 }).toBe(1);
    expect(smtp.letters[0]).toContain('other@home.example');
    slow.resolve(null);
    await expect.poll(() => smtp.letters.length, { timeout: 10_000 }).toBe(3);
  });

  test('to a phone is not held up by a letter that its mail server takes minutes over', async () => {
    const slow = Promise.withResolvers<null>();
    await using smtp = await startSmtp(() => slow.promise);
    const texts: string[] = [];
    const gateway = createServer((request, response) => {
      void text(request).then((body) => {
        texts.push(body);
        return response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    onTestFinished(() => void gateway.close());
    await using filled = await openFilled();
    const { database, queue } = filled;
    await queue.announce(ID, 'attention');
    const sms = { url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` };
    await using _notifier = await start(filled, { smtpUrl: smtp.url, mailFrom: 'no-reply@portal.example', sms });
    await expect.poll(() => smtp.deliveries()).toBe(1);
    await database.query("update transfers set notification_contact = '+16505550100'");
    await queue.announce(ID, 'finished');
    await expect.poll(() => texts.length, { timeout: 10_000 }).toBe(1);
    slow.resolve(null);
    await expect.poll(() => database.query(JOBS)).toEqual([{ state: 'completed', tries: 0 }]);
  });

  test.each([
    ['an earlier version queued in the one queue that there was', '+16505550100'],
    ['was queued when its owner had an address as the contact', 'new@home.example'],
  ])('to a phone is not told once more, if it %s', async (_, before) => {
    await using filled = await openFilled(before);
    const { database, queue } = filled;
    await queue.announce(ID, 'paused', { occurrence: '0.source.password.7' });
    await database.query("update pgboss.job set name = 'notifications', state = 'completed', completed_on = now()");
    await database.query("update transfers set notification_contact = '+16505550100'");
    await queue.announce(ID, 'paused', { occurrence: '0.source.password.7' });
    await queue.announce(ID, 'finished');
    const known = "select name, data->>'kind' as kind from pgboss.job order by kind desc";
    expect(await database.query(known)).toEqual([
      { name: 'notifications', kind: 'paused' },
      { name: 'texts', kind: 'finished' },
    ]);
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
      await using filled = await openFilled('+16505550100', 'c@d.example');
      await filled.queue.announce(ID, 'attention');
      const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/send`;
      await using _notifier = await start(filled, { sms: { url, token: 'gateway-token' } });
      await expect.poll(() => requests.length).toBe(1);
      expect(requests[0]?.headers).toMatchObject({
        'content-length': String(Buffer.byteLength(requests[0]?.body ?? '')),
        authorization: 'Bearer gateway-token',
        'idempotency-key': `attention.${ID}`,
      });
      expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
        to: '+16505550100',
        text: `A San Bruno email transfer needs your attention. Check it here: ${STATUS} Questions? Call 650 555 0100. We never ask for your password by text or phone.`,
      });
    } finally {
      gateway.close();
    }
  });
});
