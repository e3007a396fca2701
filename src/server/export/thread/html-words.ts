const UNSHOWN = ['head>', 'title', 'style', 'script', '!--'];

/**
 * The first words between the tags, `length` characters or somewhat more, without anything that a page does not show.
 */
export function wordsOf(html: string, length: number): string {
  // Not by `toLowerCase`, which makes two characters of `İ`.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const words: string[] = [];
  for (let [at, found] = [0, 0]; at < html.length && found < length;) {
    const tag = html.indexOf('<', at);
    const word = html.slice(at, tag < 0 ? html.length : tag).trim();
    if (word !== '') words.push(word);
    found += word.length;
    if (tag < 0) break;
    const close = endOf(lower, tag);
    if (close < 0) break;
    at = close + 1;
  }
  return words
    .join(' ')
    .slice(0, 4 * length)
    .replaceAll(REFERENCE, signOf);
}

/** Where the tag ends or, if its content is not shown, the whole element. */
function endOf(lower: string, tag: number): number {
  const hidden = UNSHOWN.find((name) => lower.startsWith(name, tag + 1));
  if (hidden === undefined) return lower.indexOf('>', tag);
  if (hidden !== '!--') {
    const end = lower.indexOf(`</${hidden}`, tag);
    return end < 0 ? -1 : lower.indexOf('>', end);
  }
  // `<!-->` is a whole comment, by which Outlook's conditions begin and end.
  const end = lower.indexOf('-->', tag + 2);
  return end < 0 ? -1 : end + 2;
}

const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}\d{0,2}));?/gi;

/** The names of U+00A0 to U+00FF in HTML. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
  'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave ' +
  'Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc ' +
  'Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc ' +
  'iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const OTHERS = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  bull: '•',
  euro: '€',
  trade: '™',
  OElig: 'Œ',
  oelig: 'œ',
  Scaron: 'Š',
  scaron: 'š',
};
const SIGNS: ReadonlyMap<string, string> = new Map([
  ...LATIN.split(' ').map((name, at) => [name, String.fromCodePoint(0xa0 + at)] as const),
  ...Object.entries(OTHERS),
]);
const WESTERN = new TextDecoder('windows-1252');

/**
 * The character that a reference stands for; an unknown one stays. Numbers of control characters are those of
 * windows-1252.
 */
function signOf(reference: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return SIGNS.get(name) ?? reference;
  const number = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  if (number >= 0x80 && number < 0xa0) return WESTERN.decode(Uint8Array.of(number));
  return number > 0 && number <= 0x10_ffff ? String.fromCodePoint(number) : reference;
}
