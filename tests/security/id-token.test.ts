import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const SECRET = 'client-secret-canary-4711';
const START = '/api/oauth/?provider=yahoo';
const KEY_ID = 'first';

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const own = pair();
const foreign = pair();

type Claims = Record<string, unknown>;
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function jwt(header: object, claims: Claims, signature: (text: string) => string): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${signature(text)}`;
}
const signedBy = (key: KeyObject) => (text: string) => sign('sha256', Buffer.from(text), key).toString('base64url');
const rs256 = (claims: Claims) => jwt({ alg: 'RS256', kid: KEY_ID }, claims, signedBy(own.privateKey));

/** A provider whose answers the test writes. */
const provider = {
  issuer: '',
  idToken: rs256,
  nonce: '',
  tokenRequests: [] as URLSearchParams[],
  /** Octets besides in what it answers for a code. */
  ballast: 0,
};

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

async function answer(request: IncomingMessage): Promise<object> {
  const { issuer } = provider;
  if (request.url?.endsWith('/.well-known/openid-configuration') === true)
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
    };
  if (request.url === '/keys')
    return { keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' }] };
  provider.tokenRequests.push(new URLSearchParams(await textOf(request)));
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: 'portal',
    sub: 'ann',
    email: ANN,
    email_verified: true,
    nonce: provider.nonce,
    iat: now,
    exp: now + 600,
  };
  return {
    access_token: 'access',
    refresh_token: 'refresh',
    token_type: 'Bearer',
    expires_in: 3600,
    id_token: provider.idToken(claims),
    ballast: 'x'.repeat(provider.ballast),
  };
}

const server = createServer((request, response) => {
  void answer(request).then((body) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(body));
  });
});

let world: WebWorld;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await openWebWorld({
    environment: {
      YAHOO_CLIENT_ID: 'portal',
      YAHOO_CLIENT_SECRET: SECRET,
      YAHOO_ISSUER: provider.issuer,
      AOL_CLIENT_ID: 'portal',
      AOL_CLIENT_SECRET: SECRET,
      AOL_ISSUER: `${provider.issuer}/of-somebody-else`,
    },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  await world.database.query('delete from limits');
  await world.database.query('delete from oauth_tokens');
  provider.idToken = rs256;
  provider.tokenRequests.length = 0;
  provider.ballast = 0;
});

/** Where a sign-in ends, the provider having sent the browser back with a code. */
async function signIn(): Promise<URL> {
  const browser = new OauthBrowser(world);
  const asked = new URL((await browser.go(START)).headers.get('location') ?? '');
  provider.nonce = asked.searchParams.get('nonce') ?? '';
  const back = new URL(asked.searchParams.get('redirect_uri') ?? '');
  back.searchParams.set('code', 'code');
  back.searchParams.set('state', asked.searchParams.get('state') ?? '');
  return browser.until(back.href, isPage);
}

describe('an ID token', () => {
  test('that is as it should be signs its owner in', async () => {
    expect((await signIn()).searchParams.get('email')).toBe(ANN);
  });

  const past = Math.floor(Date.now() / 1000) - 3600;
  test.each<[string, (claims: Claims) => string]>([
    ['that nobody has signed', (claims) => jwt({ alg: 'none' }, claims, () => '')],
    ['without its signature', (claims) => jwt({ alg: 'RS256', kid: KEY_ID }, claims, () => '')],
    [
      'that is signed with our own secret',
      (claims) =>
        jwt({ alg: 'HS256' }, claims, (text) => createHmac('sha256', SECRET).update(text).digest('base64url')),
    ],
    [
      'that is signed with the provider’s public key as a secret',
      (claims) =>
        jwt({ alg: 'HS256', kid: KEY_ID }, claims, (text) =>
          createHmac('sha256', own.publicKey.export({ format: 'pem', type: 'spki' }))
            .update(text)
            .digest('base64url'),
        ),
    ],
    [
      'that somebody else has signed',
      (claims) => jwt({ alg: 'RS256', kid: KEY_ID }, claims, signedBy(foreign.privateKey)),
    ],
    [
      'that brings its own key along',
      (claims) =>
        jwt({ alg: 'RS256', jwk: foreign.publicKey.export({ format: 'jwk' }) }, claims, signedBy(foreign.privateKey)),
    ],
    [
      'that was changed after it was signed',
      (claims) => {
        const [header, , signature] = rs256(claims).split('.');
        return `${header}.${encode({ ...claims, email: 'bob@mail.example' })}.${signature}`;
      },
    ],
    ['that has run out', (claims) => rs256({ ...claims, iat: past - 600, exp: past })],
    ['that is not valid yet', (claims) => rs256({ ...claims, nbf: past + 7200 })],
    ['for another client', (claims) => rs256({ ...claims, aud: 'somebody-else' })],
    ['of another issuer', (claims) => rs256({ ...claims, iss: 'https://evil.example' })],
    ['of another sign-in', (claims) => rs256({ ...claims, nonce: 'x'.repeat(43) })],
    ['without a nonce', (claims) => rs256({ ...claims, nonce: undefined })],
  ])('%s signs nobody in', async (_what, idToken) => {
    provider.idToken = idToken;
    const page = await signIn();
    expect(Object.fromEntries(page.searchParams)).toEqual({ error: 'EXTERNAL_OAUTH_ERROR', provider: 'yahoo' });
    expect(provider.tokenRequests).toHaveLength(1);
    expect(await world.database.query('select 1 from oauth_tokens')).toEqual([]);
  });

  test.each([
    [false, false],
    ['false', false],
    [0, false],
    ['', false],
    [null, false],
    [[true], false],
    ['true', true],
    [1, true],
    [undefined, true],
  ])('whose address is verified by the word %j proves it: %s', async (word, proves) => {
    provider.idToken = (claims) => rs256({ ...claims, email_verified: word });
    expect((await signIn()).searchParams.get('email')).toBe(proves ? ANN : null);
  });
});

test('a provider whose metadata names another issuer is not believed', async () => {
  const page = await new OauthBrowser(world).until('/api/oauth/?provider=aol', isPage);
  expect(Object.fromEntries(page.searchParams)).toEqual({ error: 'EXTERNAL_OAUTH_ERROR', provider: 'aol' });
  expect(provider.tokenRequests).toEqual([]);
});

test.each([
  [0.9, null],
  [1.1, 'EXTERNAL_OAUTH_ERROR'],
])('of an answer of %s MB no more than 1 MB is read', async (megabytes, error) => {
  provider.ballast = megabytes * 1024 * 1024;
  expect((await signIn()).searchParams.get('error')).toBe(error);
});

test('a provider is asked for tokens by codes and refresh tokens only, never by a password', async () => {
  const id = (await signIn()).searchParams.get('token_id') ?? '';
  world.advance(3_600_000);
  await world.services.tokens.accessToken(id);
  world.advance(-3_600_000);
  expect(provider.tokenRequests.map((request) => request.get('grant_type'))).toEqual([
    'authorization_code',
    'refresh_token',
  ]);
  for (const request of provider.tokenRequests) expect([...request.keys()]).not.toContain('password');
});
