import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Environment, OWN_INSPECTOR, portalSettings, readSettings, type Settings } from './contract/settings.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src/portal', 'src/inspector', 'src/contract', 'machines'];
const SINGLE_SOURCES = ['vite.config.ts', 'package-lock.json', 'src/build-portal.ts'];
const COMPRESSED = /\.(?:js|css|svg|html)$/;

/** Builds the portal when its sources or its settings have changed since the last build, and answers its folder. */
export async function buildPortal(environment: Environment): Promise<string> {
  const settings = readSettings(environment);
  const out = join(ROOT, settings.inspectorUrl === undefined ? 'dist/portal' : 'dist/portal-inspected');
  const stampFile = `${out}.stamp`;
  const stamp = await stampOf(settings);
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) return out;
  process.stdout.write('Building the portal…\n');
  await rm(stampFile, { force: true });
  const { build } = await import('vite');
  const before = process.env;
  // vite.config.ts reads the environment, as the sandbox may have completed it.
  process.env = { ...environment };
  try {
    await build({ configFile: join(ROOT, 'vite.config.ts'), logLevel: 'warn', build: { outDir: out } });
    if (settings.inspectorUrl === OWN_INSPECTOR) await buildInspector(join(out, dirname(OWN_INSPECTOR)));
  } finally {
    process.env = before;
  }
  await compress(out);
  await writeFile(stampFile, stamp);
  return out;
}

/** The viewer of the portal's machine is a site of its own beside the portal, and only there when it is asked for. */
async function buildInspector(out: string): Promise<void> {
  const { build } = await import('vite');
  await build({
    configFile: join(ROOT, 'vite.config.ts'),
    root: join(ROOT, 'src/inspector'),
    base: './',
    logLevel: 'warn',
    build: { outDir: out, chunkSizeWarningLimit: 4000 },
  });
}

async function stampOf(settings: Settings): Promise<string> {
  const asked = JSON.stringify([portalSettings(settings), settings.inspectorUrl]);
  const hash = createHash('sha256').update(asked);
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
async function compress(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
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
