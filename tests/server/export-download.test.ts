import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadableStream as Stream } from 'node:stream/web';
import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ExportFile } from '../../src/contract/calls/status.ts';
import { Stopped } from '../../src/server/stopped.ts';
import { StoreError, type ExportStore } from '../../src/server/export/storage/export-store.ts';
import { PIECE } from '../../src/server/export/storage/pieces.ts';
import { dispositionOf, DOWNLOADS_AT_ONCE } from '../../src/server/web/downloads.ts';
import { LIMITS } from '../../src/server/web/limits.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { DOWNLOAD_RESTS_MS } from '../../src/server/web/bounded-server.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { openVerifiers } from '../../src/server/transfers/verifiers.ts';
import { removeUnfinishedExport, sweepExports } from '../../src/server/export/download/sweeper.ts';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { followLink, openLink } from '../support/followed-link.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { fromBrowser, fromClient, openWebWorld, type WebWorld } from '../support/web-world.ts';

const DAY_MS = 86_400_000;
const BROWSER = 'b'.repeat(64);
const BIG = 12_000_000;

let root: string;
let web: WebWorld;
let exports: ExportWorld;
let file: v.InferOutput<typeof ExportFile>;
let whole: Buffer;

/** An export of one message whose octets don't compress, and what the status says of it. */
async function newExport(size: number) {
  const id = await exports.newTransfer();
  const message = { uid: 1, bytes: randomBytes(size), flags: [], internalDate: new Date(0) };
  await exports.exportMail(id, memoryAccount([{ path: 'INBOX', messages: [message] }]));
  await exports.endMail(id);
  const status = await web.services.transfers.status(id);
  const [first] = v.parse(v.array(ExportFile), status?.exports);
  if (first === undefined) throw new Error('There is no file.');
  const [path = ''] = await exports.files(id);
  await openWeb(web.services).owners.add(id, BROWSER);
  return { id, file: first, path };
}

/** The address, on the address that the test's server listens on. */
const at = (url: string) => url.replace(web.settings.publicUrl, web.url);
const fetched = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(at(file.url), { method, headers: { ...fromBrowser(BROWSER), ...headers } });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'download-'));
  web = await openWebWorld({ environment: { EXPORTS_URL: root } });
  exports = await openExportWorld({ database: web.database, root, now: web.services.now });
  const made = await newExport(BIG);
  file = made.file;
  whole = await readFile(made.path);
});

afterAll(async () => {
  await exports[Symbol.asyncDispose]();
  await web[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

test('a link gives the whole file, to be saved and never to be shown', async () => {
  const answer = await fetched();
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/zip',
    'content-length': String(file.size),
    'accept-ranges': 'bytes',
    etag: `"${file.sha256}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
    'referrer-policy': 'no-referrer',
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
    'content-disposition': `attachment; filename="${file.name}"; filename*=UTF-8''${encodeURIComponent(file.name)}`,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.equals(whole)).toBe(true);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256);
});

test('whoever reads a file may rest', async () => {
  const seen = Promise.withResolvers<number | undefined>();
  const look = (message: unknown) => seen.resolve((message as { socket: Socket }).socket.timeout);
  subscribe('http.server.response.finish', look);
  try {
    await (await fetched()).arrayBuffer();
    expect(await seen.promise).toBe(DOWNLOAD_RESTS_MS);
  } finally {
    unsubscribe('http.server.response.finish', look);
  }
});

test('HEAD answers as GET does, without the octets', async () => {
  const answer = await fetched({ range: 'bytes=0-9' }, 'HEAD');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-length')).toBe(String(file.size));
  expect(answer.headers.get('etag')).toBe(`"${file.sha256}"`);
  expect(await answer.text()).toBe('');
});

test.each([
  ['bytes=0-0', 0, 1],
  ['bytes=100-199', 100, 200],
  ['bytes=5000-', 5000, null],
  ['bytes=-500', -500, null],
  ['bytes=-99999999999', 0, null],
  ['bytes=10-99999999999', 10, null],
])('the range %s gives just those octets', async (range, start, end) => {
  const answer = await fetched({ range });
  expect(answer.status).toBe(206);
  const expected = whole.subarray(start, end ?? undefined);
  const from = start < 0 ? whole.length + start : start;
  expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${from + expected.length - 1}/${whole.length}`);
  expect(answer.headers.get('content-length')).toBe(String(expected.length));
  expect(Buffer.from(await answer.arrayBuffer()).equals(expected)).toBe(true);
});

test.each(['bytes=99999999-', 'bytes=-0'])('the range %s is not there: 416 with the size', async (range) => {
  const answer = await fetched({ range });
  expect(answer.status).toBe(416);
  expect(answer.headers.get('content-range')).toBe(`bytes */${whole.length}`);
});

test.each(['bytes=0-1,5-6', 'bytes=9-2', 'octets=0-5', 'bytes=-', 'bytes=a-b'])(
  'the field "Range: %s" is passed over, and the whole file comes',
  async (range) => {
    const answer = await fetched({ range });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-range')).toBeNull();
    await answer.body?.cancel();
  },
);

test('a part comes only of the file that the first part was of', async () => {
  const range = 'bytes=10-19';
  const same = await fetched({ range, 'if-range': `"${file.sha256}"` });
  expect(same.status).toBe(206);
  await same.body?.cancel();
  for (const other of ['"another"', `W/"${file.sha256}"`, new Date().toUTCString()]) {
    const answer = await fetched({ range, 'if-range': other });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(whole.length));
    await answer.body?.cancel();
  }
});

test('conditions on the tag are kept', async () => {
  expect((await fetched({ 'if-none-match': `"x", W/"${file.sha256}"` })).status).toBe(304);
  expect((await fetched({ 'if-none-match': '*' })).status).toBe(304);
  expect((await fetched({ 'if-match': '"x"' })).status).toBe(412);
  const matching = await fetched({ 'if-match': `"${file.sha256}"`, range: 'bytes=0-4' });
  expect(matching.status).toBe(206);
});

test('a download that is cut again and again ends with the same file', async () => {
  for (let round = 0; round < 5; round += 1) {
    const pieces: Buffer[] = [];
    let have = 0;
    let cuts = 0;
    while (have < whole.length) {
      const headers: Record<string, string> =
        have === 0 ? {} : { range: `bytes=${have}-`, 'if-range': `"${file.sha256}"` };
      const answer = await fetched(headers);
      expect(answer.status).toBe(have === 0 ? 200 : 206);
      const until = have + Math.floor(Math.random() * 1_500_000);
      for await (const chunk of answer.body ?? []) {
        pieces.push(Buffer.from(chunk));
        have += chunk.length;
        if (have > until) break;
      }
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(5);
    expect(createHash('sha256').update(Buffer.concat(pieces)).digest('hex')).toBe(file.sha256);
  }
});

/** How many files of the exports' folder this process has open. */
async function openFiles(): Promise<number> {
  const { readlink } = await import('node:fs/promises');
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => link.startsWith(root) && link.endsWith('.zip')).length;
}

/** How much this process has read, from files and sockets. */
async function octetsRead(): Promise<number> {
  const [, octets] = /^rchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8')) ?? [];
  return Number(octets);
}

test(
  'a client that does not read holds back the disk, and one that goes lets the file go',
  needs('Linux'),
  async () => {
    const { file: slow } = await newExport(60_000_000);
    const start = await octetsRead();
    const sockets: Socket[] = [];
    const { port, pathname } = new URL(at(slow.url));
    for (let client = 0; client < 4; client += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\nCookie: browser=${BROWSER}\r\n\r\n`);
      socket.once('data', () => socket.pause());
      sockets.push(socket);
    }
    await expect.poll(openFiles).toBe(4);
    let now = start;
    const more = async () => {
      const before = now;
      now = await octetsRead();
      return now - before;
    };
    // All that a line takes whose other end does not read; what is read of these files in all would be 240 MB.
    await more();
    await expect.poll(more, { interval: 100 }).toBeLessThan(100_000);
    expect(now - start).toBeLessThan(100_000_000);
    for (const socket of sockets) socket.destroy();
    await expect.poll(openFiles).toBe(0);
  },
);

test('so many downloads of an export at once are enough, and the place of one that ends is free again', async () => {
  const { file: slow } = await newExport(20_000_000);
  const { port, pathname } = new URL(at(slow.url));
  const ask = async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\nCookie: browser=${BROWSER}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return { socket, status: head.subarray(9, 12).toString() };
  };
  const held = await Promise.all(Array.from({ length: DOWNLOADS_AT_ONCE }, ask));
  expect(new Set(held.map(({ status }) => status))).toEqual(new Set(['200']));
  const refused = await told(slow.url);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '30']);
  expect((await fetched({ range: 'bytes=0-0' })).status, 'of another export').toBe(206);
  held[0]?.socket.destroy();
  const again = async () => (await told(slow.url, { headers: { range: 'bytes=0-0' } })).status;
  await expect.poll(again).toBe(206);
  for (const { socket } of held) socket.destroy();
});

test('a file that somebody has cut off is not handed out, and its end is waited for by nobody', async () => {
  const cut = await newExport(PIECE);
  await chmod(cut.path, 0o600);
  await truncate(cut.path, cut.file.size - 1);
  expect((await told(cut.file.url)).status).toBe(404);
  const statusOfRange = async (range: string) => (await told(cut.file.url, { headers: { range } })).status;
  expect(await statusOfRange('bytes=0-9')).toBe(206);
  expect(await statusOfRange(`bytes=${PIECE}-${PIECE + 9}`)).toBe(404);
  expect(web.logLines.join('')).toContain('a file that is offered is not in EXPORTS_URL');
});

test('of a file that is damaged where it lies no wrong octet is handed out, and its operator is told', async () => {
  const damaged = await newExport(3 * PIECE);
  const octets = await readFile(damaged.path);
  const ask = (range?: string) =>
    fetch(at(damaged.file.url), { headers: { ...fromBrowser(BROWSER), ...(range === undefined ? {} : { range }) } });
  const right = async (start: number, end: number) => {
    const answer = await ask(`bytes=${start}-${end}`);
    return answer.status === 206 && octets.subarray(start, end + 1).equals(Buffer.from(await answer.arrayBuffer()));
  };
  for (const start of [0, 1, PIECE - 1, PIECE, PIECE + 1, octets.length - 1])
    for (const more of [0, 1, PIECE - 1, PIECE, octets.length]) {
      const end = Math.min(start + more, octets.length - 1);
      expect(await right(start, end), `${start}-${end}`).toBe(true);
    }

  const wrong = Buffer.from(octets);
  wrong[2 * PIECE + 77] = (wrong[2 * PIECE + 77] ?? 0) ^ 1;
  await chmod(damaged.path, 0o600);
  await writeFile(damaged.path, wrong);
  web.logLines.length = 0;
  await expect((await ask()).arrayBuffer()).rejects.toThrow('terminated');
  expect(await right(5, 2 * PIECE - 1)).toBe(true);
  expect((await ask(`bytes=${2 * PIECE}-`)).status).toBe(404);
  expect((await ask(`bytes=${2 * PIECE + 500}-${2 * PIECE + 600}`)).status).toBe(404);
  const said = web.logLines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(said).toContain('an answer broke off');
  expect(said).toContain('a file that is offered is not in EXPORTS_URL, or not as it was written');
  // What an older version has written has nothing to be checked by.
  await web.database.query('update export_files set pieces = null where sha256 = $1', [damaged.file.sha256]);
  expect(Buffer.from(await (await ask()).arrayBuffer()).equals(wrong)).toBe(true);
});

/** The server with exports that are read otherwise. */
async function servedBy(read: ExportStore['read']) {
  const services = openWeb({ ...web.services, exports: { ...web.services.exports, read } });
  const served = await startWeb(services, { host: '127.0.0.1', port: 0, portalFolder: null });
  return { ...served, link: `http://127.0.0.1:${served.port}${new URL(file.url).pathname}` };
}

test('while the exports can not be read, a person is told to come back', async () => {
  await using served = await servedBy(() => Promise.reject(new StoreError('The bucket is silent.')));
  const shown = await openLink(served.link, fromBrowser(BROWSER));
  expect([shown.status, shown.headers['retry-after']]).toEqual([503, '60']);
  expect(shown.text).toContain('Try again');
});

async function* broken() {
  yield whole.subarray(0, 1000);
  throw new Error('EIO');
}

test('a file that breaks off in the middle cuts the connection, and is told to the operator', async () => {
  await using served = await servedBy(async () => Stream.from(broken()) as ReadableStream<Uint8Array>);
  const said = vi.spyOn(console, 'error');
  web.logLines.length = 0;
  const answer = await fetch(served.link, { headers: fromBrowser(BROWSER) });
  await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
  expect(web.logLines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('an answer broke off');
  expect(said).not.toHaveBeenCalled();
  said.mockRestore();
});

test('a file that ends between two of its pieces cuts the connection as well', async () => {
  const ended = [whole.subarray(0, 2 * PIECE)];
  await using served = await servedBy(async () => Stream.from(ended) as ReadableStream<Uint8Array>);
  web.logLines.length = 0;
  const answer = await fetch(served.link, { headers: fromBrowser(BROWSER) });
  await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
  expect(web.logLines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('an answer broke off');
});

test('whoever goes away before a file is there is no fault of ours', async () => {
  const asked = Promise.withResolvers<void>();
  await using served = await servedBy((_name, _file, _range, signal) => {
    asked.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('It was aborted.', 'AbortError')));
    });
  });
  web.logLines.length = 0;
  const leaving = new AbortController();
  const answer = fetch(served.link, { headers: fromBrowser(BROWSER), signal: leaving.signal });
  await asked.promise;
  leaving.abort();
  await expect(answer).rejects.toThrow('aborted');
  await expect.poll(() => web.logLines.join('')).toContain('a request was broken off');
  expect(web.logLines.join('')).not.toContain('"level":50');
});

test('whoever goes away before it is known whose the file is takes no place from those who come', async () => {
  const services = openWeb(web.services);
  const { promise: gone, resolve: allAreGone } = Promise.withResolvers<void>();
  const has: typeof services.owners.has = async (...asked) => gone.then(() => services.owners.has(...asked));
  let reads = 0;
  const read: ExportStore['read'] = (...octets) => {
    reads += 1;
    return services.exports.read(...octets);
  };
  const slow = { ...services, owners: { ...services.owners, has }, exports: { ...services.exports, read } };
  await using served = await startWeb(slow, { host: '127.0.0.1', port: 0, portalFolder: null });
  const link = `http://127.0.0.1:${served.port}${new URL(file.url).pathname}`;
  const closed: Promise<unknown>[] = [];
  const note = (message: unknown) => closed.push(once((message as { response: ServerResponse }).response, 'close'));
  const leaving = new AbortController();
  subscribe('http.server.request.start', note);
  const asked = Array.from({ length: DOWNLOADS_AT_ONCE }, () =>
    fetch(link, { headers: fromBrowser(BROWSER), signal: leaving.signal }),
  );
  await expect.poll(() => closed.length).toBe(DOWNLOADS_AT_ONCE);
  unsubscribe('http.server.request.start', note);
  leaving.abort();
  await Promise.allSettled([...asked, ...closed]);
  allAreGone();
  await expect.poll(() => reads).toBe(DOWNLOADS_AT_ONCE);
  expect((await fetch(link, { headers: { ...fromBrowser(BROWSER), range: 'bytes=0-0' } })).status).toBe(206);
});

test('who tries addresses of files is counted as for any other call', async () => {
  const { burst } = LIMITS['calls by a client'];
  const at = web.services.now();
  const services = openWeb({ ...web.services, now: () => at });
  await using served = await startWeb(services, { host: '127.0.0.1', port: 0, portalFolder: null });
  const path = new URL(file.url).pathname.replace(/exports\/[0-9a-f]+/, `exports/${'0'.repeat(32)}`);
  const tried = (client: string) =>
    told(`http://127.0.0.1:${served.port}${path}`, { headers: fromClient(client) }).then(({ status }) => status);
  const statuses = await Promise.all(Array.from({ length: burst + 5 }, () => tried('203.0.113.9')));
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  expect(await tried('203.0.113.10')).toBe(404);
});

type Told = { status: number; text: string; headers: Record<string, string> };

async function told(url: string, init: RequestInit = {}): Promise<Told> {
  const sent = { ...fromBrowser(BROWSER), ...(init.headers as Record<string, string>) };
  const answer = await fetch(at(url), { ...init, headers: sent });
  const { date, ...headers } = Object.fromEntries(answer.headers);
  expect(date).toBeDefined();
  return { status: answer.status, text: await answer.text(), headers };
}

test('a wrong address, a stranger, files whose days are over and files that were deleted are answered alike', async () => {
  const deleted = await newExport(100);
  const expired = await newExport(100);
  expect((await told(deletionOf(deleted.file.url), json({}))).status).toBe(200);
  const stranger = { headers: fromBrowser('c'.repeat(64)) };
  const answers = await Promise.all([
    told(deleted.file.url),
    told(file.url, stranger),
    told(file.url, { headers: { cookie: '' } }),
    told(file.url, { headers: { cookie: `browser=${BROWSER.slice(1)}` } }),
    told(file.url, { headers: { cookie: '', authorization: `Bearer ${BROWSER}` } }),
    told(file.url.replace(/part-1/, 'part-2')),
    told(file.url.replace(/\/part-1[^?]*/, '/..%2f..%2fetc%2fpasswd')),
    told(file.url.replace(/exports\/[0-9a-f]+/, `exports/${'0'.repeat(32)}`)),
    told(
      expired.file.url.replace(
        /exports\/[0-9a-f]+/,
        (new URL(file.url).pathname.match(/exports\/[0-9a-f]+/) ?? [''])[0],
      ),
    ),
  ]);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(404);
  // However it is asked for: by a browser, for its head, for a part, to go on.
  for (const init of [
    { headers: { accept: 'text/html' } },
    { method: 'HEAD' },
    { headers: { range: 'bytes=5-', 'if-range': `"${file.sha256}"` } },
    { headers: { 'if-none-match': '*' } },
  ]) {
    const wrong = await told(file.url, { ...init, headers: { ...init.headers, ...stranger.headers } });
    expect(wrong.status).toBe(404);
    expect(await told(deleted.file.url, init)).toEqual(wrong);
  }

  web.advance(8 * DAY_MS);
  expect(await told(expired.file.url)).toEqual(answers[0]);
  expect(await told(file.url)).toEqual(answers[0]);
  expect(await web.services.transfers.status(expired.id)).toMatchObject({ files: 'deleted' });
  expect((await web.services.transfers.status(expired.id))?.exports).toBeUndefined();
  web.advance(-8 * DAY_MS);
  expect((await fetched({ range: 'bytes=0-0' })).status).toBe(206);
});

test('a browser that follows the link of files that it may not have is led to the page of their transfer', async () => {
  const made = await newExport(100);
  const page = { status: 303, leadsTo: `/status?migration_id=${made.id}` };
  const own = fromBrowser(BROWSER);
  expect(await followLink(at(made.file.url), fromBrowser('c'.repeat(64)))).toEqual(page);
  expect(await followLink(at(made.file.url), { ...own, 'sec-fetch-mode': 'cors' })).toMatchObject({ status: 200 });
  expect((await told(deletionOf(made.file.url), json({}))).status).toBe(200);
  expect(await followLink(at(made.file.url), own)).toEqual(page);
  const nowhere = made.file.url.replace(/exports\/[0-9a-f]+/, `exports/${'0'.repeat(32)}`);
  expect(await followLink(at(nowhere), own)).toEqual({ status: 404, leadsTo: undefined });
});

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

function deletionOf(url: string): string {
  return `${url.slice(0, url.lastIndexOf('/'))}/delete/`;
}

test('an export is deleted at once by whoever may manage its transfer, and by nobody else', async () => {
  const made = await newExport(100);
  const forged = { ...json({}), headers: { 'content-type': 'application/json', ...fromBrowser('c'.repeat(64)) } };
  expect((await told(deletionOf(made.file.url), forged)).status).toBe(404);
  expect((await told(deletionOf(made.file.url), { method: 'POST' })).status).toBe(415);
  expect((await told(made.file.url)).status).toBe(200);
  const answer = await told(deletionOf(made.file.url), json({}));
  expect(answer).toMatchObject({ status: 200, text: '{"ok":true}' });
  expect((await told(made.file.url)).status).toBe(404);
  expect((await told(deletionOf(made.file.url), json({}))).status).toBe(404);
  expect(await readdir(root)).not.toContain(new URL(made.file.url).pathname.split('/')[3]);
  expect((await web.services.transfers.status(made.id))?.exports).toBeUndefined();
  expect(await web.services.transfers.status(made.id)).toMatchObject({ files: 'deleted' });
});

/** What the security log has of a request that is answered so. */
async function loggedOf(status: number, url: string, init: RequestInit = {}) {
  web.logLines.length = 0;
  expect((await told(url, init)).status).toBe(status);
  return web.logLines
    .map((line) => JSON.parse(line) as { security?: string; transferId?: string })
    .flatMap(({ security, transferId }) => (security === undefined ? [] : [{ security, transferId }]));
}

test('the security log has what was handed out and deleted, and nothing that was only asked for', async () => {
  const made = await newExport(100);
  const { url, sha256 } = made.file;
  expect(await loggedOf(200, url, { method: 'HEAD' })).toEqual([]);
  expect(await loggedOf(304, url, { headers: { 'if-none-match': `"${sha256}"` } })).toEqual([]);
  expect(await loggedOf(416, url, { headers: { range: 'bytes=100000000-' } })).toEqual([]);
  expect(await loggedOf(404, url.replace(/part-1-/, 'part-2-'))).toEqual([]);
  expect(await loggedOf(200, url)).toEqual([{ security: 'file handed out', transferId: made.id }]);
  const content = await readFile(made.path);
  await rm(made.path);
  expect(await loggedOf(404, url)).toEqual([]);
  await writeFile(made.path, content);
  expect(await loggedOf(200, deletionOf(url), json({}))).toEqual([{ security: 'files deleted', transferId: made.id }]);
  expect(await loggedOf(404, deletionOf(url), json({}))).toEqual([]);
});

test('files of a worker whose clock is days behind are offered for as many days as those of others', async () => {
  await using apart = await openExportWorld({ now: () => Date.now() - 10 * DAY_MS, exportDays: 3 });
  const message = { uid: 1, bytes: Buffer.from('x'), flags: [], internalDate: new Date(0) };
  await apart.exportMail(await apart.newTransfer(), memoryAccount([{ path: 'INBOX', messages: [message] }]));
  const [made] = await apart.database.query<{ days: number; age: number }>(
    `select extract(epoch from expires - finished)::float8 / 86400 as days,
       extract(epoch from now() - finished)::float8 as age from exports`,
  );
  expect(made?.days).toBeCloseTo(3);
  expect(made?.age).toBeLessThan(3600);
});

test('exports whose days are over, and what ended without one, are deleted by themselves', async () => {
  const exportDays = 3;
  await using apart = await openExportWorld({ now: () => Date.now(), exportDays });
  const vault = openVault(randomBytes(32));
  const verifiersAt = (now: () => number) => openVerifiers({ database: apart.database, vault, now });
  const sweep = (ahead = 0) => {
    const now = () => Date.now() + ahead;
    return sweepExports({ ...apart.services, now, verifiers: verifiersAt(now) });
  };
  const old = await apart.newTransfer();
  await verifiersAt(Date.now).keep(old, 'ann@sanbruno.example', 'secret');
  const verifiers = () => apart.database.query('select 1 from export_verifiers');
  const account = memoryAccount([
    { path: 'INBOX', messages: [{ uid: 1, bytes: Buffer.from('x'), flags: [], internalDate: new Date(0) }] },
  ]);
  await apart.exportMail(old, account);
  await sweep();
  expect(await apart.files(old)).toHaveLength(1);

  const broken = await apart.newTransfer();
  await expect(
    apart.exportMail(broken, {
      ...account,
      source: { ...account.source, reader: () => Promise.reject(new Error('It breaks.')) },
    }),
  ).rejects.toThrow('It breaks.');
  expect(await readdir(join(apart.root, '.staging'))).toHaveLength(1);
  await sweep();
  expect(await readdir(join(apart.root, '.staging'))).toHaveLength(1);
  await apart.database.query('update transfers set finished = now() where id = $1', [broken]);

  await sweep(exportDays * DAY_MS - 60_000);
  expect(await apart.files(old)).toHaveLength(1);
  expect(await verifiers()).toHaveLength(1);
  await sweep(exportDays * DAY_MS + 1000);
  expect(await apart.files(old)).toEqual([]);
  expect(await verifiers(), 'what opens it goes at once').toEqual([]);
  expect(await readdir(apart.root)).toEqual(['.staging']);
  expect(await readdir(join(apart.root, '.staging'))).toEqual([]);
});

test('what arrives for a stopped export when it has been removed is removed as well', async () => {
  await using apart = await openExportWorld();
  const id = await apart.newTransfer();
  await expect(
    apart.exportMail(id, memoryAccount([]), {
      signal: AbortSignal.abort(),
    }),
  ).rejects.toThrow(Stopped);
  const [row] = await apart.database.query<{ name: string }>('select name from exports');
  const late = join(apart.root, row?.name ?? 'none');
  await apart.database.query('update transfers set finished = now(), epoch = epoch + 1 where id = $1', [id]);
  const sweep = (ahead: number) => {
    const now = () => Date.now() + ahead;
    const verifiers = openVerifiers({ database: apart.database, vault: openVault(randomBytes(32)), now });
    return sweepExports({ ...apart.services, now, verifiers });
  };
  await removeUnfinishedExport(apart.services, id);
  await sweep(0);
  await mkdir(late);
  await writeFile(join(late, 'part-1-12345678.zip'), 'what the bucket had under way');
  await sweep(60_000);
  expect(await readdir(apart.root)).toEqual(['.staging']);
  await sweep(16 * 60_000);
  expect(await apart.database.query('select 1 from exports')).toEqual([]);
});

test('an export that can not be removed keeps no other one, nor who asked for it', async () => {
  await using apart = await openExportWorld();
  const account = memoryAccount([
    { path: 'INBOX', messages: [{ uid: 1, bytes: Buffer.from('x'), flags: [], internalDate: new Date(0) }] },
  ]);
  const ids = [await apart.newTransfer(), await apart.newTransfer(), await apart.newTransfer()];
  for (const id of ids) await apart.exportMail(id, account);
  const names = await apart.database.query<{ name: string }>('select name from exports order by id');
  const { exports } = apart.services;
  let stuck = names[0]?.name;
  const services = {
    ...apart.services,
    exports: {
      ...exports,
      remove: (name: string) => (name === stuck ? Promise.reject(new Error('ESTALE')) : exports.remove(name)),
    },
    now: () => Date.now() + 8 * DAY_MS,
    verifiers: openVerifiers({ database: apart.database, vault: openVault(randomBytes(32)), now: Date.now }),
  };
  const left = async () => (await Promise.all(ids.map((id) => apart.files(id)))).map((files) => files.length);
  await sweepExports(services);
  expect(await left()).toEqual([1, 0, 0]);
  stuck = undefined;
  await sweepExports(services);
  expect(await left()).toEqual([0, 0, 0]);
});

test('no log line has the address of a file in it', () => {
  expect(web.logLines.length).toBeGreaterThan(0);
  const text = web.logLines.join('\n');
  expect(text).not.toContain(new URL(file.url).pathname);
});

test('a file has the day in its name that its README tells, which is that of the Pacific', async () => {
  const { id } = await newExport(500);
  await web.database.query("update exports set finished = '2025-11-26T05:00:00Z' where transfer_id = $1", [id]);
  const status = await web.services.transfers.status(id);
  expect(status?.exports?.map(({ name }) => name)).toEqual(['San Bruno mail 2025-11-25.zip']);
});

test('every title makes a field that programs of any age can read, and the new ones read it whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      const title = `${text.toWellFormed().replaceAll(/\p{C}/gu, '')}.zip`;
      const found =
        /^attachment; filename="([\x20-\x21\x23-\x5b\x5d-\x7e]*)"; filename\*=UTF-8''([\w!#$&+\-.^`|~%]+)$/.exec(
          dispositionOf(title),
        );
      expect(decodeURIComponent(found?.[2] ?? '')).toBe(title);
    }),
  );
});
