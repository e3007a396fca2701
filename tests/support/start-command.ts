import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

type Manifest = { readonly scripts: { readonly start: string } };

/** What `npm start` gives to Node before the program's file. */
export function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  return scripts.start.split(' ').slice(1, -1);
}
