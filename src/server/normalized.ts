/** More marks than any script puts on one letter, with another one after them. */
const MARKS = /[\p{M}\uFF9E\uFF9F]{30}(?=[\p{M}\uFF9E\uFF9F])/gu;

/**
 * A text in a normal form. Marks without end on one letter are parted by U+034F, as in Unicode's Stream-Safe Text Format
 * (UAX #15): sorting them takes quadratic time, seconds for 64 KB.
 */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replaceAll(MARKS, '$&\u034F').normalize(form);
}
