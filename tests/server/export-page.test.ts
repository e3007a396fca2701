import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eml } from '../../src/server/export/archive/eml.format.ts';
import { openReaderPage } from '../../src/server/export/page/reader-page.ts';
import {
  openSpoolReader,
  openSpoolWriter,
  SpoolError,
  type SpoolReader,
  type StagedOctets,
} from '../../src/server/export/disk/spool.ts';
import type { PartMailbox, PartMessage } from '../../src/server/export/staging/staged.ts';
import { openExportThread, type ExportThread } from '../../src/server/export/thread/export-thread.ts';

let folder: string;
let scratch: string;
let thread: ExportThread;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'staged-'));
  scratch = await mkdtemp(join(tmpdir(), 'page-'));
  thread = openExportThread();
});
afterAll(async () => {
  await thread[Symbol.asyncDispose]();
  for (const each of [folder, scratch]) await rm(each, { recursive: true, force: true });
});

const MAILBOX: PartMailbox = {
  mailboxId: 1,
  folder: 'INBOX',
  newest: new Date(0),
  messages: 1,
  octets: 1,
  before: 0,
};

function messageOf(number: number, staged: StagedOctets): PartMessage {
  return {
    mailboxId: 1,
    path: 'INBOX',
    folder: 'INBOX',
    number,
    uid: number,
    sha256: '',
    crc32: 0,
    internalDate: new Date(0),
    flags: [],
    lineEnds: 'crlf',
    label: `${number}.eml`,
    ...staged,
  };
}

const textOf = (number: number) => Buffer.from(`Subject: letter ${number}\r\n\r\nThis is the text of ${number}.\r\n`);

/** So many messages on the disk. */
const staged = (messages: number) => stagedOf(Array.from({ length: messages }, (_, at) => textOf(at + 1)));

async function stagedOf(messages: readonly Buffer[]): Promise<PartMessage[]> {
  await using writer = await openSpoolWriter(folder);
  const all: PartMessage[] = [];
  for (const [at, octets] of messages.entries()) {
    const place = writer.begin();
    if (!writer.append(octets)) await writer.drained();
    all.push(messageOf(at + 1, { ...place, ...writer.end() }));
  }
  await writer.sync();
  return all;
}

type Source = Parameters<typeof openReaderPage>[0];

async function pageOver(messages: readonly PartMessage[], spool: SpoolReader, more: Partial<Source> = {}) {
  const page = await openReaderPage({
    ledger: { mailboxes: () => Promise.resolve([MAILBOX]) },
    spool,
    thread,
    folder,
    scratch,
    part: 1,
    provider: 'San Bruno Cable',
    made: new Date(0),
    format: eml,
    signal: new AbortController().signal,
    ...more,
  });
  for (const message of messages) await page.show(message);
  return page;
}

async function readAll(page: Awaited<ReturnType<typeof pageOver>>): Promise<unknown> {
  try {
    for await (const { content } of page.files()) for await (const _ of content());
    return undefined;
  } catch (error) {
    return error;
  }
}

test('the scripts of a page are kept deflated, in their order, and are what is said of them', async () => {
  {
    await using spool = openSpoolReader(scratch);
    await using page = await pageOver(await staged(1100), spool);
    const names: string[] = [];
    const shown: string[] = [];
    for await (const { path, known, sha256, content } of page.files()) {
      names.push(path);
      const chunks: Buffer[] = [];
      for await (const chunk of content()) chunks.push(Buffer.from(chunk));
      const octets = Buffer.concat(chunks);
      if (path === 'index.html') continue;
      expect(octets.length).toBe(known?.packedSize);
      const script = inflateRawSync(octets);
      expect({ size: script.length, crc32: crc32(script) }).toMatchObject({ size: known?.size, crc32: known?.crc32 });
      expect(createHash('sha256').update(script).digest('hex')).toBe(sha256);
      shown.push(...(script.toString().match(/This is the text of \d+\.(?=\\r)/g) ?? []));
    }
    expect(names).toEqual([
      ...[1, 2, 3, 4, 5].flatMap((block) => [`reader/part-1/list-${block}.js`, `reader/part-1/text-${block}.js`]),
      'index.html',
    ]);
    expect(shown).toEqual(Array.from({ length: 1100 }, (_, at) => `This is the text of ${at + 1}.`));
  }
  expect(await readdir(scratch)).toEqual([]);
});

/** What the scripts of a page hold, by kind. */
async function scriptsOf(page: Awaited<ReturnType<typeof pageOver>>) {
  const found: Record<string, Record<string, unknown>[]> = {};
  for await (const { path, content } of page.files()) {
    if (path === 'index.html') continue;
    const chunks: Buffer[] = [];
    for await (const chunk of content()) chunks.push(Buffer.from(chunk));
    const [, kind = '', json = ''] =
      /^archive\.(\w+)\(\d+,(.*)\)$/s.exec(inflateRawSync(Buffer.concat(chunks)).toString()) ?? [];
    (found[kind] ??= []).push(...(JSON.parse(json) as Record<string, unknown>[]));
  }
  return found;
}

const photo = (name: string) =>
  ['--x', `Content-Type: image/jpeg; name=${name}`, '', 'A'.repeat(1_500_000), ''].join('\r\n');

test('a message is read to its end for the names of what is attached, and only the beginning of a long text is kept', async () => {
  const head =
    'From: Ada\r\nCc: Bob <bob@mail.example>\r\nBcc: eve@mail.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n';
  const photos = Buffer.from(`${head}--x\r\n\r\nHello\r\n${photo('one.jpg')}${photo('two.jpg')}--x--`);
  const long = Buffer.from(`Subject: ${'s'.repeat(400)}\r\n\r\n${'word '.repeat(50_000)}`);
  await using spool = openSpoolReader(scratch);
  await using page = await pageOver(await stagedOf([photos, long]), spool);
  const { list, text } = await scriptsOf(page);
  expect(list).toMatchObject([
    { from: 'Ada', cc: 'Bob <bob@mail.example>', bcc: 'eve@mail.example' },
    { subject: `${'s'.repeat(300)}…` },
  ]);
  expect(text).toMatchObject([{ text: 'Hello', attached: ['one.jpg', 'two.jpg'] }, { isCut: true }]);
  expect(text?.[0]).not.toHaveProperty('isCut');
});

test('the words of HTML are searched as they are shown', async () => {
  const words = [
    '<html><head ><title>No</title></head><i>İ</i><STYLE>no</STYLE><!-- P.MsoNormal { margin: 0 } --><body>',
    '<!--[if gte mso 9]><xml><w:View>Normal</w:View></xml><![endif]--><!--[if !mso]><!--><p>Gr&uuml;&szlig;e, M&#252;ller!</p>',
    '<p>I don&#39;t know&nbsp;it &amp;lt; &#x1F34E; &#146;tis &nosuch; AT&T &#0; 100&euro;</p><!-- no <!-- end',
  ].join('\r\n');
  const mail = Buffer.from(`Content-Type: text/html; charset=utf-8\r\n\r\n${words}`);
  await using spool = openSpoolReader(scratch);
  await using page = await pageOver(await stagedOf([mail]), spool);
  const { list } = await scriptsOf(page);
  expect(list).toMatchObject([{ start: "İ Grüße, Müller! I don't know it &lt; 🍎 ’tis &nosuch; AT&T &#0; 100€" }]);
});

test.each([
  ['its messages', 'addToPage'],
  ['its end', 'endPage'],
])('a page that is not wanted any more does not wait for the thread to be done with %s', async (_what, slow) => {
  const stop = new AbortController();
  const asked: string[] = [];
  const ask = (name: string) => {
    asked.push(name);
    if (name !== slow) return Promise.resolve();
    setImmediate(() => stop.abort());
    return new Promise<never>(() => {});
  };
  const busy = { ask, [Symbol.asyncDispose]: () => Promise.resolve() } as unknown as ExportThread;
  {
    await using spool = openSpoolReader(scratch);
    await using page = await pageOver(await staged(1), spool, { thread: busy, signal: stop.signal });
    expect(await readAll(page)).toBe(stop.signal.reason);
  }
  expect(asked.at(-1)).toBe('closePage');
});

describe('what is damaged on the disk', () => {
  test('is no damaged mail where it is of the page: nothing is fetched again for it', async () => {
    const spool: SpoolReader = {
      // oxlint-disable-next-line require-yield
      async *read() {
        throw new SpoolError('It is gone.');
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    await using page = await pageOver(await staged(1), spool);
    const error = await readAll(page);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(SpoolError);
  });

  test('is damaged mail where a message is gone, which other pages do not notice', async () => {
    await using spool = openSpoolReader(scratch);
    const messages = await staged(3);
    await using whole = await pageOver(messages, spool);
    await using broken = await pageOver(
      messages.map((message) => ({ ...message, segment: 'gone.segment' })),
      spool,
    );
    expect(await readAll(broken)).toBeInstanceOf(SpoolError);
    expect(await readAll(whole)).toBeUndefined();
  });

  test('is told as the disk tells it, for whoever is to mend it', async () => {
    const page = openReaderPage({
      ledger: { mailboxes: () => Promise.resolve([MAILBOX]) },
      spool: openSpoolReader(scratch),
      thread,
      folder,
      scratch: '/dev/null/scratch',
      part: 1,
      provider: 'San Bruno Cable',
      made: new Date(0),
      format: eml,
      signal: new AbortController().signal,
    });
    await using broken = await page;
    expect(await readAll(broken)).toMatchObject({ code: 'ENOTDIR', syscall: 'mkdir' });
  });
});

test("the page's colours are the portal's, in light and dark", async () => {
  const SRC = join(import.meta.dirname, '../../src');
  const coloursOf = async (path: string) =>
    new Set((await readFile(join(SRC, path), 'utf8')).match(/--[a-z-]+: #[0-9a-f]{6};/g));
  const [page, portal] = [await coloursOf('server/export/page/reader.html'), await coloursOf('portal/theme.css')];
  expect(page.size).toBe(14);
  expect([...page].filter((colour) => !portal.has(colour))).toEqual([]);
});
