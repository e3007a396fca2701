/**
 * The way back from an mbox to a message, written from what the archive's README says and nothing else.
 * `stored` is all that stands between the `From_` line and the next one.
 */
export function originalOf(
  stored: Buffer,
  { lineEnds, size }: { readonly lineEnds: string; readonly size: number },
): Buffer {
  const lines = stored.toString('latin1').split('\n').slice(3);
  const text = lines.map((line) => line.replace(/^>(>*From )/, '$1')).join(lineEnds === 'crlf' ? '\r\n' : '\n');
  return Buffer.from(text, 'latin1').subarray(0, size);
}
