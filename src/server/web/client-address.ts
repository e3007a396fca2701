import { isIP, SocketAddress } from 'node:net';

/**
 * The network that a request comes from, as limits count it: an IPv4 address, or the /64 of an IPv6 address, since that
 * is what a provider assigns to one subscriber.
 * @param socketAddress the peer of the connection.
 * @param forwardedFor the header `X-Forwarded-For`; only its last entries, from our own proxies, are trusted.
 * @param proxies how many of our own proxies are in front of the server (`PROXIES`).
 */
export function clientNetwork(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  proxies: number,
): string {
  const chain = proxies === 0 ? [] : (forwardedFor ?? '').split(',').map((entry) => entry.trim());
  const address = proxies === 0 ? socketAddress : withoutPort(chain.at(-proxies) ?? chain[0]);
  return networkOf(address) ?? networkOf(socketAddress) ?? 'unknown';
}

/** The /24 or /48 around a {@link clientNetwork}: a single customer of a data center easily has one. */
export function widerNetwork(network: string): string {
  const end = network.includes(':')
    ? network.split(':').slice(0, 3).join(':')
    : network.split('.').slice(0, 3).join('.');
  return `around ${end}`;
}

/** Some proxies include the port: `192.0.2.1:443`, `[2001:db8::1]:443` (RFC 7239, section 6). */
function withoutPort(entry = ''): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || address.includes('%')) return undefined;
  switch (isIP(address)) {
    case 4:
      return address;
    case 6: {
      const parts = new SocketAddress({ address, family: 'ipv6' }).address;
      const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(parts);
      return mapped?.[1] ?? `${firstHalf(parts)}::/64`;
    }
    default:
      return undefined;
  }
}

/** The first four groups of an IPv6 address in its canonical text (RFC 5952). */
function firstHalf(address: string): string {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...after];
  return groups.slice(0, 4).join(':');
}
