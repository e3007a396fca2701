import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiptAddress } from '../../src/contract/calls/receipt.ts';
import { tooMany } from '../../src/server/web/limits.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { openLink } from '../support/followed-link.ts';
import { openWebWorld, type WebWorld } from '../support/web-world.ts';

const SCRIPT = 'console.log("portal");'.repeat(20);
const PAGE = '<!doctype html><title>portal</title>';

let folder: string;
let world: WebWorld;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portal-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'favicon.svg'), '<svg/>');
  await writeFile(join(folder, 'assets/main-abc123.js'), SCRIPT);
  await writeFile(join(folder, 'assets/main-abc123.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'assets/main-abc123.js.map'), '{}');
  world = await openWebWorld({
    portalFolder: folder,
    environment: { FOOTER_URL: 'https://legal.operator.example/footer?x=1' },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const ask = (email: string, headers: Record<string, string>) => world.post('/api/capabilities/', { email }, headers);

describe('the portal’s files', () => {
  test('a page that is requested by another name of this machine is redirected to PUBLIC_URL, but by no other name', async () => {
    const { port } = new URL(world.url);
    const answer = await fetch(`http://127.0.0.1:${port}/status?migration_id=x`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      `http://localhost:${port}/status?migration_id=x`,
    ]);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`, { redirect: 'manual' })).status).toBe(200);
  });

  test.each(['/', '/status?migration_id=x', '/oauth-callback?token_id=x', '/no/such/page'])(
    '%s is the page, and always revalidated',
    async (path) => {
      const answer = await world.get(path);
      expect([answer.status, answer.text, answer.headers.get('cache-control')]).toEqual([200, PAGE, 'no-cache']);
    },
  );

  test('an asset is compressed and cached for good', async () => {
    const answer = await world.get('/assets/main-abc123.js', { 'accept-encoding': 'gzip, br' });
    expect([answer.status, answer.text]).toEqual([200, SCRIPT]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
  });

  test('an asset is uncompressed for clients that accept nothing else', async () => {
    const answer = await world.get('/assets/main-abc123.js', { 'accept-encoding': 'identity' });
    expect([answer.text, answer.headers.get('content-encoding')]).toEqual([SCRIPT, null]);
  });

  test('a page that has not changed is not sent again', async () => {
    const { headers } = await world.get('/');
    const again = await world.get('/', { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test.each([
    '/assets/missing.js',
    '/assets/',
    '/assets/main-abc123.js.map',
    '/assets/main-abc123.js.br',
    '/favicon.ico',
    '/.env',
    '/assets/..%2f..%2fpackage.json',
    '/..%2f..%2fetc/passwd.txt',
    '//etc/passwd.txt',
  ])('%s is not there', async (path) => {
    const answer = await world.get(path);
    expect([answer.status, answer.text]).toEqual([404, 'Not found']);
  });
});

test('a page that was opened before an upgrade gets its scripts, and nothing else is of an earlier portal', async () => {
  const earlier = await Promise.all(
    ['newer', 'older', 'gone'].map((name) => mkdtemp(join(tmpdir(), `${name}-portal-`))),
  );
  const [newer = '', older = '', gone = ''] = earlier;
  await rm(gone, { recursive: true });
  for (const [at, script] of [
    [newer, 'newer'],
    [older, 'older'],
  ] as const) {
    await mkdir(join(at, 'assets'));
    for (const name of ['index.html', 'robots.txt', 'assets/main-abc123.js', 'assets/of-both-def456.js'])
      await writeFile(join(at, name), script);
    await writeFile(join(at, `assets/${script}-fed789.js`), script.repeat(20));
    await writeFile(join(at, `assets/${script}-fed789.js.br`), brotliCompressSync(script.repeat(20)));
  }
  const options = { host: '127.0.0.1', port: 0, portalFolder: folder, earlierPortals: [newer, gone, older] };
  await using served = await startWeb(openWeb(world.services), options);
  const get = async (path: string) => {
    const answer = await fetch(`http://localhost:${served.port}${path}`, { headers: { 'accept-encoding': 'br' } });
    const [type, encoding, cache] = ['content-type', 'content-encoding', 'cache-control'].map((name) =>
      answer.headers.get(name),
    );
    return { said: await answer.text(), status: answer.status, type, encoding, cache };
  };
  const script = { status: 200, type: 'text/javascript; charset=utf-8', cache: 'public, max-age=31536000, immutable' };
  for (const each of ['newer', 'older'])
    expect(await get(`/assets/${each}-fed789.js`)).toEqual({ ...script, said: each.repeat(20), encoding: 'br' });
  expect(await get('/assets/main-abc123.js')).toEqual({ ...script, said: SCRIPT, encoding: 'br' });
  expect(await get('/assets/of-both-def456.js')).toEqual({ ...script, said: 'newer', encoding: null });
  expect((await get('/')).said).toBe(PAGE);
  expect((await get('/robots.txt')).status).toBe(404);
  for (const at of [newer, older]) await rm(at, { recursive: true });
});

describe('every answer', () => {
  test.each(['/', '/assets/main-abc123.js', '/assets/missing.js', '/api/status/', '/api/nothing', '/healthz'])(
    '%s carries the security headers',
    async (path) => {
      expect(Object.fromEntries((await world.get(path)).headers)).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-src https://legal.operator.example",
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'permissions-policy': expect.stringContaining('camera=()'),
      });
    },
  );

  test.each(['/api/status/', '/api/nothing', '/api/openapi.json', '/api/oauth/'])(
    '%s is cached nowhere',
    async (path) => {
      expect((await world.get(path)).headers.get('cache-control')).toBe('no-store');
    },
  );

  test('HSTS is not sent where there is no TLS', async () => {
    expect((await world.get('/')).headers.get('strict-transport-security')).toBeNull();
  });

  test('nothing names the software', async () => {
    const { headers } = await world.get('/api/status/');
    expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null]);
  });
});

describe('requests that are refused', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'SELF' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'SELF' }, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{}, 200],
  ])('a post with %j is answered %i', async (headers, status) => {
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('SELF', world.settings.publicUrl)]),
    );
    expect((await ask('ann@sanbrunocable.example', own)).status).toBe(status);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/csp-report',
    'application/jsonx',
  ])('a body of type %s is not taken', async (type) => {
    expect((await ask('ann@sanbrunocable.example', { 'content-type': type })).status).toBe(415);
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'a body of type %s is taken',
    async (type) => {
      expect((await ask('ann@sanbrunocable.example', { 'content-type': type })).status).toBe(200);
    },
  );

  test('a body that is too long is refused, with its length and without', async () => {
    const long = JSON.stringify({ email: 'x'.repeat(70_000) });
    expect((await world.post('/api/capabilities/', long)).status).toBe(413);
    const chunked = await fetch(`${world.url}/api/capabilities/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob([long]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '1',
    '{"email":{"__proto__":1}}',
    '{"__proto__":{"email":"a@b.example"}}',
    `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
    '{"email":"\\u0000@\\ud800.example"}',
  ])('the body %# is refused as a bad request', async (body) => {
    const answer = await world.post('/api/capabilities/', body);
    expect([answer.status, Object.keys(answer.body as object)]).toEqual([400, ['error', 'message']]);
  });

  test('a refusal repeats nothing of the input', async () => {
    const answer = await ask('<script>canary</script>', {});
    expect(answer.text).not.toContain('canary');
  });

  test.each([
    ['GET', '/api/validate/', 405],
    ['DELETE', '/api/validate/', 405],
    ['POST', '/api/status/', 405],
    ['POST', '/api/v2/transfers/receipt/', 405],
    ['DELETE', '/api/v2/status/events/', 405],
    ['GET', '/api/nothing', 404],
    ['GET', '/api', 404],
    ['POST', '/api/validate', 404],
  ])('%s %s is answered %i in JSON', async (method, path, status) => {
    const response = await fetch(`${world.url}${path}`, { method });
    expect([response.status, await response.json()]).toMatchObject([status, { error: 'GENERAL_ERROR' }]);
  });

  test('a request that arrives too slowly does not keep its connection', async () => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const closed = await new Promise((resolve) => {
      socket.on('close', () => resolve(true));
      socket.on('error', () => resolve(true));
      socket.resume();
    });
    expect(closed).toBe(true);
  });
});

test.each([
  ['a length', 'Content-Length: 500', '{"ema'],
  ['chunks', 'Transfer-Encoding: chunked', '5\r\n{"ema\r\n'],
])('a body with %s that breaks off is neither an error of ours nor an attack', async (_, header, part) => {
  world.logLines.length = 0;
  const started = Promise.withResolvers<unknown>();
  subscribe('http.server.request.start', started.resolve);
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  const head = `POST /api/capabilities/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${header}`;
  socket.write(`${head}\r\n\r\n${part}`);
  await started.promise;
  unsubscribe('http.server.request.start', started.resolve);
  socket.resetAndDestroy();
  await expect.poll(() => world.logLines.join('')).toContain('a request was broken off');
  const levels = world.logLines.map((line) => (JSON.parse(line) as { level: number }).level);
  expect(Math.max(...levels)).toBe(20);
});

test.each([
  [429, '7', 'Too many attempts. Your mail is safe. Please try again in 7 seconds.'],
  [500, undefined, 'Something went wrong on our side. Your mail is safe. Please try again later.'],
])(
  'a person who follows a link to a file and is refused with %i is shown a page',
  async (status, retryAfter, words) => {
    const limits = {
      ...openWeb(world.services).limits,
      take: () => Promise.reject(status === 429 ? tooMany(7000) : new Error('canary')),
    };
    const web = { ...openWeb(world.services), limits };
    await using served = await startWeb(web, { host: '127.0.0.1', port: 0, portalFolder: folder });
    const link = `http://127.0.0.1:${served.port}${receiptAddress('a'.repeat(32), 'html')}`;
    const shown = await openLink(link);
    expect([shown.status, shown.headers['retry-after']]).toEqual([status, retryAfter]);
    expect(shown.text).toContain(`<p>${words}</p>`);
    expect(shown.text).toContain('<a href="">Try again</a>');
    expect(shown.text).toContain('<a href="/">');
    expect(shown.text).not.toContain('canary');
    // A script is told in JSON, whatever it accepts.
    const script = await openLink(link, { 'sec-fetch-mode': 'cors' });
    expect(script.headers['content-type']).toBe('application/json');
  },
);

test('the server says that it lives and that it is ready', async () => {
  expect((await world.get('/healthz')).body).toEqual({ ok: true });
  expect((await world.get('/readyz')).body).toEqual({ ok: true });
});

test('a load balancer that uses HTTP/1.0 without a Host header is answered', async () => {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  socket.write('GET /readyz HTTP/1.0\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*\{"ok":true\}$/s);
});

test('a port that is taken is said to be, with an example', async () => {
  const port = Number(new URL(world.url).port);
  await expect(startWeb(openWeb(world.services), { host: '127.0.0.1', port, portalFolder: null })).rejects.toThrow(
    `PORT ${port} is already in use. Stop what uses it, or name another. Example: PORT=${port + (port < 60_000 ? 10 : -10)}`,
  );
});

describe('with other settings', () => {
  test('maintenance answers every call with 503 and the portal as ever', async () => {
    const services = { ...world.services, settings: { ...world.settings, maintenance: true } };
    await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: folder });
    const url = `http://127.0.0.1:${web.port}`;
    for (const path of ['/api/status/?job_id=x', '/api/nothing', '/api/openapi.json']) {
      const response = await fetch(url + path, { redirect: 'manual' });
      expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
        503,
        '300',
        {
          error: 'GENERAL_ERROR',
          message: 'The migration portal is unavailable at this time, we apologize for the inconvenience.',
        },
      ]);
    }
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('during maintenance, a visitor who follows a link in a letter is shown a page that says so', async () => {
    const services = { ...world.services, settings: { ...world.settings, maintenance: true } };
    await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: folder });
    const link = `http://127.0.0.1:${web.port}/api/exports/${'a'.repeat(32)}/part-1-00000000.zip`;
    const { status, headers, text } = await openLink(link);
    expect([status, headers['content-type'], headers['retry-after'], headers['cache-control']]).toEqual([
      503,
      'text/html; charset=UTF-8',
      '300',
      'no-store',
    ]);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; form-action/);
    expect(text).toContain('The migration portal is unavailable at this time, we apologize for the inconvenience.');
    expect(text).toContain('Your mail is safe.');
    expect(text).toContain('<a href="">Try again</a>');
  });

  test.each([
    ['/api/oauth/?provider=gmail', '/oauth-callback?error=UNAVAILABLE&provider=google'],
    ['/api/oauth/?provider=nobody', '/oauth-callback?error=UNAVAILABLE'],
    ['/api/oauth-for-status/?provider=yahoo', '/oauth-callback-for-status?error=UNAVAILABLE&provider=yahoo'],
    ['/api/oauth/callback/yahoo/?state=x&code=y', '/oauth-callback?error=UNAVAILABLE&provider=yahoo'],
    ['/api/oauth/nothing', '/oauth-callback?error=UNAVAILABLE'],
  ])('maintenance leads the navigation to %s back to the portal', async (path, location) => {
    const services = { ...world.services, settings: { ...world.settings, maintenance: true } };
    await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: folder });
    const response = await fetch(`http://127.0.0.1:${web.port}${path}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, location]);
    expect(await response.text()).toBe('');
  });

  test('behind TLS the browser is told to stay there, and the sign-in cookie is bound to the host', async () => {
    const { yahoo } = world.settings.providers;
    const services = {
      ...world.services,
      settings: {
        ...world.settings,
        publicUrl: 'https://transfer.operator.example',
        providers: {
          ...world.settings.providers,
          yahoo: { ...yahoo, issuer: 'http://127.0.0.1:9', client: { id: 'x', secret: 'y' } },
        },
      },
    };
    await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: null });
    const response = await fetch(`http://127.0.0.1:${web.port}/api/oauth/?provider=yahoo`, { redirect: 'manual' });
    expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-browser=[0-9a-f]{64}; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    // A provider that can't be reached sends the browser back.
    expect(response.headers.get('location')).toBe('/oauth-callback?error=EXTERNAL_OAUTH_ERROR&provider=yahoo');
  });

  test('without provisioning and mail the calls that need them say so', async () => {
    const { provisioning: _, smtpUrl: __, ...settings } = world.settings;
    const services = { ...world.services, settings };
    await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: null });
    const email = 'ann@sanbrunocable.example';
    world.passwords.set(email, 'correct horse');
    const session = await world.post('/api/validate/', { email, password: 'correct horse', provider: 'sanbruno' });
    const { token } = session.body as { token: string };
    const post = async (path: string, body: object) => {
      const response = await fetch(`http://127.0.0.1:${web.port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()];
    };
    expect(await post('/api/v2/san-bruno-set-migration-started/', { email })).toMatchObject([
      502,
      { error: 'GENERAL_ERROR' },
    ]);
    expect(await post('/api/v2/support-form/', { email_address: email, issue: 'Please help' })).toMatchObject([
      502,
      { error: 'GENERAL_ERROR', message: 'There was an error submitting your message, please try again later.' },
    ]);
  });

  test('where the legacy service has no address book, contacts are not offered', async () => {
    const { legacyCarddavUrl: _, ...rest } = world.settings;
    const google = { ...rest.providers.google, client: { id: 'portal', secret: 'secret' } };
    const settings = { ...rest, providers: { ...rest.providers, google } };
    const services = { ...world.services, settings };
    await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: null });
    const offered = async (email: string) => {
      const response = await fetch(`http://127.0.0.1:${web.port}/api/capabilities/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email }),
      });
      return ((await response.json()) as { allowed_operations?: string[] }).allowed_operations;
    };
    expect(await offered('ann@sanbrunocable.example')).toEqual(['emailmigration']);
    expect(await offered('ann@gmail.com')).toEqual(['emailmigration']);
  });

  test('a stopping server finishes the requests in progress, and accepts no new ones', async () => {
    const stopping = new AbortController();
    const web = await startWeb(openWeb(world.services), {
      host: '127.0.0.1',
      port: 0,
      portalFolder: null,
      signal: stopping.signal,
    });
    const url = `http://127.0.0.1:${web.port}`;
    const started = Promise.withResolvers<unknown>();
    subscribe('http.server.request.start', started.resolve);
    const slow = fetch(`${url}/api/validate-imap/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ imap: 'imap.nowhere.example' }),
    });
    await started.promise;
    unsubscribe('http.server.request.start', started.resolve);
    stopping.abort();
    await web[Symbol.asyncDispose]();
    expect((await slow).status).toBe(400);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  });
});
