import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Environment, portalSettings, readSettings } from './contract/settings.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src/portal', 'src/contract', 'machines'];
const SINGLE_SOURCES = ['vite.config.ts', 'package-lock.json', 'src/build-portal.ts'];
const OUT = join(ROOT, 'dist/portal');
const STAMP = join(ROOT, 'dist/portal.stamp');
const COMPRESSED = /\.(?:js|css|svg|html)$/;

/** Builds the portal when its sources or its settings have changed since the last build, and answers its folder. */
export async function buildPortal(environment: Environment): Promise<string> {
  const stamp = await stampOf(environment);
  if ((await readFile(STAMP, 'utf8').catch(() => '')) === stamp) return OUT;
  process.stdout.write('Building the portal…\n');
  await rm(STAMP, { force: true });
  const { build } = await import('vite');
  const before = process.env;
  // vite.config.ts reads the environment, as the sandbox may have completed it.
  process.env = { ...environment };
  try {
    await build({ configFile: join(ROOT, 'vite.config.ts'), logLevel: 'warn' });
  } finally {
    process.env = before;
  }
  await compress();
  await writeFile(STAMP, stamp);
  return OUT;
}

async function stampOf(environment: Environment): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(portalSettings(readSettings(environment))));
  const files = await Promise.all(SOURCES.map(filesIn));
  for (const file of [...files.flat(), ...SINGLE_SOURCES].toSorted())
    hash.update(`\n${file}\n`).update(await readFile(join(ROOT, file)));
  return hash.digest('hex');
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
}

/** Brotli and gzip once here, rather than at every request. */
async function compress(): Promise<void> {
  const entries = await readdir(OUT, { recursive: true, withFileTypes: true });
  await Promise.all(
    entries
      .filter((entry) => entry.isFile() && COMPRESSED.test(entry.name))
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        const bytes = await readFile(path);
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
        await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
        await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }),
  );
}
