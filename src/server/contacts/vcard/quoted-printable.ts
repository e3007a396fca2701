import { isUtf8 } from 'node:buffer';

/** Text in quoted-printable. UTF-8 if the character set is unknown, or else that of Windows, whose programs said none. */
export function decodeQuotedPrintable(value: string, charset: string | undefined): string {
  const encoded = Buffer.from(value);
  let length = 0;
  for (let at = 0; at < encoded.length; at += 1, length += 1) {
    const pair = encoded[at] === 0x3d ? encoded.toString('latin1', at + 1, at + 3) : '';
    const isPair = /^[0-9A-Fa-f]{2}$/.test(pair);
    encoded[length] = isPair ? Number.parseInt(pair, 16) : (encoded[at] ?? 0);
    if (isPair) at += 2;
  }
  const octets = encoded.subarray(0, length);
  const decoder = decoderOf(charset);
  return decoder.encoding === 'utf-8' ? decodeUnlabelled(octets) : decoder.decode(octets);
}

const UTF_8 = new TextDecoder();
const WINDOWS = new TextDecoder('windows-1252');

/** UTF-8, or the charset of Windows where nothing is UTF-8: one that is merely cut off in a letter has others. */
export function decodeUnlabelled(octets: Uint8Array): string {
  const text = UTF_8.decode(octets);
  // oxlint-disable-next-line no-control-regex
  const isNone = !isUtf8(octets) && !/[^\u0000-\u007F\uFFFD]/.test(text);
  return isNone ? WINDOWS.decode(octets) : text;
}

export function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder('utf-8');
    throw error;
  }
}
