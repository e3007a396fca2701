import * as client from 'openid-client';
import type { OauthProvider } from '../../src/contract/provider.ts';
import { readSettings } from '../../src/contract/settings.ts';
import type { Sandbox } from '../../src/sandbox/main.ts';

/** Where the product would be; nothing listens there. */
export const PUBLIC_URL = 'http://localhost:9999';
export const SCOPES: Record<OauthProvider, readonly [mail: string, contacts: string]> = {
  google: ['https://mail.google.com/', 'https://www.googleapis.com/auth/contacts'],
  yahoo: ['mail-w', 'sdct-w'],
  office365: ['https://outlook.office.com/IMAP.AccessAsUser.All', 'https://graph.microsoft.com/Contacts.ReadWrite'],
  aol: ['mail-w', 'sdct-w'],
};

/** The product's OAuth client at a provider. */
export async function clientOf(sandbox: Sandbox, provider: OauthProvider) {
  const { issuer, client: credentials } = readSettings(sandbox.environment).providers[provider];
  if (credentials === undefined) throw new Error('There is no client.');
  return client.discovery(new URL(issuer), credentials.id, credentials.secret, undefined, {
    execute: [client.enableNonRepudiationChecks, client.allowInsecureRequests],
  });
}

/** `refuses` is a scope that the person unticks. */
export type Person = {
  readonly email: string;
  readonly password: string;
  readonly refuses?: string;
  readonly cancels?: 'login' | 'consent';
};

/** A person at a browser, who signs in and consents, up to the redirect back to the product. */
export async function browse(begin: URL, person: Person): Promise<{ back: URL; pages: string[] }> {
  const jar = new Map<string, string>();
  const pages: string[] = [];
  let url = begin;
  let body: URLSearchParams | undefined;
  for (let hops = 0; hops < 15; hops += 1) {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    body = undefined;
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      if (url.origin === PUBLIC_URL) return { back: url, pages };
      continue;
    }
    const page = await answer.text();
    pages.push(page);
    if (!answer.ok) throw new Error(`${url.href} ${answer.status}: ${page.slice(0, 2000)}`);
    const asksWho = page.includes('name="password"');
    const scopes = [...page.matchAll(/name="scope"\s+value="([^"]*)"/g)].map((match) => match[1] ?? '');
    body = new URLSearchParams(
      asksWho
        ? [
            ['action', person.cancels === 'login' ? 'cancel' : 'sign-in'],
            ['email', person.email],
            ['password', person.password],
          ]
        : [
            ['action', person.cancels === 'consent' ? 'cancel' : 'agree'],
            ...scopes.filter((scope) => scope !== person.refuses).map((scope) => ['scope', scope]),
          ],
    );
  }
  throw new Error(`The redirects don't end at ${url.href}`);
}

/** Signs in at a provider of a sandbox that was started with `PUBLIC_URL`. @returns the tokens, and the pages shown */
export async function signInAt(
  sandbox: Sandbox,
  provider: OauthProvider,
  person: Person,
  parameters: Record<string, string> = {},
) {
  const configuration = await clientOf(sandbox, provider);
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const begin = client.buildAuthorizationUrl(configuration, {
    redirect_uri: `${PUBLIC_URL}/api/oauth/callback/${provider}/`,
    scope: ['openid', 'email', 'offline_access', ...SCOPES[provider]].join(' '),
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...parameters,
  });
  const { back, pages } = await browse(begin, person);
  const tokens = await client.authorizationCodeGrant(configuration, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  return { configuration, tokens, pages };
}
