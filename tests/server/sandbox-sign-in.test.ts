import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import * as client from 'openid-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OauthProvider } from '../../src/contract/provider.ts';
import { OAUTH_PROVIDERS } from '../../src/contract/provider-name.ts';
import { readSettings } from '../../src/contract/settings.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/main.ts';
import { browse, clientOf, PUBLIC_URL, SCOPES, signInAt } from '../support/sandbox-person.ts';

type RestOfSignIn = Parameters<typeof signInAt> extends [unknown, ...infer Rest] ? Rest : never;
let folder: string;
let sandbox: Sandbox;

const start = () =>
  startSandbox({
    folder,
    webPort: 0,
    publicUrl: PUBLIC_URL,
    legacyDomains: ['sanbrunocable.example'],
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-sign-in-'));
  sandbox = await start();
});

afterEach(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Ready when the connections that fetch kept from before have been found dead. */
async function restart() {
  await sandbox[Symbol.asyncDispose]();
  sandbox = await start();
  await expect
    .poll(() =>
      fetch(sandbox.webUrl).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    .toBe(true);
}

const settings = () => readSettings({ ...sandbox.environment, SANDBOX: 'on' });
const signIn = (...rest: RestOfSignIn) => signInAt(sandbox, ...rest);
const configurationOf = (provider: OauthProvider) => clientOf(sandbox, provider);

async function connect(url: string, auth: { user: string; pass?: string; accessToken?: string }) {
  const { hostname, port } = new URL(url);
  const imap = new ImapFlow({ host: hostname, port: Number(port), secure: false, auth, logger: false });
  imap.on('error', () => imap.close());
  await imap.connect();
  const mailboxes = await imap.list();
  await imap.logout();
  return mailboxes.map(({ path }) => path);
}

describe('the sandbox sign-in', () => {
  test.each(OAUTH_PROVIDERS)(
    '%s gives tokens for the address, which open its mailbox and no other',
    async (provider) => {
      const email = `ann@${provider}.example`;
      const { configuration, tokens, pages } = await signIn(
        provider,
        { email, password: 'sandbox' },
        { login_hint: email, ...(provider === 'office365' ? { prompt: 'select_account' } : {}) },
      );
      const claims = tokens.claims();
      expect(claims?.['email']).toBe(email);
      const userinfo = await client.fetchUserInfo(configuration, tokens.access_token, claims?.sub ?? '');
      expect(userinfo.email).toBe(email);
      expect(tokens.scope?.split(' ')).toEqual(expect.arrayContaining([...SCOPES[provider]]));
      expect(tokens.expires_in).toBe(3600);
      expect(pages[0]).toMatch(new RegExp(`<h1>Sandbox: \\w+ sign-in</h1>`));
      expect(pages[0]).toContain(`value="${email}"`);
      const { imapUrl } = settings().providers[provider];
      expect(await connect(imapUrl, { user: email, accessToken: tokens.access_token })).toContain('INBOX');
      await expect(
        connect(imapUrl, { user: `bob@${provider}.example`, accessToken: tokens.access_token }),
      ).rejects.toMatchObject({ authenticationFailed: true });
    },
  );

  test('a refresh token still works after a restart, until it is revoked', async () => {
    const { tokens } = await signIn('google', { email: 'ann@gmail.example', password: 'sandbox' });
    await restart();
    const configuration = await configurationOf('google');
    const refreshed = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    const { imapUrl } = settings().providers.google;
    expect(await connect(imapUrl, { user: 'ann@gmail.example', accessToken: refreshed.access_token })).toContain(
      'INBOX',
    );
    expect(await connect(imapUrl, { user: 'ann@gmail.example', accessToken: tokens.access_token })).toContain('INBOX');
    await client.tokenRevocation(configuration, tokens.refresh_token ?? '');
    await expect(client.refreshTokenGrant(configuration, tokens.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('a permission that the person unticks is missing, and its mailbox stays closed', async () => {
    const { tokens } = await signIn('google', {
      email: 'ann@gmail.example',
      password: 'sandbox',
      refuses: SCOPES.google[0],
    });
    expect(tokens.scope?.split(' ')).not.toContain(SCOPES.google[0]);
    expect(tokens.scope?.split(' ')).toContain(SCOPES.google[1]);
    const { imapUrl } = settings().providers.google;
    await expect(
      connect(imapUrl, { user: 'ann@gmail.example', accessToken: tokens.access_token }),
    ).rejects.toMatchObject({ authenticationFailed: true });
  });

  test.each(['login', 'consent'] as const)(
    'a person who cancels at %s comes back with access_denied',
    async (cancels) => {
      const attempt = signIn('aol', { email: 'ann@aol.example', password: 'sandbox', cancels });
      await expect(attempt).rejects.toMatchObject({ error: 'access_denied' });
    },
  );

  test('a wrong password is reported as such, and a request without PKCE is refused', async () => {
    await expect(signIn('google', { email: 'ann@gmail.example', password: 'wrong' })).rejects.toThrow(
      'Wrong email or password',
    );
    const configuration = await configurationOf('google');
    const begin = client.buildAuthorizationUrl(configuration, {
      redirect_uri: `${PUBLIC_URL}/api/oauth/callback/google/`,
      scope: 'openid',
      state: 's',
    });
    const { back } = await browse(begin, { email: '', password: '' });
    expect(back.searchParams.get('error')).toBe('invalid_request');
  });

  test('a redirect address that is not ours is refused on a page of the sandbox', async () => {
    const configuration = await configurationOf('google');
    const begin = client.buildAuthorizationUrl(configuration, {
      redirect_uri: 'http://evil.example/',
      scope: 'openid',
      code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    });
    const answer = await fetch(begin);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Sandbox: Gmail sign-in failed');
  });

  test('Yahoo takes the account that was made for a subscriber, with the same password, also for IMAP', async () => {
    const [maria] = sandbox.subscribers;
    if (maria === undefined) throw new Error('There is no subscriber.');
    const { email, password } = maria;
    const { provisioning, providers } = settings();
    const post = (path: string, body: object, token = provisioning?.token) =>
      fetch(`${provisioning?.url}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
    await expect(signIn('yahoo', { email, password })).rejects.toThrow('Wrong email or password');
    expect((await post('accounts', { email, password, in_qa: false }, 'wrong')).status).toBe(401);
    expect((await post('accounts', { email, password, in_qa: false })).status).toBe(201);
    const { tokens } = await signIn('yahoo', { email, password });
    expect(await connect(providers.yahoo.imapUrl, { user: email, accessToken: tokens.access_token })).toContain('Bulk');
    expect(await connect(providers.yahoo.imapUrl, { user: email, pass: password })).toContain('Bulk');
    expect(await (await post('accounts', { email, password })).json()).toMatchObject({
      error: 'ACCOUNT_ALREADY_CREATED',
    });
    expect((await post('migrations', { email, in_qa: true })).status).toBe(200);
    await restart();
    const again = await post('accounts', { email, password });
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' });
  });

  test('the subscribers show every outcome of account creation', async () => {
    const { provisioning } = settings();
    const outcomes = await Promise.all(
      sandbox.subscribers.map(async ({ email, password }) => {
        const answer = await fetch(`${provisioning?.url}/accounts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${provisioning?.token}` },
          body: JSON.stringify({ email, password, in_qa: false }),
        });
        const body: unknown = await answer.json();
        return [answer.status, body];
      }),
    );
    expect(outcomes).toMatchObject([
      [201, { ok: true }],
      [201, { ok: true }],
      [201, { ok: true }],
      [409, { error: 'ACCOUNT_ALREADY_CREATED' }],
      [409, { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' }],
      [409, { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED' }],
    ]);
  });
});
