import { domainToASCII } from 'node:url';
import { domainOf, isAmongDomains, isDomain } from '../../../contract/email-address.ts';
import type { Provider } from '../../../contract/provider.ts';
import type { Settings } from '../../../contract/settings.ts';
import {
  certainRecordsOf,
  recordsOf,
  ResolverUnavailable,
  takesMailBy,
  type Resolver,
} from '../../network/resolver.ts';
import { fetchAutoconfig, type ImapServer } from './autoconfig.ts';
import { providerOfDomain, providerOfServer } from '../imap/providers.ts';

const KNOWN_MS = 10 * 60_000;
const UNKNOWN_MS = 60_000;
const CACHE_SIZE = 2000;
const STEP_WITHIN_MS = 3000;

/** Whose mailbox an address is; `imap` is where it is read, when its domain says so. */
export type Found = {
  readonly provider: Provider;
  readonly imap?: ImapServer;
};

export type Discovery = {
  /**
   * `null` when the domain has no mail. By its name, then MX, then autoconfiguration, then SRV (RFC 6186).
   * @throws {ResolverUnavailable} when nothing was said that tells
   */
  find(email: string): Promise<Found | null>;
  /** Where the mailbox is read; `null` when that can't be found, or not now. */
  readonly serverOf: (email: string) => Promise<ImapServer | null>;
};

type Services = { readonly settings: Settings; readonly resolver: Resolver; readonly now: () => number };

export function openDiscovery({ settings, resolver, now }: Services): Discovery {
  const cache = new Map<string, { readonly found: Promise<Found | null>; until: number }>();

  function remember(domain: string, found: Promise<Found | null>): Promise<Found | null> {
    const [oldest] = cache.keys();
    if (cache.size >= CACHE_SIZE && oldest !== undefined) cache.delete(oldest);
    const entry = { found, until: now() + UNKNOWN_MS };
    cache.set(domain, entry);
    void keepAsLong(found, entry, domain);
    return found;
  }

  async function keepAsLong(found: Promise<Found | null>, entry: { until: number }, domain: string): Promise<void> {
    try {
      if ((await found) !== null) entry.until = now() + KNOWN_MS;
    } catch {
      cache.delete(domain);
    }
  }

  async function find(email: string): Promise<Found | null> {
    if (isAmongDomains(domainOf(email), settings.legacyDomains)) return { provider: 'sanbruno' };
    const domain = domainToASCII(domainOf(email));
    const known = providerOfDomain(domain);
    if (known !== null) return { provider: known };
    if (!isDomain(domain)) return null;
    const cached = cache.get(domain);
    if (cached !== undefined && cached.until > now()) return cached.found;
    return remember(domain, ask(domain, settings, resolver));
  }

  return {
    find,
    serverOf: async (email) => (await unlessSilent(find(email)))?.imap ?? null,
  };
}

async function ask(domain: string, settings: Settings, resolver: Resolver): Promise<Found | null> {
  const exchangers = await soon(certainRecordsOf(resolver.resolveMx(domain)));
  const host = exchangers
    ?.toSorted((a, b) => a.priority - b.priority)
    .map(({ exchange }) => providerOfServer(exchange))
    .find((provider) => provider !== null);
  if (host !== undefined) return { provider: host };
  const [configured, announced] = await Promise.all([
    soon(fetchAutoconfig(domain, { resolver, trusted: settings.trustedMailHosts })),
    soon(announcedServer(domain, resolver)),
  ]);
  const imap = configured ?? announced;
  if (imap !== null) return { provider: providerOfServer(imap.host) ?? 'other', imap };
  if (exchangers !== null && exchangers.length > 0) return takesMailBy(exchangers) ? { provider: 'other' } : null;
  const addresses = await soon(certainRecordsOf(resolver.resolve4(domain)));
  if (addresses !== null && addresses.length > 0) return { provider: 'other' };
  if (exchangers === null || addresses === null)
    throw new ResolverUnavailable('The name servers did not say whether the domain has mail.');
  return null;
}

/** RFC 6186 §3.2: the target `.` says that the service is not offered. */
async function announcedServer(domain: string, resolver: Resolver): Promise<ImapServer | null> {
  const [secure, plain] = await Promise.all([
    recordsOf(resolver.resolveSrv(`_imaps._tcp.${domain}`)),
    recordsOf(resolver.resolveSrv(`_imap._tcp.${domain}`)),
  ]);
  const [best] = [secure, plain]
    .map((records) => records.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight)[0])
    .filter((record) => record !== undefined && isDomain(record.name));
  return best === undefined ? null : { host: best.name.toLowerCase(), port: best.port };
}

/** What a domain says within its time; `null` where its name servers are slow or silent. */
async function soon<Answer>(question: Promise<Answer>): Promise<Answer | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, STEP_WITHIN_MS, null);
  try {
    return await Promise.race([unlessSilent(question), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function unlessSilent<Answer>(question: Promise<Answer>): Promise<Answer | null> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof ResolverUnavailable) return null;
    throw error;
  }
}
