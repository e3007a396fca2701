import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RULES, SECTIONS } from '../specification/all.ts';
import { DECISIONS } from '../specification/decisions.ts';
import type { Rule } from '../specification/rule.ts';
import { needs, SPECIFICATION } from '../support/needs.ts';

const TESTS = join(import.meta.dirname, '..');

/** Markdown as one line of words: rules of tables, bullets and line ends say nothing. */
function wordsOf(markdown: string): string {
  return markdown.replaceAll(/^\s*\|[\s|-]+\|\s*$/gm, ' ').replaceAll(/\s+/g, ' ');
}

function sectionOf(file: string, heading: string): string {
  const text = readFileSync(join(SPECIFICATION, file), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(heading));
  if (section === undefined) throw new Error(`${file} has no section "${heading}".`);
  return wordsOf(section.slice(section.indexOf('\n')));
}

/** What of a section is in none of the listed lines. */
function unlisted(section: string, listed: readonly Rule[]): string {
  let rest = section;
  for (const { line } of listed) {
    expect(rest).toContain(line);
    rest = rest.replace(line, ' ');
  }
  return rest.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/** Every title of a test: a literal that is followed by the test's function. */
function titlesIn(source: string): string[] {
  const titles = source.matchAll(
    /(?<quote>['"`])(?<title>(?:\\.|(?!\k<quote>)[^\\\n])+)\k<quote>,\s*(?:\{[^{}]*\},\s*|needs\([^()]*\),\s*|\w+,\s*)?(?:async\s*)?\(/g,
  );
  return [...titles].map(({ groups }) => (groups?.['title'] ?? '').replaceAll(/\\(.)/g, '$1'));
}

const titles = new Set(
  readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => titlesIn(readFileSync(join(TESTS, file), 'utf8'))),
);

test('every test that a line of the specification names exists', () => {
  expect(RULES.flatMap(({ shownBy }) => shownBy).filter((title) => !titles.has(title))).toEqual([]);
});

test('every line of the specification that demands something names the test that shows it', () => {
  const demands = RULES.filter(({ kind }) => kind !== 'frame' && kind !== 'open');
  process.stdout.write(`Lines of the specification and of the security standards shown by a test: ${demands.length}\n`);
  expect(demands.filter(({ shownBy }) => shownBy.length === 0).map(({ line }) => line)).toEqual([]);
});

describe('the specification', needs('the specification beside the repository'), () => {
  test.each(SECTIONS)('section %i of portal.md is listed line by line, and nothing else', (number, listed) => {
    expect(unlisted(sectionOf('portal.md', `${number}. `), listed)).toBe('');
  });

  test.each(DECISIONS)('"%s" of decisions.md is listed line by line, and nothing else', (heading, listed) => {
    expect(unlisted(sectionOf('decisions.md', `${heading}\n`), listed)).toBe('');
  });

  test.each([
    ['portal.md', SECTIONS.map(([number]) => `${number}. `)],
    ['decisions.md', DECISIONS.map(([heading]) => `${heading}\n`)],
  ])('%s has no other section', (file, headings) => {
    const [, ...sections] = readFileSync(join(SPECIFICATION, file), 'utf8').split(/^## /m);
    expect(sections.filter((section) => !headings.some((heading) => section.startsWith(heading)))).toEqual([]);
  });
});
