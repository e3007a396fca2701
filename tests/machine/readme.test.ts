import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PATHS } from '../../machines/wizard.routes.ts';
import { SETTING_NAMES } from '../../src/contract/settings/variables.ts';
import { needs, SPECIFICATION } from '../support/needs.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const README = read('README.md');
const found = (pattern: RegExp, text = README) => [
  ...new Set([...text.matchAll(pattern)].map(([, first = '']) => first)),
];

/** As GitHub makes them. */
const anchorsIn = (text: string) =>
  found(/^#+ (.+)$/gm, text).map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

test('each link and picture of the README leads somewhere', () => {
  const links = found(/\]\(([^)]+)\)/g);
  expect(links.length).toBeGreaterThan(20);
  const dead = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? 'README.md' : path;
    return !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsIn(read(file)).includes(anchor));
  });
  expect(dead).toEqual([]);
});

test('each command of the README is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(found(/npm run ([\w-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
});

test('each page that the README names has that address', () => {
  const known = [...Object.values(PATHS), '/healthz', '/readyz'];
  expect(found(/`(\/[a-z-]+)(?:\?[^`]*)?`/g).filter((path) => !known.includes(path))).toEqual([]);
});

test(
  'the README names each setting that decisions.md does not',
  needs('the specification beside the repository'),
  () => {
    const decided = readFileSync(join(SPECIFICATION, 'decisions.md'), 'utf8');
    const ofProviders = /^(?:GOOGLE|YAHOO|OFFICE365|AOL)_/;
    const rest = SETTING_NAMES.filter((name) => !decided.includes(`\`${name}`) && !ofProviders.test(name));
    expect(rest.length).toBeGreaterThan(5);
    expect(rest.filter((name) => !README.includes(`\`${name}`))).toEqual([]);
  },
);
