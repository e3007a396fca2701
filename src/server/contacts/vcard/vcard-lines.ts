/** One content line of a vCard (RFC 6350 §3.3). `value` is still escaped; `text` is the line as it was written, folds and all. */
export type VcardLine = {
  readonly group: string;
  /** Upper case. */
  readonly name: string;
  readonly params: readonly VcardParam[];
  readonly value: string;
  readonly text: string;
};
/** `name` in upper case, values unquoted. */
export type VcardParam = { readonly name: string; readonly values: readonly string[] };
export type VcardVersion = '3.0' | '4.0';

/** The lines between BEGIN and END without VERSION, in the grammar of `version`; vCard 2.1 is put into that of 3.0. */
export type VcardLines = { readonly version: VcardVersion; readonly lines: readonly VcardLine[] };

/** Why a text is no contact, by name. */
export type CardFault = 'not a vCard' | 'cut off' | 'too large' | 'empty';

/** The largest card that is read, in UTF-16 code units; photos in base64 are what makes cards large. */
const CARD_LENGTH = 16 * 1024 * 1024;
/** The longest line that is written, in octets without its CRLF (RFC 6350 §3.2). */
const LINE_OCTETS = 75;
/** Holds a line that fits no grammar, so that it isn't lost when the card is written again. */
const UNREADABLE = 'X-UNREADABLE';

/** They have no place in a card (RFC 6350 §3.3), and end the line or the card for some readers. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000A-\u001F\u007F]/g;
const HEAD = /^(?:([\w-]+)\.)?([\w-]+)(?=[;:])/;
const ENCODINGS: ReadonlySet<string> = new Set(['BASE64', 'B', 'QUOTED-PRINTABLE', '7BIT', '8BIT']);

/** Reads the first card of a text, or says what is wrong with it. */
export function readCardLines(text: string): VcardLines | CardFault {
  if (text.length > CARD_LENGTH) return 'too large';
  const physical = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const begin = physical.findIndex((line) => BEGIN.test(line));
  if (begin < 0) return 'not a vCard';
  const end = endOf(physical, begin);
  if (end < 0) return 'cut off';

  const flat = withAgentsInLine(physical.slice(begin + 1, end));
  const all = unfold(flat).map(({ line, text: written }) => parseLine(line, written));
  const declared = all.find((line) => line.name === 'VERSION')?.value.trim();
  const lines = all.filter((line) => line.name !== 'VERSION');
  if (declared === '4.0') return { version: '4.0', lines: lines.map(withoutQuotedPrintable) };
  return { version: '3.0', lines: lines.map(declared === '3.0' ? withoutQuotedPrintable : from21) };
}

/** The single cards of a text that may hold many. What follows the last END is a card cut off, unless it is blank. */
export function splitCards(text: string): string[] {
  const physical = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const cards: string[] = [];
  let start = 0;
  while (start < physical.length) {
    let begin = start;
    while (begin < physical.length && !BEGIN.test((physical[begin] ?? '').replace(/^\uFEFF/, ''))) begin += 1;
    const end = endOf(physical, begin);
    const next = end < 0 ? physical.length : end + 1;
    cards.push(physical.slice(start, next).join(''));
    start = next;
  }
  return cards.filter((card) => card.replace(/^\uFEFF/, '').trim() !== '');
}

const BEGIN = /^BEGIN:VCARD\s*$/i;
const END = /^END:VCARD\s*$/i;
/** vCard 2.1 §2.4.3: the agent's whole card stands inside, from the line of `AGENT` or from the next one. */
const AGENT = /^(?:[\w-]+\.)?AGENT[^:]*:\s*(?:(BEGIN:VCARD)\s*)?$/i;

/** The line of the END that belongs to the BEGIN, or -1. */
function endOf(physical: readonly string[], begin: number): number {
  let depth = 0;
  for (let at = begin + 1; at < physical.length; at += 1) {
    const line = physical[at] ?? '';
    if (opensAgent(physical, at)) depth += 1;
    else if (END.test(line)) {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return -1;
}

function opensAgent(physical: readonly string[], at: number): boolean {
  const line = physical[at] ?? '';
  if (BEGIN.test(line)) return AGENT.test(physical[at - 1] ?? '');
  return AGENT.exec(line)?.[1] !== undefined;
}

/** Puts an agent's card into the value of its line, as vCard 3.0 has it (RFC 2426 §3.5.4). */
function withAgentsInLine(physical: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < physical.length; at += 1) {
    const line = physical[at] ?? '';
    const opens = AGENT.test(line) && (opensAgent(physical, at) || opensAgent(physical, at + 1));
    const begin = opensAgent(physical, at) ? at : at + 1;
    const end = opens ? endOf(physical, begin) : -1;
    if (end < 0) lines.push(line);
    else {
      const inside = ['BEGIN:VCARD', ...physical.slice(begin + 1, end), 'END:VCARD'];
      lines.push(`AGENT:${escapeText(inside.join('\n'))}`);
      at = end;
    }
  }
  return lines;
}

type Unfolded = { line: string; text: string };

function unfold(physical: readonly string[]): Unfolded[] {
  const lines: { parts: string[]; written: string[]; soft: boolean; base64: boolean }[] = [];
  for (const line of physical) {
    const last = lines.at(-1);
    if (last !== undefined && continues(last, line)) {
      last.written.push(line);
      if (last.soft) last.parts.push(line);
      else last.parts.push(/^[ \t]/.test(line) ? line.slice(1) : line);
    } else if (line.trim() === '') {
      continue;
    } else {
      const head = line.slice(0, line.indexOf(':') + 1);
      lines.push({
        parts: [line],
        written: [line],
        soft: /[;=]QUOTED-PRINTABLE/i.test(head),
        base64: /[;=](?:BASE64|B)[;:]/i.test(head),
      });
    }
  }
  return lines.map(({ parts, written, soft }) => {
    const line = soft ? parts.join('\n').replaceAll(/=\n[ \t]?/g, '') : parts.join('');
    const clean = line.replaceAll(CONTROLS, '');
    return { line: clean, text: clean === line ? written.join('\r\n') : '' };
  });
}

/** Folded lines begin with a blank; vCard 2.1 also breaks quoted-printable after `=`, and base64 without any mark. */
function continues(last: { parts: string[]; soft: boolean; base64: boolean }, line: string): boolean {
  if (last.soft) return last.parts.at(-1)?.endsWith('=') === true;
  if (/^[ \t]/.test(line)) return true;
  return last.base64 && /^[A-Za-z0-9+/]{4,}={0,2}$/.test(line);
}

function parseLine(line: string, text: string): VcardLine {
  const head = HEAD.exec(line);
  const unreadable: VcardLine = { group: '', name: UNREADABLE, params: [], value: escapeText(line), text: '' };
  // Those that only show without their folds or control characters: written again they would cut the card in two.
  if (head === null || /^(?:BEGIN|END)$/i.test(head[2] ?? '')) return unreadable;
  const params: VcardParam[] = [];
  let at = head[0].length;
  while (line[at] === ';') {
    const read = parseParam(line, at + 1);
    if (read === null) return unreadable;
    params.push(read.param);
    at = read.next;
  }
  if (line[at] !== ':') return unreadable;
  return {
    group: head[1] ?? '',
    name: (head[2] ?? '').toUpperCase(),
    params,
    value: line.slice(at + 1),
    text,
  };
}

function parseParam(line: string, start: number): { param: VcardParam; next: number } | null {
  const key = /^[^=;:,"]*/.exec(line.slice(start, start + 256))?.[0] ?? '';
  let at = start + key.length;
  const name = key.trim().toUpperCase();
  if (line[at] !== '=') {
    // vCard 2.1 writes a bare `HOME` for `TYPE=HOME`.
    return { param: { name: ENCODINGS.has(name) ? 'ENCODING' : 'TYPE', values: [key.trim()] }, next: at };
  }
  const values: string[] = [];
  do {
    at += 1;
    if (line[at] === '"') {
      const close = line.indexOf('"', at + 1);
      if (close < 0) return null;
      // RFC 6350 §5.6 shows `TYPE="voice,home"`: a list inside the quotes.
      const quoted = decodeParam(line.slice(at + 1, close));
      for (const value of name === 'TYPE' ? quoted.split(',') : [quoted]) values.push(value);
      at = close + 1;
    } else {
      const value = /^[^,;:"]*/.exec(line.slice(at))?.[0] ?? '';
      values.push(decodeParam(value));
      at += value.length;
    }
  } while (line[at] === ',');
  return { param: { name, values }, next: at };
}

/** RFC 6868. */
function decodeParam(value: string): string {
  return value.replaceAll(/\^([n'^])/g, (_, mark: string) => (mark === 'n' ? '\n' : mark === "'" ? '"' : '^'));
}

function encodeParam(value: string): string {
  const encoded = value
    .replaceAll('^', '^^')
    .replaceAll(/\r\n|\r|\n/g, '^n')
    .replaceAll('"', "^'");
  return /[,;:]/.test(encoded) ? `"${encoded}"` : encoded;
}

function from21(line: VcardLine): VcardLine {
  const encoding = paramOf(line, 'ENCODING')?.toUpperCase();
  const params = line.params.filter(({ name }) => name !== 'CHARSET' && name !== 'ENCODING');
  if (encoding === 'BASE64' || encoding === 'B')
    return { ...line, params: [{ name: 'ENCODING', values: ['b'] }, ...params], text: '' };
  const decoded =
    encoding === 'QUOTED-PRINTABLE' ? decodeQuotedPrintable(line.value, paramOf(line, 'CHARSET')) : line.value;
  const escaped = decoded.replaceAll(/\\(?![;,\\nN])/g, '\\\\').replaceAll(/\r\n|\r|\n/g, '\\n');
  const value = line.name === 'CATEGORIES' ? escaped : escaped.replaceAll(/(?<!\\),/g, '\\,');
  return { ...line, params, value, text: '' };
}

/** Some programs go on writing it under later versions, which know it no more; the value is escaped as theirs is. */
function withoutQuotedPrintable(line: VcardLine): VcardLine {
  if (paramOf(line, 'ENCODING')?.toUpperCase() !== 'QUOTED-PRINTABLE') return line;
  const params = line.params.filter(({ name }) => name !== 'CHARSET' && name !== 'ENCODING');
  const decoded = decodeQuotedPrintable(line.value, paramOf(line, 'CHARSET'));
  return { ...line, params, value: decoded.replaceAll(/\r\n|\r|\n/g, '\\n'), text: '' };
}

function decodeQuotedPrintable(value: string, charset: string | undefined): string {
  const encoded = new TextEncoder().encode(value);
  const bytes: number[] = [];
  for (let at = 0; at < encoded.length; at += 1) {
    const pair = String.fromCharCode(encoded[at + 1] ?? 0, encoded[at + 2] ?? 0);
    if (encoded[at] === 0x3d && /^[0-9A-Fa-f]{2}$/.test(pair)) {
      bytes.push(Number.parseInt(pair, 16));
      at += 2;
    } else bytes.push(encoded[at] ?? 0);
  }
  return decoderOf(charset).decode(Uint8Array.from(bytes));
}

function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder('utf-8');
    throw error;
  }
}

export function paramOf(line: VcardLine, name: string): string | undefined {
  return line.params.find((param) => param.name === name)?.values[0];
}

/** The values of TYPE in lower case. */
export function typesOf(line: VcardLine): string[] {
  return line.params
    .filter(({ name }) => name === 'TYPE')
    .flatMap(({ values }) => values.map((value) => value.trim().toLowerCase()))
    .filter((type) => type !== '');
}

/** RFC 6350 §3.4: backslash, comma, semicolon and line break. */
export function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll(',', '\\,')
    .replaceAll(';', '\\;')
    .replaceAll(/\r\n|\r|\n/g, '\\n');
}

export function unescapeText(value: string): string {
  return value.replaceAll(/\\([\s\S])/g, (_, mark: string) => (mark === 'n' || mark === 'N' ? '\n' : mark));
}

/** Splits an escaped value at a separator that is not escaped; the parts stay escaped. */
export function splitValue(value: string, separator: ';' | ','): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] === '\\') at += 1;
    else if (value[at] === separator) {
      parts.push(value.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(value.slice(start));
  return parts;
}

/** A line of our own making. `value` is escaped already. */
export function lineOf(name: string, value: string, params: readonly VcardParam[] = [], group = ''): VcardLine {
  return { group, name, params, value, text: '' };
}

/** A whole card with CRLF line ends. Lines that still have their own text keep it, byte for byte. */
export function writeCardLines({ version, lines }: VcardLines): string {
  const written = lines.map((line) => (line.text === '' ? fold(spelled(line)) : line.text));
  return ['BEGIN:VCARD', `VERSION:${version}`, ...written, 'END:VCARD', ''].join('\r\n');
}

function spelled({ group, name, params, value }: VcardLine): string {
  const parameters = params.map((param) => `;${param.name}=${param.values.map(encodeParam).join(',')}`).join('');
  return `${group === '' ? '' : `${group}.`}${name}${parameters}:${value.replaceAll(CONTROLS, '')}`;
}

function fold(line: string): string {
  if (Buffer.byteLength(line) <= LINE_OCTETS) return line;
  const parts: string[] = [];
  let part = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > LINE_OCTETS) {
      parts.push(part);
      part = ' ';
      octets = 1;
    }
    part += character;
    octets += size;
  }
  parts.push(part);
  return parts.join('\r\n');
}
