import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { openDial } from '../../src/server/mail/imap/wire/dial.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import { Inlet } from '../../src/server/mail/imap/wire/inlet.ts';
import { selfSigned } from '../support/certificate.ts';
import { newMessage } from '../support/imap-session.ts';
import { needs } from '../support/needs.ts';
import { fractionsOf } from '../support/random.ts';

function roomOf(inlet: Inlet): Buffer {
  return (inlet.onread.buffer as () => Buffer)();
}

/** As a socket does: what is read goes into what was asked for before. */
function given(inlet: Inlet) {
  let into = roomOf(inlet);
  return (octets: Buffer) => {
    const length = octets.copy(into);
    inlet.onread.callback(length, into);
    into = roomOf(inlet);
    return length;
  };
}

test.each(Array.from({ length: 5 }, (_, seed) => seed))(
  'what is kept stays as it was, in whatever order it is let go of (%i)',
  (seed) => {
    const random = fractionsOf(seed);
    const inlet = new Inlet();
    const read = given(inlet);
    const kept: { readonly chunk: Buffer; readonly first: number; readonly letGo: () => void }[] = [];
    let isKept = false;
    inlet.listen((chunk) => {
      if (!isKept) return;
      const block = inlet.keep();
      kept.push({ chunk, first: chunk[0] ?? 0, letGo: () => block.letGo() });
    });
    for (let at = 0; at < 1000; at += 1) {
      isKept = random() < 0.5;
      if (random() < 0.1) inlet.expect(Math.floor(random() * 4_000_000));
      read(Buffer.alloc(1 + Math.floor(random() * 130_000), at % 251));
      while (kept.length > 12 || (kept.length > 0 && random() < 0.4)) {
        const [one] = kept.splice(Math.floor(random() * kept.length), 1);
        if (one === undefined) break;
        expect(one.chunk.equals(Buffer.alloc(one.chunk.length, one.first))).toBe(true);
        one.letGo();
      }
    }
  },
);

test('a large message is read into a large block, of which all connections have a few, and what follows into a small one', () => {
  const inlet = new Inlet();
  const read = given(inlet);
  inlet.listen(() => {});
  const small = roomOf(inlet).length;
  inlet.expect(3_000_000);
  const large = roomOf(inlet).length;
  expect(large).toBeGreaterThan(4 * small);
  read(Buffer.alloc(small));
  read(Buffer.alloc(large));
  read(Buffer.alloc(large));
  expect(roomOf(inlet).length).toBe(small);
  const rooms = Array.from({ length: 20 }, () => {
    const another = new Inlet();
    another.expect(3_000_000);
    return roomOf(another).length;
  });
  expect(rooms.filter((room) => room === large).length).toBeLessThanOrEqual(16);
  expect(rooms.at(-1)).toBe(small);
});

test('what came before anybody listened is not lost, and what comes after a handover is the stream’s', () => {
  const inlet = new Inlet();
  const read = given(inlet);
  read(Buffer.from('early '));
  read(Buffer.from('birds'));
  const heard: string[] = [];
  inlet.listen((chunk) => heard.push(chunk.toString()));
  expect(heard).toEqual(['early ', 'birds']);
  const socket = new PassThrough();
  inlet.handOver(socket);
  read(Buffer.from('later '));
  read(Buffer.from('birds'));
  expect(String(socket.read())).toBe('later birds');
  expect(heard).toHaveLength(2);
});

type Security = 'open' | 'starttls' | 'tls';

/** A mail server with these messages, which takes appends slowly. */
async function startServer(messages: readonly Buffer[], security: Security) {
  const certificate = security === 'open' ? undefined : await selfSigned('localhost');
  const stored: string[] = [];
  const serve = (socket: Socket) => {
    const capabilities = `IMAP4rev1 SASL-IR AUTH=PLAIN LITERAL+ UIDPLUS${security === 'starttls' ? ' STARTTLS' : ''}`;
    socket.on('error', () => {});
    let held = Buffer.alloc(0);
    let literal: { left: number; readonly hash: ReturnType<typeof createHash>; readonly tag: string } | undefined;
    const answer = (line: string) => {
      const [tag = '', verb = ''] = line.split(' ');
      if (verb === 'EXAMINE' || verb === 'SELECT')
        socket.write(`* ${messages.length} EXISTS\r\n* OK [UIDVALIDITY 5] ok\r\n* OK [UIDNEXT 900] ok\r\n`);
      if (line.includes('UID FETCH'))
        for (const [at, message] of messages.entries()) {
          socket.write(
            `* ${at + 1} FETCH (UID ${at + 1} RFC822.SIZE ${message.length} INTERNALDATE "01-Jan-2020 00:00:00 +0000" FLAGS () BODY[] {${message.length}}\r\n`,
          );
          socket.write(message);
          socket.write(')\r\n');
        }
      if (verb === 'CAPABILITY') socket.write(`* CAPABILITY ${capabilities}\r\n`);
      socket.write(`${tag} OK done\r\n`);
      if (verb !== 'STARTTLS') return;
      socket.off('data', take);
      serve(new TLSSocket(socket, { isServer: true, ...certificate }));
    };
    const take = (part: Buffer) => {
      held = Buffer.concat([held, part]);
      // So that what is sent waits in the sender.
      socket.pause();
      setImmediate(() => socket.resume());
      for (;;) {
        if (literal !== undefined) {
          const taken = held.subarray(0, literal.left);
          literal.hash.update(taken);
          literal.left -= taken.length;
          held = held.subarray(taken.length);
          if (literal.left > 0) return;
          if (held.length < 2) return;
          held = held.subarray(2);
          stored.push(literal.hash.digest('hex'));
          socket.write(`${literal.tag} OK [APPENDUID 5 ${stored.length}] done\r\n`);
          literal = undefined;
        }
        const end = held.indexOf('\r\n');
        if (end < 0) return;
        const line = held.subarray(0, end).toString('latin1');
        held = held.subarray(end + 2);
        const size = / APPEND .*\{(\d+)\+\}$/.exec(line)?.[1];
        if (size === undefined) answer(line);
        else literal = { left: Number(size), hash: createHash('sha256'), tag: line.split(' ', 1)[0] ?? '' };
      }
    };
    socket.on('data', take);
  };
  const greet = (socket: Socket) => {
    socket.write('* OK hello\r\n');
    serve(socket);
  };
  const server =
    security === 'tls' && certificate !== undefined ? createTlsServer(certificate, greet) : createServer(greet);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = () =>
    openSession(
      {
        email: 'anna',
        place: {
          host: 'localhost',
          port: (server.address() as AddressInfo).port,
          security,
          named: 'by operator',
          ...(certificate === undefined ? {} : { certificates: [certificate.cert.toString()] }),
        },
        credentials: { kind: 'password', password: 'any' },
      },
      { dial: openDial({ trusted: [] }), clock: MACHINE_CLOCK },
    );
  return { stored, session, [Symbol.dispose]: () => void server.close() };
}

const sha256 = (octets: Uint8Array) => createHash('sha256').update(octets).digest('hex');

function messagesOf(seed: number): Buffer[] {
  const random = fractionsOf(seed);
  return Array.from({ length: 60 }, (_, at) => Buffer.alloc(Math.floor(random() ** 3 * 900_000), `message ${at} `));
}

describe.each<[Security, number]>([
  ['open', 1],
  ['open', 2],
  ['starttls', 3],
  ['tls', 4],
])('over a line that is %s', needs('openssl'), (security, seed) => {
  test('messages that stream from one socket to a slower one arrive as they are, while others are read', async () => {
    const messages = messagesOf(seed);
    using server = await startServer(messages, security);
    const uids = messages.map((_, at) => at + 1);
    await using reader = openStreamReader(await server.session());
    await using other = openStreamReader(await server.session());
    await using writer = openStreamWriter(await server.session());
    const checked: string[] = [];
    const checking = (async () => {
      for await (const { octets } of other.fetch('INBOX', uids)) {
        const hash = createHash('sha256');
        for await (const chunk of octets) {
          await turn();
          hash.update(chunk);
        }
        checked.push(hash.digest('hex'));
      }
    })();
    const streamed = (async function* () {
      for await (const { size, octets } of reader.fetch('INBOX', uids)) yield newMessage('', { size, octets });
    })();
    const outcomes = await writer.append('INBOX', streamed, { together: false }).outcome;
    await checking;
    expect(outcomes.map(({ kind }) => kind)).toEqual(messages.map(() => 'stored'));
    expect(server.stored).toEqual(messages.map(sha256));
    expect(checked).toEqual(messages.map(sha256));
  });
});
