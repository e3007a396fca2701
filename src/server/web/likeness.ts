import { domainToUnicode } from 'node:url';
import { folded, withoutDetail } from '../../contract/email-address.ts';
import { normalized } from '../normalized.ts';

/** Letters that do not decompose, and what they are compared as without their strokes (Unicode's root collation). */
const PLAIN: ReadonlyMap<string, string> = new Map(
  Object.entries({ æ: 'ae', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ł: 'l', œ: 'oe', ø: 'o', ß: 'ss', ŧ: 't' }),
);

/**
 * What spellings have in common that one mailbox may be found by: Active Directory and MySQL overlook accents, and a
 * domain may be written as DNS has it. What is limited for each mailbox or address is counted by it, and nothing else is.
 */
export function likenessOf(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = at === 0 ? '' : domainToUnicode(address.slice(at));
  const written = domain === '' ? address : `${address.slice(0, at)}${domain}`;
  const bare = normalized(folded(withoutDetail(written)), 'NFKD').replaceAll(/\p{M}/gu, '');
  return bare.replaceAll(/[^\0-\x7f]/gu, (letter) => PLAIN.get(letter) ?? letter);
}
