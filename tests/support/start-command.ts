import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

type Manifest = { readonly scripts: { readonly start: string } };

/** What `npm start` gives to the shell. */
export function startCommand(): string {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  return scripts.start;
}

/** The flags that `npm start` passes to Node. */
export function startFlags(): readonly string[] {
  return startCommand()
    .split(' ')
    .filter((word) => word.startsWith('--'));
}
