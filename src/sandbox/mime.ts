/** A part of a message (RFC 2045, 2046). `start`, `bodyStart` and `end` are octets from the start of the message. */
export type Part = {
  readonly headers: readonly Header[];
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly encoding: string;
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
  readonly parts: readonly Part[];
};

/** `value` is unfolded, and decoded as UTF-8 if it is valid UTF-8, otherwise as windows-1252. */
export type Header = { readonly name: string; readonly value: string };

const DEEPEST_PART = 12;
const MOST_PARTS = 500;

export function readMessage(bytes: Buffer): Part {
  return readPart(bytes, 0, bytes.length, 0, 'text/plain');
}

/** The length in octets of the header at `start`, including the blank line that ends it. */
export function headerLength(bytes: Buffer, start = 0, end = bytes.length): number {
  for (let at = start; at < end;) {
    const newline = bytes.indexOf(10, at);
    if (newline < 0 || newline >= end) return end - start;
    if (newline === at || (newline === at + 1 && bytes[at] === 13)) return newline + 1 - start;
    at = newline + 1;
  }
  return end - start;
}

export function readHeaders(bytes: Buffer): Header[] {
  const headers: Header[] = [];
  for (const line of rawHeaders(bytes)) {
    const colon = line.indexOf(58);
    if (colon <= 0) continue;
    const value = textIn('utf-8', line.subarray(colon + 1))
      .replace(/\r?\n/g, '')
      .trim();
    headers.push({ name: line.toString('latin1', 0, colon).trim(), value });
  }
  return headers;
}

/** Every header field with its continuation lines and line breaks, exactly as in the message. */
export function rawHeaders(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length;) {
    const newline = bytes.indexOf(10, at);
    const next = newline < 0 ? bytes.length : newline + 1;
    const folded = bytes[next] === 32 || bytes[next] === 9;
    if (!folded || next === bytes.length) {
      lines.push(bytes.subarray(start, next));
      start = next;
    }
    at = next;
  }
  return lines;
}

export function headerOf(headers: readonly Header[], name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name.toLowerCase())?.value;
}

function readPart(bytes: Buffer, start: number, end: number, depth: number, otherwise: string): Part {
  const bodyStart = start + headerLength(bytes, start, end);
  const headers = readHeaders(bytes.subarray(start, bodyStart));
  const { value, parameters } = readParameters(headerOf(headers, 'content-type') ?? otherwise);
  const type = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(value) ? value.toLowerCase() : 'text/plain';
  const encoding = (headerOf(headers, 'content-transfer-encoding') ?? '7bit').trim().toLowerCase();
  const boundary = parameters.get('boundary');
  const part = { headers, type, parameters, encoding, start, bodyStart, end };
  if (depth >= DEEPEST_PART) return { ...part, parts: [] };
  if (type === 'message/rfc822') return { ...part, parts: [readPart(bytes, bodyStart, end, depth + 1, 'text/plain')] };
  if (!type.startsWith('multipart/') || boundary === undefined) return { ...part, parts: [] };
  const inner = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  const parts = split(bytes, bodyStart, end, boundary).map(([from, to]) => readPart(bytes, from, to, depth + 1, inner));
  return { ...part, parts };
}

function split(bytes: Buffer, start: number, end: number, boundary: string): [number, number][] {
  const mark = Buffer.from(`--${boundary}`);
  const found: [number, number][] = [];
  let open = -1;
  for (let at = bytes.indexOf(mark, start); at >= 0 && at < end; at = bytes.indexOf(mark, at + 1)) {
    if (at !== start && bytes[at - 1] !== 10) continue;
    const after = at + mark.length;
    if (open >= 0) found.push([open, Math.max(open, at - (bytes[at - 2] === 13 ? 2 : 1))]);
    if (bytes.toString('latin1', after, after + 2) === '--' || found.length >= MOST_PARTS) return found;
    const newline = bytes.indexOf(10, after);
    open = newline < 0 ? end : Math.min(newline + 1, end);
  }
  if (open >= 0) found.push([open, end]);
  return found;
}

/** Parses values like `text/plain; charset="utf-8"`; parameter names are lowercased, RFC 2231 continuations joined. */
export function readParameters(text: string): { value: string; parameters: ReadonlyMap<string, string> } {
  const parameters = new Map<string, string>();
  for (const match of text.matchAll(/;\s*([^\s=;]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g)) {
    const raw = match[2] ?? '';
    const value = raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw.trim();
    const [, name = '', extended] = /^([^*]+)(?:\*\d+)?(\*?)$/.exec((match[1] ?? '').toLowerCase()) ?? [];
    parameters.set(name, (parameters.get(name) ?? '') + (extended === '*' ? unescape2231(value) : value));
  }
  return { value: (text.split(';')[0] ?? '').trim(), parameters };
}

function unescape2231(value: string): string {
  const [, charset = 'utf-8', rest = value] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? [];
  const bytes = Buffer.from(
    rest.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return textIn(charset, bytes);
}

/** Decodes octets in this charset; as windows-1252 if the charset is unknown or the octets are invalid in it. */
function textIn(charset: string, bytes: Buffer): string {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function decodedBody(bytes: Buffer, part: Part): Buffer {
  const body = bytes.subarray(part.bodyStart, part.end);
  if (part.encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
  if (part.encoding === 'quoted-printable') return fromQuotedPrintable(body.toString('latin1'));
  return body;
}

function fromQuotedPrintable(text: string): Buffer {
  const joined = text.replace(/=[ \t]*\r?\n/g, '');
  return Buffer.from(
    joined.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** A header's value with its encoded words (RFC 2047) decoded. */
export function decodedHeader(value: string): string {
  return value
    .replace(/(=\?[^?]+\?[bq]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
    .replace(/=\?([^?*]+)(?:\*[^?]*)?\?([bq])\?([^?]*)\?=/gi, (_, charset: string, encoding: string, text: string) => {
      const bytes =
        encoding.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : fromQuotedPrintable(text.replaceAll('_', ' '));
      return textIn(charset, bytes);
    });
}

/** All leaf parts, in order, without the multipart containers. */
export function leaves(part: Part): readonly Part[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leaves);
}

/** The text that a person would read: the first part of this type that is not an attachment. */
export function bodyText(bytes: Buffer, message: Part, type: 'text/plain' | 'text/html'): string | undefined {
  const part = leaves(message).find(
    (leaf) => leaf.type === type && !/^attachment/i.test(headerOf(leaf.headers, 'content-disposition') ?? ''),
  );
  return part === undefined ? undefined : textIn(part.parameters.get('charset') ?? 'utf-8', decodedBody(bytes, part));
}
