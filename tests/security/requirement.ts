import { frame, open, pageRule, rule, type Rule } from '../specification/rule.ts';

/**
 * A requirement of a security standard, by its number and in short. `shownBy`: titles of tests, each of which runs and
 * passes; one of them at least on the real server or in a browser, unless `page`. `not`: why it can't apply to this
 * product. `open`: what is missing.
 */
export type Requirement = { readonly id: string; readonly line: string } & (
  | { readonly shownBy: readonly [string, ...string[]]; readonly page?: true }
  | { readonly not: string }
  | { readonly open: string }
);

export function ruleOf(standard: string, requirement: Requirement): Rule {
  const line = `${standard} ${requirement.id}: ${requirement.line}`;
  if ('not' in requirement) return frame(line);
  if ('open' in requirement) return open(line, requirement.open);
  return (requirement.page === true ? pageRule : rule)(line, ...requirement.shownBy);
}
