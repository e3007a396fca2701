/** Deepest nesting; a multistatus with contacts has a dozen levels. */
const NESTED_AT_MOST = 100;
const ENTITY_LENGTH = 12;

/**
 * Whether a document is XML from beginning to end, in linear time. The library reads on through anything else (for minutes
 * if a document type declaration has no end), and takes half a document for a whole one. No WebDAV answer has such a
 * declaration.
 */
export function isWellFormed(text: string): boolean {
  let depth = 0;
  let elements = 0;
  let at = 0;
  for (;;) {
    const open = text.indexOf('<', at);
    if (!isText(text.slice(at, open < 0 ? text.length : open), depth)) return false;
    if (open < 0) return depth === 0 && elements > 0;
    const end = endOf(text, open);
    if (end === null) return false;
    at = end;
    if (text[open + 1] === '!' || text[open + 1] === '?') continue;
    if (depth === 0 && elements > 0) return false;
    elements += 1;
    if (text[open + 1] === '/') depth -= 1;
    else if (text[end - 2] !== '/') depth += 1;
    if (depth < 0 || depth > NESTED_AT_MOST) return false;
  }
}

/** The end of whatever begins here; `null` if it is not allowed here, or does not end. */
function endOf(text: string, open: number): number | null {
  for (const [begin, end] of [
    ['<![CDATA[', ']]>'],
    ['<!--', '-->'],
    ['<?', '?>'],
  ] as const)
    if (text.startsWith(begin, open)) {
      const at = text.indexOf(end, open + begin.length);
      return at < 0 ? null : at + end.length;
    }
  return /^<\/?[\p{L}_]/u.test(text.slice(open, open + 4)) ? endOfTag(text, open) : null;
}

const SIGN = /[<>"']/g;

function endOfTag(text: string, open: number): number | null {
  SIGN.lastIndex = open + 1;
  for (;;) {
    const [sign] = SIGN.exec(text) ?? [];
    if (sign === undefined || sign === '<') return null;
    if (sign === '>') return SIGN.lastIndex;
    const quoted = text.indexOf(sign, SIGN.lastIndex);
    if (quoted < 0) return null;
    SIGN.lastIndex = quoted + 1;
  }
}

/** Text between elements; there is none outside the root. */
function isText(text: string, depth: number): boolean {
  if (depth === 0) return text.trim() === '';
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1))
    if (!/^&(?:#?\w+);/.test(text.slice(at, at + ENTITY_LENGTH))) return false;
  return true;
}
