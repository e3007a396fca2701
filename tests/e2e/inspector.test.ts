import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtPortal } from '../support/portal-alone.ts';
import { startProductOnPostgres } from '../support/product.ts';

test('a build that is not asked for the inspector has nothing of it', async () => {
  await using product = await startProductOnPostgres();
  expect((await fetch(`${product.url}/inspector/index.html`)).status).toBe(404);
  const folder = await builtPortal();
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && /\.(?:js|css|html)$/.test(entry.name)) {
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
      if (/inspector|statelyai/i.test(text)) found.push(entry.name);
    }
  expect(found).toEqual([]);
});
