import { expect, test } from 'vitest';
import { openExportThread, startThread } from '../../src/server/export/thread/export-thread.ts';
import { inflateRawSync } from 'node:zlib';

const asked = () => ({ octets: new Uint8Array(Buffer.from('once and twice')), sizes: [4, 10] });
const inflated = ({ packed }: { readonly packed: readonly Uint8Array[] }) =>
  packed.map((each) => inflateRawSync(each).toString());

test('one thread serves all who have it open, until the last of them is done; another one whoever comes later', async () => {
  const first = openExportThread();
  const second = openExportThread();
  expect(inflated(await second.ask('deflate', asked()))).toEqual(['once', ' and twice']);
  await second[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  expect(inflated(await first.ask('deflate', asked()))).toEqual(['once', ' and twice']);
  await first[Symbol.asyncDispose]();
  await expect(first.ask('deflate', asked())).rejects.toThrow('The thread of exports has ended.');
  await using third = openExportThread();
  expect(inflated(await third.ask('deflate', asked()))).toEqual(['once', ' and twice']);
});

test.each([
  ['ends', 'process.exit()'],
  ['fails', "throw new Error('It was too much.')"],
])('where the thread %s, who waits for it is told, and who asks it later', async (_what, script) => {
  const entry = `import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => { ${script} });`;
  const thread = startThread(new URL(`data:text/javascript,${encodeURIComponent(entry)}`));
  const both = await Promise.allSettled([thread.ask(['deflate', asked()], []), thread.ask(['deflate', asked()], [])]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(thread.ask(['deflate', asked()], [])).rejects.toThrow('The thread of exports has ended.');
});
