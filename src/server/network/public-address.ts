import { promises as dns } from 'node:dns';
import { BlockList, isIP, type TcpNetConnectOpts } from 'node:net';
import { networkInterfaces } from 'node:os';
import { domainToASCII } from 'node:url';
import { isDomain } from '../../contract/email-address.ts';
import { openResolver, recordsOf, type Resolver } from './resolver.ts';

/** The ports of IMAP over TLS and IMAP with STARTTLS; a visitor can name no other. */
const MAIL_PORTS: readonly number[] = [993, 143];

/** One address that says nothing for so long is given up for the next. */
const NEXT_ADDRESS_MS = 2500;

type Addresses = readonly [string, ...string[]];

/**
 * What to connect to, now: each of the `addresses`, best first, was checked; `servername` is for SNI and the
 * certificate.
 */
export type CheckedHost = { readonly addresses: Addresses; readonly servername: string; readonly trusted: boolean };

/** Options of a connection. */
export type Target = { readonly host: string } & Readonly<
  Pick<TcpNetConnectOpts, 'lookup' | 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>
>;

/** Leads to the first of the addresses that takes the connection, and to nothing else: no name server is asked again. */
export function towards({ addresses, servername }: CheckedHost): Target {
  return {
    host: servername,
    lookup: (_name, _options, found) =>
      found(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
  };
}

/** `refused`: the host or port is not one that a visitor may reach. `unresolvable`: no address. Neither tells more. */
export class HostError extends Error {
  override name = 'HostError';
  readonly kind: 'refused' | 'unresolvable';
  constructor(kind: 'refused' | 'unresolvable', message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * Resolves a mail host that a visitor named, and refuses it unless all its addresses are public. Connect {@link towards}
 * the answer and to nothing else, so that a name can't change its mind in between; ask again for each connection.
 * @param options.trusted entries `host` or `host:port` (`TRUSTED_MAIL_HOSTS`): these may be private, at any port.
 * @param options.interfaces those of this machine; a test may give others
 * @throws {HostError}
 */
export async function resolvePublicHost(
  host: string,
  port: number,
  options: {
    readonly trusted: readonly string[];
    readonly resolver?: Resolver;
    readonly ports?: readonly number[];
    readonly interfaces?: Interfaces;
  },
): Promise<CheckedHost> {
  const { resolver = openResolver(), interfaces = networkInterfaces() } = options;
  const given = withoutBrackets(host.toLowerCase());
  // What resolvers, SNI and certificates know a name by; empty for what can be no name.
  const name = isIP(given) > 0 ? given : domainToASCII(given);
  if (isTrusted(given, port, options.trusted))
    return { addresses: await anyAddressesOf(name, resolver, interfaces), servername: name, trusted: true };
  if (!(options.ports ?? MAIL_PORTS).includes(port)) throw new HostError('refused', 'This port is not a mail port.');
  // Not by `name`: `0x7f.1` is no name, but another spelling of an address.
  const addresses = isIP(given) > 0 ? [given] : await addressesOf(name, resolver);
  // One of a family that this machine has none of leads nowhere.
  const reached = addresses.filter(reachedFrom(interfaces));
  const best = some(reached.length > 0 ? reached : addresses);
  const own = ownAddresses(interfaces);
  if (!addresses.map(untranslated).every((each) => isPublicAddress(each) && !own.has(each)))
    throw new HostError('refused', 'The host is not public.');
  return { addresses: best, servername: name, trusted: false };
}

/** Whether `TRUSTED_MAIL_HOSTS` names this host, or this host at this port. */
export function isTrusted(host: string, port: number, trusted: readonly string[]): boolean {
  const name = withoutBrackets(host.toLowerCase());
  const forms = isIP(name) === 6 ? [`[${name}]`, `[${name}]:${port}`] : [name, `${name}:${port}`];
  return trusted.some((entry) => forms.includes(entry));
}

async function addressesOf(name: string, resolver: Resolver): Promise<string[]> {
  if (!isDomain(name)) throw new HostError('refused', 'This is not a host name.');
  try {
    const [v4, v6] = await Promise.all([recordsOf(resolver.resolve4(name)), recordsOf(resolver.resolve6(name))]);
    return [...v4, ...v6];
  } catch (cause) {
    throw new HostError('unresolvable', 'The host could not be resolved.', { cause });
  }
}

/**
 * The operator's own names may stand in the hosts file or a search domain, so the system is asked as well; only then,
 * because its questions are few at a time and hold up files and other names.
 */
async function anyAddressesOf(host: string, resolver: Resolver, interfaces: Interfaces): Promise<Addresses> {
  if (isIP(host) > 0) return [host];
  const families = [resolver.resolve4(host).then(some), resolver.resolve6(host).then(some)];
  const reached = families.map((asked) => asked.then(onlyIf(reachedFrom(interfaces))));
  try {
    return await Promise.any(reached)
      .catch(() => Promise.any(families))
      .catch(async () => some((await dns.lookup(host, { all: true })).map(({ address }) => address)));
  } catch (cause) {
    throw new HostError('unresolvable', 'The host could not be resolved.', { cause });
  }
}

function some([first, ...others]: readonly string[]): Addresses {
  if (first === undefined) throw new HostError('unresolvable', 'The host has no address.');
  return [first, ...others];
}

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Whether this machine has an address of the same family that leads out of it; IPv6 has some that lead to its own line
 * only.
 */
function reachedFrom(interfaces: Interfaces): (address: string) => boolean {
  const own = Object.values(interfaces).flatMap((each) => each ?? []);
  const families = new Set(
    own
      .filter(({ internal, address }) => !internal && !address.toLowerCase().startsWith('fe80:'))
      .map(({ address }) => isIP(address)),
  );
  return (address) => families.has(isIP(address));
}

function onlyIf(isSo: (address: string) => boolean): (addresses: Addresses) => Addresses {
  return (addresses) => {
    if (!isSo(addresses[0])) throw new HostError('unresolvable', 'The host has no address of this family.');
    return addresses;
  };
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/**
 * Whether an address is one of the public internet, after the special-purpose registries of IANA (RFC 6890). In IPv6
 * only 2000::/3 is, so that loopback, link-local, unique local, NAT64, mapped and multicast addresses need no mention.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !SPECIAL.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && GLOBAL_UNICAST.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6');
    default:
      return false;
  }
}

const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');

const SPECIAL = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  SPECIAL.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const)
  SPECIAL.addSubnet(net, prefix, 'ipv6');

/**
 * The IPv4 address that a translator makes of an IPv6 one, behind the prefix that is the same everywhere (RFC 6052): where
 * a network has one, its resolver gives such an address for each host that has none in IPv6 (DNS64).
 */
function untranslated(address: string): string {
  const host = URL.parse(`http://[${address}]`)?.hostname ?? '';
  const [, high = '', low = ''] = /^\[64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  return low === '' ? address : [high, low].flatMap((group) => bytesOf(group)).join('.');
}

function bytesOf(group: string): readonly [number, number] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}

function ownAddresses(interfaces: Interfaces): ReadonlySet<string> {
  return new Set(
    Object.values(interfaces)
      .flatMap((each) => each ?? [])
      .map(({ address }) => address),
  );
}
