/**
 * The Flesch-Kincaid grade: the years of schooling that a text requires.
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

/** A silent `e`, `es` or `ed` at the end, as in `safe`, `files` and `copied`, but not in `table`, `pages` or `started`. */
const SILENT = /(?:(?<=[^aeiouy][^aeiouyl]|[aeiouy][^aeiouy])e|(?<=[^aeiouycghsxz])es|(?<=[^aeioutd])ed)$/;

/** Counts groups of vowels that are pronounced. */
export function syllablesOf(word: string): number {
  const spoken = word.toLowerCase().replaceAll(/['’]/g, '').replace(SILENT, '');
  return Math.max(1, spoken.match(/[aeiouy]+/g)?.length ?? 0);
}
