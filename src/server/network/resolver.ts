import { promises as dns } from 'node:dns';

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
 * The records, or none when the name or its records don't exist.
 * @throws {ResolverUnavailable}
 */
export async function recordsOf<Found>(question: Promise<Found[]>): Promise<Found[]> {
  try {
    return await question;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && SILENCE.has(code))
      throw new ResolverUnavailable('The name servers did not answer.', { cause: error });
    return [];
  }
}

const SILENCE: ReadonlySet<string> = new Set([dns.TIMEOUT, dns.CONNREFUSED, dns.CANCELLED, dns.REFUSED]);
