/** Text in quoted-printable; UTF-8 if the character set is unknown. */
export function decodeQuotedPrintable(value: string, charset: string | undefined): string {
  const encoded = Buffer.from(value);
  let length = 0;
  for (let at = 0; at < encoded.length; at += 1, length += 1) {
    const pair = encoded[at] === 0x3d ? encoded.toString('latin1', at + 1, at + 3) : '';
    const isPair = /^[0-9A-Fa-f]{2}$/.test(pair);
    encoded[length] = isPair ? Number.parseInt(pair, 16) : (encoded[at] ?? 0);
    if (isPair) at += 2;
  }
  return decoderOf(charset).decode(encoded.subarray(0, length));
}

export function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder('utf-8');
    throw error;
  }
}
