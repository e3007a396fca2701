/**
 * Restores a message from an mbox, following nothing but the archive's README. `stored` is everything between its
 * `From_` line and the next one, with quoted lines as in the file, unless the program that read it has already unquoted
 * them.
 */
export function originalOf(
  stored: Buffer,
  { lineEnds, size }: { readonly lineEnds: string; readonly size: number },
  quotes: 'quotes are on' | 'quotes are off' = 'quotes are on',
): Buffer {
  const lines = stored.toString('latin1').split('\n').slice(3);
  const unquoted = quotes === 'quotes are off' ? lines : lines.map((line) => line.replace(/^>(>*From )/, '$1'));
  return Buffer.from(unquoted.join(lineEnds === 'crlf' ? '\r\n' : '\n'), 'latin1').subarray(0, size);
}
