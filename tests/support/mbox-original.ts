/**
 * The way back from an mbox to a message, written from what the archive's README says and nothing else.
 * `stored` is all that stands between the `From_` line and the next one, its quoted lines as they are in the file unless
 * the program that read it has taken the quotes off.
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
