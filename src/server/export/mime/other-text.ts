import { isText, type Part } from './mail-parser.ts';

/** Signs that are no words, though they are called text. */
const UNREADABLE = new Set(['text/rtf']);

/** Whether a part, though no text by itself or a file, can be read where a message has no other text. */
export function isReadable(part: Part): boolean {
  const isWords = part.type.startsWith('text/') || part.type === 'message/partial';
  return isWords && !isText(part) && part.disposition.value !== 'attachment' && !UNREADABLE.has(part.type);
}

/** Text of a type that has signs of its own, as plain text. */
export function withoutSigns(type: string, text: string): string {
  if (type === 'text/enriched') return unenriched(text);
  return type === 'text/calendar' ? text.replaceAll(/\r?\n[ \t]/g, '') : text;
}

/** RFC 1896: one line end is a blank, more are one less; a command's parameters are not to be read. */
function unenriched(text: string): string {
  return text
    .replaceAll(/(?:\r?\n)+/g, (ends) => '\n'.repeat(ends.replaceAll('\r', '').length - 1) || ' ')
    .replaceAll(/<<|<param>[^<]{0,1000}<\/param>|<\/?[a-z\d-]{1,60}>/gi, (sign) => (sign === '<<' ? '<' : ''));
}
