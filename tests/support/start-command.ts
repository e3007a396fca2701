import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

type Manifest = { readonly scripts: { readonly start: string } };

/** The flags that `npm start` passes to Node. */
export function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  return scripts.start.split(' ').slice(1, -1);
}
