import type { Settings } from '../../src/contract/settings.ts';
import { statusSources } from '../../src/server/main.ts';
import { openExportStore } from '../../src/server/export/storage/open-export-store.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { openTransfers } from '../../src/server/transfers/orders.ts';
import type { Log } from '../../src/server/log.ts';
import { openResolver } from '../../src/server/network/resolver.ts';
import { openUncheckedCertificates } from '../../src/server/mail/imap/tls.ts';
import { openDiscovery } from '../../src/server/mail/discovery/discovery.ts';
import { openOauthClients } from '../../src/server/oauth/client.ts';
import { openTokens } from '../../src/server/oauth/tokens.ts';
import type { Services } from '../../src/server/web/services.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { openTestDatabase, type TestAddress } from './fresh-database.ts';
import { safeFor } from './safe.ts';

type Options = {
  readonly settings: Settings;
  readonly address: TestAddress;
  readonly key: Uint8Array;
  readonly log: Log;
  readonly now: () => number;
};

/** What the web side needs, on a database that it opens itself. */
export async function openWebServices({ settings, address, key, log, now }: Options) {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openTestDatabase(address));
  const queue = opening.use(await openJobQueue({ database, log }));
  const vault = openVault(key);
  const safe = await safeFor(address, vault);
  const resolver = openResolver(settings.dnsServers);
  const oauthClients = openOauthClients({ settings, now });
  const services: Services = {
    settings,
    database,
    vault,
    log,
    now,
    resolver,
    oauthClients,
    safe,
    queue,
    discovery: openDiscovery({ settings, resolver, now }),
    tokens: openTokens({ oauthClients, database, safe, log, now }),
    transfers: openTransfers({
      database,
      vault,
      safe,
      queue,
      sources: statusSources({ database, settings, now }),
    }),
    exports: openExportStore(settings),
    onUncheckedCertificate: openUncheckedCertificates(log),
  };
  const lifetime = opening.move();
  return { services, safe, queue, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}
