import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eml } from '../../src/server/export/archive/eml.format.ts';
import { openReaderPage } from '../../src/server/export/archive/reader.ts';
import { openSpoolReader, SpoolError, type SpoolReader } from '../../src/server/export/staging/spool.ts';
import type { PartMailbox, PartMessage } from '../../src/server/export/staging/staged-messages.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'page-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const MAILBOX: PartMailbox = {
  mailboxId: 1,
  folder: 'INBOX',
  newest: new Date(0),
  messages: 1,
  octets: 1,
  before: 0,
};

function messageOf(number: number): PartMessage {
  return {
    mailboxId: 1,
    path: 'INBOX',
    folder: 'INBOX',
    number,
    uid: number,
    size: 1,
    sha256: '',
    crc32: 0,
    internalDate: new Date(0),
    flags: [],
    lineEnds: 'crlf',
    label: `${number}.eml`,
    segment: '',
    position: 0,
  };
}

async function* only(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** A page over so many messages. */
async function pageOver(messages: number, spool: SpoolReader) {
  const page = await openReaderPage({
    ledger: { mailboxes: () => Promise.resolve([MAILBOX]) },
    spool,
    part: 1,
    provider: 'San Bruno Cable',
    made: new Date(0),
    format: eml,
    scratch,
  });
  for (let number = 1; number <= messages; number += 1) {
    const text = `Subject: letter ${number}\r\n\r\nThis is the text of ${number}.\r\n`;
    for await (const _ of page.alongside(messageOf(number), only(text)));
  }
  return page;
}

test('the scripts of a page are kept deflated, in their order, and are what is said of them', async () => {
  {
    await using spool = openSpoolReader(scratch);
    await using page = await pageOver(1100, spool);
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

test('a page that is damaged on the disk is no damaged mail: nothing is fetched again for it', async () => {
  const spool: SpoolReader = {
    // oxlint-disable-next-line require-yield
    async *read() {
      throw new SpoolError('It is gone.');
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using page = await pageOver(1, spool);
  const read = async () => {
    for await (const { content } of page.files()) for await (const _ of content());
  };
  const error = await read().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(SpoolError);
});
