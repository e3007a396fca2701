import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SETTING_NAMES } from '../../src/contract/settings/variables.ts';
import { readSettings } from '../../src/contract/settings.ts';
import { holdDataFolder } from '../../src/server/store/data-folder.ts';
import { openFolderSafe } from '../../src/server/store/safe.ts';
import { openVault, SealError } from '../../src/server/store/vault.ts';
import { needs } from '../support/needs.ts';
import { adviceIn, knownVulnerabilities } from '../support/npm-audit.ts';

const ROOT = join(import.meta.dirname, '../..');

type Source = { readonly path: string; readonly text: string };

/** Sources without their comments. */
function sources(...folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => ({
        path: `${folder}/${file}`,
        text: readFileSync(join(ROOT, folder, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ''),
      })),
  );
}

const SERVER = sources('src/server', 'src/contract');
const PAGE = sources('src/portal', 'machines', 'src/contract');

/** Where an expression is found, as `file: what was found`. */
function found(within: readonly Source[], what: RegExp): string[] {
  return within.flatMap(({ path, text }) => [...text.matchAll(what)].map(([match]) => `${path}: ${match}`));
}

describe('the sources of the server', () => {
  test('are looked at at all', () => {
    expect(SERVER.length).toBeGreaterThan(200);
    expect(PAGE.length).toBeGreaterThan(60);
    expect(found(SERVER, /from 'node:http'/g)).not.toEqual([]);
  });

  test('run no program and no text as code', () => {
    const dangerous =
      /node:(?:child_process|vm|cluster)|\beval\(|new Function\b|\bFunction\(|\bdeserialize\(|\bimport\((?!['"])/g;
    expect(found(SERVER, dangerous)).toEqual([]);
    // A thread of our own file, by its name.
    expect(found(SERVER, /new Worker\([^{]*|IN_THREAD = .*/g)).toEqual([
      "src/server/export/thread/export-thread.ts: IN_THREAD = new URL('in-thread.ts', import.meta.url);",
      'src/server/export/thread/export-thread.ts: new Worker(entry, ',
    ]);
  });

  test('make no expression of text, and fill no format of text', () => {
    expect(found(SERVER, /\bRegExp\(|node:util'/g)).toEqual([]);
  });

  test('ask other servers by the fetch that outlives their answers', () => {
    const [asking, importing] = [/await fetch\((?!listing)/g, /import \{ fetch \} from '\.\.\/fetch\.ts'/g].map(
      (pattern) => found(SERVER, pattern).map((line) => line.split(':')[0]),
    );
    expect(asking).toEqual(importing);
  });

  test('bring text into a normal form in one place only, where it takes no quadratic time', () => {
    expect(found(SERVER, /\.normalize\(.*/g)).toEqual([
      'src/server/normalized.ts: .normalize(form);',
      "src/contract/email-address.ts: .normalize('NFKC')",
    ]);
  });

  test('write to the log and nowhere else', () => {
    expect(found(SERVER, /\bconsole\.|process\.std(?:out|err)|pino\.destination\(|openLogOutput\([A-Z]\w+/g)).toEqual([
      'src/server/log.ts: openLogOutput(STANDARD_OUTPUT',
    ]);
  });

  test('take what must not be guessed from the system’s random numbers', () => {
    expect(found(SERVER, /Math\.random|randomInt|pseudoRandomBytes/g)).toEqual([]);
    const lengths = found(SERVER, /randomBytes\((?:\d+|[A-Z_]+)\)/g).map((line) =>
      line.slice(line.indexOf('(') + 1, -1),
    );
    expect(new Set(lengths)).toEqual(new Set(['16', '32', 'KEY_LENGTH', 'NONCE_LENGTH', 'SALT_OCTETS']));
  });

  test('speak no TLS older than 1.2, choose no cipher, and look past a certificate in one place only', () => {
    expect(found(SERVER, /ciphers|secureProtocol|maxVersion|TLSv1(?:\.1)?'|NODE_TLS_REJECT_UNAUTHORIZED/g)).toEqual([]);
    expect(found(SERVER, /minVersion: (?!'TLSv1\.2').*/g)).toEqual([]);
    expect(found(SERVER, /rejectUnauthorized: (?!boolean)[^,}]+/g).map((line) => line.trim())).toEqual([
      "src/server/mail/imap/tls.ts: rejectUnauthorized: security !== 'open'",
    ]);
  });
});

describe('the sources of the page', () => {
  test('write no markup, listen to no other window, and set no cookie', () => {
    expect(
      found(
        PAGE,
        /dangerouslySetInnerHTML|\b(?:inner|outer)HTML|insertAdjacentHTML|document\.(?:write|cookie)|srcDoc|postMessage\(|addEventListener\('message'|\beval\(|new Function\b|javascript:/g,
      ),
    ).toEqual([]);
  });
});

describe('what the product keeps secret', () => {
  test('can not be changed by a bit without being refused', () => {
    const vault = openVault(Buffer.alloc(32, 1));
    const sealed = vault.seal('a/1', 'secret');
    expect(vault.open('a/1', sealed)).toBe('secret');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => vault.open('a/1', changed)).toThrow(SealError);
    }
    expect(() => vault.open('a/1', sealed.subarray(0, -1))).toThrow(SealError);
    expect(vault.seal('a/1', 'secret').equals(sealed), 'the same nonce twice').toBe(false);
  });

  test('lies where its owner alone can read it', async () => {
    const path = await mkdtemp(join(tmpdir(), 'data-'));
    onTestFinished(() => rm(path, { recursive: true }));
    await using folder = await holdDataFolder(path);
    await folder.secretKey();
    const safe = await openFolderSafe(openVault(Buffer.alloc(32, 1)), join(path, 'keys'));
    await safe.seal('a/1', 'secret');
    const [key = ''] = readdirSync(join(path, 'keys'));
    const modes = ['secret-key', 'keys', `keys/${key}`].map((name) => statSync(join(path, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o700, 0o600]);
  });

  test('has no value of its own in the settings', () => {
    const secrets = SETTING_NAMES.filter((name) => /(?:SECRET|TOKEN|KEY|CLIENT_ID)$/.test(name));
    expect(secrets).toHaveLength(12);
    const settings = readSettings({ LEGACY_IMAP_URL: 'imaps://imap.example.com:993' });
    expect([settings.secretKey, settings.receiptKey]).toEqual([undefined, undefined]);
    expect(Object.values(settings.providers).map(({ client }) => client)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([settings.provisioning, settings.sms]).toEqual([undefined, undefined]);
  });
});

const REGISTRY = 'https://registry.npmjs.org/';
type Lock = { readonly packages: Readonly<Record<string, { resolved?: string; integrity?: string; dev?: true }>> };

describe('every package', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const installed = Object.entries(packages).filter(([path]) => path !== '');

  test('comes from the registry of npm, with its checksum', () => {
    expect(installed.length).toBeGreaterThan(100);
    const odd = installed.filter(
      ([, { resolved, integrity }]) =>
        // Where nothing is named, it is the registry.
        !(resolved ?? REGISTRY).startsWith(REGISTRY) || integrity?.startsWith('sha512-') !== true,
    );
    expect(odd.map(([path]) => path)).toEqual([]);
  });

  test('is named by one version, and no range', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >;
    const versions = Object.values({ ...dependencies, ...devDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test('that runs is one of which the registry knows nothing bad', needs('the advisories of the npm registry'), () => {
    expect(knownVulnerabilities('high')).toEqual([]);
  });

  test('that runs is judged by what the registry says, and by nothing where it says nothing', () => {
    const bad = { name: 'a', severity: 'critical' };
    const answer = { vulnerabilities: { a: bad, b: { name: 'b', severity: 'moderate' } } };
    expect(adviceIn(JSON.stringify(answer))).toEqual([bad]);
    expect(adviceIn(JSON.stringify({ vulnerabilities: {} }))).toEqual([]);
    expect([adviceIn(''), adviceIn('{"error":{"code":"ENOAUDIT"}}'), adviceIn('npm error')]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test('that runs is in the bill of materials', () => {
    const bill = JSON.parse(
      execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
    ) as { bomFormat: string; components: { name: string; version: string }[] };
    expect(bill.bomFormat).toBe('CycloneDX');
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
    expect(Object.entries(dependencies).filter(([name, version]) => !listed.has(`${name}@${version}`))).toEqual([]);
    expect(bill.components.length).toBeGreaterThan(Object.keys(dependencies).length);
  });
});
