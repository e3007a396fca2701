import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants as zlib, gzip } from 'node:zlib';
import { type Environment, OWN_INSPECTOR, portalSettings, type Settings } from './contract/settings.ts';
import { settingsFrom } from './read-settings.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src/portal', 'src/inspector', 'src/contract', 'machines'];
const SINGLE_SOURCES = ['vite.config.ts', 'package-lock.json', 'src/build-portal.ts'];
const BUILDS = join(ROOT, 'dist');
const BUILDS_KEPT = 8;
const UNFINISHED = 'unfinished-';
const BUILT_WITHIN_MS = 3_600_000;
const DIGEST_LENGTH = 16;
const COMPRESSED = /\.(?:js|css|svg|html)$/;

/**
 * Builds the portal when its sources or its settings have changed since the last build, and answers its folder. A build
 * lies under the digest of what it was made from and appears all at once, so two starts don't get in each other's way.
 */
export async function buildPortal(environment: Environment): Promise<string> {
  const settings = settingsFrom(environment);
  const digest = await digestOf(settings);
  const out = join(BUILDS, `portal-${digest}`);
  if (existsSync(out)) return readable(out);
  process.stdout.write('Building the portal…\n');
  const unfinished = await newFolder();
  try {
    await buildApart(unfinished, environment);
    await makeReadable(unfinished);
    await rename(unfinished, out);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another start was faster with the same build.
    if (!existsSync(out)) throw error;
  }
  await removeOldBuilds(out);
  return out;
}

/** The portal can't be built, or what has been built not be read. The message is for the operator. */
export class PortalUnbuilt extends Error {
  override name = 'PortalUnbuilt';
}

async function newFolder(): Promise<string> {
  try {
    await mkdir(BUILDS, { recursive: true });
    await removeAbandoned();
    return await mkdtemp(join(BUILDS, UNFINISHED));
  } catch (cause) {
    throw new PortalUnbuilt(
      `The portal can't be built into ${BUILDS} (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}). Run "npm run build" with the same settings as somebody who may write there, or make it writable.`,
      { cause },
    );
  }
}

/** What a start that was killed has left. */
async function removeAbandoned(): Promise<void> {
  for (const name of (await readdir(BUILDS)).filter((each) => each.startsWith(UNFINISHED))) {
    const path = join(BUILDS, name);
    const { mtimeMs = Infinity } = (await stat(path).catch(() => null)) ?? {};
    if (mtimeMs < Date.now() - BUILT_WITHIN_MS) await rm(path, { recursive: true, force: true });
  }
}

async function readable(folder: string): Promise<string> {
  try {
    await access(folder, constants.R_OK | constants.X_OK);
    return folder;
  } catch (cause) {
    throw new PortalUnbuilt(`The portal in ${folder} can't be read by this user. Delete it, or make it readable.`, {
      cause,
    });
  }
}

/** Whoever builds may be another user than the one that the product runs as; everybody may have the portal. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}

/** In a process of its own, so that what a build takes of memory is given back before the server begins. */
async function buildApart(folder: string, environment: Environment): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, folder], {
    cwd: ROOT,
    // vite.config.ts reads the environment, as the sandbox may have completed it.
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0)
    throw new PortalUnbuilt(
      `The portal could not be built into ${BUILDS} (${code ?? signal}). What the build said of it stands above, if it could: is there room on that disk, and memory?`,
    );
}

async function buildInto(folder: string): Promise<void> {
  const { build } = await import('vite');
  await build({ configFile: join(ROOT, 'vite.config.ts'), logLevel: 'warn', build: { outDir: folder } });
  if (settingsFrom(process.env).inspectorUrl === OWN_INSPECTOR)
    await buildInspector(join(folder, dirname(OWN_INSPECTOR)));
  await compress(folder);
}

/** The newest few of the other builds that lie beside this one: pages that were opened before an upgrade go on with them. */
export async function earlierBuilds(current: string): Promise<string[]> {
  return (await buildsBeside(current)).slice(0, BUILDS_KEPT);
}

/** Servers read what they serve whole when they start, so that none misses an old build. */
async function removeOldBuilds(current: string): Promise<void> {
  const old = (await buildsBeside(current)).slice(BUILDS_KEPT);
  await Promise.all(old.map((path) => rm(path, { recursive: true, force: true })));
}

/** The newest first. */
async function buildsBeside(current: string): Promise<string[]> {
  const builds = (await readdir(BUILDS)).filter((name) => name.startsWith('portal-')).map((name) => join(BUILDS, name));
  const aged = await Promise.all(
    builds.map(async (path) => ({ path, made: (await stat(path).catch(() => null))?.mtimeMs ?? 0 })),
  );
  return aged
    .filter(({ path }) => path !== current)
    .toSorted((one, other) => other.made - one.made)
    .map(({ path }) => path);
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

async function digestOf(settings: Settings): Promise<string> {
  const asked = JSON.stringify([portalSettings(settings), settings.inspectorUrl]);
  const hash = createHash('sha256').update(asked);
  const files = await Promise.all(SOURCES.map(filesIn));
  for (const file of [...files.flat(), ...SINGLE_SOURCES].toSorted())
    hash.update(`\n${file}\n`).update(await readFile(join(ROOT, file)));
  return hash.digest('hex').slice(0, DIGEST_LENGTH);
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
        const quality = { params: { [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY } };
        await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
        await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }),
  );
}

if (import.meta.main) await buildInto(process.argv[2] ?? '');
