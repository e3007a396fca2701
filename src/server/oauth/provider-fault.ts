import * as client from 'openid-client';
import type { OauthProvider } from '../../contract/provider.ts';
import type { Log } from '../log.ts';

/** Error codes of RFC 6749 §5.2 for when the provider refuses the product, whoever signs in. */
const OF_CLIENT: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

/** Logs that a provider failed: as an error if it will fail everybody, until the operator has mended the client. */
export function logProviderFault(log: Log, provider: OauthProvider, error: unknown, what: string): void {
  const facts = { provider, err: error };
  if (!isOfClient(error)) {
    log.warn(facts, what);
    return;
  }
  const name = provider.toUpperCase();
  log.error(
    facts,
    `the provider does not take this product as its client: are ${name}_CLIENT_ID and ${name}_CLIENT_SECRET right, and has the secret not expired?`,
  );
}

/** Only what the provider itself answers is looked at: anybody can write an error into the return's address. */
function isOfClient(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return OF_CLIENT.has(error.error);
  // The token endpoint asks for the client's credentials once more; for a token it would be Bearer.
  return error instanceof client.WWWAuthenticateChallengeError && error.cause.some(({ scheme }) => scheme === 'basic');
}
