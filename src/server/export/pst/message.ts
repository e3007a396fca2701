import { isUtf8 } from 'node:buffer';
import { addresses, fieldOf, readable, type Address, type HeaderField } from '../mime/header-fields.ts';
import { endingOf, shortName } from './attachment-name.ts';
import { isInline, isText, nameOf, type MailHandler, type Part } from '../mime/mail-parser.ts';
import { MessageHeader } from '../mime/message-header.ts';
import { textDecoder } from '../mime/text-decoder.ts';
import type { Sink } from '../mime/transfer-decoders.ts';
import { entryList, oneOff, person, searchKey } from './address-entry.ts';
import { idOf } from './named-properties.ts';
import type { NodeDatabase, Stored, Subnode } from './node-database.ts';
import { binary, boolean, integer, text, texts, time, TYPE, utf16, type Property } from './properties.ts';
import { writeProperties, type Written } from './property-context.ts';
import { ATTACHMENTS, NODE_TYPE, RECIPIENTS } from './store.ts';
import { Table } from './table-context.ts';
import { ValueWriter } from './value-writer.ts';

/** What a mailbox knows of a message besides its octets. Times are in milliseconds since 1970. */
export type MessageState = {
  readonly received: number;
  /** IMAP's: `\Seen`, `\Flagged`, `$Forwarded`, or the owner's own keyword. */
  readonly flags: readonly string[];
  /** 16 octets, unique to this message. */
  readonly key: Buffer;
};

export type WrittenMessage = Written & {
  /** For the row in the folder's table. */
  readonly properties: readonly Property[];
  readonly isRead: boolean;
  /** Whether something of the source has no place here. */
  readonly isFaulty: boolean;
};

const MESSAGE_SIZE = 0x0e08;
const ATTACHMENT_TABLE = 0x671;
const RECIPIENT_TABLE = 0x692;
const FIRST_ATTACHMENT = 0x400;
const EMBEDDED = 0x10000 * 32 + NODE_TYPE.message;

const [READ, UNSENT, HAS_ATTACHMENT] = [1, 8, 0x10];
/** The most recipients that a message has here; its header has them all. */
const RECIPIENTS_AT_MOST = 2000;

/** Writes one message while it is being read. Call {@link finish} once the reader has ended. */
export class MessageWriter implements MailHandler {
  readonly #database: NodeDatabase;
  readonly #state: MessageState;
  readonly #onEnd: ((written: WrittenMessage) => void) | undefined;
  readonly #attachments: Subnode[] = [];
  readonly #table: Table;
  #header = new MessageHeader();
  #plain: ValueWriter | undefined;
  #html: ValueWriter | undefined;
  #isFaulty = false;
  #isSealed = false;
  /** Whether the plain text is only what could not be divided. */
  #isRaw = false;
  /** Whether the HTML stands beside other forms of the same text. */
  #isHtmlOfChoice = false;
  #hasRealAttachment = false;

  constructor(database: NodeDatabase, state: MessageState, onEnd?: (written: WrittenMessage) => void) {
    this.#database = database;
    this.#state = state;
    this.#onEnd = onEnd;
    this.#table = new Table(database, ATTACHMENTS);
  }

  get isFaulty(): boolean {
    return this.#isFaulty;
  }

  begin(header: Buffer, fields: readonly HeaderField[]): void {
    this.#header = new MessageHeader(header, fields);
  }

  fault(): void {
    this.#isFaulty = true;
  }

  part(part: Part): Sink {
    this.#header.noteCharset(part);
    this.#isSealed = isSealed(part);
    const body = this.#bodyFor(part);
    return body === undefined ? this.#attachment(part) : this.#text(part, body);
  }

  /**
   * The first text is the body, in its plain and HTML forms if it has both. What follows is an attachment, except for
   * more plain text after plain text, which is how mailing lists add signatures.
   */
  #bodyFor(part: Part): 'plain' | 'html' | undefined {
    const { type, within } = part;
    if (!isText(part)) return undefined;
    const isChoice = within.includes('multipart/alternative');
    // Some programs put the HTML of a choice first.
    if (type === 'text/plain')
      return this.#html === undefined ||
        (this.#isHtmlOfChoice && within.at(-1) === 'multipart/alternative' && this.#plain === undefined)
        ? 'plain'
        : undefined;
    return this.#html === undefined && (this.#plain === undefined || isChoice || this.#isRaw || this.#plain.size === 0)
      ? 'html'
      : undefined;
  }

  #text(part: Part, kind: 'plain' | 'html'): Sink {
    const isMore = kind === 'plain' && this.#plain !== undefined && this.#plain.size > 0;
    const into = (kind === 'plain' ? this.#plain : undefined) ?? new ValueWriter(this.#database);
    if (kind === 'plain') {
      this.#plain = into;
      this.#isRaw = part.isRaw === true;
    } else {
      this.#html = into;
      this.#isHtmlOfChoice = part.within.at(-1) === 'multipart/alternative';
    }
    if (isMore) into.write(utf16('\r\n'));
    let isClean = true;
    const charset = part.content.parameters.get('charset') ?? '';
    // HTML is stored as octets, which some readers decode by the charset that the header, or the HTML itself, states.
    const isUnicode = /^utf-?8$/i.test(charset.trim());
    const put = (decoded: string) => {
      if (decoded.includes('\uFFFD') || decoded.includes('\0')) isClean = false;
      const html = () => Buffer.from((isUnicode ? decoded : inAscii(decoded)).replaceAll('\0', '\uFFFD'));
      into.write(kind === 'plain' ? utf16(decoded) : html());
    };
    const decode = textDecoder(part, put);
    return { write: (bytes) => decode.write(bytes), end: () => decode.end() && isClean };
  }

  #attachment(part: Part): Sink {
    const value = new ValueWriter(this.#database);
    return {
      write: (bytes) => value.write(bytes),
      end: () => {
        this.#addAttachment(value.end(), part);
        return true;
      },
    };
  }

  #addAttachment(content: Buffer | Stored, part: Part): void {
    const name = nameOf(part) || `attachment${this.#table.rows + 1}.${endingOf(part.type)}`;
    const contentId = fieldOf(part.fields, 'content-id').replace(/^<|>$/g, '').slice(0, 1000);
    const location = fieldOf(part.fields, 'content-location').slice(0, 1000);
    // Outlook hides such a picture, so there has to be HTML that shows it: phones send pictures without any.
    const isPicture = isInline(part) && this.#html !== undefined;
    this.#attach(name, [
      integer(0x3705, 1),
      binary(0x3701, content),
      text(0x370e, part.type),
      integer(0x3714, isPicture ? 4 : 0),
      boolean(0x7ffe, isPicture),
      ...(contentId === '' ? [] : [text(0x3712, contentId)]),
      ...(location === '' ? [] : [text(0x3713, location)]),
    ]);
    this.#hasRealAttachment ||= !isPicture;
  }

  /** Attaches a file of which nothing else is known. */
  attachFile(name: string, type: string, content: Buffer | Stored, more: readonly Property[] = []): void {
    this.#attach(name, [integer(0x3705, 1), binary(0x3701, content), text(0x370e, type), integer(0x3714, 0), ...more]);
    this.#hasRealAttachment = true;
  }

  #attach(name: string, properties: readonly Property[], subnodes: readonly Subnode[] = []): void {
    const number = this.#table.rows;
    const nid = (FIRST_ATTACHMENT + number + 1) * 32 + NODE_TYPE.attachment;
    const isEmbedded = subnodes.length > 0;
    const all = [
      integer(0x0e21, number),
      integer(0x370b, -1),
      text(0x3001, name),
      time(0x3007, this.#state.received),
      time(0x3008, this.#state.received),
      ...(isEmbedded
        ? []
        : [
            text(0x3707, name),
            text(0x3704, shortName(name)),
            text(0x3703, /\.[^.\s/\\]{1,20}$/.exec(name)?.[0] ?? ''),
          ]),
      ...properties,
    ];
    const written = writeProperties(this.#database, all, subnodes, 0x0e20);
    this.#attachments.push({ nid, ...written });
    this.#table.addRow(nid, [
      ...all.filter(({ value }) => typeof value === 'number' || Buffer.isBuffer(value)),
      integer(0x0e20, Math.min(written.size, 0x7fff_ffff)),
    ]);
  }

  message(part: Part): MailHandler {
    const state = { received: this.#state.received, flags: ['\\Seen'], key: this.#state.key };
    return new MessageWriter(this.#database, state, (written) => {
      if (written.isFaulty) this.fault();
      const subject = written.properties.find(({ id }) => id === 0x0070)?.value;
      const name = nameOf(part) || (Buffer.isBuffer(subject) ? subject.toString('utf16le') : '') || 'Message';
      const { data, subnodes, size } = written;
      const object = Buffer.alloc(8);
      object.writeUInt32LE(EMBEDDED, 0);
      object.writeUInt32LE(Math.min(size, 0x7fff_ffff), 4);
      this.#attach(
        name,
        [integer(0x3705, 5), { id: 0x3701, type: TYPE.object, value: object }, integer(0x3714, 0)],
        [{ nid: EMBEDDED, data, subnodes, size }],
      );
      this.#hasRealAttachment = true;
    });
  }

  end(): void {
    this.#onEnd?.(this.finish());
  }

  /**
   * Outlook opens encrypted and signed messages by their class, if that part is the only attachment (MS-OXOSMIME
   * §2.1.3).
   */
  finish(
    messageClass = this.#isSealed && !this.#isFaulty ? 'IPM.Note.SMIME' : 'IPM.Note',
    more: readonly Property[] = [],
  ): WrittenMessage {
    const flags = new Set(this.#state.flags.map((flag) => flag.toLowerCase()));
    const isRead = flags.has('\\seen');
    const hasAttachments = this.#attachments.length > 0;
    const recipients = this.#recipients();
    const properties = [
      text(0x001a, messageClass),
      integer(
        0x0e07,
        (isRead ? READ : 0) | (flags.has('\\draft') ? UNSENT : 0) | (hasAttachments ? HAS_ATTACHMENT : 0),
      ),
      integer(0x0e17, flags.has('\\deleted') ? 8 : 0),
      time(0x0e06, this.#state.received),
      time(0x3007, this.#state.received),
      time(0x3008, this.#state.received),
      binary(0x300b, this.#state.key),
      boolean(0x0e1b, this.#hasRealAttachment),
      integer(0x3fde, 65_001),
      ...this.#described(),
      ...marks(this.#state.flags, flags),
      ...['To', 'Cc', 'Bcc'].map((kind, index) =>
        text([0x0e04, 0x0e03, 0x0e02][index] ?? 0, displayed(recipients.filter((each) => each.kind === kind))),
      ),
      ...this.#bodies(),
      ...more,
    ];
    const subnodes: Subnode[] = [{ nid: RECIPIENT_TABLE, ...this.#recipientTable(recipients) }];
    if (hasAttachments) subnodes.push({ nid: ATTACHMENT_TABLE, ...this.#table.finish() });
    const merged = [...new Map(properties.map((property) => [property.id, property])).values()];
    const written = writeProperties(this.#database, merged, [...subnodes, ...this.#attachments], MESSAGE_SIZE);
    const row = [
      ...merged.filter(({ value }) => typeof value === 'number' || Buffer.isBuffer(value)),
      integer(MESSAGE_SIZE, Math.min(written.size, 0x7fff_ffff)),
    ];
    return { ...written, properties: row, isRead, isFaulty: this.#isFaulty };
  }

  #bodies(): Property[] {
    const plain = this.#plain?.end();
    const html = this.#html?.end();
    return [
      ...(plain === undefined ? [] : [text(0x1000, plain)]),
      ...(html === undefined ? [] : [binary(0x1013, html), integer(0x1016, 3), integer(0x5909, 2)]),
      ...(html === undefined && plain !== undefined ? [integer(0x1016, 1), integer(0x5909, 1)] : []),
    ];
  }

  /** The properties from the header. */
  #described(): Property[] {
    const { octets, fields } = this.#header;
    const plain = (id: number, name: string) => {
      const value = fieldOf(fields, name);
      return value === '' ? [] : [text(id, value)];
    };
    const subject = readable(fieldOf(fields, 'subject'));
    const [from] = addresses(fields, 'from');
    const [sender = from] = addresses(fields, 'sender');
    const sent = sentAt(fieldOf(fields, 'date'));
    const replyTo = addresses(fields, 'reply-to').slice(0, 100);
    const [prefix, topic] = prefixed(subject);
    return [
      ...(octets.length === 0 ? [] : [text(0x007d, wholeHeader(octets))]),
      integer(0x0017, importance(fields)),
      integer(0x0036, sensitivity(fields)),
      // The first two characters give the length of the prefix (MS-PST §2.5.3.1.1.1).
      text(0x0037, `\u0001${String.fromCharCode(prefix.length + 1)}${subject}`),
      text(0x003d, prefix),
      text(0x0e1d, topic),
      text(0x0070, topic),
      ...(Number.isNaN(sent) ? [] : [time(0x0039, sent)]),
      ...(from === undefined ? [] : person(from, [0x0042, 0x0064, 0x0065, 0x0041, 0x003b, 0x5d02])),
      ...(sender === undefined ? [] : person(sender, [0x0c1a, 0x0c1e, 0x0c1f, 0x0c19, 0x0c1d, 0x5d01])),
      ...(replyTo.length === 0 ? [] : [text(0x0050, displayed(replyTo)), binary(0x004f, entryList(replyTo))]),
      ...plain(0x1035, 'message-id'),
      ...plain(0x1042, 'in-reply-to'),
      ...plain(0x1039, 'references'),
    ];
  }

  #recipients(): (Address & { readonly kind: string })[] {
    return ['To', 'Cc', 'Bcc']
      .flatMap((kind) => addresses(this.#header.fields, kind.toLowerCase()).map((address) => ({ ...address, kind })))
      .slice(0, RECIPIENTS_AT_MOST);
  }

  #recipientTable(recipients: readonly (Address & { readonly kind: string })[]): Written {
    const table = new Table(this.#database, RECIPIENTS);
    for (const [index, { kind, ...address }] of recipients.entries()) {
      const entry = oneOff(address);
      table.addRow(index + 1, [
        integer(0x0c15, ['', 'To', 'Cc', 'Bcc'].indexOf(kind)),
        boolean(0x0e0f, true),
        binary(0x0fff, entry),
        binary(0x0ff9, entry),
        binary(0x300b, searchKey(address)),
        text(0x3001, address.name || address.email),
        text(0x3002, 'SMTP'),
        text(0x3003, address.email),
        text(0x39ff, address.name || address.email),
        integer(0x0ffe, 6),
        integer(0x3900, 0),
        boolean(0x3a40, false),
      ]);
    }
    return table.finish();
  }
}

/** Whether a message consists of one encrypted or signed part (RFC 8551 §3.10), which only its program can read. */
function isSealed(part: Part): boolean {
  if (part.within.length > 0) return false;
  return SEALED.has(part.type) || (part.type === 'application/octet-stream' && /\.p7m$/i.test(nameOf(part)));
}

const SEALED: ReadonlySet<string> = new Set(['application/pkcs7-mime', 'application/x-pkcs7-mime']);

function displayed(all: readonly Address[]): string {
  return all.map(({ name, email }) => name || email).join('; ');
}

/** HTML that says the same in every charset. */
function inAscii(html: string): string {
  return html.replaceAll(/[\u0080-\u{10ffff}]/gu, (sign) => `&#${sign.codePointAt(0)};`);
}

const ZONE = /(?:\s|:\d\d)[+-]\d\d:?\d\d\b|[\d\s](?:GMT|UTC?|Z|[ECMP][SD]T)\b/i;

/**
 * `Date.parse` understands RFC 5322's dates, except for comments. Without a zone that is known, they are in UTC (§4.3).
 */
function sentAt(value: string): number {
  const said = value
    .slice(0, 100)
    .replaceAll(/\([^()]*\)/g, ' ')
    .trim();
  const withoutWord = said.replace(/\b(?!(?:[AP]M|Z)$)[a-z]+$/i, '').trim();
  if (!ZONE.test(said)) return Date.parse(`${withoutWord}Z`);
  const sent = Date.parse(said);
  return Number.isNaN(sent) ? Date.parse(withoutWord) : sent;
}

function importance(fields: readonly HeaderField[]): number {
  const said = fieldOf(fields, 'importance').toLowerCase();
  const priority = Number.parseInt(fieldOf(fields, 'x-priority'), 10);
  if (said === 'high' || priority === 1 || priority === 2) return 2;
  return said === 'low' || priority === 4 || priority === 5 ? 0 : 1;
}

function sensitivity(fields: readonly HeaderField[]): number {
  const said = fieldOf(fields, 'sensitivity').toLowerCase();
  return Math.max(0, ['', 'personal', 'private', 'company-confidential'].indexOf(said));
}

/** `RE: ` and the like, up to three letters (MS-OXCMSG §3.2.5.2), and what follows it. */
function prefixed(subject: string): [prefix: string, topic: string] {
  const prefix = /^[^\s:\d]{1,3}: /.exec(subject)?.[0] ?? '';
  return [prefix, subject.slice(prefix.length)];
}

/** Flags that have properties of their own; the owner's keywords become categories. */
function marks(flags: readonly string[], lower: ReadonlySet<string>): Property[] {
  const answered = lower.has('\\answered');
  const forwarded = lower.has('$forwarded');
  const words = flags.filter((flag) => !flag.startsWith('\\') && !flag.startsWith('$'));
  return [
    ...(lower.has('\\flagged') ? [integer(0x1090, 2), integer(0x1095, 6), text(idOf('flagRequest'), 'Follow up')] : []),
    ...(answered || forwarded
      ? [integer(0x1080, answered ? 0x105 : 0x106), integer(0x1081, answered ? 102 : 104)]
      : []),
    ...(words.length === 0 ? [] : [texts(idOf('keywords'), words)]),
  ];
}

/** All of it is kept: windows-1252 has a character for every octet. */
function wholeHeader(header: Buffer): string {
  return isUtf8(header) ? header.toString('utf8') : new TextDecoder('windows-1252').decode(header);
}
