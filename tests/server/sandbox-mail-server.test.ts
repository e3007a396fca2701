import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ImapFlow } from 'imapflow';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../../src/sandbox/mail-server.ts';
import { needs } from '../support/needs.ts';

const ADDRESS = 'ann@mail.example';
const TOKEN = 'token-of-ann';
const SEED = [
  { name: 'INBOX' },
  { name: 'Sent', use: String.raw`\Sent` },
  {
    name: 'Old',
    uidValidity: 77,
    uidNext: 12,
    messages: [
      {
        uid: 3,
        internalDate: Date.UTC(2011, 4, 6, 7, 8, 9),
        flags: [String.raw`\Seen`, '$Forwarded'],
        source: Buffer.from('Subject: third\r\n\r\nbody\r\n'),
      },
      {
        uid: 9,
        internalDate: Date.UTC(2012, 4, 6, 7, 8, 9),
        flags: [],
        source: Buffer.from('Message-ID: <nine@x.example>\r\nSubject: ninth\r\n\r\n\xff\x00raw\n', 'latin1'),
      },
    ],
  },
];

let folder: string;
let server: MailServer;
const clients: ImapFlow[] = [];

const start = () =>
  startMailServer({
    greeting: 'Ready',
    delimiter: '/',
    folder: join(folder, 'mail'),
    port: 0,
    seed: (email) => (email === ADDRESS ? SEED : SEED.slice(0, 2)),
    door: {
      password: (email, password) => email.endsWith('@mail.example') && password === 'open "sesame"',
      token: (email, token) => email === ADDRESS && token === TOKEN,
    },
  });

async function open(
  auth: { user: string; pass?: string; accessToken?: string } = { user: ADDRESS, pass: 'open "sesame"' },
) {
  const client = new ImapFlow({ host: '127.0.0.1', port: server.port, secure: false, auth, logger: false });
  client.on('error', () => client.close());
  clients.push(client);
  await client.connect();
  return client;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-mail-'));
  server = await start();
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const sha256 = (bytes: Buffer | undefined) =>
  createHash('sha256')
    .update(bytes ?? '')
    .digest('hex');

/** A message as any client would have it: mbsync ends every line with CRLF and marks what it stores by a header of its own. */
const plain = (source: Buffer | undefined) =>
  source
    ?.toString('latin1')
    .replace(/X-TUID: .*\r\n/, '')
    .replace(/\r?\n/g, '\r\n');

const mbsyncStore = (name: string, user: string) =>
  `IMAPAccount ${name}\nHost 127.0.0.1\nPort ${server.port}\nUser ${user}\nPass "open \\"sesame\\""\nSSLType None\nAuthMechs LOGIN\n\nIMAPStore ${name}\nAccount ${name}\n\n`;

const readOld = async (client: ImapFlow) => {
  await client.mailboxOpen('Old');
  const all = await client.fetchAll('1:*', { source: true, flags: true, internalDate: true });
  return all.map(({ flags, internalDate, source }) => [
    plain(source),
    [...(flags ?? [])].filter((flag) => flag.startsWith('\\')),
    internalDate,
  ]);
};

/** Says these lines to the server and gives all that it says until it ends the connection. */
function converse(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1');
    const heard: Buffer[] = [];
    socket.on('data', (data: Buffer) => heard.push(data));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(heard).toString('latin1')));
    socket.write(Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1'));
  });
}

describe('the sandbox mail server', () => {
  test('a password, OAUTHBEARER and XOAUTH2 let the right person in and nobody else', async () => {
    await open();
    await open({ user: ADDRESS, accessToken: TOKEN });
    await expect(open({ user: ADDRESS, pass: 'wrong' })).rejects.toMatchObject({ authenticationFailed: true });
    await expect(open({ user: ADDRESS, accessToken: 'wrong' })).rejects.toMatchObject({ authenticationFailed: true });
    await expect(open({ user: 'bob@mail.example', accessToken: TOKEN })).rejects.toMatchObject({
      authenticationFailed: true,
    });
    const response = (token: string) =>
      Buffer.from(`user=${ADDRESS}\x01auth=Bearer ${token}\x01\x01`).toString('base64');
    const good = await converse([`a AUTHENTICATE XOAUTH2 ${response(TOKEN)}`, 'b LOGOUT']);
    const bad = await converse([`a AUTHENTICATE XOAUTH2 ${response('wrong')}`, '', 'b LOGOUT']);
    expect(good).toMatch(/^a OK /m);
    expect(bad).toMatch(/^a NO \[AUTHENTICATIONFAILED\]/m);
  });

  test('each address has mailboxes of its own', async () => {
    const ann = await open();
    const bob = await open({ user: 'bob@mail.example', pass: 'open "sesame"' });
    await ann.append('INBOX', 'Subject: for ann\r\n\r\n');
    expect(await bob.status('INBOX', { messages: true })).toMatchObject({ messages: 0 });
    expect(await ann.status('INBOX', { messages: true })).toMatchObject({ messages: 1 });
  });

  test('an appended message keeps its octets, flags and internal date, after a restart as well', async () => {
    const bytes = Buffer.from([...Array(70_000).keys()].map((n) => (n * 7) % 256));
    const date = new Date('1999-02-03T04:05:06Z');
    const client = await open();
    await client.mailboxCreate('Familie/Müller & 旅行');
    const appended = await client.append('Familie/Müller & 旅行', bytes, [String.raw`\Flagged`, '$Label1'], date);
    expect(appended).toMatchObject({ uid: 1 });
    client.close();
    await server[Symbol.asyncDispose]();
    server = await start();
    const again = await open();
    const lock = await again.getMailboxLock('Familie/Müller & 旅行');
    const message = await again.fetchOne(
      '1',
      { source: true, flags: true, internalDate: true, size: true, uid: true },
      { uid: true },
    );
    lock.release();
    if (message === false || message === undefined) throw new Error('The message is gone.');
    expect(sha256(message.source)).toBe(sha256(bytes));
    expect([...(message.flags ?? [])]).toEqual([String.raw`\Flagged`, '$Label1']);
    expect(new Date(message.internalDate ?? 0).toISOString()).toBe(date.toISOString());
    expect(again.mailbox).toMatchObject({ uidValidity: appended !== false ? appended.uidValidity : 0n });
  });

  test('a record that a kill cut off is dropped, and those before it stay', async () => {
    const client = await open();
    await client.append('INBOX', 'Subject: whole\r\n\r\n');
    client.close();
    await server[Symbol.asyncDispose]();
    const [name] = await readdir(join(folder, 'mail'));
    const path = join(folder, 'mail', name ?? '');
    await writeFile(
      path,
      Buffer.concat([await readFile(path), Buffer.from('500 {"change":"append","mailbox":"INBOX","uid":2')]),
    );
    server = await start();
    const again = await open();
    expect(await again.status('INBOX', { messages: true, uidNext: true })).toMatchObject({ messages: 1, uidNext: 2 });
    expect(await again.append('INBOX', 'Subject: next\r\n\r\n')).toMatchObject({ uid: 2 });
  });

  test('the seeded mailboxes come back with the same UIDs, and changes to them are kept', async () => {
    const client = await open();
    const lock = await client.getMailboxLock('Old');
    expect(client.mailbox).toMatchObject({ uidValidity: 77n, uidNext: 12, exists: 2 });
    await client.messageFlagsAdd('9', [String.raw`\Answered`], { uid: true });
    await client.messageDelete('3', { uid: true });
    lock.release();
    client.close();
    await server[Symbol.asyncDispose]();
    server = await start();
    const again = await open();
    await again.mailboxOpen('Old');
    const left = await again.fetchAll('1:*', { uid: true, flags: true, source: true });
    expect(left.map(({ uid, flags }) => [uid, [...(flags ?? [])]])).toEqual([[9, [String.raw`\Answered`]]]);
    expect(left[0]?.source?.toString('latin1')).toBe(
      'Message-ID: <nine@x.example>\r\nSubject: ninth\r\n\r\n\xff\x00raw\n',
    );
    expect(again.mailbox).toMatchObject({ uidValidity: 77n, uidNext: 12 });
  });

  test('the listing names the special uses, and parents that hold nothing', async () => {
    const client = await open();
    await client.mailboxCreate('A/B/C');
    const mailboxes = await client.list({ statusQuery: { messages: true } });
    const seen = Object.fromEntries(
      mailboxes.map(({ path, specialUse, flags }) => [path, [specialUse, flags.has(String.raw`\Noselect`)]]),
    );
    expect(seen).toEqual({
      INBOX: [String.raw`\Inbox`, false],
      Sent: [String.raw`\Sent`, false],
      Old: [undefined, false],
      A: [undefined, true],
      'A/B': [undefined, true],
      'A/B/C': [undefined, false],
    });
    expect(mailboxes.find(({ path }) => path === 'Old')?.status).toMatchObject({ messages: 2 });
  });

  test('a search by header, date, flag and UID finds what it names', async () => {
    const client = await open();
    await client.mailboxOpen('Old');
    expect(await client.search({ header: { 'message-id': '<nine@x.example>' } }, { uid: true })).toEqual([9]);
    expect(await client.search({ since: new Date('2012-01-01') }, { uid: true })).toEqual([9]);
    expect(await client.search({ seen: true }, { uid: true })).toEqual([3]);
    expect(await client.search({ keyword: '$Forwarded' }, { uid: true })).toEqual([3]);
    expect(await client.search({ uid: '4:*', not: { subject: 'third' } }, { uid: true })).toEqual([9]);
    expect(await client.search({ subject: 'nowhere' }, { uid: true })).toEqual([]);
  });

  test('parts, header fields, envelope and structure of a nested message are those of the message', async () => {
    const text = [
      'From: "Ann, A." <ann@mail.example>',
      'To: bob@mail.example',
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'Message-ID: <m@x.example>',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'hello',
      '--b',
      'Content-Type: message/rfc822',
      '',
      'Subject: inner',
      '',
      'inside',
      '--b--',
      '',
    ].join('\r\n');
    const client = await open();
    await client.append('INBOX', text);
    await client.mailboxOpen('INBOX');
    const message = await client.fetchOne('1', {
      envelope: true,
      bodyStructure: true,
      headers: ['subject'],
      bodyParts: ['1', '2.HEADER', 'TEXT'],
    });
    if (message === false || message === undefined) throw new Error('The message is gone.');
    expect(message.envelope).toMatchObject({
      subject: 'Grüße',
      messageId: '<m@x.example>',
      from: [{ name: 'Ann, A.', address: 'ann@mail.example' }],
    });
    expect(message.bodyStructure?.childNodes?.map(({ type }) => type)).toEqual(['text/plain', 'message/rfc822']);
    expect(message.headers?.toString()).toBe('Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\n');
    expect(message.bodyParts?.get('1')?.toString()).toBe('hello');
    expect(message.bodyParts?.get('2.header')?.toString()).toBe('Subject: inner\r\n\r\n');
    expect(message.bodyParts?.get('text')?.toString()).toBe(text.slice(text.indexOf('--b')));
  });

  test('a waiting client hears of what another one appends, flags and removes', async () => {
    const waiting = await open();
    await waiting.mailboxOpen('INBOX');
    const heard: string[] = [];
    waiting.on('exists', ({ count }) => heard.push(`exists ${count}`));
    waiting.on('flags', ({ flags }) => heard.push(`flags ${[...flags].join(' ')}`));
    waiting.on('expunge', ({ seq }) => heard.push(`expunge ${seq}`));
    const idle = waiting.idle();
    const other = await open();
    await other.append('INBOX', 'Subject: news\r\n\r\n');
    await expect.poll(() => heard).toContain('exists 1');
    await other.mailboxOpen('INBOX');
    await other.messageFlagsAdd('1', [String.raw`\Seen`]);
    await expect.poll(() => heard).toContain(String.raw`flags \Seen`);
    await other.messageDelete('1');
    await expect.poll(() => heard).toContain('expunge 1');
    await waiting.noop();
    await idle;
  });

  test('a moved message is in the other mailbox and no longer in its own', async () => {
    const client = await open();
    await client.mailboxOpen('Old');
    const moved = await client.messageMove('9', 'Sent', { uid: true });
    expect(moved).toMatchObject({ uidMap: new Map([[9, 1]]) });
    expect(await client.status('Old', { messages: true })).toMatchObject({ messages: 1 });
    expect(await client.status('Sent', { messages: true })).toMatchObject({ messages: 1 });
  });

  test('a mailbox that another client deletes takes nothing more, and the account stays whole', async () => {
    const one = await open();
    const other = await open();
    await one.mailboxOpen('Old');
    await other.mailboxDelete('Old');
    await other.mailboxCreate('Old');
    await other.append('Old', 'Subject: new\r\n\r\n');
    const heard = once(one, 'close');
    await one.messageFlagsAdd('1:*', [String.raw`\Deleted`], { uid: true }).catch(() => false);
    await heard;
    other.close();
    await server[Symbol.asyncDispose]();
    server = await start();
    const again = await open();
    await again.mailboxOpen('Old');
    const [message] = await again.fetchAll('1:*', { flags: true });
    expect([...(message?.flags ?? ['gone'])]).toEqual([]);
    expect(again.mailbox).not.toMatchObject({ uidValidity: 77n });
  });

  test('what makes no sense is refused, and the connection goes on', async () => {
    const said = await converse([
      'a1 LOGIN {16}',
      'ann@mail.example {13+}',
      'open "sesame"',
      'a2 NONSENSE',
      'a3 SELECT Nowhere',
      'a4 SELECT "unfinished',
      'a5 SELECT Old',
      'a6 UID FETCH 1:* (FLAGS UID',
      'a7 FETCH 1 BODY[NO.SUCH]',
      'a8 APPEND INBOX "32-Foo-2020 00:00:00 +0000" {1+}',
      'x',
      'a9 CREATE "a//b"',
      'b1 APPEND INBOX {99999999999}',
      'b2 EXAMINE Old',
      String.raw`b3 STORE 1 +FLAGS (\Seen)`,
      'b4 SELECT "&broken"',
      'b5 NOOP',
      'b6 LOGOUT',
    ]);
    const answers = said
      .split('\r\n')
      .filter((line) => /^[ab]\d /.test(line))
      .map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(answers).toEqual([
      'a1 OK',
      'a2 BAD',
      'a3 NO',
      'a4 BAD',
      'a5 OK',
      'a6 BAD',
      'a7 BAD',
      'a8 BAD',
      'a9 NO',
      'b1 NO',
      'b2 OK',
      'b3 NO',
      'b4 BAD',
      'b5 OK',
      'b6 OK',
    ]);
  });

  test('mbsync copies a mailbox from one account to another unchanged', needs('mbsync'), async () => {
    const maildir = join(folder, 'maildir');
    await mkdir(maildir);
    const config = join(folder, 'mbsyncrc');
    await writeFile(
      config,
      `${mbsyncStore('source', ADDRESS)}${mbsyncStore('target', 'bob@mail.example')}Channel copy\nFar :source:\nNear :target:\nPatterns Old\nSync Pull\nCreate Near\nSyncState ${maildir}/\nCopyArrivalDate yes\n`,
    );
    await promisify(execFile)('mbsync', ['-c', config, 'copy']);
    const target = await readOld(await open({ user: 'bob@mail.example', pass: 'open "sesame"' }));
    expect(target).toEqual(await readOld(await open()));
  });

  test(
    'two thousand messages over four connections all arrive once, at more than 100 a second',
    { tags: 'proof' },
    async () => {
      const connections = await Promise.all([open(), open(), open(), open()]);
      const begun = performance.now();
      await Promise.all(
        connections.map(async (client, lane) => {
          for (let n = 0; n < 500; n += 1)
            await client.append('INBOX', `Subject: ${lane}-${n}\r\n\r\n${'x'.repeat(3000)}\r\n`);
        }),
      );
      const seconds = (performance.now() - begun) / 1000;
      const [client] = connections;
      await client.mailboxOpen('INBOX');
      const subjects = (await client.fetchAll('1:*', { envelope: true })).map(({ envelope }) => envelope?.subject);
      expect(new Set(subjects).size).toBe(2000);
      expect(subjects).toHaveLength(2000);
      expect(2000 / seconds).toBeGreaterThan(100);
    },
  );
});
