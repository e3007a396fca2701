/** Text that a column can hold: truncated to `most` UTF-16 units, without NUL and without lone surrogates. */
export function storable(text: string, most = Infinity): string {
  return text.slice(0, most).replaceAll('\0', ' ').toWellFormed();
}
