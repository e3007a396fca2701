import type { Provider } from '../../../../contract/provider.ts';
import { providerOfServer } from '../../imap/providers.ts';
import type { AccountLimits } from './mail-copy.ts';

const MB = 1_000_000;
const CONNECTIONS = 4;

/**
 * Limits of providers, as published or as others have seen them. What is not known is not limited here: what a server
 * itself asks for comes first in any case.
 */
const LIMITS: Readonly<Record<Exclude<Provider, 'file_export'>, AccountLimits>> = {
  // 2,500 MB down and 500 MB up a day, 15 connections: support.google.com/a/answer/1071518.
  google: { connections: 4, upADay: 500 * MB, downADay: 2500 * MB },
  // The newest 10,000 messages of a mailbox are shown, as was seen in July 2026. No number of connections is published.
  yahoo: { connections: CONNECTIONS, window: 10_000 },
  aol: { connections: CONNECTIONS, window: 10_000 },
  // It asks for pauses itself: github.com/imapsync/imapsync/issues/198. Its folders for other things are listed beside
  // those for mail.
  office365: {
    connections: CONNECTIONS,
    ownFolders: ['calendar', 'contacts', 'journal', 'notes', 'outbox', 'tasks'],
  },
  sanbruno: { connections: CONNECTIONS },
  other: { connections: CONNECTIONS },
};

/**
 * @param connections the operator's upper bound, if there is one
 * @param host of the mail server: a provider's limits also apply if its server was named by hand
 */
export function limitsOf(provider: Provider, connections: number | undefined, host = ''): AccountLimits {
  const known = provider === 'other' ? (ownerOf(host) ?? provider) : provider;
  const limits = known === 'file_export' ? { connections: CONNECTIONS } : LIMITS[known];
  return { ...limits, connections: connections ?? limits.connections };
}

/**
 * The provider of a host, except for those at which Yahoo and AOL show more than 10,000 (export.imap.mail.yahoo.com).
 */
function ownerOf(host: string): Provider | null {
  return host.toLowerCase().startsWith('export.') ? null : providerOfServer(host);
}

/**
 * Known window sizes, for servers whose name does not tell the provider: Gmail's setting, Yahoo, Yahoo's export host.
 */
const WINDOWS: ReadonlySet<number> = new Set([1000, 10_000, 100_000]);

/** Whether a mailbox that counts so many messages may hold older ones, which it does not list. */
export function isWindow(exists: number, { window }: AccountLimits): boolean {
  return window === undefined ? WINDOWS.has(exists) : exists >= window;
}
