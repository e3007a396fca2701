import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { LIMITS } from '../../src/server/web/limits.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser, fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const ELSEWHERE = 'ann@mail.example';
const OTHER_BROWSER = 'c'.repeat(64);

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'], environment: { ACCESS_END: '2099-01-01T00:00:00Z' } });
  for (const email of [ANN, BOB]) world.passwords.set(email, PASSWORD);
  if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'known_clients', 'transfers', 'sessions'])
    await world.database.query(`delete from ${table}`);
  world.signIns.length = 0;
});

const EXPORT = {
  source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
  destination_account: { email: ELSEWHERE, provider: 'file_export' },
  operations: ['emailmigration', 'contactsmigration'],
  parameters: {},
  file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
};

/** The cookie that an answer sets, as a browser sends it back. */
const cookieOf = (headers: Headers) => ({ cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' });

/** An export that has ended, with a message that was skipped; the headers are of the browser that ordered it. */
async function finishedExport() {
  const ordered = await world.post('/api/load/', EXPORT);
  const { jobid } = ordered.body as { jobid: string };
  const { database } = world;
  const skipped = [{ mailbox: 'Private', reason: 'It was not given out.', subject: 'A secret subject' }];
  await database.query(
    `update operations set status = 'completed', finished = now(), done = 2, skipped = $1::jsonb where transfer_id = $2`,
    [JSON.stringify(skipped), jobid],
  );
  await database.query('update transfers set finished = now() where id = $1', [jobid]);
  const [row] = await database.query<{ id: number }>(
    `insert into exports (transfer_id, name, finished, expires) values ($1, $2, now(), now() + interval '7 days')
     returning id::float8 as id`,
    [jobid, jobid.split('').toReversed().join('')],
  );
  await database.query(
    `insert into export_files (export_id, part, name, size, sha256) values ($1, 1, 'part-1-00000000.zip', 9, $2)`,
    [row?.id, 'a'.repeat(64)],
  );
  return { jobid, headers: cookieOf(ordered.headers), cookie: ordered.headers.getSetCookie()[0] ?? '' };
}

const statusFor = async (jobid: string, headers: Record<string, string> = {}) =>
  (await world.get(`/api/v2/status/?job_id=${jobid}`, headers)).body as TransferStatus;

/** The first event of the stream. */
async function streamFor(jobid: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${world.url}/api/v2/status/events/?job_id=${jobid}`, { headers });
  return answer.text();
}

const signIn = (password: string, headers: Record<string, string> = {}, email = ANN) =>
  world.post('/api/validate/', { email, password, provider: 'sanbruno' }, headers);

describe('a transfer ID alone', () => {
  test('tells numbers, and no subject, folder, address or file', async () => {
    const { jobid } = await finishedExport();
    const status = await statusFor(jobid);
    expect(status).toMatchObject({
      limited: true,
      files: 'there',
      emailmigration: { status: 'completed', done: 2, skipped: [{ reason: 'It was not given out.' }] },
    });
    expect(status).not.toHaveProperty('exports');
    const told = JSON.stringify(status) + (await streamFor(jobid));
    expect(told).toContain('It was not given out.');
    for (const secret of ['Private', 'A secret subject', '@', '/api/exports/']) expect(told).not.toContain(secret);
  });

  test('neither fetches nor deletes the files', async () => {
    const { jobid, headers } = await finishedExport();
    const [file] = (await statusFor(jobid, headers)).exports ?? [];
    const path = new URL(file?.url ?? '').pathname;
    const deletion = `${path.slice(0, path.lastIndexOf('/'))}/delete/`;
    for (const stranger of [{}, fromBrowser(OTHER_BROWSER)]) {
      expect((await world.get(path, stranger)).status).toBe(404);
      expect((await world.post(deletion, {}, stranger)).status).toBe(404);
    }
    expect(await statusFor(jobid)).toMatchObject({ files: 'there' });
    expect(await world.database.query('select 1 from export_verifiers')).toHaveLength(1);
    expect((await world.post(deletion, {}, headers)).status).toBe(200);
    expect(await world.database.query('select 1 from export_verifiers'), 'what opens it goes at once').toEqual([]);
    expect(await statusFor(jobid)).toMatchObject({ files: 'deleted' });
  });
});

describe('all of a transfer is for', () => {
  test('the browser that ordered it, by a cookie that no script reads', async () => {
    const { jobid, headers, cookie } = await finishedExport();
    expect(cookie).toMatch(/^browser=[0-9a-f]{64}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await statusFor(jobid, headers)).toMatchObject({
      exports: [{ size: 9 }],
      emailmigration: { skipped: [{ mailbox: 'Private', subject: 'A secret subject' }] },
    });
    expect(await statusFor(jobid, headers)).not.toHaveProperty('limited');
    expect(await streamFor(jobid, headers)).toContain('/api/exports/');
    expect(JSON.stringify(await world.database.query('select * from transfer_browsers'))).not.toContain(
      headers.cookie.slice('browser='.length),
    );
  });

  test('who signs in to the mailbox it reads, by the bearer or in that browser', async () => {
    const { jobid } = await finishedExport();
    const signed = await signIn(PASSWORD);
    const { token } = signed.body as { token: string };
    expect(await statusFor(jobid, { authorization: `Bearer ${token}` })).toHaveProperty('exports');
    expect(await statusFor(jobid, cookieOf(signed.headers))).toHaveProperty('exports');
    world.advance(25 * 3_600_000);
    expect(await statusFor(jobid, { authorization: `Bearer ${token}` })).toMatchObject({ limited: true });
    expect(await statusFor(jobid, cookieOf(signed.headers))).toMatchObject({ limited: true });
    world.advance(-25 * 3_600_000);
  });

  test('nobody who signs in to another mailbox, or to this address at a server of their own', async () => {
    const { jobid } = await finishedExport();
    const another = await signIn(PASSWORD, {}, BOB);
    const own = await world.post('/api/validate/', {
      email: ANN,
      password: PASSWORD,
      provider: 'other',
      imap: world.trustedImap,
    });
    expect(own.body, 'and no bearer').toMatchObject({ error: 'INVALID_EMAIL' });
    expect(
      await statusFor(jobid, { authorization: `Bearer ${(another.body as { token: string }).token}` }),
    ).toMatchObject({ limited: true });
    for (const { headers } of [another, own])
      expect(await statusFor(jobid, cookieOf(headers))).toMatchObject({ limited: true });
  });
});

describe('when the legacy service is gone', () => {
  test('the password that the export was ordered with still opens it, and no other does', async () => {
    const { jobid } = await finishedExport();
    const gone = { ...world.services, settings: { ...world.settings, legacyImapUrl: 'imap://127.0.0.1:9' } };
    await using later = await startWeb(openWeb(gone), { host: '127.0.0.1', port: 0, portalFolder: null });
    const ask = (email: string, password: string) =>
      fetch(`http://127.0.0.1:${later.port}/api/validate/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...fromClient('203.0.113.1') },
        body: JSON.stringify({ email, password, provider: 'sanbruno' }),
      });
    const right = await ask(ANN, PASSWORD);
    const { token } = (await right.json()) as { token: string };
    expect(await statusFor(jobid, { authorization: `Bearer ${token}` })).toHaveProperty('exports');
    expect((await ask(ANN, 'guess')).status).toBe(401);
    expect((await ask(BOB, PASSWORD)).status, 'of whom nothing is kept').toBe(502);
    // As many as for who has signed in before, and as many as for anybody.
    for (let guess = 0; guess < 2 * LIMITS['sign-ins to a mailbox'].burst; guess += 1) await ask(ANN, `guess ${guess}`);
    expect((await ask(ANN, 'guess')).status, 'guesses are counted').toBe(429);
  });

  test('a password that the legacy service refuses opens nothing while it runs, even if it was the one', async () => {
    await finishedExport();
    world.passwords.set(ANN, 'changed since');
    expect((await signIn(PASSWORD)).status).toBe(401);
    world.passwords.set(ANN, PASSWORD);
  });

  test('an account that is closed after the access has ended is opened by what is kept', async () => {
    const { jobid } = await finishedExport();
    world.passwords.delete(ANN);
    world.advance(Date.parse('2099-01-02T00:00:00Z') - Date.now());
    await world.database.query("update exports set expires = '2099-02-01T00:00:00Z'");
    const { body } = await signIn(PASSWORD);
    expect(await statusFor(jobid, { authorization: `Bearer ${(body as { token: string }).token}` })).toHaveProperty(
      'exports',
    );
    world.advance(Date.now() - Date.parse('2099-01-02T00:00:00Z'));
    world.passwords.set(ANN, PASSWORD);
  });

  test('what is kept of a password is sealed, and goes with the export', async () => {
    const { jobid } = await finishedExport();
    const { verifiers } = openWeb(world.services);
    const kept = () => world.database.query<{ sealed: Uint8Array }>('select sealed from export_verifiers');
    expect(Buffer.from((await kept())[0]?.sealed ?? []).toString('latin1')).not.toContain(PASSWORD);
    // Nor by a machine whose clock is far ahead: the files stay as well.
    const ahead = 30 * 24 * 3_600_000;
    world.advance(ahead);
    await verifiers.purge();
    world.advance(-ahead);
    expect(await kept()).toHaveLength(1);
    await world.database.query('update exports set deleted = now() where transfer_id = $1', [jobid]);
    expect(await verifiers.check(ANN, PASSWORD)).toBeNull();
    await verifiers.purge();
    expect(await kept()).toEqual([]);
  });
});

const order = (tokenId: string | null) => ({
  source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
  destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId },
  operations: ['emailmigration'],
  parameters: {},
});

describe('a sign-in at a provider', () => {
  test('is used by the browser that began it, and by no other that has seen its ID', async () => {
    const browser = new OauthBrowser(world);
    const page = await browser.until('/api/oauth/?provider=yahoo', isPage);
    const body = order(page.searchParams.get('token_id'));
    for (const stranger of [{}, fromBrowser(OTHER_BROWSER)])
      expect((await world.post('/api/load/', body, stranger)).body).toMatchObject({ error: 'INVALID_CREDENTIALS' });
    expect((await world.post('/api/load/', body, browser.headers)).status).toBe(200);
  });

  test('tells nobody without the password whether a mailbox is moving to an address', async () => {
    const browser = new OauthBrowser(world);
    const page = await browser.until('/api/oauth/?provider=yahoo', isPage);
    const tokenId = page.searchParams.get('token_id');
    expect((await world.post('/api/load/', order(tokenId), browser.headers)).status).toBe(200);
    const guess = (token: string | null, email: string) => {
      const asked = order(token);
      return world.post('/api/load/', {
        ...asked,
        source_account: { ...asked.source_account, password: 'guess' },
        destination_account: { ...asked.destination_account, email },
      });
    };
    const nothing = '0'.repeat(32);
    const answers = [await guess(nothing, ANN), await guess(nothing, ELSEWHERE), await guess(tokenId, ANN)];
    for (const { status, text } of answers) expect([status, text]).toEqual([answers[0]?.status, answers[0]?.text]);
    expect(answers[0]?.status).toBe(401);
  });
});

/** A mail server that takes its time over a wrong password. */
async function slowServer(onGuess: () => void): Promise<{ server: Server; port: number; refuse: () => void }> {
  const waiting: (() => void)[] = [];
  const server = createServer((socket) => {
    socket.write('* OK ready\r\n');
    socket.on('error', () => {});
    socket.on('data', (part) => {
      for (const line of part.toString().split('\r\n')) {
        const [tag = '', verb = ''] = line.split(' ');
        if (verb === 'LOGIN' || verb === 'AUTHENTICATE') {
          onGuess();
          waiting.push(() => socket.write(`${tag} NO [AUTHENTICATIONFAILED] no\r\n`));
        } else if (verb !== '') socket.write(`* CAPABILITY IMAP4rev1 SASL-IR\r\n${tag} OK done\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { server, port, refuse: () => waiting.splice(0).forEach((answer) => answer()) };
}

describe('a guess', () => {
  test('is counted when it is begun, whether or not the guesser stays for the answer', async () => {
    let guesses = 0;
    let heard = Promise.withResolvers<void>();
    const slow = await slowServer(() => {
      guesses += 1;
      heard.resolve();
    });
    const settings = {
      ...world.settings,
      legacyImapUrl: `imap://127.0.0.1:${slow.port}`,
      trustedMailHosts: [`127.0.0.1:${slow.port}`],
    };
    const services = openWeb({ ...world.services, settings });
    await using web = await startWeb(services, { host: '127.0.0.1', port: 0, portalFolder: null });
    const guess = async (at: number) => {
      const leaving = new AbortController();
      heard = Promise.withResolvers();
      const asked = fetch(`http://127.0.0.1:${web.port}/api/validate/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...fromClient(`198.51.100.${at}`) },
        body: JSON.stringify({ email: ANN, password: `guess ${at}`, provider: 'sanbruno' }),
        signal: leaving.signal,
      }).then(
        ({ status }) => status,
        () => 'gone',
      );
      // The guesser goes as soon as the password is on its way.
      const answered = await Promise.race([asked, heard.promise]);
      leaving.abort();
      return answered;
    };
    for (let at = 0; at < LIMITS['sign-ins to a mailbox'].burst; at += 1) await guess(at);
    expect(guesses).toBe(LIMITS['sign-ins to a mailbox'].burst);
    expect(await guess(200), 'while the others are not answered').toBe(429);
    slow.refuse();
    expect(await guess(201), 'when they are').toBe(429);
    slow.server.close();
  });
});
