/** Text as a column can hold it: without NUL, and with no half of a character, also where it is cut after `most` units. */
export function storable(text: string, most = Infinity): string {
  return text.slice(0, most).replaceAll('\0', ' ').toWellFormed();
}
