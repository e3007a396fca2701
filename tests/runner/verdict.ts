import { isProgram } from '../support/needs.ts';
import type { Rule } from '../specification/rule.ts';

/** A test, as the runner reports it. */
export type Ran = {
  readonly project: string;
  /** Its own title, and that with its file and groups. */
  readonly name: string;
  readonly fullName: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  /** Passed, but not at its first try. */
  readonly isFlaky: boolean;
  /** What went wrong, at a try that was not the last one too. */
  readonly errors: readonly string[];
  /** What it was skipped for, by `needs`. */
  readonly lacks: readonly string[];
};

export type Verdict = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Passed, but not at the first try: a fault to be found, and in no other count. */
  readonly unsteady: number;
  /** One for each thing that the counts alone don't tell. */
  readonly lines: readonly string[];
};

/** What a run is worth. `mayLack`: whether a missing program only skips its tests. */
export function verdictOf(ran: readonly Ran[], { mayLack }: { mayLack: boolean }): Verdict {
  const lines: string[] = [];
  const count = { passed: 0, failed: 0, skipped: 0, unsteady: 0 };
  for (const test of ran) {
    const { kind, why } = judged(test, mayLack);
    count[kind] += 1;
    if (why !== undefined) lines.push([`${why}: ${test.fullName}`, ...(test.isFlaky ? test.errors : [])].join('\n  '));
  }
  return { ...count, lines: lines.toSorted() };
}

function judged(test: Ran, mayLack: boolean): { kind: 'passed' | 'failed' | 'skipped' | 'unsteady'; why?: string } {
  switch (test.state) {
    case 'passed':
      return test.isFlaky
        ? { kind: 'unsteady', why: 'NOT CLEAN, as it passed only at its second try' }
        : { kind: 'passed' };
    case 'failed':
      return { kind: 'failed' };
    case 'pending':
      return { kind: 'failed', why: 'FAILED, as it did not come to its end' };
    case 'skipped': {
      if (test.lacks.length === 0) return { kind: 'failed', why: 'FAILED, as it was skipped for no need of its own' };
      const lacks = `${test.lacks.join(' and ')} not here`;
      return mayLack || !test.lacks.some(isProgram)
        ? { kind: 'skipped', why: `Skipped, with ${lacks}` }
        : { kind: 'failed', why: `FAILED, as it was skipped with ${lacks}` };
    }
  }
}

/** What is said of a rule that is not shown by tests that ran and passed; nothing when it is. */
export type Gap = { readonly line: string; readonly why: string; readonly isFault: boolean };

/** The lines of the specification that a whole run does not show. `crossing`: the projects that cross the wire. */
export function gapsIn(rules: readonly Rule[], ran: readonly Ran[], crossing: ReadonlySet<string>): Gap[] {
  return rules.flatMap(({ line, shownBy, kind, why: openBy }) => {
    if (kind === 'frame') return [];
    if (kind === 'open') return [{ line, why: openBy ?? 'nobody has said why', isFault: false }];
    const named = shownBy.map((title) => ({ title, tests: ran.filter(({ name }) => isTitle(title, name)) }));
    const gap = (why: string, isFault = true): Gap[] => [{ line, why, isFault }];
    if (named.length === 0) return gap('no test is named');
    for (const { title, tests } of named) {
      if (tests.length === 0) return gap(`no test ran as "${title}"`);
      const broken = tests.find(({ state }) => state !== 'passed' && state !== 'skipped');
      if (broken !== undefined) return gap(`not passed: ${broken.fullName}`);
      const unsteady = tests.find(({ isFlaky }) => isFlaky);
      if (unsteady !== undefined) return gap(`passed only at its second try: ${unsteady.fullName}`, false);
      const skipped = tests.find(({ state }) => state === 'skipped');
      if (skipped !== undefined) return gap(`skipped: ${skipped.fullName}`, skipped.lacks.length === 0);
    }
    const crosses = named.some(({ tests }) => tests.some(({ project }) => crossing.has(project)));
    return kind === 'page' || crosses ? [] : gap('it crosses the wire, and no test on the real server or in a browser');
  });
}

/** What Vitest puts in place of these parts of a title depends on the case. */
const PLACE = /%[sdifjoOc#$]|\$\{[^}]*\}|\$[\w.]+/;

/** Whether a test's name came of this title, as it stands in the source. */
export function isTitle(title: string, name: string): boolean {
  const [first = '', ...rest] = title.split(PLACE);
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
