import { withoutEnd } from '../../../contract/without-end.ts';
import { normalized } from '../../normalized.ts';

/** Windows' device names, which are reserved in every folder, with every extension, and with blanks before it. */
const RESERVED = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/iu;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * One part of a path that Windows, macOS and Linux accept and show as written: no separators, no control or format
 * characters (such as direction marks), no device names, no dots or spaces at its ends, in NFC, at most `length` UTF-16
 * units (each at most three UTF-8 octets). Empty if nothing readable is left.
 */
export function safeName(text: string, length: number): string {
  const written = text
    .toWellFormed()
    .replaceAll(/[\p{Z}\s]+/gu, ' ')
    .replaceAll(/[\p{C}\uFFFD?*]/gu, '');
  const readable = normalized(written, 'NFC')
    .replaceAll('"', "'")
    .replaceAll('<', '(')
    .replaceAll('>', ')')
    .replaceAll(': ', ' ')
    .replaceAll(/[/\\|:]/g, '-')
    .replaceAll(/ {2,}/g, ' ')
    .replace(/^[. ~-]+/, '');
  const name = withoutEnd(cut(readable, length), '. ');
  return RESERVED.test(name) ? withoutEnd(cut(`_${name}`, length), '. ') : name;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  let kept = '';
  for (const { segment } of graphemes.segment(text.slice(0, length * 4))) {
    if (kept.length + segment.length > length) break;
    kept += segment;
  }
  return kept;
}

/** Names with the same key are the same file on some file system, which ignores case, composition or width. */
export function clashKey(name: string): string {
  return normalized(normalized(name, 'NFKD').toUpperCase(), 'NFKD');
}
