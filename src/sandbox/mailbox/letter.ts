import { crc32, deflateSync } from 'node:zlib';

export type Person = { readonly name: string; readonly email: string };
export type Attachment = { readonly name: string; readonly type: string; readonly bytes: Buffer };

/** `time` is in ms since 1970, `zone` in minutes east of UTC; `id` goes into the boundaries and the Message-ID. */
export type Letter = {
  readonly id: string;
  readonly from: Person;
  readonly to: readonly Person[];
  readonly subject: string;
  readonly time: number;
  readonly zone?: number;
  readonly text: string;
  readonly html?: string;
  readonly attachments?: readonly Attachment[];
  readonly headers?: readonly string[];
};

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (number: number) => String(number).padStart(2, '0');

/** A `date-time` as in RFC 5322 §3.3. */
export function dateHeader(time: number, zone = 0): string {
  const date = new Date(time + zone * 60_000);
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  const offset = `${zone < 0 ? '-' : '+'}${two(Math.floor(Math.abs(zone) / 60))}${two(Math.abs(zone) % 60)}`;
  return `${DAYS[date.getUTCDay()]}, ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} ${clock} ${offset}`;
}

/** A header's text, as encoded words (RFC 2047) where it is not ASCII. */
function headerText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const words: string[] = [];
  let word = '';
  for (const char of text) {
    if (Buffer.byteLength(word + char) > 42) {
      words.push(word);
      word = '';
    }
    word += char;
  }
  return [...words, word].map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`).join('\r\n ');
}

export function person({ name, email }: Person): string {
  const shown = /^[\x20-\x7e]*$/.test(name) ? `"${name}"` : headerText(name);
  return `${shown} <${email}>`;
}

/** The octets of a letter; the same at every start. */
export function writeLetter(letter: Letter): Buffer {
  const { id, from, to, subject, time, zone, text, html, attachments = [], headers = [] } = letter;
  const head = [
    `Return-Path: <${from.email}>`,
    `Date: ${dateHeader(time, zone)}`,
    `From: ${person(from)}`,
    `To: ${to.map(person).join(',\r\n ')}`,
    `Subject: ${headerText(subject)}`,
    `Message-ID: <${id}@${from.email.split('@')[1]}>`,
    ...headers,
    'MIME-Version: 1.0',
  ];
  const plain = quotedPrintable('text/plain', text);
  const body =
    html === undefined ? plain : multipart('alternative', `alt-${id}`, [plain, quotedPrintable('text/html', html)]);
  const files = attachments.map(({ name, type, bytes }) =>
    Buffer.from(
      `Content-Type: ${type}; name="${headerText(name)}"\r\nContent-Transfer-Encoding: base64\r\n` +
        `Content-Disposition: attachment; filename="${headerText(name)}"\r\n\r\n${lines(bytes.toString('base64'))}`,
    ),
  );
  const whole = files.length === 0 ? body : multipart('mixed', `mix-${id}`, [body, ...files]);
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n`), whole]);
}

function multipart(kind: string, boundary: string, parts: readonly Buffer[]): Buffer {
  const edge = `\r\n--${boundary}`;
  return Buffer.concat([
    Buffer.from(`Content-Type: multipart/${kind}; boundary="${boundary}"\r\n`),
    ...parts.flatMap((part) => [Buffer.from(`${edge}\r\n`), part]),
    Buffer.from(`${edge}--\r\n`),
  ]);
}

function quotedPrintable(type: string, text: string): Buffer {
  const encoded = text.split('\n').map((line) => {
    const bytes = Buffer.from(line).toString('latin1');
    const safe = bytes.replace(/[^\x20-\x3c\x3e-\x7e]|[ \t]$/g, (char) => {
      return `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    });
    return safe.replace(/(.{70}(?:=..|[^=]){0,2})(?=.)/g, '$1=\r\n');
  });
  const head = `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`;
  return Buffer.from(`${head}${encoded.join('\r\n')}\r\n`, 'latin1');
}

function lines(base64: string): string {
  return base64.replace(/.{76}(?=.)/g, '$&\r\n');
}

/** A small picture: a gradient from one RGB color to another. It is not compressed, so its octets never change. */
export function picture(width: number, height: number, from: readonly number[], to: readonly number[]): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      for (let channel = 0; channel < 3; channel += 1) {
        const slope = (x + y) / (width + height);
        const value = (from[channel] ?? 0) * (1 - slope) + (to[channel] ?? 0) * slope;
        rows[y * (1 + width * 3) + 1 + x * 3 + channel] = Math.round(value);
      }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** A one-page document with one line of text. */
export function document(title: string): Buffer {
  const text = `BT /F1 18 Tf 72 720 Td (${title.replace(/[^\x20-\x7e]|[()\\]/g, '?')}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return String(place).padStart(10, '0');
  });
  const table = `xref\n0 6\n0000000000 65535 f \n${places.map((place) => `${place} 00000 n \n`).join('')}`;
  return Buffer.from(`${file}${table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`, 'latin1');
}
