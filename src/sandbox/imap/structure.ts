import { type Header, type Part, headerOf, readParameters } from '../mime.ts';

/** An IMAP string: quoted if possible, otherwise a literal. */
function string(text: string | undefined): string {
  if (text === undefined) return 'NIL';
  if (/^[\x20-\x7e]{0,900}$/.test(text)) return `"${text.replace(/[\\"]/g, '\\$&')}"`;
  const bytes = Buffer.from(text);
  return `{${bytes.length}}\r\n${bytes.toString('latin1')}`;
}

/** ENVELOPE (RFC 3501 §7.4.2); each character of the result is one octet (Latin-1). */
export function envelope(headers: readonly Header[]): string {
  const from = headerOf(headers, 'from');
  const people = ['from', 'sender', 'reply-to'].map((name) => addresses(headerOf(headers, name) ?? from));
  const others = ['to', 'cc', 'bcc'].map((name) => addresses(headerOf(headers, name)));
  const texts = ['in-reply-to', 'message-id'].map((name) => string(headerOf(headers, name)));
  const first = ['date', 'subject'].map((name) => string(headerOf(headers, name)));
  return `(${[...first, ...people, ...others, ...texts].join(' ')})`;
}

function addresses(value: string | undefined): string {
  const found = (value ?? '')
    .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .map((text) => /^\s*(?:"?(.*?)"?\s*)?<([^<>]*)>\s*$/.exec(text) ?? [text, undefined, text.trim()])
    .filter(([, , address]) => address !== undefined && address !== '')
    .map(([, name, address = '']) => {
      const at = address.lastIndexOf('@');
      const host = at < 0 ? undefined : address.slice(at + 1);
      return `(${string(name === '' ? undefined : name)} NIL ${string(at < 0 ? address : address.slice(0, at))} ${string(host)})`;
    });
  return found.length === 0 ? 'NIL' : `(${found.join('')})`;
}

/** BODY or, if `extended`, BODYSTRUCTURE (RFC 3501 §7.4.2). */
export function bodyStructure(bytes: Buffer, part: Part, extended: boolean): string {
  const [type = 'text', subtype = 'plain'] = part.type.split('/');
  const tail = extended ? ` ${disposition(part)} NIL NIL` : '';
  if (type === 'multipart' && part.parts.length > 0) {
    const children = part.parts.map((child) => bodyStructure(bytes, child, extended)).join('');
    return `(${children} ${string(subtype)}${extended ? ` ${parameters(part.parameters)}${tail}` : ''})`;
  }
  const size = part.end - part.bodyStart;
  const fields = [
    string(type),
    string(subtype),
    parameters(part.parameters),
    string(headerOf(part.headers, 'content-id')),
    string(headerOf(part.headers, 'content-description')),
    string(part.encoding),
    size,
  ];
  const [inner] = part.parts;
  if (part.type === 'message/rfc822' && inner !== undefined)
    fields.push(envelope(inner.headers), bodyStructure(bytes, inner, extended), lines(bytes, part));
  else if (type === 'text') fields.push(lines(bytes, part));
  return `(${fields.join(' ')}${extended ? ' NIL' : ''}${tail})`;
}

function parameters(map: ReadonlyMap<string, string>): string {
  return map.size === 0 ? 'NIL' : `(${[...map].map(([name, value]) => `${string(name)} ${string(value)}`).join(' ')})`;
}

function disposition({ headers }: Part): string {
  const header = headerOf(headers, 'content-disposition');
  if (header === undefined) return 'NIL';
  const read = readParameters(header);
  return `(${string(read.value)} ${parameters(read.parameters)})`;
}

function lines(bytes: Buffer, { bodyStart, end }: Part): number {
  let count = 0;
  for (let at = bytes.indexOf(10, bodyStart); at >= 0 && at < end; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

/** The part that a section such as `1.2` names, or `undefined`. */
export function partAt(message: Part, path: readonly number[]): Part | undefined {
  let part = message;
  for (const number of path) {
    const container = part.type === 'message/rfc822' && part !== message ? part.parts[0] : part;
    if (container === undefined) return undefined;
    const child =
      container.parts.length === 0 || !container.type.startsWith('multipart/')
        ? undefined
        : container.parts[number - 1];
    if (child === undefined && number === 1 && !container.type.startsWith('multipart/')) part = container;
    else if (child === undefined) return undefined;
    else part = child;
  }
  return part;
}
