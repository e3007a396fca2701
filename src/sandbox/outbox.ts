import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { SMTPServer } from 'smtp-server';
import * as v from 'valibot';
import { Journal } from './journal.ts';
import { listen } from './listen.ts';
import { bodyText, decodedHeader, headerOf, readMessage } from './mime.ts';

/** How many items (letters and text messages together) are kept; the oldest are dropped first. */
const SENT_ITEMS_KEPT = 500;
const LARGEST_LETTER = 2 * 1024 * 1024;

const Stored = v.variant('kind', [
  v.object({
    kind: v.literal('mail'),
    id: v.string(),
    received: v.string(),
    from: v.string(),
    to: v.array(v.string()),
  }),
  v.object({ kind: v.literal('sms'), id: v.string(), received: v.string(), to: v.string(), text: v.string() }),
]);
type Stored = v.InferOutput<typeof Stored>;

/** A letter or text message that the product has sent. `received` is ISO 8601; `from` and `to` are from the envelope. */
export type SentItem =
  | (Extract<Stored, { kind: 'mail' }> & {
      readonly subject: string;
      readonly text: string;
      readonly html?: string;
    })
  | Extract<Stored, { kind: 'sms' }>;

export type Outbox = AsyncDisposable & {
  readonly smtpPort: number;
  /** Newest first. */
  readonly items: () => readonly SentItem[];
  readonly takeSms: (to: string, text: string) => void;
};

/** Accepts what the product sends, by SMTP (RFC 5321) and as text messages, stores it at `path`, and relays nothing. */
export async function openOutbox(path: string, preferredPort: number): Promise<Outbox> {
  const items: SentItem[] = [];
  if (existsSync(path)) {
    const entries: { record: Stored; body: Buffer }[] = [];
    const extents: { record: Stored; offset: number; size: number }[] = [];
    const old = Journal.open(path, (record, extent) => extents.push({ record: v.parse(Stored, record), ...extent }));
    for (const { record, ...extent } of extents.slice(-SENT_ITEMS_KEPT))
      entries.push({ record, body: await old.read(extent) });
    old[Symbol.dispose]();
    Journal.rewrite(path, entries);
    items.push(...entries.map(({ record, body }) => readItem(record, body)));
  }
  const journal = Journal.open(path, () => undefined);
  const keep = (record: Stored, body: Buffer) => {
    journal.append(record, body);
    items.push(readItem(record, body));
    if (items.length > SENT_ITEMS_KEPT) items.shift();
  };

  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    size: LARGEST_LETTER,
    banner: 'San Bruno sandbox',
    disableReverseLookup: true,
    onAuth: (_auth, _session, done) => done(null, { user: 'anyone' }),
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= LARGEST_LETTER) chunks.push(chunk);
      });
      stream.on('error', done);
      stream.on('end', () => {
        if (stream.sizeExceeded || size > LARGEST_LETTER) {
          done(Object.assign(new Error('The letter is too large'), { responseCode: 552 }));
          return;
        }
        const bytes = Buffer.concat(chunks);
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        const received = new Date().toISOString();
        keep({ kind: 'mail', id: idOf(received, bytes), received, from, to }, bytes);
        done(null, 'Taken');
      });
    },
  });
  smtp.on('error', (error) => console.error('The sandbox outbox:', error));
  const smtpPort = await listen(smtp.server, preferredPort);
  return {
    smtpPort,
    items: () => items.toReversed(),
    takeSms: (to, text) => {
      const received = new Date().toISOString();
      keep({ kind: 'sms', id: idOf(received, Buffer.from(to + text)), received, to, text }, Buffer.alloc(0));
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
      journal[Symbol.dispose]();
    },
  };
}

function readItem(stored: Stored, bytes: Buffer): SentItem {
  if (stored.kind === 'sms') return stored;
  const message = readMessage(bytes);
  const html = bodyText(bytes, message, 'text/html');
  return {
    ...stored,
    subject: decodedHeader(headerOf(message.headers, 'subject') ?? ''),
    text: bodyText(bytes, message, 'text/plain') ?? '',
    ...(html === undefined ? {} : { html }),
  };
}

function idOf(received: string, bytes: Buffer): string {
  return createHash('sha256').update(received).update(bytes).digest('hex').slice(0, 16);
}
