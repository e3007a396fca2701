import { isAscii, isUtf8 } from 'node:buffer';
import { decoderOf } from './header-fields.ts';
import type { Sink } from './transfer-decoders.ts';

/** How much of a body is used to determine its charset. */
const SNIFFED = 64 * 1024;

/** Decodes octets by their charset, whatever they are: what fits no charset is read as windows-1252, and reported at the end. */
export function textDecoder(charset: string, output: (text: string) => void): Sink {
  let sniffed: Uint8Array[] | undefined = [];
  let length = 0;
  let isClean = true;
  let decoder: TextDecoder | undefined;
  const declared = charset.trim().toLowerCase();
  const begin = (isWhole: boolean) => {
    const start = Buffer.concat(sniffed ?? []);
    sniffed = undefined;
    const isUnlabelled = declared === '' || declared === 'us-ascii' || declared === 'ascii';
    const known = isUnlabelled ? undefined : decoderOf(declared);
    if (!isUnlabelled && known === undefined) isClean = false;
    const head = withoutCut(start);
    // A last octet that is the only one of its kind is a letter, and not the beginning of one.
    const isLetter = isWhole && isUnlabelled && isAscii(head);
    const isUnicode = isUtf8(start) || (isUtf8(head) && !isLetter);
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

/** Without an incomplete last character. */
function withoutCut(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const octet = bytes[bytes.length - back] ?? 0;
    if (octet < 0x80) break;
    if (octet >= 0xc0) return bytes.subarray(0, bytes.length - back);
  }
  return bytes;
}
