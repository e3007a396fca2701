/** A line of the specification, word for word, and the titles of the tests that show it. */
export type Rule = { readonly line: string; readonly shownBy: readonly string[]; readonly demands: boolean };

export function rule(line: string, ...shownBy: readonly string[]): Rule {
  return { line, shownBy, demands: true };
}

/** A line that demands nothing: a heading, or what is said not to be shown. */
export function frame(line: string): Rule {
  return { line, shownBy: [], demands: false };
}
