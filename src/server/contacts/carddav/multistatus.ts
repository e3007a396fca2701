import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import type { DAVResponse } from 'tsdav';
import { decodeUnlabelled } from '../vcard/quoted-printable.ts';

/** How much of a list of cards is parsed synchronously, in UTF-16 code units. */
const LISTED_AT_ONCE = 256 * 1024;
/** How many octets of lines, not all of which are UTF-8, are decoded synchronously; a longer line is decoded in pieces. */
const [LINES_AT_ONCE, LINE_AT_ONCE] = [4 * 1024, 64 * 1024];
/** How many octets are looked through for folds synchronously. */
const UNFOLDED_AT_ONCE = 128 * 1024;

/**
 * Without the folds inside a character, which some programs make, and which is no character until they are gone; and with
 * the lines of a program that wrote the charset of Windows in UTF-8. Yields to the event loop: anybody's card may have
 * millions of such lines, or one of as many octets.
 */
export async function inUtf8(body: Buffer): Promise<Buffer> {
  if (isUtf8(body)) return body;
  const unfolded = await withoutFoldsInCharacters(body);
  const parts: Buffer[] = [];
  for (let from = 0; from < unfolded.length;) {
    const end = unfolded.indexOf('\n', from + LINES_AT_ONCE) + 1 || unfolded.length;
    const to = end - from > LINE_AT_ONCE ? characterStart(unfolded, from + LINE_AT_ONCE) : end;
    const lines = unfolded.subarray(from, to);
    parts.push(isUtf8(lines) ? lines : Buffer.from(linesInUtf8(lines)));
    from = to;
    await turn();
  }
  return Buffer.concat(parts);
}

async function withoutFoldsInCharacters(body: Buffer): Promise<Buffer> {
  const unfolded = Buffer.allocUnsafe(body.length);
  let [length, turnAt] = [0, 0];
  for (let at = 0; at < body.length; at += 1) {
    // A fold may lie across that place.
    if (at >= turnAt) {
      await turn();
      turnAt = at + UNFOLDED_AT_ONCE;
    }
    const isFold = body[at] === 0x0a && (body[at + 1] === 0x20 || body[at + 1] === 0x09) && isWithin(body, at + 2);
    if (isFold) {
      length -=
        /(?:\r|&#13;|&#xD;)?$/i.exec(unfolded.toString('latin1', Math.max(0, length - 5), length))?.[0].length ?? 0;
      at += 1;
    } else {
      unfolded[length] = body[at] ?? 0;
      length += 1;
    }
  }
  return unfolded.subarray(0, length);
}

/** Whether a character, in UTF-8, has begun before. */
function isWithin(octets: Buffer, at: number): boolean {
  return ((octets[at] ?? 0) & 0xc0) === 0x80;
}

/** The last start of a character that is not behind this place, if what is there is UTF-8. */
function characterStart(octets: Buffer, at: number): number {
  return [at, at - 1, at - 2, at - 3].find((start) => !isWithin(octets, start)) ?? at;
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
