import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SettingsError } from '../../src/contract/settings.ts';
import { FileGoneError, StoreError } from '../../src/server/export/storage/export-store.ts';
import { checkExports } from '../../src/server/export/storage/check-exports.ts';
import { openBucketStore } from '../../src/server/export/storage/bucket-store.ts';
import { openExportStore } from '../../src/server/export/storage/open-export-store.ts';
import { type Log, openLog } from '../../src/server/log.ts';
import { openVerifiers } from '../../src/server/transfers/verifiers.ts';
import { sweepExports } from '../../src/server/export/download/sweeper.ts';
import { openExportWorld } from '../support/export-world.ts';
import { freePort } from '../support/free-port.ts';
import { handOn, startHttpListener } from '../support/http-listener.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';
import { S3_KEYS, setVariables, startS3Server, type S3Server } from '../support/s3-server.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { fromBrowser, openWebWorld, type WebWorld } from '../support/web-world.ts';

const BROWSER = 'b'.repeat(64);
const DAY_MS = 86_400_000;

let server: S3Server;
let folder: string;
let web: WebWorld;
let putBack: () => void;

beforeAll(async () => {
  putBack = setVariables(S3_KEYS);
  folder = await mkdtemp(join(tmpdir(), 'bucket-'));
  server = await startS3Server();
  web = await openWebWorld({ environment: { EXPORTS_URL: server.url, DATA_DIR: folder } });
});
afterAll(async () => {
  await web[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  putBack();
  await rm(folder, { recursive: true, force: true });
});

test('an export in a bucket is written, downloaded in parts and deleted as one in a folder', async () => {
  await using world = await openExportWorld({ database: web.database, store: web.services.exports });
  const id = await world.newTransfer();
  const message = { uid: 1, bytes: randomBytes(20_000_000), flags: [], internalDate: new Date(0) };
  await world.exportMail(id, memoryAccount([{ path: 'INBOX', messages: [message] }]));
  expect(await server.keys()).toHaveLength(1);
  expect(await readdir(join(folder, 'staging'))).toEqual([]);

  await world.endMail(id);
  await openWeb(web.services).owners.add(id, BROWSER);
  const [file] = (await web.services.transfers.status(id))?.exports ?? [];
  const url = (file?.url ?? '').replace(web.settings.publicUrl, web.url);
  const first = await fetch(url, { headers: { ...fromBrowser(BROWSER), range: 'bytes=0-6999999' } });
  const second = await fetch(url, {
    headers: { ...fromBrowser(BROWSER), range: 'bytes=7000000-', 'if-range': first.headers.get('etag') ?? '' },
  });
  expect([first.status, second.status]).toEqual([206, 206]);
  const whole = Buffer.concat([Buffer.from(await first.arrayBuffer()), Buffer.from(await second.arrayBuffer())]);
  expect(createHash('sha256').update(whole).digest('hex')).toBe(file?.sha256);

  web.advance(web.settings.exportDays * DAY_MS - 60_000);
  await sweepExports({ ...web.services, verifiers: openVerifiers(web.services) });
  expect(await server.keys()).toHaveLength(1);
  expect((await fetch(url, { method: 'HEAD', headers: fromBrowser(BROWSER) })).status).toBe(200);
  web.advance(60_000);
  expect((await fetch(url, { headers: fromBrowser(BROWSER) })).status).toBe(404);
  await sweepExports({ ...web.services, verifiers: openVerifiers(web.services) });
  expect(await server.keys()).toEqual([]);
  expect(await web.services.transfers.status(id)).toMatchObject({ files: 'deleted' });
  web.advance(-web.settings.exportDays * DAY_MS);
});

test('an upload that its owner stops leaves nothing in the bucket', async () => {
  const stop = new AbortController();
  // Whoever asks for it comes with the first of the five pieces: three at most have been read by then.
  await using proxy = await startHttpListener((asked, answer) => {
    if (asked.url?.includes('partNumber=') === true) stop.abort();
    handOn(server.port, asked, answer);
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${proxy.port}`);
  const store = openExportStore({ exportsUrl, dataDir: folder });
  const file = join(folder, 'stopped.zip');
  await writeFile(file, Buffer.alloc(40_000_000));
  const before = await server.keys();
  await expect(store.put('1'.repeat(32), 'part-1.zip', file, stop.signal)).rejects.toThrow(StoreError);
  expect(stop.signal.aborted).toBe(true);
  expect(await server.keys()).toEqual(before);
});

test('an upload ends when its owner stops it, though the bucket does not answer', { tags: 'proof' }, async () => {
  const stop = new AbortController();
  await using silent = await startHttpListener((asked) => {
    // The message is there, and nothing is said to it; to what clears up after it neither, but not for long.
    if (asked.method === 'PUT') asked.resume().on('end', () => stop.abort());
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${silent.port}`);
  const file = join(folder, 'silent.zip');
  await writeFile(file, 'a small archive');
  const put = openExportStore({ exportsUrl, dataDir: folder }).put('2'.repeat(32), 'part-1.zip', file, stop.signal);
  await expect(put).rejects.toThrow(StoreError);
  expect(await readFile(file, 'utf8')).toBe('a small archive');
});

test('downloads that nobody reads on keep no export from being stored', async () => {
  const store = web.services.exports;
  const signal = new AbortController();
  const file = join(folder, 'large.zip');
  const name = '3'.repeat(32);
  await writeFile(file, Buffer.alloc(8_000_000));
  await store.put(name, 'part-1.zip', file, signal.signal);
  const range = { start: 0, end: 7_999_999 };
  await Promise.all(Array.from({ length: 60 }, () => store.read(name, 'part-1.zip', range, signal.signal)));
  await writeFile(file, 'the next one');
  await store.put(name, 'part-2.zip', file, signal.signal);
  signal.abort();
  await store.prune(name, async () => new Set(['part-2.zip']), new AbortController().signal);
  expect((await server.keys()).filter((key) => key.includes(name))).toEqual([`some/prefix/${name}/part-2.zip`]);
  await store.remove(name);
  expect((await server.keys()).filter((key) => key.includes(name))).toEqual([]);
});

test('the log says what a bucket says is wrong, and nothing else of it', async () => {
  await using closed = await startHttpListener((_asked, answer) => {
    answer.statusCode = 403;
    answer.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>canary</Message></Error>');
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${closed.port}`);
  const store = openExportStore({ exportsUrl, dataDir: folder });
  let logged = '';
  const log = openLog('info', { write: (line) => (logged += line) });
  await store.remove('5'.repeat(32)).catch((err: unknown) => log.error({ err }, 'not removed'));
  expect(JSON.parse(logged)).toMatchObject({ err: { name: 'StoreError', code: 'AccessDenied' } });
  expect(logged).not.toContain('canary');
});

test.each([
  ['in one answer of 5 MB', () => `<IsTruncated>false</IsTruncated>${' '.repeat(5 * 1024 * 1024)}`],
  [
    'in 150 answers',
    (at: number) =>
      `<IsTruncated>${at < 150}</IsTruncated><NextContinuationToken>${at}</NextContinuationToken><Contents/>`,
  ],
])('a bucket that lists files %s is not listened to for long', async (_how, listed) => {
  let asked = 0;
  await using endless = await startHttpListener((_asked, answer) => {
    asked += 1;
    answer.end(`<?xml version="1.0"?><ListBucketResult>${listed(asked)}</ListBucketResult>`);
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${endless.port}`);
  const store = openExportStore({ exportsUrl, dataDir: folder });
  await expect(store.remove('4'.repeat(32))).rejects.toThrow(StoreError);
});

/** The bucket, which answers one kind of request with a status of its own. */
async function startedWith(refused: { method: string; status: number }, log: Log): Promise<void> {
  await using proxy = await startHttpListener((asked, answer) => {
    if (asked.method === refused.method) asked.resume().on('end', () => answer.writeHead(refused.status).end());
    else handOn(server.port, asked, answer);
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${proxy.port}`);
  await checkExports(openExportStore({ exportsUrl, dataDir: folder }), log);
}

const IN_TROUBLE =
  'EXPORTS_URL can not be reached, or is in trouble: exports wait until it is well. Everything else goes on';

test('a bucket in trouble keeps nobody from starting, one that may not be read does', async () => {
  const said: string[] = [];
  const log = { error: (_: unknown, text: string) => said.push(text) } as unknown as Log;
  await startedWith({ method: 'PUT', status: 503 }, log);
  expect(said).toEqual([IN_TROUBLE]);
  await expect(startedWith({ method: 'GET', status: 403 }, log)).rejects.toThrow(SettingsError);
});

test('a bucket without keys says at the start which ones it needs', async () => {
  const nowhere = join(folder, 'nowhere');
  const withKeys = setVariables({
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SHARED_CREDENTIALS_FILE: nowhere,
    AWS_CONFIG_FILE: nowhere,
  });
  try {
    const store = openExportStore({ exportsUrl: server.url, dataDir: folder });
    await expect(checkExports(store, web.services.log)).rejects.toThrow(/Set AWS_ACCESS_KEY_ID and/);
  } finally {
    withKeys();
  }
});

test('a bucket that says nothing keeps nobody from starting either', { tags: 'proof' }, async () => {
  await using silent = await startHttpListener((asked) => asked.resume());
  const exportsUrl = server.url.replace(`:${server.port}`, `:${silent.port}`);
  const said: string[] = [];
  const log = { error: (_: unknown, text: string) => said.push(text) } as unknown as Log;
  await checkExports(openExportStore({ exportsUrl, dataDir: folder }), log, 50);
  expect(said).toEqual([IN_TROUBLE]);
});

test.each([
  ['that refuses connections', (port: number) => `http://127.0.0.1:${port}`],
  ['that is met by TLS and has none', () => `https://127.0.0.1:${server.port}`],
])('nor does one %s', async (_, endpointAt) => {
  const exportsUrl = `s3://exports/x?endpoint=${endpointAt(await freePort())}`;
  const said: string[] = [];
  const log = { error: (_: unknown, text: string) => said.push(text) } as unknown as Log;
  await checkExports(openExportStore({ exportsUrl, dataDir: folder }), log);
  expect(said).toEqual([IN_TROUBLE]);
});

test('a file that somebody else took out of the bucket is answered as gone', async () => {
  const store = web.services.exports;
  const range = { start: 0, end: 1 };
  await expect(store.read('0'.repeat(32), 'part-1.zip', range, new AbortController().signal)).rejects.toThrow(
    FileGoneError,
  );
});

test.each([0, 9, 11])('a bucket that hands out %i octets instead of 10 can not be used', async (octets) => {
  await using other = await startHttpListener((asked, answer) => {
    asked.resume();
    answer.end(Buffer.alloc(octets));
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${other.port}`);
  const store = openExportStore({ exportsUrl, dataDir: folder });
  await expect(
    store.read('4'.repeat(32), 'part-1.zip', { start: 5, end: 14 }, new AbortController().signal),
  ).rejects.toThrow(StoreError);
});

test('a bucket that lists more than it is asked for loses nothing of another export', async () => {
  const [own, others] = ['6', '7'].map((digit) => `some/prefix/${digit.repeat(32)}/part-1.zip`);
  const removed: string[] = [];
  await using other = await startHttpListener((asked, answer) => {
    asked.resume();
    const path = decodeURIComponent(new URL(asked.url ?? '', 'http://127.0.0.1').pathname);
    if (asked.method === 'DELETE') removed.push(path);
    const keys = [own, others].map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
    answer.setHeader('content-type', 'application/xml');
    answer.end(asked.method === 'GET' ? `<ListBucketResult>${keys}</ListBucketResult>` : '');
  });
  const exportsUrl = server.url.replace(`:${server.port}`, `:${other.port}`);
  const store = openExportStore({ exportsUrl, dataDir: folder });
  await store.remove('6'.repeat(32));
  await store.prune('6'.repeat(32), async () => new Set(), new AbortController().signal);
  expect(new Set(removed)).toEqual(new Set([`/exports/${own}`]));
});

test('a bucket that says nothing lets nobody wait for a download to begin', async () => {
  await using silent = await startHttpListener((asked) => asked.resume());
  const address = { bucket: 'exports', prefix: '', endpoint: `http://127.0.0.1:${silent.port}`, region: 'us-east-1' };
  const store = openBucketStore(address, folder, 50);
  await expect(
    store.read('5'.repeat(32), 'part-1.zip', { start: 0, end: 9 }, new AbortController().signal),
  ).rejects.toThrow(StoreError);
});

test.each([
  ['s3://', 'must be a folder, or a bucket'],
  ['s3://B@d/x', 'must be a folder, or a bucket'],
  ['https://example.com/exports', 'must be a folder, or a bucket'],
  ['ftp://host/x', 'must be a folder, or a bucket'],
  ['s3://bucket/x?endpoint=nonsense', 'has no valid endpoint.'],
  ['s3://bucket/x?region=us west', 'has no valid region.'],
  ['s3://bucket/x?endpiont=https://s3.example.com', 'has a parameter, endpiont, that is neither endpoint nor region.'],
  // It would be left out without a word, and the files lie at the top of the bucket.
  ['s3://bucket?prefix=exports', 'has a parameter, prefix, that is neither endpoint nor region.'],
  ['s3://bucket/x?endpoint=https://a:b&hunter2@host', 'has a parameter that is neither endpoint nor region.'],
])('EXPORTS_URL=%s ends the start with an example, and with what is wrong', (exportsUrl, fault) => {
  const open = () => openExportStore({ exportsUrl, dataDir: folder });
  expect(open).toThrow(SettingsError);
  expect(open).toThrow(new RegExp(`^EXPORTS_URL ${fault}.* Example: EXPORTS_URL=s3:`));
});

test('a folder holds its files readable by their owner only', async () => {
  await using world = await openExportWorld();
  const id = await world.newTransfer();
  await world.exportMail(id, memoryAccount([{ path: 'INBOX', messages: [] }]));
  const [path = ''] = await world.files(id);
  const { stat } = await import('node:fs/promises');
  expect((await stat(path)).mode & 0o777).toBe(0o400);
  expect((await readFile(path)).subarray(0, 2).toString()).toBe('PK');
});
