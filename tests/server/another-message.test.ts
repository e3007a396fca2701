import { expect, test } from 'vitest';
import { readAnother, type Sized } from '../../src/server/mail/copy/troubles/another-message.ts';
import {
  isSentAway,
  mayBeOfAll,
  messageName,
  notePassed,
  openFaults,
  sourcePlace,
} from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Fetched, MailReader } from '../../src/server/mail/imap/streams.ts';

const GOODBYE = new MailError('lost', 'Bye', { cause: Object.assign(new Error('BYE'), { responseStatus: 'BYE' }) });

/**
 * A source that has said goodbye, and what is read of it.
 * @param onFetch may throw, and says whether it hands out
 * @param isOver whether the connection has ended when it throws
 */
function openSource(onFetch: (uid: number) => boolean = () => true, isOver = true) {
  const read: number[] = [];
  async function* fetch(_path: string, uids: readonly number[]): AsyncIterable<Fetched> {
    for (const uid of uids) {
      read.push(uid);
      if (!onFetch(uid)) continue;
      yield await Promise.resolve({ uid, octets: octets() } as Fetched);
    }
  }
  const place = sourcePlace({ fetch, isOver } as unknown as MailReader, 'Lists', 1n);
  const run = { ...openFaults(), looked: () => {} };
  run.noteFault('goodbyes: source');
  const another = (message: Sized, others: readonly Sized[]) => readAnother(place, message, others, run);
  return { read, place, run, another };
}

async function* octets(): AsyncIterable<Buffer> {
  yield await Promise.resolve(Buffer.from('Subject: one\r\n\r\n'));
}

const sized = (...sizes: readonly number[]): readonly Sized[] => sizes.map((size, at) => ({ uid: at + 1, size }));

test.each<[string, readonly number[], number]>([
  ['the smallest that is at least as large', [50, 900, 120, 100, 99], 4],
  ['the same, in another order', [100, 120, 900, 99], 1],
  ['the largest, where none is as large', [50, 99, 70], 2],
  ['the only one', [1], 1],
])('of those that have been read %s is read once more', async (_, sizes, uid) => {
  const { read, run, another } = openSource();
  expect(await another({ uid: 100, size: 100 }, sized(...sizes))).toBe(true);
  expect(read).toEqual([uid]);
  expect(mayBeOfAll('source', run)).toBe(false);
});

test('none is read where a message has passed since the server failed', async () => {
  const { read, another } = openSource();
  await another({ uid: 100, size: 1 }, sized(1));
  expect(await another({ uid: 100, size: 1 }, sized(1))).toBe(true);
  expect(read).toEqual([1]);
});

test('the message itself, and those at which the server has failed, are not read in its place', async () => {
  const { read, place, run, another } = openSource();
  expect(await another({ uid: 1, size: 1 }, sized(1))).toBe(false);
  run.noteFault(messageName(place, 2));
  expect(await another({ uid: 1, size: 1 }, sized(1, 1))).toBe(false);
  expect(read).toEqual([]);
});

test('what is not handed out shows nothing, and another one is read the next time', async () => {
  const { read, run, another } = openSource((uid) => uid !== 1);
  expect(await another({ uid: 100, size: 1 }, sized(1, 1))).toBe(true);
  expect(isSentAway('source', run)).toBe(true);
  expect(await another({ uid: 100, size: 1 }, sized(1, 1))).toBe(true);
  expect(read).toEqual([1, 2]);
  expect(isSentAway('source', run)).toBe(false);
});

test('after a goodbye at a message that has passed before no other one is read, until something passes', async () => {
  const { read, run, another } = openSource(() => {
    throw GOODBYE;
  });
  await expect(another({ uid: 100, size: 1 }, sized(1, 1))).rejects.toBe(GOODBYE);
  expect(run.faults('goodbyes: source')).toBe(2);
  expect(await another({ uid: 100, size: 1 }, sized(1, 1))).toBe(true);
  expect(read).toEqual([1]);
  notePassed('source', run);
  run.noteFault('goodbyes: source');
  await expect(another({ uid: 100, size: 1 }, sized(1, 1))).rejects.toBe(GOODBYE);
  expect(read).toEqual([1, 2]);
});

test('after a refusal of a message that has passed before another one is read', async () => {
  const refusal = new MailError('refused', 'No');
  const { read, another } = openSource((uid) => {
    if (uid === 1) throw refusal;
    return true;
  }, false);
  await expect(another({ uid: 100, size: 1 }, sized(1, 1))).rejects.toBe(refusal);
  expect(await another({ uid: 100, size: 1 }, sized(1, 1))).toBe(true);
  expect(read).toEqual([1, 2]);
});
