import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWeb } from '../../src/server/web/services.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { fromBrowser, LEGACY_DOMAIN, openWebWorld, signedInBy, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const PAGE = '<!doctype html><title>portal</title>';
const BROWSER = 'b'.repeat(64);
/** One of each kind of answer: page, asset, nothing, call, refusal, redirect, health. */
const PATHS = [
  '/',
  '/assets/main-abc123.js',
  '/assets/missing.js',
  '/favicon.svg',
  '/api/status/',
  '/api/nothing',
  '/api/openapi.json',
  '/api/oauth/?provider=nobody',
  '/healthz',
];

let folder: string;
let world: WebWorld;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portal-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'favicon.svg'), '<svg/>');
  await writeFile(join(folder, 'assets/main-abc123.js'), 'console.log(1);');
  world = await openWebWorld({ portalFolder: folder });
  world.dns.zones.set('good.example', { mx: ['mx.example'] });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'transfers', 'sessions'])
    await world.database.query(`delete from ${table}`);
  world.passwords.clear();
  world.passwords.set(ANN, PASSWORD);
  world.logLines.length = 0;
});

const isGood = async (query: string) =>
  (await world.get(`/api/v2/domain-validation/?${query}`)).body as { valid: boolean };
const signIn = (email: string, password: string) =>
  world.post('/api/validate/', { email, password, provider: 'sanbruno' });

describe('an answer', () => {
  test('of any kind tells the browser to stay with TLS, where there is any', async () => {
    const settings = { ...world.settings, publicUrl: 'https://transfer.operator.example' };
    const options = { host: '127.0.0.1', port: 0, portalFolder: folder };
    await using web = await startWeb(openWeb({ ...world.services, settings }), options);
    for (const path of PATHS) {
      const { headers } = await fetch(`http://127.0.0.1:${web.port}${path}`, { redirect: 'manual' });
      expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000; includeSubDomains']);
    }
  });

  test('of any kind lets no page of another origin read it', async () => {
    for (const path of PATHS)
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        const { headers } = await fetch(`${world.url}${path}`, {
          method,
          redirect: 'manual',
          headers: {
            origin: 'https://evil.example',
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type',
          },
        });
        expect([path, method, [...headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([
          path,
          method,
          [],
        ]);
      }
  });

  test('with a body names its type, and a text its charset', async () => {
    const types = await Promise.all(
      PATHS.map(async (path) => {
        const { text, headers } = await world.get(path);
        return text === '' ? [] : [[path, (headers.get('content-type') ?? '').toLowerCase()]];
      }),
    );
    expect(Object.fromEntries(types.flat())).toEqual({
      '/': 'text/html; charset=utf-8',
      '/assets/main-abc123.js': 'text/javascript; charset=utf-8',
      '/assets/missing.js': 'text/plain; charset=utf-8',
      '/favicon.svg': 'image/svg+xml',
      '/api/status/': 'application/json',
      '/api/nothing': 'application/json',
      '/api/openapi.json': 'application/json',
      '/healthz': 'application/json',
    });
  });

  test.each(['/.git/config', '/.git/HEAD', '/package.json', '/src/main.ts', '/.env', '/../package.json'])(
    'to %s is nothing of the repository',
    async (path) => {
      expect([PAGE, 'Not found']).toContain((await world.get(path)).text);
    },
  );

  test('to an error of ours is in general words, and the log leaves out what the error says', async () => {
    const database = {
      ...world.database,
      query: () => Promise.reject(new Error('relation "secret_canary" does not exist')),
      transaction: () => Promise.reject(new Error('relation "secret_canary" does not exist')),
    };
    const options = { host: '127.0.0.1', port: 0, portalFolder: null };
    await using web = await startWeb(openWeb({ ...world.services, database }), options);
    const answer = await fetch(`http://127.0.0.1:${web.port}/api/validate-token/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: 'a'.repeat(64) }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      500,
      {
        error: 'GENERAL_ERROR',
        message: 'Something went wrong on our side. Your mail is safe. Please try again later.',
      },
    ]);
    const logged = world.logLines.filter((line) => line.includes('"level":50'));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('a request failed');
    expect(world.logLines.join('')).not.toContain('secret_canary');
  });
});

/** What the server answers to octets, until it closes the connection. */
async function answerTo(octets: string): Promise<string> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (part) => {
    text += part.toString();
  });
  socket.write(octets);
  await once(socket, 'close');
  return text;
}

const post = (...headers: string[]) =>
  ['POST /api/capabilities/ HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
const smuggled = '0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a request', () => {
  test.each([
    ['two lengths', post('Content-Length: 5', 'Content-Length: 44')],
    ['a length and chunks', post('Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['chunks and a length', post('Transfer-Encoding: chunked', 'Content-Length: 5')],
    ['a length that is no number', post('Content-Length: +5')],
    ['a transfer coding that nobody knows last', post('Transfer-Encoding: chunked, x')],
    ['a space before the colon', post('Content-Length : 5')],
    ['lines that end with a bare carriage return', post('X: a\rContent-Length: 5')],
  ])('with %s is refused, and nothing behind it is taken for a request', async (_what, head) => {
    const answer = await answerTo(head + smuggled);
    expect(answer.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400']);
    expect(answer).not.toContain('"ok"');
  });

  test('by TRACE gives nothing of itself back', async () => {
    const asked = request(`${world.url}/`, { method: 'TRACE', headers: { 'x-canary': 'trace-canary' } }).end();
    const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
    let text = '';
    for await (const part of response) text += String(part);
    expect(response.statusCode).toBe(404);
    expect(text + JSON.stringify(response.headers)).not.toContain('trace-canary');
  });

  test('that is encoded is decoded once', async () => {
    expect(await isGood('domain=good%2Eexample')).toEqual({ valid: true });
    expect(await isGood('domain=good%252Eexample')).toEqual({ valid: false });
    expect((await world.get('/assets/main%2Dabc123.js')).text).toBe('console.log(1);');
    expect((await world.get('/assets/main%252Dabc123.js')).status).toBe(404);
  });

  test('with a parameter twice counts by its first, and a query never stands for a body', async () => {
    expect(await isGood('domain=good.example&domain=no-such.example')).toEqual({ valid: true });
    expect(await isGood('domain=no-such.example&domain=good.example')).toEqual({ valid: false });
    const answer = await world.post(`/api/validate/?email=${ANN}&password=${PASSWORD}&provider=sanbruno`, {});
    expect(answer.status).toBe(400);
    expect(world.signIns).toEqual([]);
  });

  test('with fields that a call does not know changes nothing by them', async () => {
    const order = {
      source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno', imap: 'evil.example' },
      destination_account: { email: 'ann@mail.example', provider: 'file_export', id: 1 },
      operations: ['emailmigration', 'contactsmigration'],
      parameters: { finished: '2020-01-01', deaths: 9, leased_until: '2099-01-01' },
      file_export_parameters: { email_format: 'eml', contacts_format: 'vcf', name: '../evil' },
      id: 'a'.repeat(32),
      jobid: 'a'.repeat(32),
      status: 'completed',
      __proto__: { polluted: true },
      constructor: { prototype: { polluted: true } },
    };
    const { body } = await world.post('/api/load/', order);
    const { jobid } = body as { jobid: string };
    expect(jobid).not.toBe('a'.repeat(32));
    expect(await world.database.query('select id, finished, deaths, leased_until from transfers')).toEqual([
      { id: jobid, finished: null, deaths: 0, leased_until: null },
    ]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('text', () => {
  const SQL = ["' or 1=1 --", "'; drop table transfers; --", '$1', "\\'; select pg_sleep(9); --", '%', 'a" or "a"="a'];

  test.each(SQL)('like %s is nothing but text to the database', async (text) => {
    const encoded = encodeURIComponent(text);
    expect((await world.get(`/api/status/?job_id=${encoded}`)).status).toBe(404);
    expect((await world.get(`/api/v2/status/?job_id=${encoded}`, fromBrowser(BROWSER))).status).toBe(404);
    expect((await world.post('/api/jobs-by-email/', { hash: text }, fromBrowser(BROWSER))).status).toBe(404);
    expect((await world.post('/api/validate-token/', { token: text })).status).toBe(401);
    expect((await world.get(`/api/v2/domain-validation/?domain=${encoded}`)).body).toEqual({ valid: false });
    expect((await signIn(ANN, text)).status).toBe(401);
    expect(await world.database.query('select 1 from transfers')).toEqual([]);
  });

  test('that has a quote in it is an address like any other', async () => {
    const email = `o'brien@${LEGACY_DOMAIN}`;
    world.passwords.set(email, PASSWORD);
    const tokenId = await world.services.tokens.store(
      { email, provider: 'yahoo', browser: signedInBy(world, BROWSER) },
      { access: 'access', refresh: 'refresh', expiresIn: 3600 },
    );
    const { status } = await world.post(
      '/api/load/',
      {
        source_account: { email, password: PASSWORD, provider: 'sanbruno' },
        destination_account: { email, provider: 'yahoo', token_id: tokenId },
        operations: ['emailmigration'],
        parameters: {},
      },
      fromBrowser(BROWSER),
    );
    expect(status).toBe(200);
    expect(await world.database.query('select source_email, destination_email from transfers')).toEqual([
      { source_email: email, destination_email: email },
    ]);
  });

  test('of strangers changes neither the JSON nor the stream of events that carries it', async () => {
    const subject = '"}]}</script>\r\n\r\nevent: end\ndata: {"jobid":"x"}\u2028\u0000';
    const ordered = await world.post('/api/load/', {
      source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
      destination_account: { email: 'ann@mail.example', provider: 'file_export' },
      operations: ['emailmigration', 'contactsmigration'],
      parameters: {},
      file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
    });
    const { jobid } = ordered.body as { jobid: string };
    const headers = { cookie: ordered.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
    await world.database.query("update operations set status = 'completed', finished = now(), skipped = $1::jsonb", [
      JSON.stringify([
        { mailbox: subject.replace('\u0000', ''), reason: 'any', subject: subject.replace('\u0000', '') },
      ]),
    ]);
    await world.database.query('update transfers set finished = now()');
    const { body } = await world.get(`/api/v2/status/?job_id=${jobid}`, headers);
    expect(body).toMatchObject({ emailmigration: { skipped: [{ subject: subject.replace('\u0000', '') }] } });
    const stream = await fetch(`${world.url}/api/v2/status/events/?job_id=${jobid}`, { headers });
    expect((await stream.text()).match(/^event: .*$/gm)).toEqual(['event: status', 'event: end']);
  });
});

describe('a password', () => {
  const LONG = 'Ä long pässword of 200 signs: '.repeat(7).slice(0, 200);

  test.each(['a', '12345678', LONG, ' spaces around ', 'quote"back\\slash', '密码 пароль 🔑', '%00{}()*"', "'; --"])(
    'like %j is tried exactly as it was typed',
    async (password) => {
      world.passwords.set(ANN, password);
      expect((await signIn(ANN, password)).status).toBe(200);
    },
  );

  test('is neither cut, trimmed nor made lower case before it is tried', async () => {
    world.passwords.set(ANN, LONG);
    for (const near of [LONG.slice(0, -1), `${LONG} `, LONG.toLowerCase()])
      expect((await signIn(ANN, near)).status).toBe(401);
  });
});
