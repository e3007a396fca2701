/**
 * A line of the specification, word for word, and the titles of the tests that show it: each of them runs and passes.
 * `wire`: one of them is on the real server or in a real browser. `page`: nothing of it leaves the wizard's machine.
 * `frame`: it demands nothing of this product. `open`: it is not shown yet, and the end of a whole run says `why`.
 */
export type Rule = {
  readonly line: string;
  readonly shownBy: readonly string[];
  readonly kind: 'wire' | 'page' | 'frame' | 'open';
  readonly why?: string;
};

/** Crosses the wire between a visitor and the server, or something outside. */
export function rule(line: string, ...shownBy: readonly string[]): Rule {
  return { line, shownBy, kind: 'wire' };
}

/** A rule of what the page does by itself: its texts, its checks, its clock. */
export function pageRule(line: string, ...shownBy: readonly string[]): Rule {
  return { line, shownBy, kind: 'page' };
}

/** A line that demands nothing: a heading, or what is said not to be shown. */
export function frame(line: string): Rule {
  return { line, shownBy: [], kind: 'frame' };
}

/** A line that is known not to be met, or not to be shown. */
export function open(line: string, why: string): Rule {
  return { line, shownBy: [], kind: 'open', why };
}
