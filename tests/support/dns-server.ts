import { createSocket } from 'node:dgram';

type Zone = {
  readonly a?: readonly string[];
  readonly mx?: readonly string[];
  readonly srv?: readonly { readonly name: string; readonly port: number }[];
};

const TYPES = { 1: 'a', 15: 'mx', 33: 'srv' } as const;
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
    const records = zone === undefined || kind === undefined ? [] : encode(zone, kind);
    const code = broken.includes(name) ? SERVFAIL : zone === undefined ? NXDOMAIN : 0;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = records.map((data) => {
      const head = Buffer.alloc(12);
      head.writeUInt16BE(0xc0_0c, 0);
      head.writeUInt16BE(type, 2);
      head.writeUInt16BE(1, 4);
      head.writeUInt32BE(0, 6);
      head.writeUInt16BE(data.length, 10);
      return Buffer.concat([head, data]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), from.port, from.address);
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

function encode(zone: Zone, kind: 'a' | 'mx' | 'srv'): Buffer[] {
  switch (kind) {
    case 'a':
      return (zone.a ?? []).map((address) => Buffer.from(address.split('.').map(Number)));
    case 'mx':
      return (zone.mx ?? []).map((host) => Buffer.concat([uint16(10), nameOf(host)]));
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
