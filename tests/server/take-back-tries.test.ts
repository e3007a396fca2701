import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Appended, TakeBackRecords } from '../../src/server/mail/copy/ledger/take-back-records.ts';
import { takeBack } from '../../src/server/mail/copy/take-back.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailControl, MailReader, MailWriter } from '../../src/server/mail/imap/streams.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';

/** Fails within a minute, should the tries go on for ever. */
const TRIES_AT_MOST = 50;

const lost = () => Promise.reject(new MailError('lost', 'The connection ended.'));

/** It lists these mailboxes. */
function listing(...paths: readonly string[]): MailControl {
  const mailboxes = async () => paths.map((path) => ({ path, delimiter: '/' }));
  return { mailboxes, [Symbol.asyncDispose]: async () => {} } as unknown as MailControl;
}

/** Opens once, and then no more. */
function brokenReader(): MailReader {
  let pages = 0;
  return {
    open: async () => {
      pages += 1;
      return pages === 1 ? { uidValidity: 1n, exists: 0 } : lost();
    },
    [Symbol.asyncDispose]: async () => {},
  } as unknown as MailReader;
}

test('a take back that gets no further ends, however much of it is passed each time', async () => {
  let opened = 0;
  // Under another UIDVALIDITY: they are passed, and the page after them never comes.
  const page = [{ mailboxId: 1, uid: 1, uidValidity: 2n }] as unknown as readonly Appended[];
  const ended = takeBack({
    clock: HASTY_CLOCK,
    reader: async () => {
      opened += 1;
      if (opened > TRIES_AT_MOST) throw new RangeError('It goes on for ever.');
      return brokenReader();
    },
    writer: async () =>
      ({ traits: { saysUids: true }, [Symbol.asyncDispose]: async () => {} }) as unknown as MailWriter,
    control: async () => listing(),
    limits: { connections: 1 },
    records: { paths: async () => ['INBOX'], page: async () => page } as unknown as TakeBackRecords,
    mayWrite: () => true,
    mayWait: true,
    signal: new AbortController().signal,
    onStep: () => {},
  });
  await expect(ended).rejects.toThrow('The connection ended.');
  expect(opened).toBeLessThan(10);
});

async function openUndamaged(path: string): Promise<{ uidValidity: bigint; exists: number }> {
  if (path === 'Damaged') throw new MailError('busy', 'It is in trouble.', { responseCode: 'SERVERBUG' });
  return { uidValidity: 1n, exists: 0 };
}

test('a mailbox that the server is in trouble with keeps nothing in the others from being taken back', async () => {
  const asked = new Set<string>();
  const page = [{ mailboxId: 1, uid: 1, uidValidity: 2n }] as unknown as readonly Appended[];
  const records = {
    paths: async () => ['Damaged', 'INBOX'],
    page: async (path: string, { uid }: { uid: number }) => {
      asked.add(path);
      return uid === 0 ? page : [];
    },
    folders: async () => [],
  };
  const takenBack = (mayWait: boolean) =>
    takeBack({
      clock: HASTY_CLOCK,
      reader: async () => ({ open: openUndamaged, [Symbol.asyncDispose]: async () => {} }) as unknown as MailReader,
      writer: async () =>
        ({ traits: { saysUids: true }, [Symbol.asyncDispose]: async () => {} }) as unknown as MailWriter,
      control: async () => listing('Damaged', 'INBOX'),
      limits: { connections: 1 },
      records: records as unknown as TakeBackRecords,
      mayWrite: () => true,
      mayWait,
      signal: new AbortController().signal,
      onStep: () => {},
    });
  await expect(takenBack(true)).rejects.toMatchObject({ fault: 'busy', responseCode: 'SERVERBUG' });
  expect(asked).toEqual(new Set(['Damaged', 'INBOX']));
  // What it could not look into stays, and is told.
  expect(await takenBack(false)).toEqual({ isOneByOne: true, absent: 0, archives: false });
});

test.each(['EXAMINE', 'SELECT'] as const)(
  'a mailbox of which the server says at %s what is said of accounts keeps nothing in the others from being taken back',
  async (command) => {
    const open = async (by: string, path: string) => {
      if (by === command && path === 'Damaged')
        throw new MailError('credentials', 'It says so.', { responseCode: 'AUTHORIZATIONFAILED' });
      return { uidValidity: 1n, exists: 1 };
    };
    const { reader, writer, records, there } = openMailbox([7]);
    const ended = takeBack({
      clock: HASTY_CLOCK,
      reader: async () => ({ ...reader, open: (path: string) => open('EXAMINE', path) }),
      writer: async () =>
        ({
          ...writer,
          select: (path: string) => open('SELECT', path),
          expunge: async (path: string) => {
            if (path === 'INBOX') there.clear();
          },
        }) as unknown as MailWriter,
      control: async () => listing('Damaged', 'INBOX'),
      limits: { connections: 1 },
      records: { ...records, paths: async () => ['Damaged', 'INBOX'] } as unknown as TakeBackRecords,
      mayWrite: () => true,
      mayWait: true,
      signal: new AbortController().signal,
      onStep: () => {},
    });
    expect(await ended).toEqual({ isOneByOne: true, absent: 0, archives: false });
    expect(there.size).toBe(0);
  },
);

/** A mailbox of messages with the octets `a`, of which the newest are shown; some are left out of the first answer. */
function openMailbox(
  uids: readonly number[],
  { window = Infinity, leftOut = [] as readonly number[], there = new Set(uids) } = {},
) {
  const hidden = new Set(leftOut);
  const removed = new Set<number>();
  const shown = () => [...there].toSorted((a, b) => a - b).slice(-Math.min(window, 1e9));
  const reader = {
    open: async () => ({ uidValidity: 1n, exists: shown().length }),
    search: async () => shown(),
    look: async function* (_: string, asked: readonly number[]) {
      yield shown().flatMap((uid) => (asked.includes(uid) && !hidden.delete(uid) ? [{ uid, flags: [] }] : []));
    },
    fetch: async function* (_: string, asked: readonly number[]) {
      for (const uid of shown()) if (asked.includes(uid)) yield { uid, octets: aloneOf(Buffer.from('a')) };
    },
    [Symbol.asyncDispose]: async () => {},
  } as unknown as MailReader;
  const writer = {
    traits: { saysUids: true },
    select: async () => ({ uidValidity: 1n }),
    expunge: async (_: string, asked: readonly number[]) => {
      for (const uid of asked) there.delete(uid);
    },
    [Symbol.asyncDispose]: async () => {},
  } as unknown as MailWriter;
  const page = uids.map((uid) => ({
    mailboxId: 1,
    uid,
    destinationUid: uid,
    uidValidity: 1n,
    flags: [],
    intent: leftOut.includes(uid),
    sha256: createHash('sha256').update('a').digest('hex'),
  }));
  const records = {
    paths: async () => ['INBOX'],
    page: async (_: string, { uid: after }: { uid: number }) =>
      page.filter(({ uid }) => uid > after && !removed.has(uid)).slice(0, 2),
    intend: async () => {},
    spare: async () => {},
    removed: async (messages: readonly Appended[]) => {
      for (const { uid } of messages) removed.add(uid);
    },
    folders: async () => [],
  };
  const takenBack = () =>
    takeBack({
      clock: HASTY_CLOCK,
      reader: async () => reader,
      writer: async () => writer,
      control: async () => listing('INBOX'),
      limits: { connections: 1, ...(window === Infinity ? {} : { window }) },
      records: records as unknown as TakeBackRecords,
      mayWrite: () => true,
      mayWait: true,
      signal: new AbortController().signal,
      onStep: () => {},
    });
  return { there, removed, reader, writer, records, takenBack };
}

async function* aloneOf(octets: Buffer): AsyncIterable<Uint8Array> {
  yield octets;
}

test('where a mailbox is renumbered before what was compared is expunged, nothing is, as its UIDs are those of others', async () => {
  const { there, reader, writer, records } = openMailbox([1, 2, 3]);
  let uidValidity = 1n;
  const select = async () => {
    uidValidity = 2n;
    return { uidValidity };
  };
  const ended = takeBack({
    clock: HASTY_CLOCK,
    reader: async () => ({ ...reader, open: async () => ({ uidValidity, exists: 3 }) }),
    writer: async () => ({ ...writer, select }) as unknown as MailWriter,
    control: async () => listing('INBOX'),
    limits: { connections: 1 },
    records: records as unknown as TakeBackRecords,
    mayWrite: () => true,
    mayWait: true,
    signal: new AbortController().signal,
    onStep: () => {},
  });
  expect(await ended).toMatchObject({ isOneByOne: true });
  expect([...there]).toEqual([1, 2, 3]);
});

test('what is behind the window of a server is taken back once it is shown', async () => {
  const { there, takenBack } = openMailbox([1, 2, 3, 4, 5], { window: 2 });
  expect(await takenBack()).toMatchObject({ absent: 0 });
  expect([...there]).toEqual([]);
});

test('what was deleted since within the window of a server is told as absent, and not as staying', async () => {
  const { takenBack } = openMailbox([1, 9], { window: 2, there: new Set([1, 6, 7, 8]) });
  expect(await takenBack()).toMatchObject({ absent: 1 });
});

test('what an answer leaves out after a death is not noted as removed', async () => {
  const { there, removed, takenBack } = openMailbox([1, 2, 3], { leftOut: [2] });
  await takenBack();
  expect([...there]).toEqual([]);
  expect(removed).toEqual(new Set([1, 2, 3]));
});
