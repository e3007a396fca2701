import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm run sbom`: the bill of materials of what runs, as CycloneDX. `npm sbom --omit dev` leaves out what a development
 * package needs as well (react, xstate), so npm is shown the package without its development packages.
 */
type Package = Record<string, unknown> & { devDependencies?: object };
type Lock = { packages: Record<string, Package & { dev?: boolean }> };

const ROOT = join(import.meta.dirname, '..');
const read = (name: string): unknown => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const withoutDevelopment = (each: Package): Package => ({ ...each, devDependencies: {} });

const lock = read('package-lock.json') as Lock;
const packages = Object.entries(lock.packages)
  .filter(([, { dev }]) => dev !== true)
  .map(([path, each]) => [path, path === '' ? withoutDevelopment(each) : each]);

const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(withoutDevelopment(read('package.json') as Package)));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: Object.fromEntries(packages) as object }),
  );
  const { status } = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
