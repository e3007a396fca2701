import { decodeWords } from 'postal-mime';

/** The header block can be huge in a damaged message; no more of it is looked at, in octets. */
export const HEADERS_LOOKED_AT = 64 * 1024;
const SUBJECT_SHOWN = 200;

/** The subject as a person reads it (RFC 2047), to name a message that could not be moved. */
export function subjectOf(bytes: Buffer): string | undefined {
  const raw = headerOf(bytes, 'subject');
  if (raw === undefined) return undefined;
  const text = decodeWords(raw);
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, SUBJECT_SHOWN);
}

/** The Message-ID without its angle brackets (RFC 5322 §3.6.4). */
export function messageIdOf(bytes: Buffer): string | undefined {
  return /<([^<>]+)>/.exec(headerOf(bytes, 'message-id') ?? '')?.[1]?.trim();
}

/** The date that the sender wrote, for messages whose server gives no internal date. */
export function sentDateOf(bytes: Buffer): Date | undefined {
  const date = new Date(headerOf(bytes, 'date') ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const FIELDS = {
  subject: /^subject:(.*(?:\r?\n[ \t].*)*)/im,
  'message-id': /^message-id:(.*(?:\r?\n[ \t].*)*)/im,
  date: /^date:(.*(?:\r?\n[ \t].*)*)/im,
};

function headerOf(bytes: Buffer, name: keyof typeof FIELDS): string | undefined {
  const text = bytes.subarray(0, HEADERS_LOOKED_AT).toString('utf8');
  const headers = text.split(/\r?\n\r?\n/, 1)[0] ?? '';
  const match = FIELDS[name].exec(headers);
  return match?.[1]?.replaceAll(/\r?\n[ \t]+/g, ' ').trim();
}
