import type { Settings } from '../../contract/settings.ts';
import type { ExportStore } from '../export/storage/export-store.ts';
import type { Transfers } from '../transfers/orders.ts';
import type { Limits } from './limits.ts';
import type { Log } from '../log.ts';
import type { Discovery } from '../mail/discovery/discovery.ts';
import type { Proofs } from './proof.ts';
import type { Resolver } from '../network/resolver.ts';
import type { Consents } from '../oauth/consent.ts';
import type { Sessions } from './sessions.ts';
import type { Database } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import type { KeptTokens } from '../oauth/tokens.ts';

/** What the web side needs from the program's start. */
export type Services = {
  readonly settings: Settings;
  readonly database: Database;
  readonly vault: Vault;
  readonly log: Log;
  readonly tokens: KeptTokens;
  readonly transfers: Transfers;
  readonly resolver: Resolver;
  readonly exports: ExportStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** The services and what the web side builds on them; every handler is given this. */
export type Web = Services & {
  readonly limits: Limits;
  readonly discovery: Discovery;
  readonly proofs: Proofs;
  readonly sessions: Sessions;
  readonly consents: Consents;
};

/**
 * Who asks. `client` is the network that limits count: an IPv4 address, or the /64 of an IPv6 address. `bearer` is the
 * token of the header `Authorization` (RFC 6750), if there is one.
 */
export type Visit = { readonly client: string; readonly bearer?: string; readonly signal: AbortSignal };
