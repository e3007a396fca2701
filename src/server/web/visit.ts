import type { Browser } from './browser.ts';

/**
 * The caller. `client` is the network that limits count: an IPv4 address, or the /64 of an IPv6 address. `bearer` is
 * the token in the `Authorization` header (RFC 6750), if there is one.
 */
export type Visit = {
  readonly client: string;
  readonly bearer?: string;
  readonly browser: Browser;
  /** The path of the call. */
  readonly call: string;
  /** The proof of work that came with it, unchecked. */
  readonly solution?: string;
  readonly signal: AbortSignal;
};
