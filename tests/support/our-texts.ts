import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync, Visitor } from 'vite';

const ROOT = join(import.meta.dirname, '../..');
/** Stands for interpolated values. */
const FILLED_IN = 'San Bruno';
/** In source files, subscribers only read the arguments of these. */
const TELLS = /^(?:Refusal|unavailable)$/;

type OurText = { readonly file: string; readonly text: string };

/** The texts that subscribers read, extracted from the sources, so that new ones are found automatically. */
export function ourTexts(): OurText[] {
  const wording = [
    'src/portal/wording.ts',
    ...filesUnder('src/portal/wording'),
    'src/server/worker/sentences.ts',
    'src/server/mail/copy/ledger/reasons.ts',
    'src/server/notifications/wording.ts',
    'src/server/notifications/occasions.ts',
    'src/server/notifications/support-copy.ts',
  ];
  return [
    ...wording.flatMap((file) => literalsIn(file)),
    ...filesUnder('src/server/web').flatMap((file) => literalsIn(file, TELLS)),
    ...textsOfPage('src/portal/index.html'),
    ...textsOfPage('src/server/export/page/reader.html'),
  ]
    .map(({ file, text }) => ({ file, text: text.replaceAll(/<[^<>]*>/g, '. ').trim() }))
    .filter(({ text }) => /\p{L} +\p{L}/u.test(text));
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function literalsIn(file: string, callees?: RegExp): OurText[] {
  const { program } = parseSync(file, readFileSync(join(ROOT, file), 'utf8'));
  const found: OurText[] = [];
  let depth = callees === undefined ? 1 : 0;
  const enter = (callee: { type: string; name?: unknown }) => {
    if (callee.type === 'Identifier' && callees?.test(String(callee.name)) === true) depth += 1;
  };
  const leave = (callee: { type: string; name?: unknown }) => {
    if (callee.type === 'Identifier' && callees?.test(String(callee.name)) === true) depth -= 1;
  };
  new Visitor({
    NewExpression: ({ callee }) => enter(callee),
    'NewExpression:exit': ({ callee }) => leave(callee),
    CallExpression: ({ callee }) => enter(callee),
    'CallExpression:exit': ({ callee }) => leave(callee),
    Literal: ({ value }) => {
      if (depth > 0 && typeof value === 'string') found.push({ file, text: value });
    },
    TemplateLiteral: ({ quasis }) => {
      if (depth > 0) found.push({ file, text: quasis.map(({ value }) => value.cooked ?? '').join(FILLED_IN) });
    },
  }).visit(program);
  return found;
}

function textsOfPage(file: string): OurText[] {
  const html = readFileSync(join(ROOT, file), 'utf8');
  return [...html.matchAll(/<(?:title|h1|h2|p|li|a)\b[^>]*>([^<]+)|content="([^"]+ [^"]+\.)"/g)].map(
    ([, inside = '', described = '']) => ({ file, text: `${inside}${described}`.replaceAll(/\s+/g, ' ').trim() }),
  );
}
