import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { PATHS } from '../../machines/wizard.routes.ts';
import { readSettings } from '../../src/contract/settings.ts';
import { SETTING_NAMES } from '../../src/contract/settings/variables.ts';

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

const documents = globSync('{*.md,{src,machines,tests,stories}/**/*.md}', { cwd: ROOT });

test.each(documents)('each link and picture of %s leads somewhere, and each command is there', (document) => {
  const text = read(document);
  const links = found(/\]\(((?!\w+:)[^)]+)\)/g, text);
  const dead = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? document : join(dirname(document), path);
    return !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsIn(read(file)).includes(anchor));
  });
  expect(dead).toEqual([]);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(found(/npm run ([\w-]+)/g, text).filter((name) => !(name in scripts))).toEqual([]);
});

test('the README leads to pictures, rooms and other documents', () => {
  expect(documents.length).toBeGreaterThan(8);
  expect(found(/\]\(([^)]+)\)/g).length).toBeGreaterThan(20);
});

test('each page that the README names has that address', () => {
  const known = [...Object.values(PATHS), '/healthz', '/readyz'];
  expect(found(/`(\/[a-z-]+)(?:\?[^`]*)?`/g).filter((path) => !known.includes(path))).toEqual([]);
});

test('the settings for real providers are lines of a .env file, and the start takes them', () => {
  const [, block = ''] = /```sh\n(PUBLIC_URL=[^`]*)```/.exec(README) ?? [];
  const environment = parseEnv(block.replaceAll('…', 'canary'));
  expect(Object.keys(environment).filter((name) => !SETTING_NAMES.some((known) => known === name))).toEqual([]);
  const { publicUrl, smtpUrl, mailFrom, supportEmail, sms, provisioning, providers } = readSettings(environment);
  expect({ publicUrl, smtpUrl, mailFrom, supportEmail, sms, provisioning }).toEqual({
    publicUrl: 'https://transfer.example.com',
    smtpUrl: 'smtps://user:secret@smtp.example.com',
    mailFrom: 'no-reply@example.com',
    supportEmail: 'help@example.com',
    sms: { url: 'https://sms.example.com/send', token: 'canary' },
    provisioning: { url: 'https://accounts.example.com/v1', token: 'canary' },
  });
  expect(providers.yahoo.client).toEqual({ id: 'canary', secret: 'canary' });
});

test('the README names each setting', () => {
  const ofProviders = /^(?:GOOGLE|YAHOO|OFFICE365|AOL)_/;
  const named = SETTING_NAMES.filter((name) => README.includes(`\`${name}`) || README.includes(`\n${name}=`));
  const asOneOfFour = SETTING_NAMES.filter((name) => README.includes(name.replace(ofProviders, '`*_')));
  const clients = SETTING_NAMES.filter((name) => /_CLIENT_(?:ID|SECRET)$/.test(name));
  expect(clients).toHaveLength(8);
  expect(SETTING_NAMES.filter((name) => ![...named, ...asOneOfFour, ...clients].includes(name))).toEqual([]);
});
