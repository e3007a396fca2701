import { createSocket, type Socket } from 'node:dgram';
import { LOOPBACK } from './listen.ts';

export type DnsServer = AsyncDisposable & { readonly port: number };

/** `imapPorts` answers SRV queries for the sandbox's mail servers (RFC 6186): `imap.mail.example` → its port. */
export type DnsOptions = { readonly port: number; readonly imapPorts: ReadonlyMap<string, number> };

type Question = { readonly name: string; readonly type: number; readonly end: number };

const A = 1;
const MX = 15;
const SRV = 33;
const ANY = 255;
const NXDOMAIN = 3;
const TTL = 60;
const HEADER = 12;
/** Domains of the addresses that people commonly have. */
const PUBLIC_MAIL = /^(gmail|googlemail|outlook|hotmail|live|yahoo|ymail|aol|icloud)\.com$/;
const NOT_THERE = /(^|\.)no-such[^.]*(\.|$)/;

/**
 * A name server over UDP (RFC 1035) for the sandbox's names. Every name under `.example` resolves to the loopback
 * address and accepts mail, except names with a label that begins with `no-such`. So do the best-known mail domains.
 * All other names are NXDOMAIN.
 */
export async function startDnsServer({ port, imapPorts }: DnsOptions): Promise<DnsServer> {
  const socket = await bind(port).catch(() => bind(0));
  socket.on('error', (error) => console.error('The sandbox name server:', error));
  socket.on('message', (query, { port, address }) => {
    const answer = reply(query, imapPorts);
    if (answer !== null) socket.send(answer, port, address);
  });
  socket.unref();
  return {
    port: socket.address().port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function bind(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', reject);
    socket.bind(port, LOOPBACK, () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

function reply(query: Buffer, imapPorts: ReadonlyMap<string, number>): Buffer | null {
  const question = readQuestion(query);
  if (question === null) return null;
  const { name } = question;
  const exists = PUBLIC_MAIL.test(name) || (/(^|\.)example$/.test(name) && !NOT_THERE.test(name));
  const records = exists ? recordsFor(question, imapPorts) : [];
  const header = Buffer.alloc(HEADER);
  query.copy(header, 0, 0, 2);
  // QR and AA set, RD copied from the query.
  header.writeUInt16BE(0x8400 | (query.readUInt16BE(2) & 0x0100) | (exists ? 0 : NXDOMAIN), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(HEADER, question.end), ...records]);
}

function readQuestion(query: Buffer): Question | null {
  if (query.length < HEADER + 5 || (query[2] ?? 0) & 0x80 || query.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query[at] ?? 0; length !== 0; length = query[at] ?? 0) {
    if (length > 63 || at + length + 6 > query.length) return null;
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function recordsFor({ name, type }: Question, imapPorts: ReadonlyMap<string, number>): Buffer[] {
  if (name.startsWith('_')) {
    const [, domain = ''] = /^_imap\._tcp\.(.+)$/.exec(name) ?? [];
    const port = imapPorts.get(`imap.${domain}`);
    if (port === undefined || (type !== SRV && type !== ANY)) return [];
    return [record(SRV, Buffer.concat([numbers(0, 0, port), wire(`imap.${domain}`)]))];
  }
  return [
    ...(type === A || type === ANY ? [record(A, Buffer.from(LOOPBACK.split('.').map(Number)))] : []),
    ...(type === MX || type === ANY ? [record(MX, Buffer.concat([numbers(10), wire(`mx.${name}`)]))] : []),
  ];
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(TTL, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

function wire(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}
