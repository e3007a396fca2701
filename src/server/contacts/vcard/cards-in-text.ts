/** Lines of BEGIN and END in one card. */
const MARKS_AT_MOST = 8_000;

/** The cards of a text that may hold many. What follows the last END is a truncated card, unless it is blank. */
export function* splitCards(text: string): Iterable<string> {
  let start = 0;
  for (const { next } of cardsIn(text)) {
    yield text.slice(start, next);
    start = next;
  }
  const rest = text.slice(start);
  if (!ENDS.test(rest.replace(/^\uFEFF/, '').trim())) yield rest;
}

/** What is between BEGIN and END, if the card has an end. */
type Span = { readonly start: number; readonly end: number | 'cut off' | 'too large'; readonly next: number };

export function* cardsIn(text: string): Iterable<Span> {
  let start = -1;
  let depth = 0;
  let marks = 0;
  for (const { kind, at, next } of marksOf(text)) {
    marks += 1;
    if (marks > MARKS_AT_MOST) {
      yield { start, end: 'too large', next: text.length };
      return;
    }
    if (start < 0) {
      if (kind === 'end') continue;
      start = next;
      depth = 0;
    } else if (kind === 'begin' && depth === 0 && VERSION.test(text.slice(next, next + 'VERSION:'.length))) {
      // The card before has no end. A line that only looks like a beginning is part of it.
      if (!HEADER.test(text.slice(start, at).trim())) yield { start, end: 'cut off', next: at };
      start = next;
      marks = 1;
    } else if (kind === 'agent') depth += 1;
    else if (kind === 'end' && depth > 0) depth -= 1;
    else if (kind === 'end') {
      yield { start, end: at, next };
      start = -1;
      marks = 0;
    }
  }
  if (start >= 0) yield { start, end: 'cut off', next: text.length };
}

const VERSION = /^VERSION:/i;
/** What is left of a card whose header, or whose end, some program has written twice. */
const [HEADER, ENDS] = [/^(?:VERSION:.*)?$/i, /^(?:END:VCARD\s*)*$/i];

/**
 * vCard 2.1 §2.4.3: the agent's whole card is inside, starting on the line of `AGENT` or on the next one that is not
 * blank.
 */
const AGENT = /^(?:[\w-]+\.)?AGENT[^:]*:\s*(?:BEGIN:VCARD\s*)?$/i;

/** A line that opens or closes a card. `at`: where it begins; for an agent's card, where its `AGENT` line begins. */
type Mark = { readonly kind: 'begin' | 'agent' | 'end'; readonly at: number; readonly next: number };

/** Only those lines are examined: a text may have millions of others. */
export function* marksOf(text: string): Iterable<Mark> {
  const lineEnd = /[^\S\r\n]*(?:\r\n|\r|\n|$)/y;
  for (const { 0: word, index } of text.matchAll(/(?:BEGIN|END):VCARD/gi)) {
    lineEnd.lastIndex = index + word.length;
    if (!lineEnd.test(text)) continue;
    const next = lineEnd.lastIndex;
    const at = lineStart(text, index);
    const isWhole = at === index || (at + 1 === index && text[at] === '\uFEFF');
    if (/^E/i.test(word)) {
      if (at === index) yield { kind: 'end', at, next };
    } else if (isWhole) {
      const before = lineStart(text, textEnd(text, at));
      if (AGENT.test(text.slice(before, at).trimEnd())) yield { kind: 'agent', at: before, next };
      else yield { kind: 'begin', at, next };
    } else if (AGENT.test(text.slice(at, index + word.length))) yield { kind: 'agent', at, next };
  }
}

/** Where the text before this place ends, without blank lines. */
function textEnd(text: string, from: number): number {
  let at = from;
  while (at > 0 && /\s/.test(text[at - 1] ?? '')) at -= 1;
  return at;
}

function lineStart(text: string, from: number): number {
  let at = from;
  while (at > 0 && text[at - 1] !== '\n' && text[at - 1] !== '\r') at -= 1;
  return at;
}
