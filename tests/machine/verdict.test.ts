import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FOLDERS } from '../folders.ts';
import { gapsIn, isTitle, type Ran, verdictOf } from '../runner/verdict.ts';
import { frame, open, pageRule, rule } from '../specification/rule.ts';

const passed: Ran = {
  project: 'server',
  name: 'mail arrives',
  fullName: 'server/mail.test.ts > mail arrives',
  state: 'passed',
  isFlaky: false,
  errors: [],
  lacks: [],
};
const withoutMutt: Ran = { ...passed, state: 'skipped', lacks: ['mutt'] };
const crossing = new Set(['server']);

test.each([
  ['that passed counts as passed', passed, 'passed', true],
  ['that failed counts as failed', { ...passed, state: 'failed' }, 'failed', true],
  ['that passed only at its second try counts as neither', { ...passed, isFlaky: true }, 'unsteady', true],
  ['that did not come to its end counts as failed', { ...passed, state: 'pending' }, 'failed', true],
  ['that was skipped for no need counts as failed', { ...passed, state: 'skipped' }, 'failed', true],
  ['whose program is missing counts as skipped', withoutMutt, 'skipped', true],
  ['whose program is missing where none may be counts as failed', withoutMutt, 'failed', false],
  ['that needs what no package brings is skipped anywhere', { ...withoutMutt, lacks: ['Linux'] }, 'skipped', false],
] as const)('a test %s', (_, ran, kind, mayLack) => {
  expect(verdictOf([ran], { mayLack })).toMatchObject({ passed: 0, failed: 0, skipped: 0, unsteady: 0, [kind]: 1 });
});

test('a test that did not simply pass or fail is named', () => {
  const odd: Ran[] = [{ ...passed, isFlaky: true, errors: ['It was late.'] }, withoutMutt];
  expect(verdictOf([passed, ...odd], { mayLack: true }).lines).toEqual([
    'NOT CLEAN, as it passed only at its second try: server/mail.test.ts > mail arrives\n  It was late.',
    'Skipped, with mutt not here: server/mail.test.ts > mail arrives',
  ]);
});

test.each([
  ['%s arrives on %i servers', 'mail arrives on 2 servers', true],
  ['%s arrives on %i servers', 'mail arrives', false],
  ['on ${name}, %j holds', 'on PGlite, {"a":1} holds', true],
  ['"$who.name" is said', '"Ann" is said', true],
  ['mail arrives', 'mail arrives twice', false],
  ['%s is said, and %s', 'a, and b is said, and c', true],
  ['ab%sba', 'aba', false],
])('the title "%s" of "%s" is recognised: %s', (title, name, is) => {
  expect(isTitle(title, name)).toBe(is);
});

test.each([
  ['that ran and passed on the real server', [passed], null],
  ['that did not run', [], true],
  ['that failed', [{ ...passed, state: 'failed' }], true],
  ['that passed only at its second try', [{ ...passed, isFlaky: true }], false],
  ['that ran only beside the wire', [{ ...passed, project: 'machine' }], true],
  ['that was skipped for a missing program', [withoutMutt], false],
] as const)('a line of the specification with a test %s has its gap named', (_, ran, isFault) => {
  const gaps = gapsIn([rule('Mail arrives.', 'mail arrives')], ran, crossing);
  expect(gaps.map((gap) => gap.isFault)).toEqual(isFault === null ? [] : [isFault]);
});

test('a line of the page alone needs no wire, and a heading no test', () => {
  const rules = [pageRule('It is blue.', 'mail arrives'), frame('Colours')];
  expect(gapsIn(rules, [{ ...passed, project: 'machine' }], crossing)).toEqual([]);
});

test('a line that names no test is not shown', () => {
  expect(gapsIn([rule('Mail arrives.')], [passed], crossing)).toMatchObject([{ isFault: true }]);
});

test('a line that is known not to be shown is told with what is missing, and is no fault', () => {
  expect(gapsIn([open('Mail is scanned.', 'no scanner')], [passed], crossing)).toEqual([
    { line: 'Mail is scanned.', why: 'no scanner', isFault: false },
  ]);
});

test('what a file leaves to the proofs is run by them', () => {
  const root = join(import.meta.dirname, '../..');
  const tagged = globSync('tests/**/*.test.ts', { cwd: root }).filter((file) =>
    /\btags: (?:'(?:proof|sampled)'|\w)/.test(readFileSync(join(root, file), 'utf8')),
  );
  const run = FOLDERS.flatMap(({ files = [] }) => files);
  expect(tagged.toSorted()).toEqual(run.toSorted());
});
