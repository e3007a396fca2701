/** A command with such a set stays below the 8,192 octets that every server takes (RFC 7162 §4). */
const SET_LIMIT = 7000;

/**
 * Sequence sets (RFC 9051 §9) that together name these numbers, in ascending order, each short enough for one command.
 */
export function* setsOf(numbers: readonly number[]): Generator<{ readonly set: string; readonly count: number }> {
  const sorted = numbers.toSorted((a, b) => a - b);
  let pieces: string[] = [];
  let length = 0;
  let count = 0;
  for (let at = 0; at < sorted.length;) {
    const first = sorted[at] ?? 0;
    let last = first;
    for (at++, count++; at < sorted.length && (sorted[at] ?? 0) <= last + 1; at++, count++) last = sorted[at] ?? last;
    const piece = first === last ? `${first}` : `${first}:${last}`;
    pieces.push(piece);
    length += piece.length + 1;
    if (length < SET_LIMIT) continue;
    yield { set: pieces.join(','), count };
    pieces = [];
    length = 0;
    count = 0;
  }
  if (pieces.length > 0) yield { set: pieces.join(','), count };
}

/**
 * The numbers of a set as a server sends it, such as `4,7:9`, in its order; `undefined` if it can't be read, has more
 * than `most` numbers, or a descending range.
 */
export function numbersOf(set: string, most: number): number[] | undefined {
  const numbers: number[] = [];
  for (const piece of set.split(',', most + 1)) {
    const colon = piece.indexOf(':');
    const first = readNumber(colon < 0 ? piece : piece.slice(0, colon));
    const last = colon < 0 ? first : readNumber(piece.slice(colon + 1));
    if (first < 1 || last < first || numbers.length + last - first + 1 > most) return undefined;
    for (let number = first; number <= last; number++) numbers.push(number);
  }
  return numbers;
}

/** A number of 32 bits; -1 for anything else. */
function readNumber(text: string): number {
  if (text.length === 0 || text.length > 10) return -1;
  let number = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number <= 0xff_ff_ff_ff ? number : -1;
}
