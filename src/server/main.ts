import { join } from 'node:path';
import { readSettings, type Settings } from '../contract/settings.ts';
import { isLoopback } from '../contract/settings/clear-text.ts';
import { watchClock } from './clock-watch.ts';
import { MACHINE_CLOCK } from './clock.ts';
import { contactCounts, contactRemarks } from './contacts/fates-table.ts';
import { exportFiles, exportStanding } from './export/download/links.ts';
import { startExportSweeper } from './export/download/sweeper.ts';
import { checkExports } from './export/storage/check-exports.ts';
import { openExportStore } from './export/storage/open-export-store.ts';
import { openLog } from './log.ts';
import { bringsBack } from './mail/copy/ledger/adoption.ts';
import { arrivalsOf, countSkippedMessages, foldersOf, skippedMessages } from './mail/copy/ledger/report.ts';
import { takenBack } from './mail/copy/ledger/take-back-records.ts';
import { openDiscovery } from './mail/discovery/discovery.ts';
import { openUncheckedCertificates, requireCertificates } from './mail/imap/tls.ts';
import { openResolver } from './network/resolver.ts';
import { canTell } from './notifications/notifier.ts';
import { openOauthClients } from './oauth/client.ts';
import { openTokens, placesOfTokens } from './oauth/tokens.ts';
import { openSealing } from './sealing.ts';
import type { DataFolder } from './store/data-folder.ts';
import { openDatabase } from './store/database.ts';
import { placesOfCredentials } from './transfers/credentials.ts';
import { dailyOf, placesOfDailies } from './transfers/dailies.ts';
import { openTransfers } from './transfers/orders.ts';
import type { StatusSources } from './transfers/status.ts';
import { openVerifiers } from './transfers/verifiers.ts';
import { startHealth } from './web/health.ts';
import { startWeb } from './web/listen.ts';
import { openWeb } from './web/services.ts';
import { openJobQueue } from './worker/queue.ts';
import { watchUntaken } from './worker/untaken.ts';
import { startWorker } from './worker/worker.ts';

export type ServerOptions = {
  readonly settings: Settings;
  readonly folder: DataFolder;
  /** The built portal; `null` for a worker. */
  readonly portalFolder: string | null;
  readonly earlierPortals?: readonly string[];
  /** Told once nothing more can be done, and the process should end. */
  readonly onBroken: (fault: Error) => void;
};

/** What the start warns of: what is not configured, and what may be exposed. @param now milliseconds since the epoch */
export function shortcomings(settings: Settings, now: number): string[] {
  const { host, publicUrl, proxies } = settings;
  return [
    ...(settings.sandbox ? [] : stillOfTheExample(settings, now)),
    ...(settings.role !== 'all' && settings.exportsUrl === `${settings.dataDir}/exports`
      ? [
          'EXPORTS_URL is not set: no other process can hand out what lies in the DATA_DIR of this one. Name a folder that all share, or a bucket.',
        ]
      : []),
    // TLS ends before this process.
    ...(publicUrl.startsWith('https://') && proxies === 0
      ? [
          'PROXIES is 0 and PUBLIC_URL starts with https://: all visitors who come through a proxy count as one, and share the limits of one. Set PROXIES to how many proxies append to X-Forwarded-For, such as PROXIES=1.',
        ]
      : []),
    ...(publicUrl.startsWith('http://') && !isLoopback(`http://${host.includes(':') ? `[${host}]` : host}`)
      ? [
          `HOST is ${host} and PUBLIC_URL is ${publicUrl}: whoever reaches this port from another machine sends everything in clear text, passwords included. Set PUBLIC_URL to the https:// address of the proxy in front.`,
        ]
      : []),
    ...(settings.provisioning === undefined
      ? ['PROVISIONING_URL is not set: the primary move answers with an error.']
      : []),
    ...(settings.smtpUrl === undefined ? ['SMTP_URL is not set: nobody is notified by mail.'] : []),
    ...(settings.sms === undefined
      ? ['SMS_URL is not set: phone numbers are checked, but nobody is notified by SMS.']
      : []),
    ...(settings.supportEmail === undefined
      ? [
          'SUPPORT_EMAIL is not set: the support form answers with an error, and nobody is told of transfers that need review.',
        ]
      : []),
    ...(settings.legacyCarddavUrl === undefined ? ['LEGACY_CARDDAV_URL is not set: contacts are not offered.'] : []),
    ...(settings.legacySieveUrl === undefined ? ['LEGACY_SIEVE_URL is not set: forwarding is not offered.'] : []),
    ...Object.entries(settings.providers)
      .filter(([, provider]) => provider.client === undefined)
      .map(([name]) => `${name.toUpperCase()}_CLIENT_ID is not set: ${name} answers PROVIDER_NOT_SUPPORTED.`),
  ];
}

/** Settings of which subscribers would see the example's values. */
function stillOfTheExample({ accessEnd, publicUrl, ...settings }: Settings, now: number): string[] {
  const example = readSettings({});
  const unset = [
    ...(settings.supportPhone === example.supportPhone ? ['SUPPORT_PHONE'] : []),
    ...(settings.faqUrl === example.faqUrl ? ['FAQ_URL'] : []),
    ...(settings.privacyUrl === example.privacyUrl ? ['PRIVACY_URL'] : []),
    ...(settings.termsUrl === example.termsUrl ? ['TERMS_URL'] : []),
  ];
  return [
    ...(settings.legacyDomains.join() === example.legacyDomains.join()
      ? ["LEGACY_DOMAINS still has the example's domains: nobody with another address can sign in."]
      : []),
    ...(unset.length > 0
      ? [`Subscribers are shown a made-up address or telephone number until you set ${unset.join(', ')}.`]
      : []),
    ...(Date.parse(accessEnd) < now
      ? [
          `ACCESS_END, ${accessEnd}, is over: subscribers are told that 0 days are left, and no new mail is brought once a day.`,
        ]
      : []),
    ...(isLoopback(publicUrl)
      ? [
          `PUBLIC_URL is ${publicUrl}: the links in letters, and the way back from a provider, work only in a browser on this machine.`,
        ]
      : []),
  ];
}

/**
 * Runs the web side, the worker or both (`ROLE`) until it is disposed of: then requests and messages under way are
 * finished, in that order.
 * @throws {AddressInUseError}
 * @throws {SettingsError}
 */
export async function runServer(options: ServerOptions): Promise<AsyncDisposable> {
  const { settings, folder, portalFolder, earlierPortals = [], onBroken } = options;
  await using opened = new AsyncDisposableStack();
  const log = openLog(settings.logLevel);
  const health = opened.use(await startHealth(settings));
  requireCertificates(settings);
  const exports = openExportStore(settings);
  // The web side only hands out and deletes.
  if (settings.role !== 'web') await checkExports(exports, log);
  const database = opened.use(await openDatabase(databaseAddress(settings, folder), log, onBroken));
  opened.use(await watchClock({ database, clock: MACHINE_CLOCK, log }));
  const { vault, safe } = await openSealing({ settings, database, folder, log });
  await safe.destroyAllBut([
    ...(await placesOfCredentials(database)),
    ...(await placesOfDailies(database)),
    ...(await placesOfTokens(database)),
  ]);
  const queue = opened.use(await openJobQueue({ database, log }));
  const resolver = openResolver(settings.dnsServers);
  const oauthClients = openOauthClients({ settings, now: Date.now });
  const tokens = openTokens({ oauthClients, database, safe, log, now: Date.now });
  const transfers = openTransfers({
    database,
    vault,
    safe,
    queue,
    sources: statusSources({ database, settings, now: Date.now }),
  });
  const verifiers = openVerifiers({ database, vault, now: Date.now });
  opened.use(startExportSweeper({ database, exports, log, verifiers, now: Date.now }));
  const onUncheckedCertificate = openUncheckedCertificates(log);
  const discovery = openDiscovery({ settings, resolver, now: Date.now });
  for (const shortcoming of shortcomings(settings, Date.now())) log.warn(shortcoming);
  if (settings.role !== 'web')
    opened.use(
      await startWorker({
        settings,
        database,
        vault,
        safe,
        log,
        tokens,
        queue,
        transfers,
        resolver,
        exports,
        onUncheckedCertificate,
        discover: discovery.serverOf,
      }),
    );
  if (settings.role === 'web') opened.use(watchUntaken({ database, clock: MACHINE_CLOCK, log }));
  if (settings.role !== 'worker')
    opened.use(
      await startWeb(
        openWeb({
          settings,
          database,
          vault,
          log,
          tokens,
          oauthClients,
          safe,
          queue,
          transfers,
          resolver,
          discovery,
          exports,
          onUncheckedCertificate,
          now: Date.now,
        }),
        { host: settings.host, port: settings.port, portalFolder, earlierPortals },
      ),
    );
  // The last to be opened ends first: while the others finish what is under way, nothing new is wanted.
  opened.use(health.started(database));
  return opened.move();
}

/** What the status of a transfer takes from the rooms that hold its messages and its files. */
export function statusSources(
  services: Parameters<typeof exportFiles>[0] & { readonly settings: Pick<Settings, 'accessEnd' | 'smtpUrl' | 'sms'> },
): StatusSources {
  const { database, settings, now } = services;
  return {
    skippedMessages: (id, atMost) => skippedMessages(database, id, atMost),
    folders: (id) => foldersOf(database, id),
    arrivals: (id) => arrivalsOf(database, id),
    takenBack: (id) => takenBack(database, id),
    bringsBack: (id) => bringsBack(database, id),
    countSkippedMessages: (id) => countSkippedMessages(database, id),
    contactCounts: (id) => contactCounts(database, id),
    contactRemarks: (id, of, atMost) => contactRemarks(database, id, of, atMost),
    canTell: (contact) => canTell(settings, contact),
    daily: (id) => dailyOf(database, settings.accessEnd, now(), id),
    exportStanding: (id) => exportStanding(database, id),
    exportFiles: (id) => exportFiles(services, id),
  };
}

function databaseAddress(settings: Settings, folder: DataFolder) {
  if (settings.databaseUrl !== undefined) return { url: settings.databaseUrl };
  return { folder: join(folder.path, 'database') };
}
