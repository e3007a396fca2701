import { createHash } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { createDAVClient } from 'tsdav';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OAUTH_PROVIDERS } from '../../src/contract/provider-name.ts';
import { SETTING_NAMES } from '../../src/contract/settings/variables.ts';
import { readSettings } from '../../src/contract/settings.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/main.ts';
import { copyInto } from '../support/contacts-copy.ts';
import { openContactReader, openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { startProcess } from '../support/sandbox-process.ts';
import { PUBLIC_URL, SCOPES, signInAt } from '../support/sandbox-person.ts';

let folder: string;
let sandbox: Sandbox;

const start = () =>
  startSandbox({
    folder,
    webPort: 0,
    publicUrl: PUBLIC_URL,
    legacyDomains: ['sanbrunocable.example', 'sanbruno.example', 'sbcable.example'],
  });
const settings = () => readSettings({ ...sandbox.environment, SANDBOX: 'on' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-world-'));
  sandbox = await start();
});

afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

// `portal.md` §1: the end date is fixed. A sandbox that moved it would start a product with another default.
test('leaves the day on which access ends as it is', () => {
  expect(settings().accessEnd).toBe('2025-11-30T23:59:59-08:00');
});

function subscriber(at: number) {
  const found = sandbox.subscribers[at];
  if (found === undefined) throw new Error('There is no such subscriber.');
  return found;
}

const readerOf = (at: number) => openContactReader({ settings: settings(), credentials: subscriber(at) });

async function legacyClient(at: number) {
  const { email: user, password: pass } = subscriber(at);
  const { hostname, port } = new URL(settings().legacyImapUrl ?? '');
  const client = new ImapFlow({
    host: hostname,
    port: Number(port),
    secure: false,
    auth: { user, pass },
    logger: false,
  });
  await client.connect();
  return client;
}

/** All that a subscriber's legacy account holds: mailbox, UIDVALIDITY, UID, octets, flags, internal date. */
async function legacyMail(at: number) {
  const client = await legacyClient(at);
  const all: string[] = [];
  const names: string[] = [];
  for (const { path, flags } of await client.list()) {
    if (flags.has(String.raw`\Noselect`)) continue;
    names.push(path);
    const { uidValidity, exists } = await client.mailboxOpen(path, { readOnly: true });
    if (exists === 0) continue;
    for await (const message of client.fetch('1:*', { source: true, flags: true, internalDate: true })) {
      const digest = createHash('sha256')
        .update(message.source ?? '')
        .digest('hex');
      const date = new Date(message.internalDate ?? 0).toISOString();
      all.push([path, uidValidity, message.uid, digest, [...(message.flags ?? [])].join(' '), date].join('|'));
    }
  }
  await client.logout();
  return { names, all };
}

describe('the sandbox', () => {
  test('its environment holds known settings only, and the product takes them', () => {
    expect(SETTING_NAMES).toEqual(expect.arrayContaining(Object.keys(sandbox.environment)));
    const { providers, provisioning, sms, smtpUrl, legacyCarddavUrl, dnsServers } = settings();
    for (const provider of OAUTH_PROVIDERS) expect(providers[provider].client?.id).toBe('san-bruno-transfer');
    expect([provisioning?.token, sms?.token, smtpUrl, legacyCarddavUrl, dnsServers]).not.toContain(undefined);
  });

  test('the main subscriber has 400 letters, the next one twelve, the third none', async () => {
    const main = await legacyMail(0);
    expect(main.all).toHaveLength(400);
    expect(main.names).toEqual(
      expect.arrayContaining([
        'Familie/Müller',
        '旅行/2019',
        'Bills/2021 & taxes',
        'Aunt "Rosie" (1931–2018)',
        'Odd ones',
      ]),
    );
    expect((await legacyMail(1)).all).toHaveLength(12);
    expect((await legacyMail(2)).all).toHaveLength(0);
  });

  test('a restart brings the same mail with the same UIDs, at the same addresses', async () => {
    const before = { mail: await legacyMail(0), environment: sandbox.environment };
    await sandbox[Symbol.asyncDispose]();
    sandbox = await start();
    expect(await legacyMail(0)).toEqual(before.mail);
    expect(sandbox.environment).toEqual(before.environment);
  });

  test('a port that is taken is left to its owner', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    const address = other.address();
    const taken = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const elsewhere = await mkdtemp(join(tmpdir(), 'sandbox-port-'));
    const second = await startSandbox({
      folder: elsewhere,
      webPort: taken,
      publicUrl: PUBLIC_URL,
      legacyDomains: ['sanbrunocable.example'],
    });
    expect(new URL(second.webUrl).port).not.toBe(String(taken));
    expect((await fetch(second.webUrl)).status).toBe(200);
    await second[Symbol.asyncDispose]();
    await rm(elsewhere, { recursive: true });
    await new Promise((resolve) => other.close(resolve));
  });

  test('names under .example are at this machine and take mail, but those that begin with no-such', async () => {
    const resolver = new Resolver();
    resolver.setServers([...(settings().dnsServers ?? [])]);
    expect(await resolver.resolve4('imap.mail.example')).toEqual(['127.0.0.1']);
    expect(await resolver.resolveMx('Post.Example')).toMatchObject([{ exchange: 'mx.post.example', priority: 10 }]);
    expect(await resolver.resolveSrv('_imap._tcp.mail.example')).toMatchObject([
      { name: 'imap.mail.example', priority: 0 },
    ]);
    expect(await resolver.resolveMx('gmail.com')).toMatchObject([{ exchange: 'mx.gmail.com' }]);
    await expect(resolver.resolveMx('no-such-domain.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve4('www.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve6('mail.example')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  test('sent mail and text messages are in the outbox, newest first, and none of their markup runs', async () => {
    const transport = createTransport(sandbox.environment['SMTP_URL']);
    await transport.sendMail({
      from: sandbox.environment['MAIL_FROM'],
      to: 'ann@post.example',
      subject: 'Your mail has moved ✓',
      text: 'Grüße, 400 letters.',
      html: '<p>Grüße</p><script>alert(1)</script>',
    });
    transport.close();
    const { sms } = settings();
    const send = (token: string | undefined) =>
      fetch(sms?.url ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ to: '+16505550123', text: 'Done <b>now</b>' }),
      });
    expect((await send('wrong')).status).toBe(401);
    expect((await send(sms?.token)).status).toBe(200);
    const outbox: unknown = await (await fetch(`${sandbox.webUrl}/outbox.json`)).json();
    expect(outbox).toMatchObject({
      items: [
        { kind: 'sms', to: '+16505550123', text: 'Done <b>now</b>' },
        {
          kind: 'mail',
          from: 'no-reply@sanbrunocable.example',
          to: ['ann@post.example'],
          subject: 'Your mail has moved ✓',
          text: 'Grüße, 400 letters.',
        },
      ],
    });
    const page = await fetch(`${sandbox.webUrl}/outbox`);
    const text = await page.text();
    expect(text).toContain('Your mail has moved ✓');
    expect(text).toContain('Done &lt;b&gt;now&lt;/b&gt;');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const [, source = ''] = /<iframe sandbox src="([^"]+)"/.exec(text.replace(/\s+/g, ' ')) ?? [];
    const frame = await fetch(new URL(source, sandbox.webUrl));
    expect(frame.headers.get('content-security-policy')).toMatch(/^sandbox;/);
  });

  test('the start page names every subscriber, and the mailbox pages show what arrived', async () => {
    const home = await (await fetch(sandbox.webUrl)).text();
    for (const { email, password } of sandbox.subscribers) {
      expect(home).toContain(email);
      expect(home).toContain(password);
    }
    const email = 'ann@mail.example';
    const [host = '', port = ''] = /imap\.mail\.example:\d+/.exec(home)?.[0].split(':') ?? [];
    expect(host).toBe('imap.mail.example');
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: Number(port),
      secure: false,
      auth: { user: email, pass: 'sandbox' },
      logger: false,
    });
    await client.connect();
    await client.mailboxCreate(['Familie', 'Müller']);
    await client.append('Familie.Müller', 'Subject: =?utf-8?q?Hallo_=C3=B6?=\r\n\r\n<b>Hallo</b>\r\n');
    await client.logout();
    const read = async (path: string) => {
      const answer = await fetch(sandbox.webUrl + path);
      return answer.ok ? answer.text() : String(answer.status);
    };
    expect(await read('/mail/other/')).toContain(email);
    expect(await read('/mail/other/ann%40mail.example/?mailbox=Familie.M%C3%BCller')).toContain('Hallo ö');
    expect(await read('/mail/other/ann%40mail.example/?mailbox=Familie.M%C3%BCller&uid=1')).toContain(
      '&lt;b&gt;Hallo&lt;/b&gt;',
    );
    expect(await read('/mail/other/bob%40mail.example/')).toBe('404');
    expect(await read('/mail/nowhere/')).toBe('404');
    for (const page of ['/help', '/privacy', '/terms', '/mail/yahoo/']) expect(await read(page)).toContain('<h1>');
  });
});

test('a kill -9 in the middle of appends loses none that was acknowledged', async () => {
  const home = await mkdtemp(join(tmpdir(), 'sandbox-killed-'));
  const email = 'kim@yahoo.example';
  const open = async (environment: Readonly<Record<string, string>>) => {
    const { hostname, port } = new URL(environment['YAHOO_IMAP_URL'] ?? '');
    const auth = { user: email, pass: 'sandbox' };
    const client = new ImapFlow({ host: hostname, port: Number(port), secure: false, auth, logger: false });
    client.on('error', () => client.close());
    await client.connect();
    return client;
  };
  const first = await startProcess(home);
  const client = await open(first.environment);
  const acknowledged: number[] = [];
  const appending = (async () => {
    for (let n = 1; ; n += 1) {
      const appended = await client.append('INBOX', `Subject: ${n}\r\n\r\n${'x'.repeat(20_000)}\r\n`);
      if (appended !== false && appended.uid !== undefined) acknowledged.push(appended.uid);
    }
  })();
  await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(100);
  first.child.kill('SIGKILL');
  await expect(appending).rejects.toThrow(/./);
  const second = await startProcess(home);
  const again = await open(second.environment);
  await again.mailboxOpen('INBOX');
  const kept = await again.fetchAll('1:*', { envelope: true, size: true });
  expect(kept.map(({ uid }) => uid).slice(0, acknowledged.length)).toEqual(acknowledged);
  expect(kept.map(({ envelope }) => envelope?.subject)).toEqual(kept.map((_, index) => String(index + 1)));
  expect(kept.length - acknowledged.length).toBeLessThanOrEqual(1);
  again.close();
  second.child.kill('SIGKILL');
  await once(second.child, 'exit');
  await rm(home, { recursive: true });
});

describe('the sandbox contacts', () => {
  const signal = new AbortController().signal;

  test('only its owner can open the legacy address book, by discovery from the root', async () => {
    const { email, password } = subscriber(0);
    const { origin } = new URL(settings().legacyCarddavUrl ?? '');
    const open = (username: string) =>
      createDAVClient({
        serverUrl: origin,
        credentials: { username, password },
        authMethod: 'Basic',
        defaultAccountType: 'carddav',
      });
    const client = await open(email);
    const [book] = await client.fetchAddressBooks();
    if (book === undefined) throw new Error('There is no address book.');
    const cards = await client.fetchVCards({ addressBook: book });
    expect(cards).toHaveLength(61);
    await expect(open(subscriber(1).email)).rejects.toThrow('Invalid credentials');
  });

  test('the main subscriber has sixty contacts that can all be read, with photos, groups and all', async () => {
    const reader = readerOf(0);
    expect((await reader.survey(signal)).total).toBe(60);
    const contacts = [];
    for await (const reading of reader.contacts(signal)) {
      if (reading.kind === 'skipped') throw new Error(reading.skipped.reason);
      if (reading.kind === 'contact') contacts.push(reading.contact);
    }
    expect(contacts.filter(({ photo }) => photo !== undefined)).toHaveLength(5);
    expect(contacts.some(({ emails }) => emails.length === 3)).toBe(true);
    expect(contacts.flatMap(({ groups }) => groups)).toEqual(expect.arrayContaining(['Sunday lunch', '旅行']));
  });

  test.each(OAUTH_PROVIDERS)('%s takes them all once, and a second copy writes nothing', async (provider) => {
    const email = `ann@${provider}.example`;
    const { tokens } = await signInAt(sandbox, provider, { email, password: 'sandbox' });
    const credentials = { email, accessToken: async () => tokens.access_token };
    const copy = () =>
      copyInto({
        reader: readerOf(0),
        writer: openContactWriter(provider, { settings: settings(), credentials }),
        signal,
      });
    expect(await copy()).toMatchObject({ total: 60, written: 60, skipped: [] });
    expect(await copy()).toMatchObject({ total: 60, written: 0, present: 60 });
  });

  test.each(OAUTH_PROVIDERS)('%s refuses a token without the permission for contacts', async (provider) => {
    const email = `bob@${provider}.example`;
    const { tokens } = await signInAt(sandbox, provider, { email, password: 'sandbox', refuses: SCOPES[provider][1] });
    const credentials = { email, accessToken: async () => tokens.access_token };
    const writer = openContactWriter(provider, { settings: settings(), credentials });
    const read = writer.existing(signal)[Symbol.asyncIterator]().next();
    await expect(read).rejects.toMatchObject({ fault: 'authentication' });
  });
});
