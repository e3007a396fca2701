import { createHash, randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openExportThread } from '../../src/server/export/thread/export-thread.ts';
import { writeArchive } from '../../src/server/export/archive/zip-archive.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { openBadLine } from '../support/bad-line.ts';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { digestsOf, memoryAccount, type MemoryMailbox } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';
import { fromBrowser, openWebWorld, type WebWorld } from '../support/web-world.ts';

const MB = 1_000_000;
/** Beyond what the fields of a ZIP without its 64-bit extension hold. */
const [ENTRIES, OCTETS] = [65_535, 2 ** 32];

let folder: string;
let web: WebWorld;
let exports: ExportWorld;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'large-'));
  web = await openWebWorld({ environment: { EXPORTS_URL: join(folder, 'exports') } });
  exports = await openExportWorld({
    database: web.database,
    root: join(folder, 'exports'),
    limits: { partOctets: 8_000 * MB },
  });
});
afterAll(async () => {
  await exports[Symbol.asyncDispose]();
  await web[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Messages of `size` octets that differ and do not compress; they share their memory. */
function mailbox(count: number, size: number): MemoryMailbox {
  const noise = randomBytes(size + count * 1000);
  return {
    path: 'INBOX',
    messages: Array.from({ length: count }, (_, at) => ({
      uid: at + 1,
      bytes: noise.subarray(at * 1000, at * 1000 + size),
      flags: [],
      internalDate: new Date(Date.UTC(2020, 0, 1)),
    })),
  };
}

/** The one that ordered all exports here. */
const BROWSER = 'b'.repeat(64);

async function exported(source: MemoryMailbox) {
  const id = await exports.newTransfer();
  await exports.exportMail(id, memoryAccount([source]));
  await exports.endMail(id);
  await openWeb(web.services).owners.add(id, BROWSER);
  const [file] = (await web.services.transfers.status(id))?.exports ?? [];
  const [path] = await exports.files(id);
  if (file === undefined || path === undefined) throw new Error('There is no file.');
  return { ...file, path };
}

/** The digests of all messages, and how many entries there are, as Python's `zipfile` reads them, each checked by its CRC. */
async function readByPython(archive: string): Promise<{ digests: string[]; entries: number }> {
  const script = `
import sys, zipfile, hashlib, json
archive, digests = zipfile.ZipFile(sys.argv[1]), []
for name in archive.namelist():
  digest = hashlib.sha256()
  with archive.open(name) as file:
    while piece := file.read(1 << 20): digest.update(piece)
  if name.endswith('.eml'): digests.append(digest.hexdigest())
print(json.dumps({'digests': sorted(digests), 'entries': len(archive.namelist())}))`;
  return JSON.parse((await run('python3', ['-c', script, archive])).toString()) as {
    digests: string[];
    entries: number;
  };
}

async function sha256Of(file: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}

/** Ends with curl's code: 0 when it has the whole file. */
function curlOn(url: string, file: string, port: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  // All that asks for the address of the link is led to the bad line.
  const { cookie } = fromBrowser(BROWSER);
  const line = ['--connect-to', `::127.0.0.1:${port}`];
  const parameters = ['-sS', '--fail', '-C', '-', '-b', cookie, ...line, '-o', file, url];
  execFile('curl', parameters, (error) =>
    resolve(typeof error?.code === 'number' ? error.code : error === null ? 0 : -1),
  );
  return promise;
}

/** Downloads over a line that breaks, going on each time, as `curl -C -` in a loop does; what has come is never less. */
async function downloaded(url: string, octetsUntilCut: () => number): Promise<{ file: string; cuts: number }> {
  const file = join(folder, 'downloaded.zip');
  await rm(file, { force: true });
  await using line = await openBadLine(Number(new URL(web.url).port), octetsUntilCut);
  const come = () =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    );
  for (let code = -1; code !== 0;) {
    const had = await come();
    code = await curlOn(url, file, line.port);
    // 18: a part came. 52: not even the header. 56: the connection was reset.
    expect([0, 18, 52, 56]).toContain(code);
    expect(await come()).toBeGreaterThanOrEqual(had);
  }
  return { file, cuts: line.cuts() };
}

const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(0);
const oneTo = (most: number) => () => Math.ceil(Math.random() * most);

test(
  'an archive of more than 65,535 entries is read whole by unzip, bsdtar, 7z and Python',
  needs('unzip', 'bsdtar', '7z', 'python3'),
  async () => {
    const [folders, messages] = [ENTRIES, 500];
    const archive = join(folder, 'entries.zip');
    const modified = new Date(Date.UTC(2020, 0, 1));
    // Most are empty folders: those are written much faster than files, and are entries like any other.
    async function* files() {
      for (let at = 0; at < folders; at += 1)
        yield { path: `mail/Folder ${at}/`, modified, grain: 0, content: async function* () {} };
      for (let at = 0; at < messages; at += 1)
        yield {
          path: `mail/INBOX/${at}.eml`,
          modified,
          grain: 10,
          content: async function* () {
            yield Buffer.from(`Subject: ${at}\r\n`);
          },
        };
    }
    await using thread = openExportThread();
    const written = await writeArchive(archive, files(), thread, new AbortController().signal);
    expect((await stat(archive)).size).toBe(written.size);
    expect((await run('unzip', ['-t', archive])).toString().match(/ OK$/gm)).toHaveLength(folders + messages);
    expect((await run('bsdtar', ['-tf', archive])).toString().trim().split('\n')).toHaveLength(folders + messages);
    expect((await run('7z', ['t', archive])).toString()).toMatch(
      new RegExp(`Everything is Ok\\s+Folders: ${folders}\\s+Files: ${messages}\\s`),
    );
    const read = await readByPython(archive);
    expect(read.entries).toBe(folders + messages);
    expect(new Set(read.digests).size).toBe(messages);
  },
);

test('curl -C - brings the whole file over a line that breaks again and again', needs('curl', 'python3'), async () => {
  const source = mailbox(6, 10 * MB);
  const { url, path, sha256 } = await exported(source);
  const { file, cuts } = await downloaded(url, oneTo(8 * MB));
  expect(cuts).toBeGreaterThan(7);
  expect(await sha256Of(file)).toBe(sha256);
  expect(await sha256Of(path)).toBe(sha256);
  expect((await readByPython(file)).digests).toEqual(digestsOf([source]));
});

describe(
  'an archive of more than 4 GiB',
  { ...needs('unzip', 'bsdtar', '7z', 'python3', 'curl', 'PROOFS=all'), timeout: 1_800_000 },
  () => {
    test('is read whole by unzip, bsdtar, 7z and Python, and arrives over a line that breaks', async ({ annotate }) => {
      const source = mailbox(70, 65 * MB);
      const began = performance.now();
      const { url, path, sha256, size } = await exported(source);
      const written = performance.now();
      expect(size).toBeGreaterThan(OCTETS);
      expect((await stat(path)).size).toBe(size);
      await run('unzip', ['-tqq', path]);
      expect((await run('7z', ['t', path])).toString()).toContain('Everything is Ok');
      expect((await run('bsdtar', ['-tf', path])).toString().match(/\.eml$/gm)).toHaveLength(70);
      expect((await readByPython(path)).digests).toEqual(digestsOf([source]));
      const read = performance.now();
      const { file, cuts } = await downloaded(url, oneTo(600 * MB));
      expect(cuts).toBeGreaterThan(7);
      expect(await sha256Of(file)).toBe(sha256);
      await run('bsdtar', ['-xOf', file, 'README.txt']);
      await annotate(
        `${(size / 1e9).toFixed(2)} GB: written in ${seconds(began, written)} s, read by four programs in ${seconds(written, read)} s, downloaded over ${cuts} cuts in ${seconds(read, performance.now())} s`,
        'figure',
      );
    });
  },
);
