import { addresses, fieldOf, readable, type Address, type HeaderField } from './header-fields.ts';
import { unflowed } from './flowed.ts';
import { isMessage, isText, MailParser, nameOf, type MailHandler, type Part } from './mail-parser.ts';
import { MessageHeader } from './message-header.ts';
import { isReadable, withoutSigns } from './other-text.ts';
import { textDecoder } from './text-decoder.ts';
import type { Sink } from './transfer-decoders.ts';

/** How much of a message's plain text, and of its HTML, is kept, in UTF-16 units. */
const KEPT = 200_000;
const ATTACHED_AT_MOST = 50;
/** How deep messages may be nested that are encoded, which no standard allows. */
const ENCODED_AT_MOST = 3;

/** What a person reads of a message. `html` is empty if it has none; otherwise it includes its plain text as well. */
export type MessageText = {
  readonly from: readonly Address[];
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The names of attached files and of pictures in the HTML, or their types. */
  readonly attached: readonly string[];
  /** Whether there is more text than is kept. */
  readonly isCut: boolean;
};

/** The octets given to `write` may be changed afterwards. */
export type TextReader = { write(octets: Buffer): void; end(): MessageText };

/** Reads a message up to limits, and accepts anything. */
export function openTextReader(): TextReader {
  const reading = new Reading({ text: KEPT, html: KEPT, cut: new Set(), attached: [] });
  const parser = new MailParser(reading);
  return {
    write: (octets) => parser.write(octets),
    end: () => {
      parser.end();
      return reading.result();
    },
  };
}

type Kind = 'text' | 'html';
/** How much more may be kept of a message and those within it, and which kinds of text did not fit as a whole. */
type Room = { text: number; html: number; readonly cut: Set<Kind>; readonly attached: string[] };
/** `isRepeated`: HTML has the same text. `isRaw`: it is a multipart that could not be divided. */
type Piece = { readonly kind: Kind; readonly isRaw: boolean; isRepeated: boolean; content: string };
/** Text that is shown as long as there is no other; `label` is its name among the attachments once there is. */
type Spare = { readonly piece: Piece; readonly label: string | undefined; readonly isAllCut: boolean };

class Reading implements MailHandler {
  readonly #room: Room;
  readonly #depth: number;
  readonly #onEnd: ((pieces: readonly Piece[]) => void) | undefined;
  readonly #pieces: Piece[] = [];
  /** Pieces of this message itself, not of one within it, that may be the same text in another form. */
  readonly #choices: Piece[] = [];
  #header = new MessageHeader();
  #spare: Spare | undefined;

  constructor(room: Room, depth = 0, onEnd?: (pieces: readonly Piece[]) => void) {
    this.#room = room;
    this.#depth = depth;
    this.#onEnd = onEnd;
  }

  begin(header: Buffer, fields: readonly HeaderField[]): void {
    this.#header = new MessageHeader(header, fields);
  }

  part(part: Part): Sink | undefined {
    this.#header.noteCharset(part);
    const { type, content, within, isRaw = false } = part;
    if (isMessage(part) && this.#depth < ENCODED_AT_MOST) return openInner(this.message(part));
    const isOther = !isText(part);
    const isSpare = isReadable(part) && this.#pieces.every((piece) => piece.content.trim() === '');
    const name = nameOf(part);
    if (isOther && (name !== '' || !isSpare)) this.#attach(name || type);
    if (isOther && !isSpare) return undefined;
    const kind = type === 'text/html' ? 'html' : 'text';
    const piece: Piece = { kind, isRaw, isRepeated: false, content: '' };
    if (isOther) this.#spare = { piece, label: name === '' ? type : undefined, isAllCut: this.#room.cut.has(kind) };
    else this.#dropSpare();
    this.#pieces.push(piece);
    if (!isOther && within.includes('multipart/alternative')) this.#choices.push(piece);
    const decoder = textDecoder(part, (decoded) => {
      const kept = decoded.slice(0, this.#room[kind]);
      piece.content += kept;
      this.#room[kind] -= kept.length;
      if (kept.length < decoded.length) this.#room.cut.add(kind);
    });
    return {
      write: (bytes) => {
        if (this.#room[kind] > 0) decoder.write(bytes);
        else this.#room.cut.add(kind);
      },
      end: () => {
        const isClean = decoder.end();
        if (kind === 'text' && content.parameters.get('format')?.toLowerCase() === 'flowed')
          piece.content = unflowed(piece.content, content.parameters.get('delsp')?.toLowerCase() === 'yes');
        if (isOther) piece.content = withoutSigns(type, piece.content);
        return isClean;
      },
    };
  }

  /** The text of a message within this one is shown after it, as mail programs do. */
  message(part: Part): MailHandler {
    const name = nameOf(part);
    if (name !== '') this.#attach(name);
    const inner = new Reading(this.#room, this.#depth + 1, (pieces) => {
      this.#pieces.push({ kind: 'text', isRaw: false, isRepeated: false, content: inner.#heading() }, ...pieces);
    });
    return inner;
  }

  fault(): void {}

  end(): void {
    // Plain text is left out only if HTML says the same.
    const hasHtml = this.#choices.some(({ kind }) => kind === 'html');
    for (const choice of this.#choices) choice.isRepeated = hasHtml && choice.kind === 'text';
    this.#onEnd?.(this.#pieces);
  }

  result(): MessageText {
    const pieces = this.#pieces.toSorted((one, other) => Number(one.isRaw) - Number(other.isRaw));
    const plain = pieces.filter(({ kind }) => kind === 'text').map(({ content }) => content);
    const shown = pieces.filter(({ isRepeated }) => !isRepeated);
    const html = shown
      .map(({ kind, content }) => (kind === 'html' ? content : `<pre>${escaped(content)}</pre>`))
      .join('\n');
    const hasHtml = pieces.some(({ kind }) => kind === 'html');
    const { fields } = this.#header;
    return {
      from: addresses(fields, 'from'),
      to: addresses(fields, 'to'),
      cc: addresses(fields, 'cc'),
      bcc: addresses(fields, 'bcc'),
      subject: readable(fieldOf(fields, 'subject')),
      text: plain.join('\n').slice(0, KEPT),
      html: hasHtml ? html.slice(0, KEPT) : '',
      attached: this.#room.attached,
      isCut: this.#room.cut.has(hasHtml ? 'html' : 'text') || (hasHtml && html.length > KEPT),
    };
  }

  #dropSpare(): void {
    if (this.#spare === undefined) return;
    const { piece, label, isAllCut } = this.#spare;
    this.#spare = undefined;
    this.#pieces.splice(this.#pieces.indexOf(piece), 1);
    this.#room[piece.kind] += piece.content.length;
    if (!isAllCut) this.#room.cut.delete(piece.kind);
    if (label !== undefined) this.#attach(label);
  }

  #attach(name: string): void {
    if (this.#room.attached.length < ATTACHED_AT_MOST) this.#room.attached.push(name);
  }

  #heading(): string {
    const said = ['From', 'To', 'Date', 'Subject']
      .map((name) => [name, readable(fieldOf(this.#header.fields, name.toLowerCase()))] as const)
      .filter(([, value]) => value !== '');
    return `\n${said.map(([name, value]) => `${name}: ${value}\n`).join('')}\n`;
  }
}

function openInner(handler: MailHandler): Sink {
  const parser = new MailParser(handler);
  return {
    write: (bytes) => parser.write(Buffer.from(bytes)),
    end: () => {
      parser.end();
      return true;
    },
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
