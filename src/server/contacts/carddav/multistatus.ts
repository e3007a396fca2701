import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import type { DAVResponse } from 'tsdav';
import { decodeUnlabelled } from '../vcard/quoted-printable.ts';

/** How much of a list of cards is parsed synchronously, in UTF-16 code units. */
const LISTED_AT_ONCE = 256 * 1024;
/** How many octets of lines, not all of which are UTF-8, are decoded synchronously. */
const LINES_AT_ONCE = 4 * 1024;

/**
 * Without the folds inside a character, which some programs make, and which is no character until they are gone; and with
 * the lines of a program that wrote the charset of Windows in UTF-8. Yields to the event loop: anybody's card may have
 * millions of such lines.
 */
export async function inUtf8(body: Buffer): Promise<Buffer> {
  if (isUtf8(body)) return body;
  const text = body.toString('latin1').replaceAll(/(?:\r|&#13;|&#xD;)?\n[ \t](?=[\u0080-\u00BF])/gi, '');
  const unfolded = Buffer.from(text, 'latin1');
  const parts: Buffer[] = [];
  for (let from = 0; from < unfolded.length;) {
    const end = unfolded.indexOf('\n', from + LINES_AT_ONCE) + 1 || unfolded.length;
    const lines = unfolded.subarray(from, end);
    parts.push(isUtf8(lines) ? lines : Buffer.from(linesInUtf8(lines)));
    from = end;
    await turn();
  }
  return Buffer.concat(parts);
}

function linesInUtf8(lines: Buffer): string {
  let text = '';
  for (let from = 0; from < lines.length;) {
    const end = lines.indexOf('\n', from) + 1 || lines.length;
    const line = lines.subarray(from, end);
    // Whatever its neighbours are, one that is UTF-8 stays as it is, with a mark of the byte order.
    text += isUtf8(line) ? line.toString() : decodeUnlabelled(line);
    from = end;
  }
  return text;
}

/** tsdav reports an unreadable or foreign document as an empty one. */
export function isUnreadable({ status, props, raw }: DAVResponse): boolean {
  if (status !== 207 || props !== undefined) return false;
  const document: unknown = raw;
  return typeof document !== 'object' || document === null || !('multistatus' in document);
}

/** Splits a multistatus (RFC 4918 §13) into equivalent documents of a few responses each. */
export function* partsOf(text: string): Iterable<string> {
  const first = text.search(/<(?:[\w.-]+:)?response[\s>]/);
  const head = text.slice(0, Math.max(0, first));
  const root = /<((?:[\w.-]+:)?multistatus)[\s>]/.exec(head)?.[1];
  const ends = /<\/(?:[\w.-]+:)?response\s*>/g;
  let from = head.length;
  for (;;) {
    ends.lastIndex = from + LISTED_AT_ONCE;
    if (root === undefined || ends.exec(text) === null) break;
    yield `${head}${text.slice(from, ends.lastIndex)}</${root}>`;
    from = ends.lastIndex;
  }
  yield `${head}${text.slice(from)}`;
}
