import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import type { MailReader, MailWriter, NewMessage } from '../../src/server/mail/imap/streams.ts';
import { openDial } from '../../src/server/mail/imap/wire/dial.ts';
import type { ImapConnection } from '../../src/server/mail/imap/wire/imap-connection.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import { openSession, type SessionOptions } from '../../src/server/mail/imap/wire/session.ts';
import { DOVECOT_PASSWORD } from './dovecot.ts';

type Server = { readonly port: number; readonly user?: string; readonly password?: string };

/** A signed-in connection to a local server, over the product's own transport. */
export function sessionWith(
  { port, user = 'anna', password = DOVECOT_PASSWORD }: Server,
  options: Partial<SessionOptions> = {},
): Promise<ImapConnection> {
  return openSession(
    {
      email: user,
      place: { host: '127.0.0.1', port, security: 'open', named: 'by operator' },
      credentials: { kind: 'password', password },
    },
    { dial: openDial({ trusted: ['127.0.0.1'] }), clock: MACHINE_CLOCK, ...options },
  );
}

export async function readerOf(server: Server, options?: Partial<SessionOptions>): Promise<MailReader> {
  return openStreamReader(await sessionWith(server, options));
}

export async function writerOf(server: Server, options?: Partial<SessionOptions>): Promise<MailWriter> {
  return openStreamWriter(await sessionWith(server, options));
}

/** A message to be appended, its octets in one piece. */
export function newMessage(octets: Buffer | string, rest: Partial<NewMessage> = {}): NewMessage {
  const whole = Buffer.from(octets);
  return {
    size: whole.length,
    flags: [],
    internalDate: new Date('2019-03-04T05:06:07Z'),
    octets: inPieces([whole]),
    ...rest,
  };
}

export async function* inPieces<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

export async function gathered<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function octetsOf(octets: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Buffer[] = [];
  // A chunk is only valid until the next one is requested.
  for await (const chunk of octets) all.push(Buffer.from(chunk));
  return Buffer.concat(all);
}
