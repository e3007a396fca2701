import * as client from 'openid-client';
import type { OauthProvider } from '../../contract/provider.ts';
import type { Settings } from '../../contract/settings.ts';
import { fetch } from '../fetch.ts';
import { octetsOf } from '../network/octets-of.ts';

const ANSWER_WITHIN_SECONDS = 10;
/** The largest answer of a provider, in octets. */
const ANSWER_OCTETS = 1024 * 1024;
const KNOWN_MS = 3_600_000;

/** Finds a provider's endpoints by its issuer; asked again after an hour, and at once after a failure. */
export type OauthClients = (provider: OauthProvider) => Promise<client.Configuration>;

export function openOauthClients({
  settings,
  now,
}: {
  readonly settings: Settings;
  readonly now: () => number;
}): OauthClients {
  const known = new Map<OauthProvider, { readonly configuration: Promise<client.Configuration>; until: number }>();

  return (provider) => {
    const entry = known.get(provider);
    if (entry !== undefined && entry.until > now()) return entry.configuration;
    const configuration = discover(provider, settings);
    known.set(provider, { configuration, until: now() + KNOWN_MS });
    configuration.catch(() => known.delete(provider));
    return configuration;
  };
}

async function discover(provider: OauthProvider, settings: Settings): Promise<client.Configuration> {
  const { issuer, client: credentials } = settings.providers[provider];
  if (credentials === undefined) throw new Error(`${provider} has no client.`);
  const url = new URL(issuer);
  return client.discovery(url, credentials.id, credentials.secret, undefined, {
    timeout: ANSWER_WITHIN_SECONDS,
    [client.customFetch]: ask,
    // The signature of an ID token is checked, though it comes from the provider over TLS. The settings accept an issuer
    // without TLS only on this machine, or where ALLOW_CLEAR_TEXT names it.
    execute: [client.enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [client.allowInsecureRequests] : [])],
  });
}

/** The library itself reads answers of any length. */
async function ask(...[url, options]: Parameters<client.CustomFetch>): Promise<Response> {
  const answer = await fetch(url, options as RequestInit);
  const body = answer.body === null ? null : await octetsOf(answer, ANSWER_OCTETS);
  return new Response(body, { status: answer.status, headers: answer.headers });
}
