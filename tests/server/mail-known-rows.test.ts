import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { MessageList, UidSet } from '../../src/server/mail/copy/ledger/columns.ts';
import type { LedgerMailbox, NewRow, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { readCurrentRows, readRows, takeOverOlder } from '../../src/server/mail/copy/looking/known-rows.ts';
import type { Listing } from '../../src/server/mail/copy/looking/listing.ts';
import { secondsOf } from '../../src/server/mail/copy/message/digest.ts';
import type { Run, Session } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';

const MAILBOX: LedgerMailbox = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 7n, destinationPath: 'INBOX' };

test('a message that was gone, and that the source lists again, waits to be copied', async () => {
  const rows: Row[] = [1, 2, 3].map((uid) => ({
    uid,
    size: 10,
    date: 0,
    fate: uid === 3 ? 'refused' : 'gone',
    earlier: false,
    verified: false,
  }));
  const ledger = {
    async *rows() {
      yield rows;
    },
  };
  const run = { copy: { ledger } } as unknown as Run;
  const listed = new MessageList();
  for (const uid of [1, 3]) listed.set({ uid, size: 10, date: 0 });
  const { settled } = await readRows(MAILBOX, run, listed);
  expect([1, 2, 3].filter((uid) => settled.has(uid))).toEqual([2, 3]);
});

const DAY = 86_400;
const NOW = 20_000 * DAY;
const textOf = (name: string) => Buffer.from(`Subject: ${name}\r\n\r\n`);
const sha256Of = (name: string) => createHash('sha256').update(textOf(name)).digest('hex');

type Known = { readonly name: string; readonly fate: Row['fate']; readonly date: number | null };
type Told = { readonly name: string; readonly date: number | null };

/**
 * Takes over what is known of `before`, by names, where the source has `now` under another UIDVALIDITY, with UIDs from
 * 11 on. @returns names with new UIDs, and the former UIDs, from 1 on, that have no row any more
 */
async function takenOver(before: readonly Known[], now: readonly Told[], settled: readonly number[] = []) {
  const messages = now.map(({ name, date }, at) => ({
    uid: 11 + at,
    bytes: textOf(name),
    flags: [],
    internalDate: new Date(date === null ? Number.NaN : date * 1000),
  }));
  const { source, fetched } = memoryAccount([{ path: 'INBOX', uidValidity: 8n, messages }]);
  const rows = before.map(({ name, fate, date }, at): Row => {
    const digest = fate === 'refused' ? {} : { sha256: sha256Of(name) };
    return { uid: 1 + at, fate, size: textOf(name).length, date, ...digest, verified: true, earlier: false };
  });
  const [taken, former, forgotten]: [NewRow[], number[], number[]] = [[], [], []];
  const ledger = {
    async *rows() {
      yield rows;
    },
    settle: async (some: readonly NewRow[], _: readonly number[], gone: readonly { readonly uid: number }[]) => {
      taken.push(...some);
      former.push(...gone.map(({ uid }) => uid));
    },
    forget: async (_: number, uids: readonly number[]) => void forgotten.push(...uids),
  };
  const listing = { messages: new MessageList() } as Listing;
  for (const { uid, bytes, internalDate } of messages)
    listing.messages.set({ uid, size: bytes.length, date: secondsOf(internalDate) });
  const known = new UidSet();
  for (const uid of settled) known.add(uid);
  const clock = { now: () => NOW * 1000 };
  const run = { ...openFaults(), askAgain: () => {}, copy: { ledger, clock } } as unknown as Run;
  const session = { reader: await source.reader() } as unknown as Session;
  const mailbox = { ...MAILBOX, id: 2, sourceUidValidity: 8n };
  const hasTaken = await takeOverOlder([MAILBOX], mailbox, listing, known, session, run);
  expect(taken.every(({ mailboxId }) => mailboxId === 2)).toBe(true);
  return { hasTaken, taken: taken.map(({ uid, fate }) => [uid, fate]), former, forgotten, read: fetched.length };
}

test('a UID whose message has another date by now is read once: where it is another message, its row is forgotten', async () => {
  const now = [
    { name: 'one', date: DAY * 9 },
    { name: 'another', date: DAY * 9 + 1 },
    { name: 'redated', date: DAY * 9 + 1 },
    { name: 'an hour later', date: DAY * 9 + 3600 },
    { name: 'without a date', date: null },
    { name: 'of a day that others replace', date: 0 },
  ];
  const messages = now.map(({ name, date }, at) => ({
    uid: 1 + at,
    bytes: textOf(name),
    flags: [],
    internalDate: new Date(date === null ? Number.NaN : date * 1000),
  }));
  const { source, fetched } = memoryAccount([{ path: 'INBOX', uidValidity: 7n, messages }]);
  const rows = now.map(({ name }, at): Row => {
    const known = name === 'another' ? 'two' : name;
    const what = { size: textOf(name).length, sha256: sha256Of(known), date: DAY * 9 };
    return { uid: 1 + at, fate: 'stored', ...what, verified: true, earlier: true };
  });
  const forgotten: number[] = [];
  const ledger = {
    async *rows() {
      yield rows;
    },
    forget: async (_: number, uids: readonly number[]) => {
      forgotten.push(...uids);
      for (const uid of uids)
        rows.splice(
          rows.findIndex((row) => row.uid === uid),
          1,
        );
    },
  };
  const listed = new MessageList();
  for (const { uid, bytes, internalDate } of messages)
    listed.set({ uid, size: bytes.length, date: secondsOf(internalDate) });
  const clock = { now: () => NOW * 1000 };
  const run = { ...openFaults(), askAgain: () => {}, copy: { ledger, clock } } as unknown as Run;
  const session = { reader: await source.reader() } as unknown as Session;
  for (let time = 1; time <= 2; time += 1) {
    const { settled } = await readCurrentRows(MAILBOX, listed, session, run);
    expect(messages.filter(({ uid }) => !settled.has(uid)).map(({ uid }) => uid)).toEqual([2]);
  }
  expect(forgotten).toEqual([2]);
  expect(fetched.length).toBe(2);
});

test('under a new UIDVALIDITY of the source a message keeps its row, and one that was lost is tried again', async () => {
  const before: Known[] = [
    { name: 'one', fate: 'stored', date: DAY * 9 },
    { name: 'two', fate: 'lost', date: DAY * 9 },
    { name: 'other', fate: 'taken', date: DAY * 9 },
    { name: 'gone', fate: 'gone', date: DAY * 9 },
  ];
  const now = ['other', 'two', 'one', 'gone', 'new'].map((name) => ({ name, date: DAY * 9 }));
  expect(await takenOver(before, now, [15])).toEqual({
    hasTaken: true,
    taken: [
      [11, 'taken'],
      [13, 'stored'],
    ],
    former: [3, 2, 1],
    forgotten: [],
    read: 4,
  });
  expect(await takenOver(before.slice(1, 2), now)).toMatchObject({ hasTaken: false, taken: [], former: [1] });
});

const equal = (fate: Row['fate'], date: number | null): Known => ({ name: 'one', fate, date });
const at = (date: number | null): Told => ({ name: 'one', date });

test('of equal messages one that is there comes before one that is lost, and each has the row of its own date', async () => {
  expect(await takenOver([equal('lost', DAY * 9), equal('stored', DAY * 9)], [at(DAY * 9)])).toMatchObject({
    taken: [[11, 'stored']],
    former: [2],
  });
  expect(await takenOver([equal('stored', DAY * 9), equal('lost', DAY * 9)], [at(DAY * 9)])).toMatchObject({
    taken: [[11, 'stored']],
    former: [1],
  });
  expect(await takenOver([equal('stored', DAY * 9), equal('kept', DAY * 8)], [at(DAY * 8)])).toMatchObject({
    taken: [[11, 'kept']],
    former: [2],
  });
  // Another date is that of another message, unless servers replace it: then that one comes last.
  expect(await takenOver([equal('stored', DAY * 9)], [at(DAY * 8)])).toMatchObject({ taken: [], read: 0 });
  expect(await takenOver([equal('stored', DAY * 9)], [at(null), at(DAY * 9)])).toMatchObject({
    taken: [[12, 'stored']],
  });
  expect(await takenOver([equal('stored', DAY * 9)], [at(null)])).toMatchObject({ taken: [[11, 'stored']] });
});

test('what was refused under the former UIDVALIDITY is told under the new one only', async () => {
  const rows = [DAY * 9, DAY * 8, null].map((date): Known => ({ name: 'one', fate: 'refused', date }));
  expect(await takenOver(rows, [{ name: 'one', date: DAY * 9 }])).toMatchObject({ hasTaken: false, forgotten: [1, 3] });
});
