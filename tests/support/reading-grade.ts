/**
 * The Flesch-Kincaid grade: the years of school that a text asks for.
 * https://apps.dtic.mil/sti/citations/ADA006655
 */
export function readingGrade(text: string): number {
  const sentences = text.split(/[.!?:…]+(?:\s|$)/).filter((sentence) => /\p{L}/u.test(sentence)).length;
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu) ?? [];
  const syllables = words.reduce((total, word) => total + syllablesOf(word), 0);
  return 0.39 * (words.length / Math.max(1, sentences)) + 11.8 * (syllables / Math.max(1, words.length)) - 15.59;
}

export function wordCount(text: string): number {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu)?.length ?? 0;
}

/** An `e`, `es` or `ed` at the end that is not heard: of `safe`, `files`, `copied`; not of `table`, `pages`, `started`. */
const SILENT = /(?:(?<=[^aeiouy][^aeiouyl]|[aeiouy][^aeiouy])e|(?<=[^aeiouycghsxz])es|(?<=[^aeioutd])ed)$/;

/** Groups of vowels that are heard. */
export function syllablesOf(word: string): number {
  const spoken = word.toLowerCase().replaceAll(/['’]/g, '').replace(SILENT, '');
  return Math.max(1, spoken.match(/[aeiouy]+/g)?.length ?? 0);
}
