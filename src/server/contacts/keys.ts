import { normalized } from '../normalized.ts';
import type { PostalAddress } from './contact.ts';

/** Normal forms in which two spellings of a value are equal; `''` if it carries no information. */
export function textKey(text: string): string {
  return normalized(text, 'NFKC').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

/** The words of a text; callers sort them, so that `Doe, Jane` equals `Jane Doe`. */
export function wordsOf(text: string): string[] {
  return (
    normalized(text, 'NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  );
}

export function nameKey(name: string): string {
  return wordsOf(name).toSorted().join(' ');
}

const FEWEST_DIGITS = 5;

/** The last ten digits, which are the same with and without the country code; the text if it contains letters. */
export function phoneKey(phone: string): string {
  const digits = normalized(phone, 'NFKC').replaceAll(/\D/g, '');
  if (digits.length < FEWEST_DIGITS) return digits === '' || /\p{L}/u.test(phone) ? textKey(phone) : digits;
  return digits.length > 10 ? digits.slice(-10) : digits;
}

export function addressKey(address: PostalAddress): string {
  return Object.values(address).flatMap(wordsOf).toSorted().join(' ');
}

export function websiteKey(website: string): string {
  return textKey(website)
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '');
}
