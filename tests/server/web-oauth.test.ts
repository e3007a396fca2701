import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OauthProvider } from '../../src/contract/provider.ts';
import { ConsentError, TokenUnavailable } from '../../src/server/oauth/token-errors.ts';
import { openTokens } from '../../src/server/oauth/tokens.ts';
import { takeEndedTransfer } from '../../src/server/transfers/lease.ts';
import { stopTransfer } from '../../src/server/transfers/stopping.ts';
import { endTakeBack, orderTakeBack } from '../../src/server/transfers/taking-back.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { isPage, isReturn, OauthBrowser } from '../support/oauth-browser.ts';
import type { SignInServer } from '../support/sign-in-server.ts';
import { fromBrowser, fromClient, LEGACY_DOMAIN, openWebWorld, SCOPES, type WebWorld } from '../support/web-world.ts';
import { storedTransfer } from '../support/stored-transfer.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const HEX = /^[0-9a-f]{32}$/;

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['google', 'yahoo', 'office365'] });
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  await world.database.query('delete from limits');
  await world.database.query('delete from oauth_transactions');
  await world.database.query('delete from oauth_tokens');
  await world.database.query('delete from transfers');
  for (const server of Object.values(world.providers)) {
    server.person.email = ANN;
    server.person.account = '';
    server.person.emailVerified = true;
    server.person.refusesScopes = [];
    server.person.cancels = false;
    server.answersTokens = true;
    server.refusesTokens = null;
    server.tokenRequests.length = 0;
    server.revocations.length = 0;
  }
});

const newBrowser = () => new OauthBrowser(world);

const start = (provider: string) => `/api/oauth/?provider=${provider}`;
const startForStatus = (provider: string) => `/api/oauth-for-status/?provider=${provider}`;

function pageOf(url: URL) {
  return { path: url.pathname, ...Object.fromEntries(url.searchParams) };
}

function serverOf(provider: OauthProvider): SignInServer {
  const server = world.providers[provider];
  if (server === undefined) throw new Error(`${provider} was not started.`);
  return server;
}

async function tokensOf(provider: OauthProvider): Promise<string> {
  const page = await newBrowser().until(start(provider), isPage);
  return page.searchParams.get('token_id') ?? '';
}

describe('a sign-in for a transfer', () => {
  test.each(['google', 'yahoo', 'office365'] as const)(
    '%s ends with an address and the ID of its tokens',
    async (provider) => {
      const page = await newBrowser().until(start(provider), isPage);
      expect(pageOf(page)).toEqual({
        path: '/oauth-callback',
        token_id: expect.stringMatching(HEX),
        email: ANN,
        provider,
      });
      const id = page.searchParams.get('token_id') ?? '';
      expect(await world.services.tokens.of(id)).toEqual({ email: ANN, provider });
      expect(await world.services.tokens.accessToken(id)).not.toBe('');
    },
  );

  test('a provider is known by its other names', async () => {
    const page = await newBrowser().until(start('Outlook'), isPage);
    expect(page.searchParams.get('provider')).toBe('office365');
  });

  test.each(['google', 'yahoo', 'office365'] as const)(
    'the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce',
    async (provider) => {
      const response = await newBrowser().go(start(provider));
      const url = new URL(response.headers.get('location') ?? '');
      const { scope, state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(url.searchParams);
      expect(scope?.split(' ')).toEqual([
        'openid',
        'email',
        ...(provider === 'office365' ? ['profile'] : []),
        ...SCOPES[provider],
        ...(provider === 'office365' ? ['offline_access'] : []),
      ]);
      expect([state?.length, nonce?.length, challenge?.length]).toEqual([43, 43, 43]);
      expect(rest).toEqual({
        client_id: 'portal',
        response_type: 'code',
        code_challenge_method: 'S256',
        redirect_uri: `${world.settings.publicUrl}/api/oauth/callback/${provider}/`,
        ...(provider === 'google' ? { access_type: 'offline', prompt: 'consent' } : {}),
      });
    },
  );

  test('an unknown provider and one without a client are told apart', async () => {
    const browser = newBrowser();
    expect(pageOf(await browser.until(start('nobody'), isPage))).toEqual({
      path: '/oauth-callback',
      error: 'UNSUPPORTED_PROVIDER',
    });
    expect(pageOf(await browser.until('/api/oauth/', isPage))).toMatchObject({ error: 'UNSUPPORTED_PROVIDER' });
    expect(pageOf(await browser.until(start('aol'), isPage))).toEqual({
      path: '/oauth-callback',
      error: 'PROVIDER_NOT_SUPPORTED',
      provider: 'aol',
    });
  });

  test('a person who cancels comes back with an error and none of the provider’s words', async () => {
    serverOf('yahoo').person.cancels = true;
    expect(pageOf(await newBrowser().until(start('yahoo'), isPage))).toEqual({
      path: '/oauth-callback',
      error: 'EXTERNAL_OAUTH_ERROR',
      provider: 'yahoo',
    });
    expect(serverOf('yahoo').tokenRequests.length).toBe(0);
  });

  test.each(SCOPES.google)('without the scope %s the tokens are given back', async (scope) => {
    const server = serverOf('google');
    server.person.refusesScopes = [scope];
    expect(pageOf(await newBrowser().until(start('google'), isPage))).toEqual({
      path: '/oauth-callback',
      error: 'MISSING_SCOPE',
      provider: 'google',
    });
    expect(server.revocations.length).toBe(1);
  });

  test('an address that the provider has not verified proves nothing', async () => {
    serverOf('yahoo').person.emailVerified = false;
    expect(pageOf(await newBrowser().until(start('yahoo'), isPage))).toMatchObject({ error: 'EXTERNAL_OAUTH_ERROR' });
  });

  test('a provider that does not answer is an external error', async () => {
    serverOf('yahoo').answersTokens = false;
    expect(pageOf(await newBrowser().until(start('yahoo'), isPage))).toMatchObject({ error: 'EXTERNAL_OAUTH_ERROR' });
  });
});

/** Everything that is refused is refused before a code goes anywhere. */
function noCodeWasSent(): void {
  for (const server of Object.values(world.providers)) expect(server.tokenRequests.length).toBe(0);
}

describe('a return that does not belong', () => {
  const refused = { path: '/oauth-callback', error: 'EXTERNAL_OAUTH_ERROR' };

  test('without a state is refused', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    back.searchParams.delete('state');
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('with a state that nobody was given is refused', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    back.searchParams.set('state', 'x'.repeat(43));
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('is taken once and refused when it is reused', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject({ email: ANN });
    serverOf('yahoo').tokenRequests.length = 0;
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('is refused when it has expired', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    world.advance(10 * 60_000 + 1);
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('from another browser is refused, and the right one is not disturbed', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    const other = newBrowser();
    expect(pageOf(await other.until(back.href, isPage))).toMatchObject(refused);
    await other.go(start('yahoo'));
    expect(pageOf(await other.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject({ email: ANN });
  });

  test('to another provider’s address is refused, and its code goes nowhere', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    const mixed = back.href.replace('/callback/yahoo/', '/callback/google/');
    expect(pageOf(await browser.until(mixed, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('with another provider’s issuer is refused (RFC 9207)', async () => {
    const browser = newBrowser();
    const back = await browser.until(start('yahoo'), isReturn);
    back.searchParams.set('iss', serverOf('google').issuer);
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('with somebody else’s code is refused, because its verifier does not fit', async () => {
    const victim = newBrowser();
    const attacker = newBrowser();
    const stolen = await attacker.until(start('yahoo'), isReturn);
    const back = await victim.until(start('yahoo'), isReturn);
    back.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    expect(pageOf(await victim.until(back.href, isPage))).toMatchObject(refused);
    noCodeWasSent();
  });

  test('to an unknown provider’s address is refused', async () => {
    expect(pageOf(await newBrowser().until('/api/oauth/callback/evil/?code=x&state=y', isPage))).toEqual(refused);
  });

  test('a start that another site caused is refused', async () => {
    const answer = await world.get(start('yahoo'), { 'sec-fetch-site': 'cross-site' });
    expect(answer.headers.get('location')).toBe('/oauth-callback?error=EXTERNAL_OAUTH_ERROR&provider=yahoo');
  });

  test('two tabs of one browser can sign in at once', async () => {
    const browser = newBrowser();
    const first = await browser.until(start('yahoo'), isReturn);
    const second = await browser.until(start('google'), isReturn);
    expect(pageOf(await browser.until(first.href, isPage))).toMatchObject({ email: ANN, provider: 'yahoo' });
    expect(pageOf(await browser.until(second.href, isPage))).toMatchObject({ email: ANN, provider: 'google' });
  });

  test('the address that the provider is told never follows the request’s host', async () => {
    const answer = await world.get(start('yahoo'), {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    });
    const url = new URL(answer.headers.get('location') ?? '');
    expect(url.searchParams.get('redirect_uri')).toBe(`${world.settings.publicUrl}/api/oauth/callback/yahoo/`);
  });
});

describe('a sign-in for the list of transfers', () => {
  test('proves an address by a hash that opens its list, and keeps no tokens', async () => {
    const rowsBefore = await world.database.query('select id from oauth_tokens');
    const browser = newBrowser();
    const page = await browser.until(startForStatus('yahoo'), isPage);
    expect(pageOf(page)).toEqual({
      path: '/oauth-callback-for-status',
      token_id: expect.stringMatching(HEX),
      email: ANN,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      provider: 'yahoo',
    });
    expect(await world.database.query('select id from oauth_tokens')).toEqual(rowsBefore);
    expect(serverOf('yahoo').revocations.length).toBe(1);

    const list = await world.post('/api/jobs-by-email/', { hash: page.searchParams.get('hash') }, browser.headers);
    expect([list.status, list.body]).toEqual([200, {}]);
  });

  test('asks for the address only', async () => {
    const response = await newBrowser().go(startForStatus('google'));
    const url = new URL(response.headers.get('location') ?? '');
    expect([url.searchParams.get('scope'), url.searchParams.get('access_type')]).toEqual(['openid email', null]);
  });

  test('lists the five newest transfers to the address, newest first', async () => {
    const ids = Array.from({ length: 7 }, (_, at) => String(at).repeat(32));
    for (const [at, id] of ids.entries())
      await world.database.query(
        `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider,
           operations, created, finished)
         values ($1, $1, $2, 'sanbruno', $3, 'yahoo', '{emailmigration}', $4, now())`,
        [id, ANN, at === 6 ? 'someone@else.example' : ANN, new Date(Date.UTC(2025, 0, at + 1))],
      );
    const browser = newBrowser();
    const page = await browser.until(startForStatus('yahoo'), isPage);
    const list = await world.post('/api/jobs-by-email/', { hash: page.searchParams.get('hash') }, browser.headers);
    expect(Object.entries(list.body as Record<string, string>)).toEqual(
      [5, 4, 3, 2, 1].map((at) => [String(at).repeat(32), new Date(Date.UTC(2025, 0, at + 1)).toISOString()]),
    );
  });

  test('lists nothing to another account that was given the address later', async () => {
    world.passwords.set(ANN, 'correct horse');
    const first = newBrowser();
    const page = await first.until(start('yahoo'), isPage);
    const order = {
      source_account: { email: ANN, password: 'correct horse', provider: 'sanbruno' },
      destination_account: { email: ANN, provider: 'yahoo', token_id: page.searchParams.get('token_id') },
      operations: ['emailmigration'],
      parameters: {},
    };
    const { body } = await world.post('/api/load/', order, first.headers);
    const { jobid } = body as { jobid: string };
    const listFor = async (browser: OauthBrowser) => {
      const { searchParams } = await browser.until(startForStatus('yahoo'), isPage);
      expect(searchParams.get('email')).toBe(ANN);
      const list = await world.post('/api/jobs-by-email/', { hash: searchParams.get('hash') }, browser.headers);
      return Object.keys(list.body as object);
    };
    expect(await listFor(first)).toEqual([jobid]);
    expect(await listFor(newBrowser()), 'the same person at another computer').toEqual([jobid]);
    serverOf('yahoo').person.account = 'of somebody else';
    expect(await listFor(newBrowser())).toEqual([]);
  });

  test('a hash works in the browser that got it, and in no other that has seen it', async () => {
    const browser = newBrowser();
    const page = await browser.until(startForStatus('yahoo'), isPage);
    const list = (headers: Record<string, string>) =>
      world.post('/api/jobs-by-email/', { hash: page.searchParams.get('hash') }, headers);
    for (const stranger of [{}, fromBrowser('c'.repeat(64))])
      expect((await list(stranger)).body).toMatchObject({ error: 'MIGRATION_ID_NOT_FOUND' });
    expect((await list(browser.headers)).status).toBe(200);
  });

  test('a hash expires, and none can be derived from the address', async () => {
    const browser = newBrowser();
    const page = await browser.until(startForStatus('yahoo'), isPage);
    const hash = page.searchParams.get('hash') ?? '';
    world.advance(2 * 3_600_000 + 1);
    for (const guess of [hash, ANN, '', 'f'.repeat(64)]) {
      const answer = await world.post('/api/jobs-by-email/', { hash: guess }, browser.headers);
      expect([answer.status, answer.body]).toMatchObject([404, { error: 'MIGRATION_ID_NOT_FOUND' }]);
    }
  });

  test('a return that has expired goes to the page for the status as well, as does one that is taken already', async () => {
    const refused = { path: '/oauth-callback-for-status', error: 'EXTERNAL_OAUTH_ERROR', provider: 'yahoo' };
    const browser = newBrowser();
    const late = await browser.until(startForStatus('yahoo'), isReturn);
    const taken = await browser.until(startForStatus('yahoo'), isReturn);
    expect(pageOf(await browser.until(taken.href, isPage))).toMatchObject({ email: ANN });
    expect(pageOf(await browser.until(taken.href, isPage))).toEqual(refused);
    world.advance(10 * 60_000 + 1);
    expect(pageOf(await browser.until(late.href, isPage))).toEqual(refused);
  });

  test('a return that is one too many goes to the page for the status', async () => {
    const browser = newBrowser();
    const back = await browser.until(startForStatus('yahoo'), isReturn);
    const client = fromClient('203.0.113.6');
    await Promise.all(Array.from({ length: 40 }, () => world.get(start('yahoo'), client)));
    const answer = await world.get(`${back.pathname}${back.search}`, { ...browser.headers, ...client });
    expect(answer.headers.get('location')).toBe('/oauth-callback-for-status?error=TOO_MANY_ATTEMPTS&provider=yahoo');
  });

  test('a refusal goes to the page for the status', async () => {
    serverOf('yahoo').person.cancels = true;
    expect(pageOf(await newBrowser().until(startForStatus('yahoo'), isPage))).toMatchObject({
      path: '/oauth-callback-for-status',
      error: 'EXTERNAL_OAUTH_ERROR',
    });
  });
});

describe('a navigation that is refused never shows the visitor anything but the portal', () => {
  test.each([
    ['GET', '/api/oauth', '/oauth-callback?error=OTHER'],
    ['GET', '/api/oauth?provider=yahoo', '/oauth-callback?error=OTHER'],
    ['GET', '/api/oauth/nothing/', '/oauth-callback?error=OTHER'],
    ['GET', '/api/oauth/callback/', '/oauth-callback?error=OTHER'],
    ['GET', '/api/oauth/callback/yahoo', '/oauth-callback?error=OTHER'],
    ['GET', '/api/oauth-for-status/nothing', '/oauth-callback-for-status?error=OTHER'],
    ['HEAD', '/api/oauth/?provider=nobody', '/oauth-callback?error=UNSUPPORTED_PROVIDER'],
  ])('%s %s', async (method, path, location) => {
    const response = await fetch(world.url + path, { method, redirect: 'manual' });
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([302, location, '']);
  });

  test.each([
    ['/api/oauth/?provider=yahoo', '/oauth-callback?error=OTHER'],
    ['/api/oauth/callback/yahoo/', '/oauth-callback?error=OTHER'],
    ['/api/oauth-for-status/', '/oauth-callback-for-status?error=OTHER'],
  ])('a form that is posted to %s becomes a GET, and starts nothing', async (path, location) => {
    const response = await fetch(world.url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams() });
    expect([response.status, response.headers.get('location')]).toEqual([303, location]);
    expect(await world.database.query('select * from oauth_transactions')).toEqual([]);
  });

  test('a return from a provider while the portal is closed says so on the page that it belongs to, and is accepted once it is open', async () => {
    const services = { ...world.services, settings: { ...world.settings, maintenance: true } };
    await using closed = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: null });
    const browser = newBrowser();
    const back = await browser.until(startForStatus('yahoo'), isReturn);
    browser.server = `http://127.0.0.1:${closed.port}`;
    expect(pageOf(await browser.until(back.href, isPage))).toEqual({
      path: '/oauth-callback-for-status',
      error: 'UNAVAILABLE',
      provider: 'yahoo',
    });
    browser.server = world.url;
    expect(pageOf(await browser.until(back.href, isPage))).toMatchObject({ email: ANN, hash: expect.any(String) });
  });

  test('one over the limit is redirected back as well, for the start and the return', async () => {
    const many = Array.from({ length: 40 }, () => world.get(start('yahoo'), fromClient('203.0.113.5')));
    const locations = new Set((await Promise.all(many)).map(({ headers }) => headers.get('location')));
    expect(locations).toContain('/oauth-callback?error=TOO_MANY_ATTEMPTS&provider=yahoo');
    const back = await world.get('/api/oauth/callback/yahoo/?state=x&code=y', fromClient('203.0.113.5'));
    expect([back.status, back.text]).toEqual([302, '']);
    expect(back.headers.get('location')).toBe('/oauth-callback?error=TOO_MANY_ATTEMPTS&provider=yahoo');
  });
});

const refreshes = (provider: OauthProvider) =>
  serverOf(provider).tokenRequests.filter((request) => request.get('grant_type') === 'refresh_token');

describe('tokens', () => {
  test('are refreshed once when they expire, however many ask', async () => {
    const id = await tokensOf('yahoo');
    const before = await world.services.tokens.accessToken(id);
    world.advance(3_600_000);
    const got = await Promise.all(Array.from({ length: 20 }, () => world.services.tokens.accessToken(id)));
    expect(new Set(got).size).toBe(1);
    expect(got[0]).not.toBe(before);
    expect(refreshes('yahoo').length).toBe(1);
  });

  test('that last only a few seconds are used until they expire', async () => {
    const granted = { access: 'short', refresh: 'kept', expiresIn: 5 };
    const id = await world.services.tokens.store({ email: ANN, provider: 'yahoo', browser: 'any' }, granted);
    expect(await world.services.tokens.accessToken(id)).toBe('short');
    expect(refreshes('yahoo')).toEqual([]);
  });

  test('are refreshed once when two processes ask', async () => {
    const id = await tokensOf('yahoo');
    const other = openTokens({ ...world.services, safe: world.safe });
    world.advance(3_600_000);
    const got = await Promise.all([world.services.tokens.accessToken(id), other.accessToken(id)]);
    expect(got[0]).toBe(got[1]);
    expect(refreshes('yahoo').length).toBe(1);
  });

  test('stay as another process has refreshed them when a refresh fails that took too long', async () => {
    const id = await tokensOf('yahoo');
    const { tokens } = world.services;
    world.advance(3_600_000);
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const slow = openTokens({
      ...world.services,
      safe: world.safe,
      oauthClients: () => {
        asked.resolve();
        return answer.promise;
      },
    });
    const failed = slow.accessToken(id).catch((error: unknown) => error);
    await asked.promise;
    world.advance(31_000);
    const token = await tokens.accessToken(id);
    answer.reject(new Error('There was no answer.'));
    expect(await failed).toBeInstanceOf(TokenUnavailable);
    expect(await tokens.accessToken(id)).toBe(token);
    world.advance(3_600_000);
    // The provider takes each refresh token once.
    expect(await tokens.accessToken(id)).not.toBe(token);
  });

  test('that were refreshed by a clock that was ahead are refreshed again once it is put right', async () => {
    const id = await tokensOf('yahoo');
    const { tokens } = world.services;
    world.advance(3 * 3_600_000);
    const ahead = await tokens.accessToken(id);
    // As a process leaves it that ends in the middle.
    await world.database.query('update oauth_tokens set refreshing_until = $2 where id = $1', [
      id,
      world.services.now() + 30_000,
    ]);
    world.advance(-3 * 3_600_000);
    const right = await tokens.accessToken(id);
    expect(right).not.toBe(ahead);
    expect(await tokens.accessToken(id)).toBe(right);
  });

  test('that a server refused are renewed, but not again at once', async () => {
    const id = await tokensOf('yahoo');
    const first = await world.services.tokens.accessToken(id);
    world.advance(60_000);
    const second = await world.services.tokens.accessToken(id, { renew: true });
    const third = await world.services.tokens.accessToken(id, { renew: true });
    expect(second).not.toBe(first);
    expect(third).toBe(second);
  });

  test('of Microsoft are one for mail and one for contacts', async () => {
    const id = await tokensOf('office365');
    const mail = await world.services.tokens.accessToken(id);
    const contacts = await world.services.tokens.accessToken(id, { resource: 'contacts' });
    expect(contacts).not.toBe(mail);
    expect(refreshes('office365').map((request) => request.get('scope'))).toEqual([
      'https://graph.microsoft.com/Contacts.ReadWrite',
    ]);
    expect(await world.services.tokens.accessToken(id, { resource: 'contacts' })).toBe(contacts);
  });

  test('of a provider that does not answer may still work later', async () => {
    const id = await tokensOf('yahoo');
    world.advance(3_600_000);
    serverOf('yahoo').answersTokens = false;
    await expect(world.services.tokens.accessToken(id)).rejects.toThrow(TokenUnavailable);
    serverOf('yahoo').answersTokens = true;
    expect(await world.services.tokens.accessToken(id)).not.toBe('');
  });

  test('are erased and revoked when they are forgotten', async () => {
    const id = await tokensOf('yahoo');
    await world.services.tokens.forget(id);
    expect(await world.services.tokens.of(id)).toBeNull();
    expect(serverOf('yahoo').revocations.map((request) => request.get('token_type_hint'))).toEqual(['refresh_token']);
    await expect(world.services.tokens.accessToken(id)).rejects.toThrow(ConsentError);
    await world.services.tokens.forget(id);
  });

  test('are not revoked while the same person has others, which that would end as well', async () => {
    const [one, other] = [await tokensOf('google'), await tokensOf('google')];
    await world.services.tokens.forget(one);
    expect(serverOf('google').revocations).toEqual([]);
    await world.services.tokens.forget(other);
    expect(serverOf('google').revocations.length).toBe(1);
  });

  test('of a transfer outlive a look at the status, and a sign-in that left a permission out', async () => {
    const id = await tokensOf('google');
    const look = await newBrowser().until('/api/oauth-for-status/?provider=google', isPage);
    expect(look.searchParams.get('hash')).not.toBeNull();
    serverOf('google').person.refusesScopes = [SCOPES.google[0] ?? ''];
    const partial = await newBrowser().until('/api/oauth/?provider=google', isPage);
    expect(partial.searchParams.get('error')).toBe('MISSING_SCOPE');
    expect(serverOf('google').revocations).toEqual([]);
    expect(await world.services.tokens.of(id)).toEqual({ email: ANN, provider: 'google' });
  });

  test('that no transfer keeps are erased after two hours; those that one keeps are not', async () => {
    const unused = await tokensOf('yahoo');
    const kept = await tokensOf('yahoo');
    await world.services.tokens.keep(kept);
    // Other tests have put this machine's clock ahead of the database's.
    const since = world.services.now() - Date.now() + 2 * 3_600_000 + 1;
    await world.database.query('update oauth_tokens set expires = expires - $1', [since]);
    await world.services.tokens.purge();
    expect(await world.services.tokens.of(unused)).toBeNull();
    expect(await world.services.tokens.of(kept)).toEqual({ email: ANN, provider: 'yahoo' });
    expect(await world.database.query('select 1 from oauth_tokens where id = $1', [unused])).toEqual([]);
  });

  test('that no transfer keeps are all erased by one purge, however many there are', async () => {
    await world.database.query(
      `insert into oauth_tokens (id, provider, email, browser, sealed, expires)
       select md5(number::text), 'yahoo', 'many@yahoo.example', 'browser', '\\x00', 1 from generate_series(1, 250) as number`,
    );
    await world.services.tokens.purge();
    expect(await world.database.query('select 1 from oauth_tokens where expires = 1')).toEqual([]);
  });

  test('that a transfer works with are not erased by a machine whose clock is far ahead', async () => {
    const kept = await tokensOf('yahoo');
    await world.services.tokens.keep(kept);
    const ahead = 30 * 24 * 3_600_000;
    world.advance(ahead);
    await world.services.tokens.purge();
    world.advance(-ahead);
    expect(await world.services.tokens.of(kept)).toEqual({ email: ANN, provider: 'yahoo' });
  });

  test('of what was stopped or taken back are erased, though the process that ended it has died before', async () => {
    const { database, safe, queue } = world;
    const { transfers, tokens } = world.services;
    const ending = {
      database,
      safe,
      queue,
      tokens: { ...tokens, forget: () => Promise.reject(new Error('It is dead.')) },
    };
    const tokenId = await tokensOf('google');
    await tokens.keep(tokenId);
    const { id } = await transfers.start({
      source: { email: 'amy@sanbruno.example', password: 'not asked for', provider: 'sanbruno' },
      destination: { email: ANN, provider: 'google', tokenId },
      operations: ['emailmigration'],
      inQa: false,
    });
    await expect(stopTransfer(ending, id, async () => {})).rejects.toThrow('It is dead.');
    await tokens.purge();
    expect(await tokens.of(tokenId)).toBeNull();

    const again = await tokensOf('google');
    await tokens.keep(again);
    await orderTakeBack(ending, await storedTransfer(database, id), { kind: 'token', tokenId: again }, async () => {});
    // Its worker's lease, if it had one, is over.
    const taken = await takeEndedTransfer(database, id, 0);
    if (taken === null || !('lease' in taken)) throw new Error('It is not to be taken back.');
    await expect(endTakeBack(ending, taken.lease, null)).rejects.toThrow('It is dead.');
    await tokens.purge();
    expect(await tokens.of(again)).toBeNull();
  });

  test.each([
    ['google', 'invalid_grant', false],
    ['yahoo', 'INVALID_REFRESH_TOKEN', false],
    ['yahoo', 'INVALID_GRANT', false],
    ['yahoo', 'TOKEN_EXPIRED', false],
    ['yahoo', 'TOKEN_EXPIRED', true],
    ['yahoo', 'ACCOUNT_NOT_AUTHORIZED', false],
  ] as const)('that the person withdrew need a new consent (%s: %s)', async (provider, error, challenges) => {
    const id = await tokensOf(provider);
    world.advance(3_600_000);
    serverOf(provider).refusesTokens = { error, challenges };
    await expect(world.services.tokens.accessToken(id)).rejects.toThrow(ConsentError);
  });
});

/** The providers that the operator has been told of since so many lines of the log. */
const toldSince = (begun: number) =>
  world.logLines
    .slice(begun)
    .map((line) => JSON.parse(line) as { readonly level: number; readonly provider?: string; readonly msg: string })
    .filter(({ level, msg }) => level === 50 && msg.includes('CLIENT_SECRET'))
    .map(({ provider }) => provider);

describe.each([
  ['by code', { error: 'invalid_client' }],
  ['by its own code', { error: 'INVALID_CLIENT_SECRET' }],
  ['by challenge', { error: 'INVALID_CLIENT', challenges: true }],
] as const)('a provider that refuses the client %s', (_, how) => {
  test('is told to the operator when somebody signs in', async () => {
    const begun = world.logLines.length;
    serverOf('yahoo').refusesTokens = how;
    expect(pageOf(await newBrowser().until(start('yahoo'), isPage))).toMatchObject({ error: 'EXTERNAL_OAUTH_ERROR' });
    expect(toldSince(begun)).toEqual(['yahoo']);
  });

  test('is told to the operator when tokens are refreshed, which may be tried again', async () => {
    const id = await tokensOf('yahoo');
    world.advance(3_600_000);
    const begun = world.logLines.length;
    serverOf('yahoo').refusesTokens = how;
    await expect(world.services.tokens.accessToken(id)).rejects.toThrow(TokenUnavailable);
    expect(toldSince(begun)).toEqual(['yahoo']);
  });
});

test('a provider that does not answer is not told as one that refuses the client', async () => {
  const id = await tokensOf('yahoo');
  world.advance(3_600_000);
  const begun = world.logLines.length;
  serverOf('yahoo').answersTokens = false;
  await expect(world.services.tokens.accessToken(id)).rejects.toThrow(TokenUnavailable);
  expect(toldSince(begun)).toEqual([]);
});
