import { createSocket } from 'node:dgram';

type Zone = {
  readonly a?: readonly string[];
  /** In full or with `::`. */
  readonly aaaa?: readonly string[];
  /** The name is an alias of this one; answers follow it, as a resolver's do. */
  readonly cname?: string;
  /** The preferred first; sent in the other order, as name servers keep none. */
  readonly mx?: readonly string[];
  readonly srv?: readonly { readonly name: string; readonly port: number }[];
};

const TYPES = { 1: 'a', 15: 'mx', 28: 'aaaa', 33: 'srv' } as const;
const CNAME = 5;
const NXDOMAIN = 3;
const SERVFAIL = 2;

/** A name server over UDP on loopback (RFC 1035). `zones` may be changed at any time; `broken` names get SERVFAIL. */
export type DnsServer = AsyncDisposable & {
  readonly address: string;
  readonly zones: Map<string, Zone>;
  readonly questions: string[];
};

export async function startDnsServer(
  zones: Record<string, Zone> = {},
  broken: readonly string[] = [],
): Promise<DnsServer> {
  const known = new Map(Object.entries(zones));
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    questions.push(name);
    const kind = TYPES[type as keyof typeof TYPES];
    const zone = known.get(name);
    const records: Buffer[] = [];
    let owner = name;
    let place = zone;
    for (; place?.cname !== undefined; place = known.get(owner)) {
      records.push(record(owner, CNAME, nameOf(place.cname)));
      owner = place.cname;
    }
    if (place !== undefined && kind !== undefined)
      records.push(...encode(place, kind).map((data) => record(owner, type, data)));
    const code = broken.includes(name) ? SERVFAIL : zone === undefined ? NXDOMAIN : 0;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zones: known,
    questions,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        socket.close(() => resolve());
      }),
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(0, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameOf(owner), head, data]);
}

/** The 16 octets of an IPv6 address. */
function octetsOf(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Buffer.concat([...before, ...zeros, ...after].map((group) => uint16(Number.parseInt(group, 16))));
}

function groupsOf(text: string): string[] {
  return text.split(':').filter((group) => group !== '');
}

function encode(zone: Zone, kind: 'a' | 'aaaa' | 'mx' | 'srv'): Buffer[] {
  switch (kind) {
    case 'a':
      return (zone.a ?? []).map((address) => Buffer.from(address.split('.').map(Number)));
    case 'aaaa':
      return (zone.aaaa ?? []).map(octetsOf);
    case 'mx':
      return (zone.mx ?? []).map((host, index) => Buffer.concat([uint16(10 * (index + 1)), nameOf(host)])).toReversed();
    case 'srv':
      return (zone.srv ?? []).map(({ name, port }) =>
        Buffer.concat([uint16(0), uint16(1), uint16(port), nameOf(name)]),
      );
  }
}

function uint16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16BE(value);
  return buffer;
}

function nameOf(host: string): Buffer {
  const labels = host.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}
