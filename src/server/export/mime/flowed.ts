/** How many `>` before a line are counted. */
const QUOTED = /^>{0,100}/;

/**
 * Puts each paragraph of `format=flowed` text (RFC 3676) in one line: a line that ends with a blank goes on in the next
 * one that has as many `>`. `delSp`: the blank is not part of the text.
 */
export function unflowed(text: string, delSp: boolean): string {
  const pieces: string[] = [];
  let [depth, goesOn] = [0, false];
  for (const line of text.split(/\r?\n/)) {
    const quotes = QUOTED.exec(line)?.[0] ?? '';
    const content = line.slice(quotes.length).replace(/^ /, '');
    const isSignature = content === '-- ';
    if (!goesOn || quotes.length !== depth || isSignature) {
      if (pieces.length > 0) pieces.push('\n');
      if (quotes !== '') pieces.push(`${quotes} `);
    }
    depth = quotes.length;
    goesOn = content.endsWith(' ') && !isSignature;
    pieces.push(goesOn && delSp ? content.slice(0, -1) : content);
  }
  return pieces.join('');
}
