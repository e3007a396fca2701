import { cardsIn, marksOf } from './cards-in-text.ts';
import { ownLabelOf } from './own-labels.ts';
import { decodeQuotedPrintable, decoderOf } from './quoted-printable.ts';
import { encodeParam, parseParam, type VcardParam } from './vcard-params.ts';

/**
 * One content line of a vCard (RFC 6350 §3.3). `value` is still escaped; `text` is the line as it was written, folds
 * and all.
 */
export type VcardLine = {
  readonly group: string;
  /** Upper case. */
  readonly name: string;
  readonly params: readonly VcardParam[];
  readonly value: string;
  readonly text: string;
};
export type VcardVersion = '3.0' | '4.0';

/** The lines between BEGIN and END without VERSION, in the grammar of `version`; vCard 2.1 is put into that of 3.0. */
export type VcardLines = { readonly version: VcardVersion; readonly lines: readonly VcardLine[] };

/** Why a text is not a contact. */
export type CardFault = 'not a vCard' | 'cut off' | 'too large' | 'empty';

/** The largest card that is read, in UTF-16 code units; photos in base64 are what makes cards large. */
const CARD_LENGTH = 16 * 1024 * 1024;
/** Physical lines of a card of that length, when it is folded as usual. */
const PHYSICAL_LINES_AT_MOST = 300_000;
/** Limits on the lines of one card; no genuine card comes near them. */
const ROOM = {
  text: { lines: 2_000, length: 1024 * 1024 },
  member: { lines: 25_000, length: 2 * 1024 * 1024 },
  file: { lines: 100, length: CARD_LENGTH },
} as const;
/** All parameters of a card, and all pieces of its lists and structured values. */
const VALUES_AT_MOST = 20_000;
/** The name and the parameters of one line, in UTF-16 code units. */
const HEAD_LENGTH = 16 * 1024;
/** The longest line that is written, in octets without its CRLF (RFC 6350 §3.2). */
const LINE_OCTETS = 75;
/** Keeps a line that fits no grammar, so that it survives when the card is written again. */
const UNREADABLE = 'X-UNREADABLE';

/** Not allowed in a card (RFC 6350 §3.3); some readers would end the line or the card there. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000A-\u001F\u007F]/g;
/** The same in a text that was encoded, which may have line breaks. */
// oxlint-disable-next-line no-control-regex
const CONTROLS_BESIDE_BREAKS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;
const HEAD = /^(?:([\w-]+)\.)?([\w-]+)(?=[;:])/;

const FILES: ReadonlySet<string> = new Set(['PHOTO', 'LOGO', 'SOUND', 'KEY']);
const MEMBERS: ReadonlySet<string> = new Set(['MEMBER', 'X-ADDRESSBOOKSERVER-MEMBER', 'CARD']);
/** Properties whose value is a list or has components. */
const IN_PIECES: ReadonlySet<string> = new Set(['N', 'ADR', 'ORG', 'NICKNAME', 'CATEGORIES']);

/** Reads the first card of a text, or says what is wrong with it. */
export function readCardLines(text: string): VcardLines | CardFault {
  if (text.length > CARD_LENGTH) return 'too large';
  const [card] = cardsIn(text);
  if (card === undefined) return 'not a vCard';
  if (typeof card.end === 'string') return card.end;
  const body = text.slice(card.start, card.end);
  if (!hasFewLines(body)) return 'too large';
  const all = parseLines(unfold(linesOf(withAgentsInLine(body))));
  if (all === null) return 'too large';
  const declared = all.find((line) => line.name === 'VERSION')?.value.trim();
  const lines = all.filter((line) => line.name !== 'VERSION');
  if (declared === '4.0') return { version: '4.0', lines: lines.map(withoutEncoding) };
  return { version: '3.0', lines: declared === '3.0' ? lines.map(withoutEncoding) : withOwnLabels(lines).map(from21) };
}

/** Moves an agent's card into the value of its line, as in vCard 3.0 (RFC 2426 §3.5.4). */
function withAgentsInLine(body: string): string {
  const parts: string[] = [];
  let done = 0;
  let depth = 0;
  let opened = { at: 0, next: 0 };
  for (const mark of marksOf(body)) {
    if (mark.kind === 'agent') {
      if (depth === 0) opened = mark;
      depth += 1;
    }
    if (mark.kind !== 'end') continue;
    depth -= 1;
    if (depth > 0) continue;
    const inside = `BEGIN:VCARD\n${body.slice(opened.next, mark.at)}END:VCARD`;
    parts.push(body.slice(done, opened.at), `AGENT:${escapeText(inside)}\n`);
    done = mark.next;
  }
  return [...parts, body.slice(done)].join('');
}

function* linesOf(text: string): Iterable<string> {
  let start = 0;
  for (const { 0: lineBreak, index } of text.matchAll(/\r\n|\r|\n/g)) {
    yield text.slice(start, index);
    start = index + lineBreak.length;
  }
  if (start < text.length) yield text.slice(start);
}

type Kind = keyof typeof ROOM;
/** What the first physical line tells about a line. */
type Head = { readonly kind: Kind; readonly soft: boolean; readonly base64: boolean };

function headOf(line: string): Head {
  const head = line.slice(0, line.indexOf(':') + 1);
  const base64 = /[;=](?:BASE64|B)[;:]/i.test(head);
  return { kind: kindOf(HEAD.exec(line)?.[2] ?? '', base64), soft: /[;=]QUOTED-PRINTABLE/i.test(head), base64 };
}

function kindOf(property: string, base64: boolean): Kind {
  const name = property.toUpperCase();
  if (MEMBERS.has(name)) return 'member';
  return FILES.has(name) || (base64 && name.startsWith('X-')) ? 'file' : 'text';
}

/** Counts while splitting, and stops at the first piece over the limit. */
function hasFewLines(body: string): boolean {
  const counts = { text: 0, member: 0, file: 0 };
  let head: Head | null = null;
  let last = '';
  let physical = 0;
  for (const line of linesOf(body)) {
    physical += 1;
    if (physical > PHYSICAL_LINES_AT_MOST) return false;
    if (head !== null && continues(head, last, line)) last = line;
    else if (line.trim() !== '') {
      head = headOf(line);
      last = line;
      counts[head.kind] += 1;
      if (counts[head.kind] > ROOM[head.kind].lines) return false;
    }
  }
  return true;
}

type Unfolded = { line: string; text: string };

function* unfold(physical: Iterable<string>): Iterable<Unfolded> {
  let lines: string[] = [];
  let head: Head | null = null;
  for (const line of physical) {
    if (head !== null && continues(head, lines.at(-1) ?? '', line)) lines.push(line);
    else if (line.trim() !== '') {
      if (head !== null) yield joined(head, lines);
      head = headOf(line);
      lines = [line];
    }
  }
  if (head !== null) yield joined(head, lines);
}

function joined({ soft }: Head, lines: readonly string[]): Unfolded {
  // A program that folds what it breaks does so each time; any other's blank is part of the text.
  const softFold = lines.every((part, at) => at === 0 || /^[ \t]/.test(part)) ? /=\n[ \t]|\n[ \t]/g : /=\n|\n[ \t]/g;
  const line = soft
    ? lines.join('\n').replaceAll(softFold, '')
    : lines.map((part, at) => (at > 0 && /^[ \t]/.test(part) ? part.slice(1) : part)).join('');
  const clean = line.replaceAll(CONTROLS, '');
  // Base64 of vCard 2.1 may be broken without the blank that a fold needs.
  const isWhole = clean === line && lines.every((part, at) => at === 0 || /^[ \t]/.test(part));
  return { line: clean, text: isWhole ? lines.join('\r\n') : '' };
}

/** Folded lines begin with a blank; vCard 2.1 also breaks quoted-printable after `=`, and base64 without any mark. */
function continues(head: Head, last: string, line: string): boolean {
  if (/^[ \t]/.test(line) || (head.soft && last.endsWith('='))) return true;
  return head.base64 && /^[A-Za-z0-9+/]*={0,2}$/.test(line) && line !== '';
}

/** `null` if they exceed the limits. */
function parseLines(unfolded: Iterable<Unfolded>): VcardLine[] | null {
  const lines: VcardLine[] = [];
  const lengths = { text: 0, member: 0, file: 0 };
  let values = 0;
  for (const { line: written, text } of unfolded) {
    const line = parseLine(written, text);
    if (line === null) return null;
    const kind = kindOf(line.name, isBase64(line));
    // Anything that is not a file counts as text, whatever its name.
    const counted = kind === 'file' && !isBase64(line) ? 'text' : kind;
    lengths[counted] += written.length;
    if (lengths[counted] > ROOM[counted].length) return null;
    values += valuesIn(line);
    if (values > VALUES_AT_MOST) return null;
    lines.push(line);
  }
  return lines;
}

function isBase64(line: VcardLine): boolean {
  return isInBase64(line) || /^data:[^,]*;base64\\?,/i.test(line.value.slice(0, 256));
}

function valuesIn({ name, params, value }: VcardLine): number {
  let count = 0;
  for (const { values } of params) count += values.length;
  if (!IN_PIECES.has(name)) return count;
  for (const character of value) if (character === ',' || character === ';') count += 1;
  return count;
}

/** `null` when its name and parameters are too long. */
function parseLine(line: string, text: string): VcardLine | null {
  const start = line.slice(0, HEAD_LENGTH);
  const head = HEAD.exec(start);
  // BEGIN and END that appear only once folds or control characters are removed would cut the rewritten card in two.
  if (head === null || /^(?:BEGIN|END)$/i.test(head[2] ?? '')) return unreadable(line);
  const params: VcardParam[] = [];
  let at = head[0].length;
  while (start[at] === ';') {
    const read = parseParam(start, at + 1);
    if (read === null) break;
    params.push(read.param);
    at = read.next;
  }
  if (start[at] !== ':') return start.length < line.length ? null : unreadable(line);
  return {
    group: head[1] ?? '',
    name: (head[2] ?? '').toUpperCase(),
    params,
    value: line.slice(at + 1),
    text,
  };
}

function unreadable(line: string): VcardLine {
  return lineOf(UNREADABLE, escapeText(line));
}

const LABELLED: ReadonlySet<string> = new Set(['TEL', 'EMAIL', 'ADR', 'URL']);

/** Labels that phones put among the types have lines of their own, as Apple's. */
function withOwnLabels(lines: readonly VcardLine[]): VcardLine[] {
  return lines.flatMap((line, at) => {
    const own = LABELLED.has(line.name) && line.group === '' ? ownLabelOf(line.params) : null;
    if (own === null) return [line];
    const group = `label${at}`;
    const label = own.label.replaceAll(CONTROLS, '');
    return [{ ...line, group, params: own.others, text: '' }, lineOf('X-ABLABEL', label, [], group)];
  });
}

function from21(line: VcardLine): VcardLine {
  const params = line.params.filter(({ name }) => name !== 'CHARSET' && name !== 'ENCODING');
  const decoded = decodedText(line);
  if (decoded === null && isInBase64(line))
    return { ...line, params: [{ name: 'ENCODING', values: ['b'] }, ...params], text: '' };
  const comma = line.name === 'CATEGORIES' ? ',' : '\\,';
  // What is escaped already stays as it is.
  const value = (decoded ?? line.value)
    .replaceAll(/\\[;,\\nN]|[\\,]/g, (sign) => (sign === ',' ? comma : sign === '\\' ? '\\\\' : sign))
    .replaceAll(/\r\n|\r|\n/g, '\\n');
  return { ...line, params, value, text: '' };
}

/** Some programs still encode texts in later versions, which have dropped it; the value is escaped as in those. */
function withoutEncoding(line: VcardLine): VcardLine {
  const decoded = decodedText(line);
  if (decoded === null) return line;
  const params = line.params.filter(({ name }) => name !== 'CHARSET' && name !== 'ENCODING');
  return { ...line, params, value: decoded.replaceAll(/\r\n|\r|\n/g, '\\n'), text: '' };
}

function isInBase64(line: VcardLine): boolean {
  return ['B', 'BASE64'].includes(paramOf(line, 'ENCODING')?.toUpperCase() ?? '');
}

/** `null` if the line is not encoded, or holds no text. */
function decodedText(line: VcardLine): string | null {
  return decodedWhole(line)?.replaceAll(CONTROLS_BESIDE_BREAKS, '') ?? null;
}

function decodedWhole(line: VcardLine): string | null {
  const charset = paramOf(line, 'CHARSET');
  if (paramOf(line, 'ENCODING')?.toUpperCase() === 'QUOTED-PRINTABLE')
    return decodeQuotedPrintable(line.value, charset);
  if (!isInBase64(line) || kindOf(line.name, true) === 'file') return null;
  const text = decoderOf(charset).decode(Buffer.from(line.value, 'base64'));
  return text.includes('\uFFFD') ? null : text;
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
  const parts: string[] = [];
  let start = 0;
  for (let at = value.indexOf('\\'); at >= 0 && at + 1 < value.length; at = value.indexOf('\\', at + 2)) {
    parts.push(value.slice(start, at));
    const isBreak = value[at + 1] === 'n' || value[at + 1] === 'N';
    if (isBreak) parts.push('\n');
    start = isBreak ? at + 2 : at + 1;
  }
  return parts.length === 0 ? value : parts.concat(value.slice(start)).join('');
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

/** A new line. `value` is already escaped. */
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
  const parts: string[] = [];
  let start = 0;
  let octets = 0;
  let at = 0;
  while (at < line.length) {
    const code = line.codePointAt(at) ?? 0;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
    if (octets + size > LINE_OCTETS) {
      parts.push(line.slice(start, at));
      start = at;
      // The space that begins the next line.
      octets = 1;
    }
    octets += size;
    at += code < 0x1_0000 ? 1 : 2;
  }
  parts.push(line.slice(start));
  return parts.join('\r\n ');
}
