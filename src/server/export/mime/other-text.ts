import { isText, type Part } from './mail-parser.ts';

/** Types that are called text but can't be read. */
const UNREADABLE = new Set(['text/rtf']);

/** Whether a part that is not the message's text can be read in its place if there is none. */
export function isReadable(part: Part): boolean {
  const isWords = part.type.startsWith('text/') || part.type === 'message/partial';
  return isWords && !isText(part) && part.disposition.value !== 'attachment' && !UNREADABLE.has(part.type);
}

/** Text of a type with markup of its own, as plain text. */
export function withoutSigns(type: string, text: string): string {
  if (type === 'text/enriched') return unenriched(text);
  return type === 'text/calendar' ? text.replaceAll(/\r?\n[ \t]/g, '') : text;
}

/** RFC 1896: one line end is a blank, several are one fewer; the parameters of a command are not to be read. */
function unenriched(text: string): string {
  return text
    .replaceAll(/(?:\r?\n)+/g, (ends) => '\n'.repeat(ends.replaceAll('\r', '').length - 1) || ' ')
    .replaceAll(/<<|<param>[^<]{0,1000}<\/param>|<\/?[a-z\d-]{1,60}>/gi, (sign) => (sign === '<<' ? '<' : ''));
}
