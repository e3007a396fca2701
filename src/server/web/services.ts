import type { Settings } from '../../contract/settings.ts';
import type { ExportStore } from '../export/storage/export-store.ts';
import type { Transfers } from '../transfers/orders.ts';
import { openLimits, type Limits } from './limits.ts';
import { openSignInLimits, type SignInLimits } from './sign-in-limits.ts';
import { openWork } from './work.ts';
import type { Log } from '../log.ts';
import type { UncheckedCertificates } from '../mail/imap/tls.ts';
import type { Discovery } from '../mail/discovery/discovery.ts';
import { openProofs, type Proofs } from './proof.ts';
import type { Resolver } from '../network/resolver.ts';
import type { OauthClients } from '../oauth/client.ts';
import { openConsents, type Consents } from '../oauth/consent.ts';
import { openSessions, type Sessions } from './sessions.ts';
import { openAnnouncements, type Announcements } from '../transfers/announcements.ts';
import { openOwners, type Owners } from '../transfers/owners.ts';
import { openSecurityLog, type SecurityLog } from '../security-log.ts';
import { openVerifiers, type Verifiers } from '../transfers/verifiers.ts';
import type { Database, Sql } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import type { NotificationKind } from '../notifications/news.ts';
import type { Vault } from '../store/vault.ts';
import type { KeptTokens } from '../oauth/tokens.ts';

/** Queues work in the same transaction as the change that calls for it. */
type TransferQueue = {
  readonly send: (transferId: string, options: { readonly sql: Sql }) => Promise<void>;
  readonly sendTakeBack: (transferId: string, options: { readonly sql: Sql }) => Promise<void>;
  readonly announce: (transferId: string, kind: NotificationKind, options: { readonly sql: Sql }) => Promise<void>;
};

/** What the web side gets from the program's start-up. */
export type Services = {
  readonly settings: Settings;
  readonly database: Database;
  readonly vault: Vault;
  readonly log: Log;
  readonly tokens: KeptTokens;
  readonly safe: Safe;
  readonly queue: TransferQueue;
  readonly transfers: Transfers;
  readonly oauthClients: OauthClients;
  readonly resolver: Resolver;
  readonly discovery: Discovery;
  readonly exports: ExportStore;
  readonly onUncheckedCertificate: UncheckedCertificates;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** The services, and those that the web side builds on them. A handler declares the ones that it uses. */
export type Web = Services & {
  readonly limits: Limits;
  readonly signInLimits: SignInLimits;
  readonly proofs: Proofs;
  readonly sessions: Sessions;
  readonly consents: Consents;
  readonly owners: Owners;
  readonly announcements: Announcements;
  readonly verifiers: Verifiers;
  readonly securityLog: SecurityLog;
};

/** Creates the web side's own services; called once, at start-up. */
export function openWeb(services: Services): Web {
  const limits = openLimits(services);
  const signInLimits = openSignInLimits({ ...services, limits, work: openWork(services) });
  const verifiers = openVerifiers(services);
  const securityLog = openSecurityLog(services);
  return {
    ...services,
    limits,
    signInLimits,
    verifiers,
    securityLog,
    owners: openOwners(services),
    announcements: openAnnouncements(services),
    proofs: openProofs({ ...services, limits, signInLimits, verifiers, securityLog }),
    sessions: openSessions(services),
    consents: openConsents(services),
  };
}
