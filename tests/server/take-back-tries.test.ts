import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Appended, MadeFolder, TakeBackRecords } from '../../src/server/mail/copy/ledger/take-back-records.ts';
import { takeBack, type TakingBack } from '../../src/server/mail/copy/take-back.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Mailbox as ListedMailbox } from '../../src/server/mail/imap/mailbox.ts';
import type { MailControl, MailReader, MailWriter } from '../../src/server/mail/imap/streams.ts';
import { Stopped } from '../../src/server/stopped.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';

/** Fails within a minute, should the tries go on for ever. */
const TRIES_AT_MOST = 50;

const refused = () => Promise.reject(new MailError('refused', 'Not here.', { responseCode: 'NOPERM' }));
const refusedBare = () => Promise.reject(new MailError('refused', 'Not here.', { cause: 'NO' }));
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

const uidsOf = (messages: readonly Appended[]) => messages.map(({ uid }) => uid).join();

type Mailbox = {
  readonly window?: number;
  /** Left out of the first answer. */
  readonly leftOut?: readonly number[];
  readonly there?: Set<number>;
  /** What the ledger has of some. */
  readonly rows?: Readonly<Record<number, Partial<Appended>>>;
  /** The flags that some have. */
  readonly marks?: Map<number, readonly string[]>;
  /** Those of which somebody else has put another one there. */
  readonly others?: readonly number[];
};

/** A mailbox of messages with the octets `a`, of which the newest are shown; and what is done to it. */
function openMailbox(
  uids: readonly number[],
  {
    window = Infinity,
    leftOut = [],
    there = new Set(uids),
    rows = {},
    marks = new Map<number, readonly string[]>(),
    others = [],
  }: Mailbox = {},
) {
  const hidden = new Set(leftOut);
  const removed = new Set<number>();
  const done: string[] = [];
  const shown = () => [...there].toSorted((a, b) => a - b).slice(-Math.min(window, 1e9));
  const reader = {
    open: async () => ({ uidValidity: 1n, exists: shown().length, highestModseq: 9n }),
    search: async () => shown(),
    look: async function* (_: string, asked: readonly number[]) {
      yield shown().flatMap((uid) =>
        asked.includes(uid) && !hidden.delete(uid) ? [{ uid, flags: marks.get(uid) ?? [] }] : [],
      );
    },
    fetch: async function* (_: string, asked: readonly number[]) {
      for (const uid of shown())
        if (asked.includes(uid)) yield { uid, octets: aloneOf(Buffer.from(others.includes(uid) ? 'b' : 'a')) };
    },
    [Symbol.asyncDispose]: async () => {},
  } as unknown as MailReader;
  const writer = {
    traits: { saysUids: true },
    isOver: false,
    select: async () => {
      done.push('select');
      return { uidValidity: 1n };
    },
    expunge: async (_: string, asked: readonly number[], unchangedSince: bigint) => {
      done.push(`expunge ${asked.join()} unless changed since ${unchangedSince}`);
      for (const uid of asked) there.delete(uid);
    },
    undelete: async (_: string, asked: readonly number[]) => {
      done.push(`undelete ${asked.join()}`);
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
    ...rows[uid],
  }));
  const records = {
    paths: async () => ['INBOX'],
    page: async (_: string, { uid: after }: { uid: number }) =>
      page.filter(({ uid }) => uid > after && !removed.has(uid)).slice(0, 2),
    intend: async (messages: readonly Appended[]) => {
      done.push(`intend ${uidsOf(messages)}`);
    },
    spare: async (messages: readonly Appended[]) => {
      done.push(`spare ${uidsOf(messages)}`);
    },
    removed: async (messages: readonly Appended[]) => {
      done.push(`removed ${uidsOf(messages)}`);
      for (const { uid } of messages) {
        expect([...there]).not.toContain(uid);
        removed.add(uid);
      }
    },
    folders: async () => [],
  };
  const takenBack = (more: Partial<TakingBack> = {}) =>
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
      ...more,
    });
  return { there, removed, done, reader, writer, records, takenBack };
}

async function* aloneOf(octets: Buffer): AsyncIterable<Uint8Array> {
  yield octets;
}

test('where a mailbox is renumbered before what was compared is expunged, nothing is, as its UIDs are those of others', async () => {
  const { there, reader, writer, takenBack } = openMailbox([1, 2, 3]);
  let uidValidity = 1n;
  const select = async () => {
    uidValidity = 2n;
    return { uidValidity };
  };
  const ended = takenBack({
    reader: async () => ({ ...reader, open: async () => ({ uidValidity, exists: 3 }) }),
    writer: async () => ({ ...writer, select }) as unknown as MailWriter,
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
  const between = openMailbox([1, 2, 3, 4, 5], { window: 2, there: new Set([1, 2, 4, 5]) });
  expect(await between.takenBack()).toMatchObject({ absent: 1 });
  expect([...between.there]).toEqual([]);
});

test('what an answer leaves out after a death is not noted as removed', async () => {
  const { there, removed, takenBack } = openMailbox([1, 2, 3], { leftOut: [2] });
  await takenBack();
  expect([...there]).toEqual([]);
  expect(removed).toEqual(new Set([1, 2, 3]));
});

const INTENDED = { intent: true };

test.each<readonly [string, Partial<Appended>, readonly string[], boolean]>([
  ['no flags, and has none', {}, [], true],
  ['a flag, and has it in other letters', { flags: ['\\Seen'] }, ['\\SEEN'], true],
  ['a flag that it has no more', { flags: ['\\Seen'] }, [], false],
  ['no flags, and has one', {}, ['\\Flagged'], false],
  ['a label, and has another one', { flags: ['Work'] }, ['Mine'], false],
  ['no mark as deleted, and has one', {}, ['\\Deleted'], false],
  ['no mark as deleted, and has one of an earlier try', INTENDED, ['\\deleted'], true],
  ['no mark as deleted, and has one of an earlier try, and a label', INTENDED, ['\\Deleted', 'Mine'], false],
])('whether what was given %s, is taken back', async (_, row, flags, isTaken) => {
  const { there, takenBack } = openMailbox([1], { rows: { 1: row }, marks: new Map([[1, flags]]) });
  await takenBack();
  expect(there.size).toBe(isTaken ? 0 : 1);
});

test('a message with other octets under the UID of one that was put there stays', async () => {
  const { there, takenBack } = openMailbox([1, 2], { others: [2] });
  await takenBack();
  expect([...there]).toEqual([2]);
});

test('what is taken back is intended first, and left where it has changed since it was compared', async () => {
  const { done, takenBack } = openMailbox([1, 2]);
  await takenBack();
  expect(done).toEqual(['intend 1,2', 'select', 'expunge 1,2 unless changed since 9', 'removed 1,2']);
});

test('of what an earlier try had marked, what its owner has touched since is marked and noted no more', async () => {
  const marks = new Map([
    [1, ['\\Deleted', 'Mine']],
    [2, ['Mine']],
    [3, ['\\Deleted', 'Mine']],
    [4, ['\\Deleted', 'Mine']],
  ]);
  const rows = { 1: INTENDED, 2: INTENDED, 3: { intent: true, flags: ['\\Deleted'] } };
  const { there, done, takenBack } = openMailbox([1, 2, 3, 4], { rows, marks });
  await takenBack();
  expect(there.size).toBe(4);
  // The third one was sent with that mark, and the fourth one has its owner's.
  expect(done).toEqual(['select', 'undelete 1', 'spare 1,2', 'spare 3']);
});

test.each(['lease', 'process'])(
  'a worker that has lost its %s expunges nothing of what it has compared',
  async (what) => {
    const { there, done, takenBack } = openMailbox([1, 2]);
    const stopping = new AbortController();
    let mayWrite = true;
    const onStep = () => {
      if (what === 'lease') mayWrite = false;
      else stopping.abort();
    };
    await expect(takenBack({ onStep, mayWrite: () => mayWrite, signal: stopping.signal })).rejects.toThrow(Stopped);
    expect(there.size).toBe(2);
    expect(done).toEqual(['intend 1,2']);
  },
);

test('a worker that has lost its lease while it opened the mailbox expunges nothing of what it has compared', async () => {
  const { there, done, writer, takenBack } = openMailbox([1, 2]);
  let mayWrite = true;
  const select = async (path: string) => {
    mayWrite = false;
    return writer.select(path);
  };
  const ended = takenBack({ writer: async () => ({ ...writer, select }), mayWrite: () => mayWrite });
  await expect(ended).rejects.toThrow(Stopped);
  expect(there.size).toBe(2);
  expect(done).toEqual(['intend 1,2', 'select']);
});

test('what could not be expunged is not left marked, but for what had that mark', async () => {
  const rows = { 2: { flags: ['\\Deleted'] } };
  const { done, writer, takenBack } = openMailbox([1, 2], { rows, marks: new Map([[2, ['\\Deleted']]]) });
  const undelete = async (path: string, uids: readonly number[]) => {
    await writer.undelete(path, uids);
    throw new MailError('busy', 'Not now.', { responseCode: 'SERVERBUG' });
  };
  const unwilling = { ...writer, expunge: refused, undelete } as unknown as MailWriter;
  // What fails after the refusal does not take its place.
  expect(await takenBack({ writer: async () => unwilling })).toMatchObject({ isOneByOne: true });
  expect(done).toEqual(['intend 1,2', 'select', 'undelete 1']);
});

test('what its owner touches just when it is expunged stays unmarked, and is not noted as removed', async () => {
  const marks = new Map<number, readonly string[]>([[3, ['\\Deleted']]]);
  const rows = { 3: { flags: ['\\Deleted'] } };
  const { there, done, removed, writer, takenBack } = openMailbox([1, 2, 3, 4], { rows, marks });
  const expunge = async (_: string, uids: readonly number[]) => {
    for (const uid of uids)
      if (uid === 4) there.delete(uid);
      else if (uid !== 2) marks.set(uid, ['\\deleted', 'Mine']);
  };
  const undelete = async (path: string, uids: readonly number[]) => {
    await writer.undelete(path, uids);
    throw new MailError('refused', 'Not here.');
  };
  await takenBack({ writer: async () => ({ ...writer, expunge, undelete }) });
  expect([...there]).toEqual([1, 2, 3]);
  expect(removed).toEqual(new Set([4]));
  expect(done.filter((each) => /^(undelete|spare)/.test(each))).toEqual(['undelete 1', 'spare 1,2', 'spare 3']);
});

test('what is gone after a try of ours was removed by us, and what else is gone was not', async () => {
  const { removed, done, takenBack } = openMailbox([1, 2, 3], { rows: { 1: INTENDED }, there: new Set([3]) });
  expect(await takenBack()).toMatchObject({ absent: 1 });
  expect(removed).toEqual(new Set([1, 3]));
  expect(done.filter((each) => each.startsWith('spare'))).toEqual([]);
});

test('what was removed is noted also where a server shows an open mailbox as it was (Courier)', async () => {
  const { there, removed, reader, takenBack } = openMailbox([1, 2]);
  let seen: readonly number[] = [];
  const open = (path: string) => {
    seen = [...there];
    return reader.open(path);
  };
  async function* look(_: string, uids: readonly number[]) {
    yield seen.filter((uid) => uids.includes(uid)).map((uid) => ({ uid, flags: [] }));
  }
  await takenBack({ reader: async () => ({ ...reader, open, look }) as unknown as MailReader });
  expect(removed).toEqual(new Set([1, 2]));
});

test('what is left out of an answer is not noted as removed where the server refuses to search for it', async () => {
  const { there, removed, reader, takenBack } = openMailbox([1, 2], { leftOut: [1] });
  expect(await takenBack({ reader: async () => ({ ...reader, search: refused }) })).toMatchObject({ absent: 0 });
  expect([...there]).toEqual([1]);
  expect(removed).toEqual(new Set([2]));
});

test.each([
  ['gone', 'NONEXISTENT', ['Lists'], false, 7],
  ['not listed any more', 'CANNOT', ['Sent'], false, 7],
  ['not listed any more, and tells how many it has', 'CANNOT', ['Sent'], true, 0],
  ['not listed any more, and lets nobody in', 'NOPERM', ['Sent'], false, 0],
  ['there, and refused', 'NOPERM', ['Lists'], false, 0],
  ['there by its state, and not when it is opened', 'NONEXISTENT', ['Lists'], true, 0],
] as const)(
  'what was put into a mailbox that is %s is counted as such',
  async (_, responseCode, paths, isTold, absent) => {
    const { reader, records, takenBack } = openMailbox([1]);
    const open = () => Promise.reject(new MailError('refused', 'Not here.', { responseCode }));
    const status = async () => (isTold ? { uidValidity: 1n, exists: 1 } : open());
    const ended = takenBack({
      reader: async () => ({ ...reader, open, status }),
      control: async () => listing(...paths),
      records: { ...records, paths: async () => ['Lists'], count: async () => 7 } as unknown as TakeBackRecords,
    });
    expect(await ended).toMatchObject({ absent });
  },
);

test('a mailbox that is refused without a reason is tried again, as long as the operation may wait', async () => {
  const { reader, takenBack } = openMailbox([1]);
  const refusing = { reader: async () => ({ ...reader, open: refusedBare }) };
  await expect(takenBack(refusing)).rejects.toMatchObject({ passing: true });
  expect(await takenBack({ ...refusing, mayWait: false })).toMatchObject({ absent: 0 });
});

/** A folder that is there, of this UIDVALIDITY. */
const made = (path: string, ...validities: readonly bigint[]) => ({ path, validities });

function openFolders(folders: readonly MadeFolder[], holding: Readonly<Record<string, number>> = {}) {
  const { reader, records, takenBack } = openMailbox([]);
  const there = new Map<string, Partial<ListedMailbox>>(folders.map(({ path }) => [path, {}]));
  const noted: string[] = [];
  const control = {
    mailboxes: async () => [...there].map(([path, more]) => ({ path, ...more })),
    namespace: async () => ({ delimiter: '/' }),
    remove: async (path: string) => {
      if (path === 'Refused') throw new MailError('refused', 'Not here.');
      there.delete(path);
    },
    [Symbol.asyncDispose]: async () => {},
  } as unknown as MailControl;
  const open = async (path: string) => {
    if (path === 'Busy') throw new MailError('busy', 'Not now.');
    return { uidValidity: 1n, exists: holding[path] ?? 0 };
  };
  const all = {
    ...records,
    paths: async () => [],
    folders: async () => folders,
    folderRemoved: async (path: string) => {
      noted.push(path);
    },
  };
  const removed = (more: Partial<TakingBack> = {}) =>
    takenBack({
      control: async () => control,
      reader: async () => ({ ...reader, open }),
      records: all as unknown as TakeBackRecords,
      mayWait: false,
      ...more,
    });
  return { there, noted, reader: { ...reader, open }, removed };
}

describe('of the folders that were made', () => {
  test('those are removed that are empty and still ours', async () => {
    const folders = ['Full', 'Refused', 'Busy', 'Above', 'Sent'].map((path) => made(path));
    const { there, noted, removed } = openFolders([...folders, made('Empty'), made('Same', 2n, 1n)], { Full: 1 });
    there.set('Above/Mine', {}).set('Sent', { specialUse: '\\Sent' });
    await removed();
    expect([...there.keys()]).toEqual(['Full', 'Refused', 'Busy', 'Above', 'Sent', 'Above/Mine']);
    expect(noted).toEqual(['Empty', 'Same']);
  });

  test('one that its owner has made in place of it stays, and is ours no more', async () => {
    const { there, noted, removed } = openFolders([made('Family', 2n), made('Gone')]);
    there.delete('Gone');
    await removed();
    expect([...there.keys()]).toEqual(['Family']);
    expect(noted).toEqual(['Family', 'Gone']);
  });

  test('none is removed by a worker that has lost its lease', async () => {
    const { there, removed } = openFolders([made('Empty')]);
    await expect(removed({ mayWrite: () => false })).rejects.toThrow(Stopped);
    expect(there.size).toBe(1);
  });

  test('none is removed by a worker that has lost its lease while it looked whether the folder is empty', async () => {
    const { there, noted, reader, removed } = openFolders([made('Empty')]);
    let mayWrite = true;
    const open = async (path: string) => {
      mayWrite = false;
      return reader.open(path);
    };
    const ended = removed({ reader: async () => ({ ...reader, open }), mayWrite: () => mayWrite });
    await expect(ended).rejects.toThrow(Stopped);
    expect([...there.keys()]).toEqual(['Empty']);
    expect(noted).toEqual([]);
  });
});
