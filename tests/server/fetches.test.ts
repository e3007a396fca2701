import { expect, test } from 'vitest';
import type { Planned } from '../../src/server/mail/copy/ledger/ledger.ts';
import { SIZES } from '../../src/server/mail/copy/run/sizes.ts';
import { openFetches } from '../../src/server/mail/copy/storing/fetches.ts';
import type { Fetched, MailReader } from '../../src/server/mail/imap/streams.ts';

const planned = (uid: number, size = 10): Planned => ({ uid, size, date: null });
const groupOf = (from: number, to: number, size?: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => planned(from + index, size));

/** A mailbox that answers each command with the messages that it is told to, in that order. */
function mailbox(answer: (uids: readonly number[]) => readonly number[] = (uids) => uids) {
  const asked: number[][] = [];
  const [closed, passedOver]: [number[], number[]] = [[], []];
  const messageOf = (uid: number): Fetched => ({
    uid,
    size: 10,
    flags: [],
    internalDate: new Date(0),
    octets: {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true, value: undefined }),
        return: async () => {
          passedOver.push(uid);
          return { done: true, value: undefined };
        },
      }),
    },
  });
  const reader = {
    fetch: (_: string, uids: readonly number[]) => {
      const number = asked.push([...uids]) - 1;
      const left = answer(uids).map(messageOf);
      const iterator: AsyncIterableIterator<Fetched> = {
        next: async () => {
          const value = left.shift();
          return value === undefined ? { done: true, value } : { done: false, value };
        },
        return: async () => {
          if (left.length > 0) closed.push(number);
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]: () => iterator,
      };
      return iterator;
    },
  } as unknown as MailReader;
  return { reader, asked, closed, passedOver };
}

async function uidsOf(messages: AsyncIterable<Fetched>): Promise<number[]> {
  const uids: number[] = [];
  for await (const { uid } of messages) uids.push(uid);
  return uids;
}

test('groups are requested together, and returned one after another', async () => {
  const { reader, asked, closed, passedOver } = mailbox();
  const fetches = openFetches([groupOf(1, 3), groupOf(4, 5), groupOf(6, 6)], reader, 'INBOX', SIZES);
  expect(asked).toEqual([[1, 2, 3, 4, 5, 6]]);
  expect(await uidsOf(fetches.next())).toEqual([1, 2, 3]);
  expect(passedOver).toEqual([3]);
  expect(await uidsOf(fetches.next())).toEqual([4, 5]);
  expect(await uidsOf(fetches.next())).toEqual([6]);
  await fetches.letGo();
  expect(closed).toEqual([]);
  expect(() => fetches.next()).toThrow('no more groups');
});

test.each([
  ['500 messages', [groupOf(1, 300), groupOf(301, 500), groupOf(501, 501)], [500, 1]],
  ['32 MB', [groupOf(1, 2, 8e6), groupOf(3, 4, 8e6), groupOf(5, 5)], [4, 1]],
  ['rising UIDs', [groupOf(7, 9), groupOf(1, 3), groupOf(4, 6)], [3, 6]],
])('one command asks for no more than %s', (_, groups, counts) => {
  const { reader, asked } = mailbox();
  openFetches(groups, reader, 'INBOX', SIZES);
  expect(asked.map((uids) => uids.length)).toEqual(counts);
});

test('two commands are ahead of the one that is read, and each group has its own when asked alone', async () => {
  const { reader, asked } = mailbox();
  const groups = [1, 2, 3, 4].map((uid) => groupOf(uid, uid));
  const fetches = openFetches(groups, reader, 'INBOX', { ...SIZES, alone: true });
  expect(asked).toEqual([[1], [2]]);
  expect(await uidsOf(fetches.next())).toEqual([1]);
  expect(asked).toEqual([[1], [2], [3]]);
});

test('messages that are left out or come out of turn keep no others away, and turn up in no other group', async () => {
  const { reader } = mailbox(() => [1, 3, 6, 2, 4, 7]);
  const fetches = openFetches([groupOf(1, 2), groupOf(3, 5), groupOf(6, 7)], reader, 'INBOX', SIZES);
  expect(await uidsOf(fetches.next())).toEqual([1]);
  expect(await uidsOf(fetches.next())).toEqual([3]);
  expect(await uidsOf(fetches.next())).toEqual([6, 7]);
});

test('stopping within a group, or between two, closes the connection', async () => {
  const { reader, closed } = mailbox();
  const fetches = openFetches([groupOf(1, 2), groupOf(3, 4)], reader, 'INBOX', SIZES);
  for await (const { uid } of fetches.next()) if (uid === 1) break;
  expect(closed).toEqual([0]);
  const other = mailbox();
  const between = openFetches([groupOf(1, 2), groupOf(3, 4)], other.reader, 'INBOX', SIZES);
  await uidsOf(between.next());
  await between.letGo();
  expect(other.closed).toEqual([0]);
});
