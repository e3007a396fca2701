import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../src/server/store/database-faults.ts';
import { LIMITS } from '../../src/server/web/limits.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { isPage, isReturn, OauthBrowser } from '../support/oauth-browser.ts';
import { startPostgres } from '../support/postgres.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { WebAnswer, WebProcess, WebQuestion } from '../support/web-process.ts';
import { fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const PROCESS = join(import.meta.dirname, '../support/web-process.ts');
const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const WITHIN_MS = 20_000;
const START = '/api/oauth/?provider=yahoo';
const HOUR_MS = 3_600_000;

async function answerOf(child: ChildProcess): Promise<WebAnswer> {
  const [answer] = (await once(child, 'message', { signal: AbortSignal.timeout(WITHIN_MS) })) as [WebAnswer];
  return answer;
}

async function openOperator(connectionString: string): Promise<AsyncDisposable & pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function signIn(server: string, password: string, client: string) {
  const response = await fetch(`${server}/api/validate/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...fromClient(client) },
    body: JSON.stringify({ email: ANN, password, provider: 'sanbruno' }),
  });
  await response.body?.cancel();
  return response;
}

describe('two web servers on one PostgreSQL', needs('postgresql'), () => {
  const lifetime = new AsyncDisposableStack();
  let world: WebWorld;
  let child: ChildProcess;
  /** The addresses of both. */
  let servers: readonly [string, string];

  beforeAll(async () => {
    const databaseUrl = await createEmptyDatabase();
    const key = randomBytes(32);
    world = lifetime.use(await openWebWorld({ providers: ['yahoo'], address: { url: databaseUrl }, key }));
    world.passwords.set(ANN, PASSWORD);
    const parameters: WebProcess = { databaseUrl, environment: world.environment, key: key.toString('base64') };
    child = fork(PROCESS, [JSON.stringify(parameters)]);
    lifetime.defer(async () => {
      if (child.exitCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    });
    const answer = await answerOf(child);
    if (answer === 'advanced' || !('port' in answer)) throw new Error('The process did not begin with its port.');
    servers = [world.url, `http://127.0.0.1:${answer.port}`];
  }, 60_000);
  afterAll(() => lifetime.disposeAsync());
  beforeEach(async () => {
    for (const table of ['limits', 'limit_slots', 'known_clients']) await world.database.query(`delete from ${table}`);
    world.signIns.length = 0;
    yahoo().person.email = ANN;
    yahoo().tokenRequests.length = 0;
  });

  function yahoo() {
    if (world.providers.yahoo === undefined) throw new Error('Yahoo was not started.');
    return world.providers.yahoo;
  }

  /** Sets both clocks forward. */
  async function advance(ms: number): Promise<void> {
    world.advance(ms);
    const done = answerOf(child);
    child.send({ kind: 'advance', ms } satisfies WebQuestion);
    await done;
  }

  async function tokensOf(): Promise<string> {
    const page = await new OauthBrowser(world).until(START, isPage);
    const tokenId = page.searchParams.get('token_id');
    if (tokenId === null) throw new Error(`The sign-in ended at ${page.search}.`);
    return tokenId;
  }

  test('one finishes the sign-in at a provider that the other started, but only once', async () => {
    const browser = new OauthBrowser(world);
    const back = await browser.until(START, isReturn);
    browser.server = servers[1];
    const page = await browser.until(back.href, isPage);
    expect(page.searchParams.get('email')).toBe(ANN);
    expect(await world.services.tokens.of(page.searchParams.get('token_id') ?? '')).toEqual({
      email: ANN,
      provider: 'yahoo',
    });
    browser.server = servers[0];
    const again = await browser.until(back.href, isPage);
    expect(again.searchParams.get('error')).toBe('EXTERNAL_OAUTH_ERROR');
    expect(yahoo().tokenRequests.length).toBe(1);
  });

  test('one refreshes a token while the other waits for it', async () => {
    const tokenId = await tokensOf();
    const before = await world.services.tokens.accessToken(tokenId);
    await advance(HOUR_MS);
    yahoo().tokenRequests.length = 0;
    const held = Promise.withResolvers<void>();
    yahoo().heldUntil = held.promise;
    const theirs = answerOf(child);
    child.send({ kind: 'token', tokenId, times: 20 } satisfies WebQuestion);
    const refreshing = 'select 1 from oauth_tokens where id = $1 and refreshing_until > 0';
    await expect.poll(() => world.database.query(refreshing, [tokenId])).toHaveLength(1);
    const ours = Promise.all(Array.from({ length: 20 }, () => world.services.tokens.accessToken(tokenId)));
    held.resolve();
    const answer = await theirs;
    const got = [...(await ours), ...(answer !== 'advanced' && 'tokens' in answer ? answer.tokens : [])];
    expect(got.length).toBe(40);
    expect(new Set(got).size).toBe(1);
    expect(got[0]).not.toBe(before);
    expect(yahoo().tokenRequests.map((request) => request.get('grant_type'))).toEqual(['refresh_token']);
  });

  test('both together let few of many guesses reach a mailbox, and its owner in when told', async () => {
    const statuses = new Set<number>();
    for (let sent = 0; sent < 200; sent += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          signIn(servers[at % 2 === 0 ? 0 : 1], `guess ${sent + at}`, `198.51.100.${at + 1}`),
        ),
      );
      for (const { status } of answers) statuses.add(status);
    }
    expect(statuses).toEqual(new Set([401, 429]));
    expect(world.signIns.length).toBeGreaterThanOrEqual(LIMITS['sign-ins to a mailbox'].burst);
    expect(world.signIns.length).toBeLessThanOrEqual(2 * LIMITS['sign-ins to a mailbox'].burst);

    const refused = await signIn(servers[1], PASSWORD, '203.0.113.9');
    expect(refused.status).toBe(429);
    // The slot that one server booked is kept by the other.
    await advance(Number(refused.headers.get('retry-after')) * 1000);
    expect((await signIn(servers[0], PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('what one counts against a client, the other knows', async () => {
    const { burst } = LIMITS['support messages by a client'];
    const statuses: number[] = [];
    for (let at = 0; at <= burst; at += 1) {
      const response = await fetch(`${servers[at % 2 === 0 ? 0 : 1]}/api/v2/support-form/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...fromClient('203.0.113.77') },
        body: JSON.stringify({ email_address: ANN, issue: 'Please help me.' }),
      });
      await response.body?.cancel();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([...Array.from({ length: burst }, () => 200), 429]);
  });
});

describe('a PostgreSQL that crashes', needs('postgresql'), () => {
  test('makes every call unavailable and leads every sign-in back to the portal, until it is back', async () => {
    await using postgres = await startPostgres();
    await using world = await openWebWorld({ providers: ['yahoo'], address: { url: await postgres.create() } });
    world.passwords.set(ANN, PASSWORD);
    if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
    expect((await signIn(world.url, PASSWORD, '203.0.113.1')).status).toBe(200);
    const browser = new OauthBrowser(world);
    const back = await browser.until(START, isReturn);

    await postgres.crash();
    for (const ask of [
      () => world.get(`/api/status/?job_id=${'a'.repeat(32)}`),
      () => world.get(`/api/v2/status/events/?job_id=${'a'.repeat(32)}`),
      () => world.post('/api/capabilities/', { email: ANN }),
      () => world.post('/api/jobs-by-email/', { hash: 'a'.repeat(64) }),
    ]) {
      const answer = await ask();
      expect([answer.status, answer.headers.get('retry-after'), answer.body]).toEqual([
        503,
        '15',
        {
          error: 'GENERAL_ERROR',
          message: 'The migration portal is unavailable at this time, we apologize for the inconvenience.',
        },
      ]);
    }
    expect((await world.get('/readyz')).status).toBe(503);
    const told = world.logLines.find((line) => line.includes('the database is unavailable'));
    expect(JSON.parse(told ?? '{}')).toMatchObject({
      err: {
        name: 'DatabaseUnavailable',
        code: expect.any(String),
        // Refused, or cut off before it was asked: which of them depends on when the pool hears of the crash.
        remedy: expect.stringMatching(/^the database did not let us in(?:, hung up,.*)?\. Start it,/u),
      },
    });
    for (const [path, page] of [
      [START, '/oauth-callback'],
      ['/api/oauth-for-status/?provider=yahoo', '/oauth-callback-for-status'],
      [`${back.pathname}${back.search}`, '/oauth-callback'],
    ] as const) {
      const answer = await world.get(path);
      expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([
        302,
        `${page}?error=UNAVAILABLE&provider=yahoo`,
        '',
      ]);
    }

    await postgres.recover();
    expect((await signIn(world.url, PASSWORD, '203.0.113.1')).status).toBe(200);
    expect((await browser.until(back.href, isPage)).searchParams.get('email')).toBe(ANN);
  });
});

test(
  'a PostgreSQL that crashes while a sign-in is checked at the provider leads it back as unavailable, to its own page',
  needs('postgresql'),
  async () => {
    await using postgres = await startPostgres();
    await using world = await openWebWorld({ providers: ['yahoo'], address: { url: await postgres.create() } });
    const { yahoo } = world.providers;
    if (yahoo === undefined) throw new Error('There is no sign-in server.');
    const browser = new OauthBrowser(world);
    const back = await browser.until('/api/oauth-for-status/?provider=yahoo', isReturn);
    const held = Promise.withResolvers<void>();
    yahoo.heldUntil = held.promise;
    const led = browser.until(back.href, isPage);
    await expect.poll(() => world.database.query('select 1 from oauth_transactions')).toEqual([]);
    await postgres.crash();
    held.resolve();
    const page = await led;
    expect(`${page.pathname}${page.search}`).toBe('/oauth-callback-for-status?error=UNAVAILABLE&provider=yahoo');
  },
);

describe('a PostgreSQL that only reads, as a standby does', needs('postgresql'), () => {
  test('is not ready and makes calls unavailable, and no connection to it is kept', async () => {
    await using postgres = await startPostgres();
    const url = await postgres.create();
    await using world = await openWebWorld({ address: { url } });
    world.passwords.set(ANN, PASSWORD);
    await using operator = await openOperator(postgres.url);
    const { database } = world;
    const name = new URL(url).pathname.slice(1);
    /** What connects from now on meets it so. */
    const reads = (only: 'on' | 'off') =>
      operator.query(`alter database ${name} set default_transaction_read_only = ${only}`);
    const write = 'delete from limits';
    for (const ask of [
      () => database.query(write),
      () => database.commit([{ text: write }]),
      () => database.transaction((sql) => sql.query(write)),
    ]) {
      expect((await world.get('/readyz')).status).toBe(200);
      await reads('on');
      await operator.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      await expect.poll(async () => (await world.get('/readyz')).status).toBe(503);
      expect((await signIn(world.url, PASSWORD, '203.0.113.1')).status).toBe(503);
      await expect(ask()).rejects.toThrow(DatabaseUnavailable);
      await reads('off');
      expect((await signIn(world.url, PASSWORD, '203.0.113.1')).status).toBe(200);
    }
  });
});

describe('a PostgreSQL that hangs', needs('postgresql'), () => {
  test('makes calls unavailable after a time and leads sign-ins back, and its dead connections are given up', async () => {
    await using postgres = await startPostgres();
    const database = new URL(await postgres.create());
    let isUp = true;
    await using line = await startTcpProxy(Number(database.port), { before: async () => isUp });
    database.port = String(line.port);
    // The time is a minute otherwise.
    database.searchParams.set('query_timeout', '3000');
    await using world = await openWebWorld({ providers: ['yahoo'], address: { url: database.href } });
    const status = `/api/status/?job_id=${'a'.repeat(32)}`;
    expect((await world.get(status)).status).toBe(404);

    isUp = false;
    line.holdAll();
    // More than there are connections.
    const answers = await Promise.all(Array.from({ length: 15 }, () => world.get(status)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([503]));
    const led = await world.get(START);
    expect(led.headers.get('location')).toBe('/oauth-callback?error=UNAVAILABLE&provider=yahoo');

    const queues = { config: { connectionTimeoutMillis: 20_000, query_timeout: 60_000, keepAlive: true } };
    expect(world.database.queue().getDb(), 'the connections of the queue').toMatchObject(queues);

    isUp = true;
    await expect.poll(async () => (await world.get(status)).status).toBe(404);
  });
});
