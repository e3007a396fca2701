import * as client from 'openid-client';
import * as v from 'valibot';
import type { OauthProvider } from '../../contract/provider.ts';
import type { Log } from '../log.ts';

/** Error codes of RFC 6749 §5.2, and Yahoo's own, for when the provider refuses the product, whoever signs in. */
const OF_CLIENT: ReadonlySet<string> = new Set(['invalid_client', 'invalid_client_secret', 'unauthorized_client']);

/** Logs that a provider failed: as an error if it will fail everybody, until the operator has mended the client. */
export async function logProviderFault(log: Log, provider: OauthProvider, error: unknown, what: string): Promise<void> {
  const facts = { provider, err: error };
  if (!(await isOfClient(error))) {
    log.warn(facts, what);
    return;
  }
  const name = provider.toUpperCase();
  log.error(
    facts,
    `the provider does not take this product as its client: are ${name}_CLIENT_ID and ${name}_CLIENT_SECRET right, and has the secret not expired?`,
  );
}

/** In small letters: Yahoo writes its own in capitals. Nothing where the provider did not answer by one. */
export async function errorCodeOf(error: unknown): Promise<string | undefined> {
  if (error instanceof client.ResponseBodyError) return error.error.toLowerCase();
  if (!(error instanceof client.WWWAuthenticateChallengeError)) return undefined;
  try {
    const { error: code } = v.parse(Refusal, await error.response.clone().json());
    return code.toLowerCase();
  } catch {
    return undefined;
  }
}

const Refusal = v.object({ error: v.string() });

/** Only what the provider itself answers is looked at: anybody can write an error into the return's address. */
async function isOfClient(error: unknown): Promise<boolean> {
  const code = await errorCodeOf(error);
  if (code !== undefined) return OF_CLIENT.has(code);
  // The token endpoint asks for the client's credentials once more; for a token it would be Bearer.
  return error instanceof client.WWWAuthenticateChallengeError && error.cause.some(({ scheme }) => scheme === 'basic');
}
