import { promises as dns, type MxRecord } from 'node:dns';

const ANSWER_WITHIN_MS = 2000;
const TRIES = 2;

/** What the server asks of the domain name system. */
export type Resolver = Pick<dns.Resolver, 'resolve4' | 'resolve6' | 'resolveMx' | 'resolveSrv'>;

/** @param servers the setting `DNS_SERVERS`; without it the system's name servers are asked. */
export function openResolver(servers?: readonly string[]): Resolver {
  const resolver = new dns.Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** The name servers did not answer, which says nothing about the name. */
export class ResolverUnavailable extends Error {
  override name = 'ResolverUnavailable';
}

/**
 * The records, or none when the name or its records don't exist, or its name servers fail: some do whenever they are
 * asked for IPv6 addresses (RFC 4074).
 * @throws {ResolverUnavailable}
 */
export function recordsOf<Found>(question: Promise<Found[]>): Promise<Found[]> {
  return recordsUnless(question, SILENCE);
}

/**
 * The same where a failure says nothing either: a resolver fails for as long as it reaches no name server.
 * @throws {ResolverUnavailable}
 */
export function certainRecordsOf<Found>(question: Promise<Found[]>): Promise<Found[]> {
  return recordsUnless(question, new Set([...SILENCE, dns.SERVFAIL]));
}

/** Whether a domain with these records takes mail: `.`, which Node answers as nothing, says that it does not (RFC 7505). */
export function takesMailBy(exchangers: readonly MxRecord[]): boolean {
  return exchangers.some(({ exchange }) => exchange !== '' && exchange !== '.');
}

async function recordsUnless<Found>(question: Promise<Found[]>, unknown: ReadonlySet<string>): Promise<Found[]> {
  try {
    return await question;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && unknown.has(code))
      throw new ResolverUnavailable('The name servers did not answer.', { cause: error });
    return [];
  }
}

const SILENCE: ReadonlySet<string> = new Set([dns.TIMEOUT, dns.CONNREFUSED, dns.CANCELLED, dns.REFUSED]);
