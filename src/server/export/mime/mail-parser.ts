import { fieldOf, headerFields, readable, structured, type HeaderField, type Structured } from './header-fields.ts';
import { asIs, base64, base64Text, quotedPrintable, type Sink } from './transfer-decoders.ts';
import { uudecoded, withoutFiles } from './uuencoded.ts';
import {
  CR,
  LF,
  SPACE,
  TAB,
  beginsHeader,
  withLf,
  withoutEnd,
  startsDashes,
  nextDashes,
  lineEndBefore,
  delimiterStart,
} from './lines.ts';

/**
 * A part as its own header describes it. `within` are the multiparts around it, from the outermost inwards. `isRaw`: it
 * is all of a multipart that could not be divided.
 */
export type Part = {
  readonly type: string;
  readonly content: Structured;
  readonly disposition: Structured;
  readonly fields: readonly HeaderField[];
  readonly within: readonly string[];
  readonly isRaw?: true;
};

/** Direction marks, by which a name can seem to end as another kind of file. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A part's own file name, in one line; empty if it has none. */
export function nameOf({ disposition, content }: Part): string {
  const name = disposition.parameters.get('filename') || content.parameters.get('name') || '';
  return readable(name)
    .replaceAll(TURNING, '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 250);
}

/** Whether a part is text to be read, not a file; a message's only part is text whatever its name. */
export function isText(part: Part): boolean {
  const { type, disposition, within } = part;
  const isKnown = type === 'text/plain' || type === 'text/html';
  return isKnown && disposition.value !== 'attachment' && (within.length === 0 || nameOf(part) === '');
}

export function isMessage({ type }: Part): boolean {
  return type === 'message/rfc822' || type === 'message/global';
}

/** Whether a part is a picture that HTML beside it can show, not a file of its own. */
export function isInline({ type, disposition, fields, within }: Part): boolean {
  const isNamed = fieldOf(fields, 'content-id') !== '' || fieldOf(fields, 'content-location') !== '';
  const isPicture = type.startsWith('image/') && disposition.value !== 'attachment';
  return isPicture && isNamed && within.includes('multipart/related');
}

/** Receives a message while it is read. */
export type MailHandler = {
  /** Called first. `header` is the whole header, unchanged. */
  begin(header: Buffer, fields: readonly HeaderField[]): void;
  /** Returns what takes a part's octets, without their transfer encoding; `undefined` if they are not wanted. */
  part(part: Part): Sink | undefined;
  /** Returns the handler of a message that is a part of this one. */
  message(part: Part): MailHandler;
  /** Called if this message is malformed, so that something in the source may be missing. */
  fault(): void;
  end(): void;
};

/** Limits against messages that are made to keep a reader busy. Beyond them, a message is read no deeper. */
const MULTIPARTS = 30;
const MESSAGES = 8;
const PARTS = 1000;
const HEADER_LENGTH = 1024 * 1024;
const BOUNDARY_LENGTH = 200;
/** Up to this length, text before the first part is taken for a note to programs that don't know MIME. */
const PREAMBLE_LENGTH = 500;
/** How much of a multipart whose first part never comes is read as text. */
const PARTLESS_LENGTH = 256 * 1024;

type Frame =
  | { readonly kind: 'message'; readonly handler: MailHandler }
  /** Its boundary as Latin-1, a character for each octet. */
  | { readonly kind: 'multipart'; readonly type: string; readonly boundary: string; isSeen: boolean };

/** By transfer encoding. uuencode is in no standard of mail, so each program had a name of its own for it. */
const DECODERS = new Map([
  ['base64', base64],
  ['quoted-printable', quotedPrintable],
  ...['x-uuencode', 'uuencode', 'x-uue', 'uue'].map((name) => [name, uudecoded] as const),
]);

function decoderFor(encoding: string, isWords: boolean): typeof asIs {
  return encoding === 'base64' && isWords ? base64Text : (DECODERS.get(encoding) ?? asIs);
}

/**
 * Reads one message (RFC 5322, 2045, 2046) as it arrives, in constant memory: only headers and unfinished lines are
 * held. It accepts anything; if something is malformed, the handler is told.
 */
export class MailParser {
  readonly #frames: Frame[] = [];
  #state: 'header' | 'body' | 'between' = 'header';
  /** What is being read, and how far; the rest is prepended to the next piece. */
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #header: Buffer[] = [];
  #headerLength = 0;
  #sink: Sink | undefined;
  #parts = 0;
  #ignored = 0;
  /** The beginning of what was ignored before the first part. */
  #preamble: Buffer[] = [];
  #isAfterParts = false;
  #isRoot = true;
  #atLineStart = true;
  /** Whether lines end with CR alone. */
  #endsWithCr = false;

  constructor(handler: MailHandler) {
    this.#frames.push({ kind: 'message', handler });
  }

  write(chunk: Buffer): void {
    this.#read(chunk, false);
  }

  end(): void {
    this.#read(Buffer.alloc(0), true);
    if (this.#state === 'header') this.#endHeader();
    this.#endBody();
    this.#pop(0);
  }

  #read(chunk: Buffer, isEnd: boolean): void {
    const octets = this.#endsWithCr ? withLf(chunk) : chunk;
    this.#bytes = this.#bytes.length === 0 ? octets : Buffer.concat([this.#bytes, octets]);
    this.#at = 0;
    while (this.#at < this.#bytes.length) {
      const goesOn = this.#state === 'header' ? this.#readHeader(isEnd) : this.#readBody(isEnd);
      if (!goesOn) break;
    }
    this.#bytes = Buffer.from(this.#bytes.subarray(this.#at));
  }

  /**
   * One line of a header.
   * @returns false while it is incomplete
   */
  #readHeader(isEnd: boolean): boolean {
    const [bytes, at] = [this.#bytes, this.#at];
    const end = bytes.indexOf(LF, at);
    if (end < 0 && !isEnd && bytes.length - at <= HEADER_LENGTH) return false;
    if (end < 0 && this.#isRoot && this.#headerLength === 0 && bytes.includes(CR, at)) {
      this.#endsWithCr = true;
      this.#bytes = withLf(bytes);
      this.#handler().fault();
      return true;
    }
    const line = bytes.subarray(at, end < 0 ? bytes.length : end + 1);
    const content = withoutEnd(line);
    if (this.#delimiter(content) !== undefined) {
      this.#endHeader();
      return true;
    }
    if (this.#isRoot && this.#headerLength === 0 && content.length > 0 && !beginsHeader(content)) {
      // There is no header: the text begins at once.
      this.#handler().fault();
      this.#endHeader();
      return true;
    }
    this.#at += line.length;
    this.#headerLength += line.length;
    if (this.#headerLength <= HEADER_LENGTH) this.#header.push(Buffer.from(line));
    // If CR alone ends some lines, the text may be taken for a part of the header.
    if (this.#headerLength > HEADER_LENGTH || content.includes(CR)) this.#handler().fault();
    if (content.length === 0) this.#endHeader();
    return true;
  }

  #endHeader(): void {
    const header = Buffer.concat(this.#header);
    const frame = this.#frames.at(-1);
    this.#header = [];
    this.#headerLength = 0;
    const fields = headerFields(header);
    if (frame?.kind === 'message') frame.handler.begin(header, fields);
    this.#isRoot = false;
    this.#beginBody(fields, frame?.kind === 'message');
  }

  #beginBody(fields: readonly HeaderField[], isWhole: boolean): void {
    this.#atLineStart = true;
    this.#parts += 1;
    if (this.#parts > PARTS) {
      if (this.#parts === PARTS + 1) this.#frames.forEach((frame) => frame.kind === 'message' && frame.handler.fault());
      this.#state = 'between';
      return;
    }
    const handler = this.#handler();
    const multiparts = this.#frames.filter((frame) => frame.kind === 'multipart');
    const within = this.#within();
    const digest = !isWhole && within.at(-1) === 'multipart/digest';
    const content = structured(fieldOf(fields, 'content-type') || (digest ? 'message/rfc822' : 'text/plain'));
    // Some programs forget the semicolon after it.
    const type = /^[^\s/]+\/[^\s/]+(?=\s|$)/.exec(content.value)?.[0] ?? 'text/plain';
    const part: Part = {
      type,
      content,
      disposition: structured(fieldOf(fields, 'content-disposition')),
      fields,
      within,
    };
    const encoding = /[\w-]+/.exec(fieldOf(fields, 'content-transfer-encoding').toLowerCase())?.[0] ?? '7bit';
    const isPlain = ['7bit', '8bit', 'binary'].includes(encoding);
    if (type.startsWith('multipart/')) {
      const boundary = Buffer.from(content.parameters.get('boundary')?.trimEnd() ?? '').toString('latin1');
      if (boundary.length > 0 && boundary.length <= BOUNDARY_LENGTH && multiparts.length < MULTIPARTS) {
        this.#frames.push({ kind: 'multipart', type, boundary, isSeen: false });
        this.#state = 'between';
        this.#ignored = 0;
        this.#preamble = [];
        this.#isAfterParts = false;
        return;
      }
      handler.fault();
    }
    const messages = this.#frames.length - multiparts.length;
    if (isMessage(part) && isPlain && messages < MESSAGES) {
      this.#frames.push({ kind: 'message', handler: handler.message(part) });
      this.#state = 'header';
      return;
    }
    const said = type.startsWith('multipart/') ? { ...part, type: 'text/plain' } : part;
    const whole = handler.part(said);
    this.#state = 'body';
    if (whole === undefined) return;
    const isDivided = said.type === 'text/plain' && isText(said);
    const sink = isDivided ? withoutFiles(whole, (name) => this.#attached(name, said, handler)) : whole;
    const output = (bytes: Uint8Array) => sink.write(bytes);
    const decoder = decoderFor(encoding, isText(said))(output);
    if (!isPlain && !DECODERS.has(encoding)) handler.fault();
    this.#sink = {
      write: (bytes) => decoder.write(bytes),
      end: () => {
        const isClean = decoder.end();
        return sink.end() && isClean;
      },
    };
  }

  /** A uuencoded file in the middle of a text. */
  #attached(name: string, { within }: Part, handler: MailHandler): Sink | undefined {
    this.#parts += 1;
    if (this.#parts > PARTS) {
      handler.fault();
      return undefined;
    }
    return handler.part({
      type: 'application/octet-stream',
      content: structured(''),
      disposition: { value: 'attachment', parameters: new Map([['filename', name]]) },
      fields: [],
      within: [...within, 'multipart/mixed'],
    });
  }

  /**
   * Octets up to the next delimiter line.
   * @returns false while its place is not known
   */
  #readBody(isEnd: boolean): boolean {
    const [bytes, from] = [this.#bytes, this.#at];
    if (!this.#frames.some(({ kind }) => kind === 'multipart')) {
      this.#give(bytes.length);
      return true;
    }
    let line = this.#atLineStart && startsDashes(bytes, from) ? from : nextDashes(bytes, from);
    while (line !== undefined) {
      const end = bytes.indexOf(LF, line);
      if (end < 0 && !isEnd && bytes.length - line <= BOUNDARY_LENGTH * 4) {
        // It may become a delimiter, to which the preceding line end would belong.
        this.#give(lineEndBefore(bytes, line, from));
        return false;
      }
      const next = end < 0 ? bytes.length : end + 1;
      const found = this.#delimiter(withoutEnd(bytes.subarray(line, next)));
      if (found !== undefined) {
        this.#give(lineEndBefore(bytes, line, from));
        this.#at = next;
        this.#cross(found);
        return true;
      }
      line = nextDashes(bytes, line);
    }
    const kept = isEnd ? bytes.length : delimiterStart(bytes, from, this.#atLineStart);
    this.#give(kept);
    return kept === bytes.length;
  }

  /** Passes the octets up to `end` on. */
  #give(end: number): void {
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    if (bytes.length === 0) return;
    this.#atLineStart = false;
    if (this.#state === 'body') this.#sink?.write(bytes);
    else this.#ignore(bytes);
  }

  /**
   * Text before the first part and after the last one is dropped; that is reported, unless it is blank or a short
   * preamble.
   */
  #ignore(bytes: Buffer): void {
    const isPreamble = !this.#isAfterParts && this.#ignored < PARTLESS_LENGTH;
    if (isPreamble) this.#preamble.push(Buffer.from(bytes.subarray(0, PARTLESS_LENGTH - this.#ignored)));
    this.#ignored += bytes.length;
    const limit = this.#isAfterParts ? 0 : PREAMBLE_LENGTH;
    if (this.#ignored > limit && bytes.some((octet) => octet > SPACE)) this.#handler().fault();
  }

  /** Which multipart a line delimits, searching from the innermost, and whether it closes it. */
  #delimiter(line: Buffer): { readonly index: number; readonly closes: boolean } | undefined {
    if (!startsDashes(line, 0)) return undefined;
    let end = line.length;
    while (line[end - 1] === SPACE || line[end - 1] === TAB) end -= 1;
    if (end - 4 > BOUNDARY_LENGTH) return undefined;
    const boundary = line.toString('latin1', 2, end);
    const closed = boundary.endsWith('--') ? boundary.slice(0, -2) : undefined;
    const index = this.#frames.findLastIndex(
      (frame) => frame.kind === 'multipart' && (frame.boundary === boundary || frame.boundary === closed),
    );
    const frame = this.#frames[index];
    return frame?.kind === 'multipart' ? { index, closes: frame.boundary !== boundary } : undefined;
  }

  #cross({ index, closes }: { readonly index: number; readonly closes: boolean }): void {
    this.#endBody();
    this.#pop(closes ? index : index + 1, index);
    this.#atLineStart = true;
    this.#ignored = 0;
    this.#preamble = [];
    this.#isAfterParts = closes;
    this.#state = closes ? 'between' : 'header';
  }

  #endBody(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    if (sink?.end() === false) this.#handler().fault();
  }

  /** Ends open parts until `count` are left; the multipart at `seen` has just had a delimiter. */
  #pop(count: number, seen?: number): void {
    const frame = seen === undefined ? undefined : this.#frames[seen];
    if (frame?.kind === 'multipart') frame.isSeen = true;
    while (this.#frames.length > count) {
      const last = this.#frames.pop();
      if (last?.kind === 'message') last.handler.end();
      else if (last?.isSeen === false) this.#endPartless();
    }
  }

  /** Reads what is in a multipart without any delimiter as text. */
  #endPartless(): void {
    const handler = this.#handler();
    handler.fault();
    const text = Buffer.concat(this.#preamble);
    if (!text.some((octet) => octet > SPACE)) return;
    const none = structured('');
    const within = this.#within();
    const sink = handler.part({
      type: 'text/plain',
      content: none,
      disposition: none,
      fields: [],
      within,
      isRaw: true,
    });
    sink?.write(text);
    sink?.end();
  }

  #handler(): MailHandler {
    const frame = this.#frames.findLast(({ kind }) => kind === 'message');
    if (frame?.kind !== 'message') throw new Error('A mail parser goes on after its end.');
    return frame.handler;
  }

  #within(): string[] {
    const message = this.#frames.findLastIndex(({ kind }) => kind === 'message');
    return this.#frames.slice(message + 1).map((frame) => (frame.kind === 'multipart' ? frame.type : ''));
  }
}
