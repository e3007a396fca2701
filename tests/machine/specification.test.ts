import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SECTION_4, SECTION_5, SECTION_6 } from '../specification/behaviour.ts';
import { DECISIONS } from '../specification/decisions.ts';
import { SECTION_8, SECTION_9 } from '../specification/messages.ts';
import { SECTION_1, SECTION_2, SECTION_3 } from '../specification/product.ts';
import type { Rule } from '../specification/rule.ts';

const TESTS = join(import.meta.dirname, '..');
/** The specification lies beside the repository, and not on every machine. */
const SPECIFICATION = join(TESTS, '../../shared/spec');
const SECTIONS: readonly (readonly [number: number, rules: readonly Rule[]])[] = [
  [1, SECTION_1],
  [2, SECTION_2],
  [3, SECTION_3],
  [4, SECTION_4],
  [5, SECTION_5],
  [6, SECTION_6],
  [8, SECTION_8],
  [9, SECTION_9],
];
const rules = [...SECTIONS.flatMap(([, listed]) => listed), ...DECISIONS];

/** Markdown as one line of words: rules of tables, bullets and line ends say nothing. */
function wordsOf(markdown: string): string {
  return markdown.replaceAll(/^\s*\|[\s|-]+\|\s*$/gm, ' ').replaceAll(/\s+/g, ' ');
}

function sectionOf(number: number): string {
  const text = readFileSync(join(SPECIFICATION, 'portal.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${number}. `));
  if (section === undefined) throw new Error(`portal.md has no section ${number}.`);
  return wordsOf(section.slice(section.indexOf('\n')));
}

/** Every title of a test: a literal that is followed by the test's function. */
function titlesIn(source: string): string[] {
  const titles = source.matchAll(
    /(?<quote>['"`])(?<title>(?:\\.|(?!\k<quote>)[^\\\n])+)\k<quote>,\s*(?:\{[^{}]*\},\s*)?(?:async\s*)?\(/g,
  );
  return [...titles].map(({ groups }) => (groups?.['title'] ?? '').replaceAll(/\\(.)/g, '$1'));
}

const titles = new Set(
  readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => titlesIn(readFileSync(join(TESTS, file), 'utf8'))),
);

test('every test that a line of the specification names exists', () => {
  expect(rules.flatMap(({ shownBy }) => shownBy).filter((title) => !titles.has(title))).toEqual([]);
});

test('every line of the specification that demands something names the test that shows it', () => {
  const demands = rules.filter((rule) => rule.demands);
  process.stdout.write(`Lines of the specification shown by a test: ${demands.length}\n`);
  expect(demands.filter(({ shownBy }) => shownBy.length === 0).map(({ line }) => line)).toEqual([]);
});

describe.skipIf(!existsSync(SPECIFICATION))('the specification (needs ../shared/spec)', () => {
  test.each(SECTIONS)('section %i of portal.md is listed line by line, and nothing else', (number, listed) => {
    let rest = sectionOf(number);
    for (const { line } of listed) {
      expect(rest).toContain(line);
      rest = rest.replace(line, ' ');
    }
    expect(rest.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()).toBe('');
  });

  test('what is listed of decisions.md stands there', () => {
    const text = wordsOf(readFileSync(join(SPECIFICATION, 'decisions.md'), 'utf8'));
    expect(DECISIONS.map(({ line }) => line).filter((line) => !text.includes(line))).toEqual([]);
  });
});
