import { expect, test } from 'vitest';
import type { Requirement } from './requirement.ts';
import { RFC_9700 } from './rfc9700.ts';
import { ASVS } from './standards.ts';

/** The chapters of OWASP ASVS 5.0.0; for each section, the number of its last requirement. */
const LAST: readonly (readonly number[])[] = [
  [2, 10, 12, 3, 3],
  [3, 3, 5, 2],
  [1, 3, 5, 8, 8, 1, 5],
  [5, 5, 2, 4],
  [1, 6, 3, 3],
  [3, 12, 8, 6, 8, 4, 2, 4],
  [3, 4, 2, 5, 3, 2],
  [4, 4, 3, 2],
  [3, 4],
  [2, 3, 5, 16, 5, 2, 3],
  [4, 5, 5, 4, 2, 2, 2],
  [5, 2, 5],
  [4, 6, 4, 7],
  [2, 8, 3],
  [5, 5, 7, 4],
  [1, 5, 4, 3, 4],
  [2, 8, 2],
];

/** Those of level 3. */
const LEVEL_3: ReadonlySet<string> = new Set(
  `1.2.10 1.3.12 1.5.3 2.3.5 2.4.2 3.1.1 3.2.3 3.3.5 3.4.7 3.4.8 3.5.6 3.5.7 3.5.8 3.6.1 3.7.3 3.7.4 3.7.5
   4.1.4 4.1.5 4.2.2 4.2.3 4.2.4 4.2.5 5.2.4 5.2.5 5.2.6 5.3.3 6.3.5 6.3.6 6.3.7 6.3.8 6.4.5 6.4.6 6.5.6 6.5.7 6.5.8
   6.6.4 6.7.1 6.7.2 7.5.3 8.1.3 8.1.4 8.2.4 8.3.2 8.3.3 8.4.2 10.2.3 10.3.5 10.4.12 10.4.13 10.4.14 10.4.15 10.4.16
   11.1.3 11.1.4 11.2.4 11.2.5 11.3.4 11.3.5 11.5.2 11.6.2 11.7.1 11.7.2 12.1.4 12.1.5 12.3.5 13.1.2 13.1.3 13.1.4
   13.2.6 13.3.3 13.3.4 13.4.6 13.4.7 14.2.5 14.2.6 14.2.7 14.2.8 15.1.4 15.1.5 15.2.4 15.2.5 15.4.1 15.4.2 15.4.3
   15.4.4 16.5.4 17.1.2 17.2.5 17.2.6 17.2.7 17.2.8`.split(/\s+/),
);

test('every requirement of ASVS up to level 2 is listed once, in its order', () => {
  const all = LAST.flatMap((sections, chapter) =>
    sections.flatMap((last, section) =>
      Array.from({ length: last }, (_, at) => `${chapter + 1}.${section + 1}.${at + 1}`),
    ),
  );
  expect(all).toHaveLength(345);
  expect(ASVS.map(({ id }) => id)).toEqual(all.filter((id) => !LEVEL_3.has(id)));
});

const EVERY: readonly Requirement[] = [...ASVS, ...RFC_9700];

function saidOf(each: Requirement): string {
  if ('not' in each) return each.not;
  return 'open' in each ? each.open : each.shownBy.join('; ');
}

test('every requirement says what it asks for, and why where no test shows it', () => {
  expect(EVERY.filter((each) => each.line.length < 6 || saidOf(each).length < 10)).toEqual([]);
  expect(new Set(RFC_9700.map(({ id }) => id)).size).toBe(RFC_9700.length);
  const counts = (['shownBy', 'not', 'open'] as const).map((key) => EVERY.filter((each) => key in each).length);
  process.stdout.write(`Requirements of ASVS and RFC 9700 shown, that can't apply, open: ${counts.join(', ')}\n`);
});
