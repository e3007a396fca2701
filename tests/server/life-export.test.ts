import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deletionOf } from '../../src/contract/calls/export-file.ts';
import { receiptAddress } from '../../src/contract/calls/receipt.ts';
import { copiedBy } from '../../src/contract/transfer-status.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { bookThatAnswers } from '../support/book-that-answers.ts';
import { startDovecot, type Dovecot, type DovecotOptions } from '../support/dovecot.ts';
import { handOn, startHttpListener } from '../support/http-listener.ts';
import {
  ANN,
  call,
  mailWhen,
  openWorldOfTest,
  orderExport,
  PASSWORD,
  statusOf,
  sentOn,
  whenEnded,
  type LifeWorld,
  type Ordered,
} from '../support/life-world.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startRadicale } from '../support/radicale.ts';
import { run } from '../support/run.ts';
import { S3_KEYS, setVariables, startS3Server } from '../support/s3-server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const some = (from: number, count: number, octets?: number) =>
  Array.from({ length: count }, (_, number) => letter(from + number, octets));

/** A collection, as PROPFIND shows it. */
const collection = (path: string, kinds = '') =>
  `<response><href>${path}</href><propstat><prop><resourcetype><collection/>${kinds}</resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response>`;

async function dovecotOfTest(options?: DovecotOptions): Promise<Dovecot> {
  const dovecot = await startDovecot(options);
  onTestFinished(() => dovecot[Symbol.asyncDispose]());
  return dovecot;
}

/** The names of the messages in the finished file. */
async function saved({ web }: LifeWorld, { id }: Ordered): Promise<string[]> {
  const [row] = await web.database.query<{ folder: string; name: string }>(
    `select exports.name as folder, export_files.name as name from export_files join exports on id = export_id
     where transfer_id = $1`,
    [id],
  );
  const names = await run('unzip', ['-Z1', join(web.settings.exportsUrl, row?.folder ?? '', row?.name ?? '')]);
  return String(names)
    .split('\n')
    .filter((name) => name.endsWith('.eml'));
}

/** The octets of each message in an archive, in an order of their own. */
async function messagesIn(archive: Buffer): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'));
  try {
    await writeFile(join(folder, 'archive.zip'), archive);
    await run('unzip', ['-q', join(folder, 'archive.zip'), '-d', join(folder, 'files')]);
    const names = await readdir(join(folder, 'files'), { recursive: true });
    const messages = names.filter((name) => name.endsWith('.eml'));
    return (await Promise.all(messages.map((name) => readFile(join(folder, 'files', name), 'utf8')))).toSorted();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An export of three messages whose password is not taken any more. */
async function restingExport(contacts?: string) {
  const world = await openWorldOfTest({
    environment: { LEGACY_CARDDAV_URL: contacts },
    mail: { INBOX: some(0, 3) },
  });
  const ordered = await orderExport(world);
  world.web.passwords.set(ANN, 'changed');
  await using _worker = await world.work();
  await mailWhen(world, ordered, ({ attention }) => attention !== undefined);
  const receipt = () => world.web.get(receiptAddress(ordered.id, 'json'), ordered.headers);
  return { world, ordered, receipt: async () => (await receipt()).body };
}

describe('an export without files', () => {
  test('whose owner has let two weeks pass says that there are none, and promises nothing of a copy', async () => {
    const { world, ordered, receipt } = await restingExport();
    await world.web.database.query("update operations set attention_since = now() - interval '15 days'");
    await using _worker = await world.work();
    await world.web.queue.send(ordered.id);
    expect((await whenEnded(world, ordered)).failure).toBe(SENTENCES.unansweredExport);
    expect(await receipt()).toMatchObject({ copied: 0, octets: 0, how_compared: expect.stringContaining('no files') });
  });

  test(
    'says the same of its contacts, which were read, and nothing of a problem on our side',
    needs('radicale'),
    async () => {
      const radicale = await startRadicale([ANN], () => PASSWORD);
      onTestFinished(() => radicale[Symbol.asyncDispose]());
      await radicale.makeBook(ANN, 'friends');
      const { world, ordered } = await restingExport(`${radicale.url}{email}/`);
      const { database, queue } = world.web;
      await database.query(
        "update operations set attention_since = now() - interval '15 days' where attention_since < now()",
      );
      await using _worker = await world.work();
      await queue.send(ordered.id);
      expect((await whenEnded(world, ordered)).failure).toBe(SENTENCES.unansweredExport);
      expect((await statusOf(world, ordered)).contactsmigration?.failure).toBe(SENTENCES.exportWithoutMail);
    },
  );

  test('that was stopped half way has a receipt that sends nobody to them', async () => {
    const { world, ordered, receipt } = await restingExport();
    await world.web.database.query('update operations set done = 2, total = 3, bytes = 800');
    expect((await call(world, 'cancel', ordered)).status).toBe(200);
    expect(copiedBy(await whenEnded(world, ordered))).toBe(0);
    expect(await receipt()).toMatchObject({ copied: 0, octets: 0, how_compared: expect.stringContaining('no files') });
  });
});

test('an export whose files were deleted is made anew when it is ordered again at once', async () => {
  const world = await openWorldOfTest({ environment: { LEGACY_CARDDAV_URL: undefined }, mail: { INBOX: some(0, 3) } });
  await using _worker = await world.work();
  const first = await orderExport(world);
  await whenEnded(world, first);
  expect((await orderExport(world)).id, 'the button was pressed twice').toBe(first.id);
  const [file] = (await statusOf(world, first)).exports ?? [];
  const answer = await world.web.post(deletionOf(file?.url ?? '', world.web.url), {}, first.headers);
  expect(answer.status).toBe(200);
  const second = await orderExport(world);
  expect(second.id).not.toBe(first.id);
  await whenEnded(world, second);
  expect((await statusOf(world, second)).files).toBe('there');
});

describe('an export', { ...needs('dovecot', 'unzip'), timeout: 90_000 }, () => {
  test(
    'tells as copied what is in its files, beside messages that its server does not hand out',
    { tags: 'proof' },
    async () => {
      const dovecot = await dovecotOfTest({ maildir: true });
      const world = await openWorldOfTest({
        environment: { LEGACY_CARDDAV_URL: undefined, LEGACY_IMAP_URL: dovecot.url },
      });
      {
        await using mail = await openMailClient(dovecot.port, ANN, PASSWORD);
        await mail.append('INBOX', some(0, 12, 60_000));
      }
      await dovecot.damage(ANN, [4, 5], 40_000);
      await using _worker = await world.work();
      const ordered = await orderExport(world);
      await sentOn(world, ordered);
      const mail = await whenEnded(world, ordered);
      expect(await saved(world, ordered)).toHaveLength(10);
      expect(copiedBy(mail)).toBe(10);
      expect(mail.lost).toBe(2);
    },
  );

  test.each([
    ['what was staged is lost, and the half of it gone from the mailbox', true, 5],
    ['a folder was renamed', false, 9],
  ])('goes on after %s, and has what there is once', async (_, isLost, messages) => {
    const dovecot = await dovecotOfTest();
    const held = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const proxy = await startTcpProxy(dovecot.port, {
      byLine: true,
      change: async (direction, part) => {
        if (direction === 'to client' && part.includes('Subject: Letter 20')) {
          held.resolve();
          await gate.promise;
        }
        return part;
      },
    });
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const world = await openWorldOfTest({
      environment: { LEGACY_CARDDAV_URL: undefined, LEGACY_IMAP_URL: `imap://127.0.0.1:${proxy.port}` },
    });
    const { database, queue, services } = world.web;
    await using mail = await openMailClient(dovecot.port, ANN, PASSWORD);
    for (const [name, letters] of [
      ['First', some(0, 6)],
      ['Second', some(20, 3)],
    ] as const) {
      await mail.create(name);
      await mail.append(name, letters);
    }
    let ordered: Ordered;
    {
      await using _worker = await world.work();
      ordered = await orderExport(world);
      await expect.poll(() => database.query('select 1 from export_messages')).toHaveLength(6);
      await held.promise;
      proxy.resetAll();
    }
    if (isLost) {
      await mail.command('SELECT First');
      await mail.command('UID STORE 1:4 +FLAGS (\\Deleted)');
      await mail.command('EXPUNGE');
      // Another machine goes on: what was staged is on the first one's disk.
      await rm(services.exports.staging, { recursive: true, force: true });
    } else await mail.command('RENAME First Third');
    gate.resolve();
    await using _worker = await world.work();
    await queue.send(ordered.id);
    const ended = await whenEnded(world, ordered);
    const names = await saved(world, ordered);
    expect(names).toHaveLength(messages);
    expect(names.filter((name) => name.includes(isLost ? '/First/' : '/Third/'))).toHaveLength(messages - 3);
    expect(copiedBy(ended)).toBe(messages);
  });
});

describe('an export into a bucket', { ...needs('dovecot', 'unzip'), timeout: 90_000 }, () => {
  test('waits as long as the bucket takes nothing, and has every message in the end', { tags: 'proof' }, async () => {
    onTestFinished(setVariables(S3_KEYS));
    await using server = await startS3Server();
    const bucket = { isWell: false, refused: 0 };
    await using line = await startHttpListener((asked, answer) => {
      if (bucket.isWell || asked.method !== 'PUT') return handOn(server.port, asked, answer);
      bucket.refused += 1;
      asked.resume().on('end', () => answer.writeHead(503).end());
    });
    const dovecot = await dovecotOfTest();
    const world = await openWorldOfTest({
      environment: {
        LEGACY_CARDDAV_URL: undefined,
        LEGACY_IMAP_URL: dovecot.url,
        EXPORTS_URL: server.url.replace(`:${server.port}`, `:${line.port}`),
      },
    });
    const letters = some(0, 25);
    {
      await using mail = await openMailClient(dovecot.port, ANN, PASSWORD);
      await mail.append('INBOX', letters);
    }
    await using _worker = await world.work();
    const ordered = await orderExport(world);
    for (let runs = 0; runs < 3; runs += 1) {
      // The third is one more run in a row that moves nothing than ends any other transfer.
      if (runs === 2) await world.web.database.query('update operations set idle_runs = 27');
      const before = bucket.refused;
      // What is sent while the run before still has its lease is left to the one that is due in five minutes.
      const sendAndLook = async () => {
        await world.web.queue.send(ordered.id);
        return bucket.refused;
      };
      await expect.poll(sendAndLook, { timeout: 20_000, interval: 150 }).toBeGreaterThan(before);
      const { waiting } = await mailWhen(world, ordered, (mail) => mail.waiting !== undefined);
      expect(waiting).toEqual({ reason: 'disk' });
    }
    const counted = await world.web.database.query<{ idle_runs: number }>('select idle_runs from operations');
    expect(Math.max(...counted.map(({ idle_runs: runs }) => runs))).toBeLessThan(28);
    bucket.isWell = true;
    await sentOn(world, ordered);
    expect(copiedBy(await whenEnded(world, ordered))).toBe(letters.length);
    const [file, ...others] = (await statusOf(world, ordered)).exports ?? [];
    expect(others).toEqual([]);
    const url = (file?.url ?? '').replace(world.web.settings.publicUrl, world.web.url);
    const answer = await fetch(url, { headers: ordered.headers });
    expect(await messagesIn(Buffer.from(await answer.arrayBuffer()))).toEqual(
      letters.map(({ bytes }) => String(bytes)).toSorted(),
    );
  });
});

test('an export is neither copied again nor taken back, and the answer says why', async () => {
  const world = await openWorldOfTest();
  const ordered = await orderExport(world);
  const refused = async (name: 'again' | 'take-back', body: object) => (await call(world, name, ordered, body)).body;
  expect(await refused('again', { source_account: { password: PASSWORD } })).toEqual({
    error: 'OPERATION_NOT_ALLOWED',
    message: 'These are files. Please start a new download for what is new.',
  });
  expect(await refused('take-back', {})).toEqual({
    error: 'OPERATION_NOT_ALLOWED',
    message: 'These are files. Nothing was put into a mailbox, so there is nothing to take back.',
  });
});

describe('the contacts of an export', () => {
  test('whose address book refuses the password do not ask for one, which nobody could give', async () => {
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 2) },
      environment: { LEGACY_CARDDAV_URL: `${await bookThatAnswers({ status: 401 })}/{email}/` },
    });
    await using _worker = await world.work();
    const ordered = await orderExport(world);
    await whenEnded(world, ordered);
    const { contactsmigration: contacts } = await statusOf(world, ordered);
    expect(contacts).toMatchObject({ finished: expect.any(String), failure: SENTENCES.contactsUnreadable });
    expect(contacts).not.toHaveProperty('attention');
    expect(SENTENCES.contactsUnreadable).not.toContain('password');
    const logged = world.web.logLines.filter((line) => line.includes(ordered.id)).join('');
    expect(logged).toMatch(/"status":401,"msg":"a contacts request failed"/);
    expect(logged).toContain('the contacts of an export could not be read');
  });

  test('of which there is more than we read are left out, and their owner is told so', async () => {
    const books = Array.from({ length: 101 }, (_, number) => collection(`/${number}/`, '<C:addressbook/>'));
    const all = [collection('/'), ...books].join('');
    await using line = await startHttpListener((asked, answer) => {
      answer.writeHead(207, { 'content-type': 'application/xml' });
      const said = `<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">${all}</multistatus>`;
      asked.resume().on('end', () => answer.end(said));
    });
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 2) },
      environment: { LEGACY_CARDDAV_URL: `http://127.0.0.1:${line.port}/` },
    });
    await using _worker = await world.work();
    const ordered = await orderExport(world);
    await whenEnded(world, ordered);
    const { contactsmigration: contacts } = await statusOf(world, ordered);
    expect(contacts).toMatchObject({ status: 'error', failure: SENTENCES.contactsTooManyForFiles });
  });

  test(
    'whose address book hands some out at the last of its tries, and breaks off, are tried again',
    needs('radicale'),
    async () => {
      await using radicale = await startRadicale([ANN], () => PASSWORD);
      const friends = await radicale.makeBook(ANN, 'friends');
      await radicale.put(
        friends,
        ANN,
        'bo.vcf',
        'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:bo\r\nFN:Bo\r\nN:;Bo;;;\r\nEND:VCARD\r\n',
      );
      const book = { isWell: false, reports: 0 };
      await using line = await startHttpListener((asked, answer) => {
        // Cards are asked for twice, and then looked for again.
        if (book.isWell || book.reports < 2) {
          if (asked.method === 'REPORT') book.reports += 1;
          return handOn(Number(new URL(radicale.url).port), asked, answer);
        }
        asked.resume().on('end', () => answer.writeHead(502, { 'retry-after': '0' }).end());
      });
      const world = await openWorldOfTest({
        mail: { INBOX: some(0, 2) },
        environment: { LEGACY_CARDDAV_URL: `http://127.0.0.1:${line.port}/{email}/` },
      });
      const { database, queue } = world.web;
      const ordered = await orderExport(world);
      await database.query("update operations set idle_runs = 27 where operation = 'contactsmigration'");
      await using _worker = await world.work();
      const contacts = async () => (await statusOf(world, ordered)).contactsmigration;
      await expect.poll(contacts, { timeout: 20_000 }).toMatchObject({ done: 1, waiting: { reason: 'busy' } });
      book.isWell = true;
      await database.query('update operations set waiting_until = null');
      await queue.send(ordered.id);
      await whenEnded(world, ordered);
      expect(await contacts()).toMatchObject({ status: 'completed', done: 1 });
    },
  );

  test.each([
    ['with pages of something before it', 200],
    ['with 404', 404],
  ])('whose address book answers everything %s for a moment are tried again', needs('radicale'), async (_, status) => {
    await using radicale = await startRadicale([ANN], () => PASSWORD);
    const friends = await radicale.makeBook(ANN, 'friends');
    await radicale.put(friends, ANN, 'bo.vcf', 'BEGIN:VCARD\r\nVERSION:3.0\r\nUID:bo\r\nFN:Bo\r\nEND:VCARD\r\n');
    const book = { isWell: false };
    await using line = await startHttpListener((asked, answer) => {
      if (book.isWell) return handOn(Number(new URL(radicale.url).port), asked, answer);
      asked.resume().on('end', () => answer.writeHead(status, { 'content-type': 'text/html' }).end('<p>Back soon'));
    });
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 2) },
      environment: { LEGACY_CARDDAV_URL: `http://127.0.0.1:${line.port}/{email}/` },
    });
    const ordered = await orderExport(world);
    await using _worker = await world.work();
    const contacts = async () => (await statusOf(world, ordered)).contactsmigration;
    await expect.poll(contacts, { timeout: 20_000 }).toMatchObject({ waiting: { reason: 'busy' } });
    book.isWell = true;
    await world.web.database.query('update operations set waiting_until = null');
    await world.web.queue.send(ordered.id);
    await whenEnded(world, ordered);
    expect(await contacts()).toMatchObject({ status: 'completed', done: 1 });
  });

  test('whose address book has asked for a day are tried again at a fault after it, but not for days', async () => {
    const book = await bookThatAnswers({ status: 502, headers: { 'retry-after': '0' } });
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 2) },
      environment: { LEGACY_CARDDAV_URL: `${book}/{email}/` },
    });
    const { database, queue } = world.web;
    const ordered = await orderExport(world);
    const idle = (runs: number) =>
      database.query(
        "update operations set idle_runs = $1, waiting_until = null where operation = 'contactsmigration'",
        [runs],
      );
    const contacts = async () => (await statusOf(world, ordered)).contactsmigration;
    // A day's pause counts as 48 runs.
    await idle(48);
    await using _worker = await world.work();
    await expect.poll(contacts, { timeout: 20_000 }).toMatchObject({ waiting: { reason: 'busy' } });
    expect(await contacts()).not.toHaveProperty('failure');
    await idle(75);
    const failure = async () => {
      // The run that has noted the wait may not be over.
      await queue.send(ordered.id);
      return (await contacts())?.failure;
    };
    await expect
      .poll(failure, { timeout: 20_000 })
      .toBe(
        'We could not reach your address book for a long time, so your files have no contacts. Nothing was deleted there. You can start a new download later.',
      );
  });

  test(
    'whose address book can not be reached in the end speak of the one that they are in',
    { tags: 'proof' },
    async () => {
      const world = await openWorldOfTest({
        mail: { INBOX: some(0, 2) },
        environment: {
          LEGACY_CARDDAV_URL: `${await bookThatAnswers({ status: 502, headers: { 'retry-after': '0' } })}/{email}/`,
        },
      });
      const { database, queue } = world.web;
      const ordered = await orderExport(world);
      const runs = async () =>
        (
          await database.query<{ runs: number }>(
            "select idle_runs as runs from operations where operation = 'contactsmigration'",
          )
        )[0]?.runs ?? 0;
      await using _worker = await world.work();
      await expect.poll(runs).toBe(1);
      // All its tries but the last one are over.
      await database.query("update operations set idle_runs = 27 where operation = 'contactsmigration'");
      await queue.send(ordered.id);
      await expect
        .poll(async () => (await statusOf(world, ordered)).contactsmigration?.failure)
        .toBe(SENTENCES.contactsUnreachableForFiles);
      expect(SENTENCES.contactsUnreachableForFiles).not.toContain('new mailbox');
    },
  );
});
