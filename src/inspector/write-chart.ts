import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chartFiles } from './chart-files.ts';

const FOLDER = join(import.meta.dirname, '../../machines/chart');

await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const files = await chartFiles();
for (const [name, text] of files) await writeFile(join(FOLDER, name), text);
process.stdout.write(`machines/chart: ${[...files.keys()].join(', ')}\n`);
