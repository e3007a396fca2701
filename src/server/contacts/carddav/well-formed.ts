/** Deepest nesting; a multistatus with contacts has a dozen levels. */
const NESTED_AT_MOST = 100;
/** A list of 6,000 cards, of which no more are read in one go, has some 54,000. */
const ELEMENTS_AT_MOST = 60_000;
/** Different names of elements; answers have some thirty. At each text, the library goes through those beside it. */
const NAMES_AT_MOST = 200;
/** Texts that go on behind an element, and entities that only HTML may know: the library makes an error of each. */
const ODDITIES_AT_MOST = 1000;
/** Of an instruction, such as the declaration, which the library reads in quadratic time. */
const INSTRUCTION_LENGTH = 200;
const ENTITY_LENGTH = 12;
const ENTITY = /^&(?:#?\w+);/;
const XML_ENTITY = /^&(?:amp|lt|gt|quot|apos|#0*(?:[1-9]\d{0,5}|10\d{5})|#x0*(?:[1-9a-f][\da-f]{0,4}|10[\da-f]{4}));/i;

/**
 * Whether a document is XML from beginning to end, in linear time, and has no more of anything than answers have. The
 * library reads on through anything else (for minutes if a document type declaration has no end), and takes half a
 * document for a whole one. No WebDAV answer has such a declaration.
 */
export function isWellFormed(text: string): boolean {
  const names = new Set<string>();
  /** The names of the elements around. */
  const within: string[] = [];
  let [elements, oddities, at] = [0, 0, 0];
  for (;;) {
    const open = text.indexOf('<', at);
    const piece = text.slice(at, open < 0 ? text.length : open);
    // There is no text outside the root.
    if (within.length === 0 && piece.trim() !== '') return false;
    if (open < 0) return within.length === 0 && elements > 0;
    const end = endOf(text, open);
    if (end === null) return false;
    at = end;
    const sign = text[open + 1] ?? '';
    oddities += strangeEntitiesIn(piece) + (sign === '/' || piece.trim() === '' ? 0 : 1);
    if (oddities > ODDITIES_AT_MOST) return false;
    if (sign === '!' || sign === '?') continue;
    if (within.length === 0 && elements > 0) return false;
    const tag = text.slice(open, end);
    oddities += strangeEntitiesIn(tag);
    const name = NAME.exec(tag)?.[1] ?? '';
    if (sign === '/') {
      // To the library the element would go on, with all that follows in it.
      if (within.pop() !== name) return false;
      continue;
    }
    elements += 1;
    names.add(name);
    if (text[end - 2] !== '/') within.push(name);
    if (within.length > NESTED_AT_MOST || elements > ELEMENTS_AT_MOST || names.size > NAMES_AT_MOST) return false;
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
      return at < 0 || (end === '?>' && at - open > INSTRUCTION_LENGTH) ? null : at + end.length;
    }
  return /^<\/?[\p{L}_]/u.test(text.slice(open, open + 4)) ? endOfTag(text, open) : null;
}

const NAME = /^<\/?([^\s/>]*)/;
/** The library makes an error of any other sign in a name. */
const [HEAD, ATTRIBUTE, CLOSE, CLOSE_OF_END] = [
  /<\/?[\w:.\u00B7\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u037D\u037F-\u1FFF\u3001-\uD7FF-]+/y,
  /\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:"[^"]*"|'[^']*')/y,
  /\s*\/?>/y,
  /\s*>/y,
];

function endOfTag(text: string, open: number): number | null {
  const isEnd = text[open + 1] === '/';
  let at = after(HEAD, text, open);
  for (let next = isEnd ? null : at; next !== null; next = after(ATTRIBUTE, text, next)) at = next;
  return at === null ? null : after(isEnd ? CLOSE_OF_END : CLOSE, text, at);
}

function after(part: RegExp, text: string, at: number): number | null {
  part.lastIndex = at;
  return part.test(text) ? part.lastIndex : null;
}

/** How many entities are none of XML itself; `Infinity` where a `&` begins none at all. */
function strangeEntitiesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    const entity = text.slice(at, at + ENTITY_LENGTH);
    if (!ENTITY.test(entity)) return Infinity;
    if (!XML_ENTITY.test(entity)) count += 1;
  }
  return count;
}
