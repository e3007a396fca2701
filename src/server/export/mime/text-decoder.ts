import { isAscii, isUtf8 } from 'node:buffer';
import { decoderOf } from './header-fields.ts';
import type { Part } from './mail-parser.ts';
import type { Sink } from './transfer-decoders.ts';

/** How much of a body is used to determine its charset. */
const SNIFFED = 64 * 1024;
/** How much of HTML may stand before what it says of its charset. */
const META = 2 * 1024;

/**
 * Decodes a text by the charset that its header states, else by the one that it states itself, whatever it is: what fits no
 * charset is read as windows-1252, and reported at the end.
 */
export function textDecoder({ type, content }: Pick<Part, 'type' | 'content'>, output: (text: string) => void): Sink {
  let sniffed: Uint8Array[] | undefined = [];
  let length = 0;
  let isClean = true;
  let decoder: TextDecoder | undefined;
  const declared = content.parameters.get('charset')?.trim().toLowerCase() ?? '';
  const begin = (isWhole: boolean) => {
    const start = Buffer.concat(sniffed ?? []);
    sniffed = undefined;
    const isUnlabelled = declared === '' || declared === 'us-ascii' || declared === 'ascii';
    const stated = isUnlabelled ? undefined : decoderOf(declared);
    if (!isUnlabelled && stated === undefined) isClean = false;
    const head = withoutCut(start);
    // A last octet that is the only one of its kind is a letter, and not the beginning of one.
    const isLetter = isWhole && isUnlabelled && isAscii(head);
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

/** By the charset that a text shows by its own words; what can be read in ASCII is not in UTF-16, whatever it says. */
function decoderWithin(start: Buffer, type: string): TextDecoder | undefined {
  if (start.includes('\u001b$B') || start.includes('\u001b$@')) return decoderOf('iso-2022-jp');
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
