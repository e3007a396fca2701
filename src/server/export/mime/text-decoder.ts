import { isAscii, isUtf8 } from 'node:buffer';
import { decoderOf, isJapanese, isUnlabelled, type CharsetDecoder } from './charsets.ts';
import type { Part } from './mail-parser.ts';
import type { Sink } from './transfer-decoders.ts';

/** How much of a body is used to determine its charset. */
const SNIFFED = 64 * 1024;
/** How much of HTML is searched for a charset. */
const META = 2 * 1024;

/**
 * Decodes any text, by the charset that its header states, else by the one that the text states itself. What does not
 * fit is read as windows-1252, and reported at the end.
 */
export function textDecoder({ type, content }: Pick<Part, 'type' | 'content'>, output: (text: string) => void): Sink {
  let sniffed: Uint8Array[] | undefined = [];
  let length = 0;
  let isClean = true;
  let decoder: CharsetDecoder | undefined;
  const declared = content.parameters.get('charset') ?? '';
  const begin = (isWhole: boolean) => {
    const start = Buffer.concat(sniffed ?? []);
    sniffed = undefined;
    const isUnsaid = isUnlabelled(declared);
    const stated = isUnsaid ? undefined : statedDecoder(declared, start);
    if (!isUnsaid && stated === undefined) isClean = false;
    const head = withoutCut(start);
    // If only the last octet is not ASCII, it is a whole character and not the beginning of one.
    const isLetter = isWhole && isUnsaid && isAscii(head);
    const isUnicode = isUtf8(start) || (isUtf8(head) && !isLetter);
    const known = stated ?? (isUnicode && !isAscii(start) ? undefined : decoderWithin(start, type));
    decoder = known ?? new TextDecoder(isUnicode ? 'utf-8' : 'windows-1252');
    if (known?.encoding === 'utf-8' && !isUnicode) {
      isClean = false;
      decoder = new TextDecoder('windows-1252');
    }
    output(decoder.decode(start, { stream: true }));
  };
  return {
    write: (bytes) => {
      if (sniffed === undefined) return output(decoder?.decode(bytes, { stream: true }) ?? '');
      sniffed.push(Buffer.from(bytes));
      length += bytes.length;
      if (length >= SNIFFED) begin(false);
    },
    end: () => {
      if (sniffed !== undefined) begin(true);
      output(decoder?.decode() ?? '');
      return isClean;
    },
  };
}

/** UTF-16 begins with its more significant octet if the mark before it, or most of its letters, do (RFC 2781 §4.3). */
function statedDecoder(declared: string, start: Buffer): CharsetDecoder | undefined {
  const stated = decoderOf(declared);
  if (stated?.encoding !== 'utf-16le') return stated;
  const isMarked = start[0] === 0xfe && start[1] === 0xff;
  const isUnsaid = !declared.toLowerCase().includes('le');
  return isMarked || (isUnsaid && zerosAt(0, start) > zerosAt(1, start)) ? decoderOf('utf-16be') : stated;
}

/** In UTF-16, the more significant octet of Latin letters, blanks and line ends is 0. */
function zerosAt(place: 0 | 1, octets: Buffer): number {
  let zeros = 0;
  for (let at = place; at < octets.length; at += 2) if (octets[at] === 0) zeros += 1;
  return zeros;
}

/**
 * The decoder for the charset that a text states itself. What can be read as ASCII is not UTF-16, whatever it states.
 */
function decoderWithin(start: Buffer, type: string): CharsetDecoder | undefined {
  if (isJapanese(start)) return decoderOf('iso-2022-jp');
  if (type !== 'text/html') return undefined;
  const meta = /<meta\s[^<>]{0,300}?charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(start.toString('latin1', 0, META));
  if (meta?.[1] === undefined) return undefined;
  const found = decoderOf(meta[1]);
  return found?.encoding.startsWith('utf-16') ? undefined : found;
}

/** Without an incomplete last character. */
function withoutCut(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const octet = bytes[bytes.length - back] ?? 0;
    if (octet < 0x80) break;
    if (octet >= 0xc0) return bytes.subarray(0, bytes.length - back);
  }
  return bytes;
}
