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
type Told = { readonly name: string; readonly date: number | null };
const sha256Of = (name: string) => createHash('sha256').update(textOf(name)).digest('hex');

type Known = { readonly name: string; readonly fate: Row['fate']; readonly date: number | null };

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

/**
 * What is known, of messages `before` with UIDs from 1 on, where the source lists `now` under the same UIDVALIDITY.
 * @returns names of messages that wait, the first and the second time that it is asked for, and how many were read
 */
async function waitingOf(before: readonly Told[], now: readonly Told[]) {
  const messages = now.map(({ name, date }, at) => ({
    uid: 1 + at,
    bytes: textOf(name),
    flags: [],
    internalDate: new Date(date === null ? Number.NaN : date * 1000),
  }));
  const { source, fetched } = memoryAccount([{ path: 'INBOX', uidValidity: 7n, messages }]);
  const rows = new Map(
    before.map(({ name, date }, at): [number, Row] => {
      const what = { size: textOf(name).length, sha256: sha256Of(name), date };
      return [1 + at, { uid: 1 + at, fate: 'stored', ...what, verified: true, earlier: true }];
    }),
  );
  const ledger = {
    async *rows() {
      yield [...rows.values()];
    },
    settle: async (some: readonly NewRow[], _: readonly number[], former: readonly { readonly uid: number }[]) => {
      for (const { uid } of former) rows.delete(uid);
      for (const { mailboxId: __, ...row } of some) rows.set(row.uid, { ...row, earlier: true });
    },
  };
  const listed = new MessageList();
  for (const { uid, bytes, internalDate } of messages)
    listed.set({ uid, size: bytes.length, date: secondsOf(internalDate) });
  const clock = { now: () => NOW * 1000 };
  const read = { digests: new Map(), looked: () => {}, askAgain: () => {} };
  const run = { ...openFaults(), ...read, copy: { ledger, clock } } as unknown as Run;
  const session = { reader: await source.reader() } as unknown as Session;
  const waiting: string[][] = [];
  for (let time = 1; time <= 2; time += 1) {
    const { settled } = await readCurrentRows(MAILBOX, listed, session, run);
    waiting.push(now.flatMap(({ name }, at) => (settled.has(1 + at) ? [] : [name])));
  }
  return { waiting, read: fetched.length };
}

test('what has the UID of a row and another date is read: another message waits', async () => {
  const before = ['one', 'two', 'redated', 'of another zone', 'without', 'replaced'].map((name) => ({
    name,
    date: DAY * 9,
  }));
  const dates = [DAY * 9, DAY * 9 + 1, DAY * 9 + 1, DAY * 9 + 3600, null, 0];
  const now = before.map(({ name }, at) => ({ name: name === 'two' ? 'another' : name, date: dates[at] ?? null }));
  expect(await waitingOf(before, now)).toEqual({ waiting: [['another'], ['another']], read: 2 });
});

test('messages that have each other’s UIDs by now keep their rows', async () => {
  const letters = ['one', 'two', 'three', 'four', 'five'].map((name, at) => ({ name, date: DAY * 9 + at }));
  const [first, ...others] = letters.slice(0, 4);
  expect((await waitingOf(letters.slice(0, 4), [...others, ...letters.slice(4)])).waiting[0]).toEqual(['five']);
  expect(await waitingOf(letters, letters.toReversed())).toEqual({ waiting: [[], []], read: 4 });
  expect((await waitingOf(others, letters.slice(0, 4))).waiting[1]).toEqual([first?.name]);
});

test('a message that has a lower UID by now keeps its row, though nothing has its former UID any more', async () => {
  const letters = ['one', 'two', 'three', 'four'].map((name, at) => ({ name, date: DAY * 9 + at }));
  expect(await waitingOf(letters, letters.slice(1))).toEqual({ waiting: [[], []], read: 3 });
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
