import { expect, test } from 'vitest';
import { listMailbox } from '../../src/server/mail/copy/looking/listing.ts';
import type { Listed, MailReader } from '../../src/server/mail/imap/streams.ts';

/** What a server says to one try: the UIDs of its listing, of a listing behind those, and of SEARCH. */
type Said = {
  readonly lists: readonly number[];
  readonly behind?: readonly number[];
  readonly finds?: readonly number[];
};

async function* rows(uids: readonly number[]): AsyncGenerator<Listed[]> {
  yield uids.map((uid) => ({ uid, size: 10, flags: [], internalDate: new Date(uid * 1000) }));
}

/** Counts `exists` messages, and shows each that is `there` to whoever asks for it by its UID. */
function readerThat(tries: readonly Said[], exists: number, there: readonly number[]) {
  const asked: string[] = [];
  let said: Said = { lists: [] };
  const opened = async () => ({ uidValidity: 7n, uidNext: 100, exists });
  const reader: Partial<MailReader> = {
    open: opened,
    openAndList: () => {
      said = tries[asked.filter((each) => each === 'list').length] ?? said;
      asked.push('list');
      return { opened: opened(), pages: rows(said.lists) };
    },
    list: (_, from = 1) => {
      asked.push(`behind ${from - 1}`);
      return rows((said.behind ?? []).filter((uid) => uid >= from));
    },
    search: async () => {
      asked.push('search');
      return said.finds ?? [];
    },
    look: (_, uids) => rows(uids.filter((uid) => there.includes(uid))),
  };
  return { asked, list: () => listMailbox(reader as MailReader, 'INBOX') };
}

const ALL = [1, 2, 3, 4];
const uidsIn = ({ messages }: Awaited<ReturnType<typeof listMailbox>>) => [...messages].map(({ uid }) => uid);

test.each<[string, readonly Said[], readonly string[]]>([
  ['is whole', [{ lists: ALL }], ['list']],
  ['goes on behind its last message', [{ lists: [1, 2], behind: [3, 4] }], ['list', 'behind 2']],
  ['is completed by a search', [{ lists: [1, 4], finds: ALL }], ['list', 'behind 4', 'search']],
  [
    'is completed by another one, where neither what is behind nor a search tells more',
    [{ lists: [1, 3], finds: [1] }, { lists: [3, 4] }, { lists: [2, 4] }],
    ['list', 'behind 3', 'search', 'list', 'behind 4', 'search', 'list'],
  ],
])('a listing that %s has all that the mailbox counts', async (_, tries, wanted) => {
  const { asked, list } = readerThat(tries, 4, ALL);
  const listing = await list();
  expect(uidsIn(listing).toSorted((a, b) => a - b)).toEqual(ALL);
  expect(listing.unlisted).toBe(0);
  expect(asked).toEqual(wanted);
});

test('a listing that stays short is asked for three times, and it is told by how many', async () => {
  const { asked, list } = readerThat([{ lists: [1, 3], finds: [3] }], 4, ALL);
  const listing = await list();
  expect(uidsIn(listing)).toEqual([1, 3]);
  expect(listing.unlisted).toBe(2);
  expect(asked.filter((each) => each === 'list').length).toBe(3);
});

test('a message that was shown and is deleted then makes up for none that is never listed', async () => {
  const { list } = readerThat([{ lists: [1, 2] }, { lists: [1, 3] }], 3, [1, 3]);
  const listing = await list();
  expect(uidsIn(listing)).toEqual([1, 3]);
  expect(listing.unlisted).toBe(1);
});
