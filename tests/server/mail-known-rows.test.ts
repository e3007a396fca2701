import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { MessageList, UidSet } from '../../src/server/mail/copy/ledger/columns.ts';
import type { LedgerMailbox, Row, RowKey } from '../../src/server/mail/copy/ledger/ledger.ts';
import { readCurrentRows, takeOverOlder } from '../../src/server/mail/copy/looking/changed-uids.ts';
import { readRows } from '../../src/server/mail/copy/looking/known-rows.ts';
import { secondsOf } from '../../src/server/mail/copy/message/digest.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';
import { openFaults, sourcePlace } from '../../src/server/mail/copy/troubles/breaks.ts';
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

type Moves = readonly { readonly from: RowKey; readonly to: RowKey }[];
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
  const [taken, former, forgotten]: [unknown[], number[], number[]] = [[], [], []];
  const redated: unknown[] = [];
  const ledger = {
    async *rows() {
      yield rows;
    },
    move: async (moves: Moves) => {
      for (const { from, to } of moves) {
        expect([from.mailboxId, to.mailboxId]).toEqual([1, 2]);
        taken.push([to.uid, rows[from.uid - 1]?.fate]);
        former.push(from.uid);
      }
    },
    redate: async (_: number, dates: readonly unknown[]) => void redated.push(...dates),
    forget: async (_: number, uids: readonly number[]) => void forgotten.push(...uids),
  };
  const listed = new MessageList();
  for (const { uid, bytes, internalDate } of messages)
    listed.set({ uid, size: bytes.length, date: secondsOf(internalDate) });
  const known = { settled: new UidSet(), hasFormer: false };
  for (const uid of settled) known.settled.add(uid);
  const clock = { now: () => NOW * 1000 };
  const run = { ...openFaults(), looked: () => {}, askAgain: () => {}, copy: { ledger, clock } } as unknown as Run;
  const place = sourcePlace(await source.reader(), 'INBOX', 8n);
  const mailbox = { ...MAILBOX, id: 2, sourceUidValidity: 8n };
  const hasTaken = await takeOverOlder([MAILBOX], known, { mailbox, listed, place, run });
  return { hasTaken, taken, former, redated, forgotten, read: fetched.length };
}

/**
 * What is known, of messages `before` with UIDs from 1 on, where the source lists `now` under the same UIDVALIDITY.
 * @returns for two times that it is asked for, the names of messages that wait, and how many were read; and how many
 *   rows there are then
 */
async function waitingOf(
  before: readonly (Told & Partial<Row>)[],
  now: readonly (Told & { readonly isWithheld?: boolean })[],
) {
  const messages = now.map(({ name, date }, at) => ({
    uid: 1 + at,
    bytes: textOf(name),
    flags: [],
    internalDate: new Date(date === null ? Number.NaN : date * 1000),
  }));
  const withheld = (_: string, uid: number) => now[uid - 1]?.isWithheld === true;
  const { source, fetched } = memoryAccount([{ path: 'INBOX', uidValidity: 7n, messages }], { withheld });
  const rows = new Map(
    before.map(({ name, date, ...more }, at): [number, Row] => {
      const what = { size: textOf(name).length, sha256: sha256Of(name), date };
      return [1 + at, { uid: 1 + at, fate: 'stored', ...what, verified: true, earlier: true, ...more }];
    }),
  );
  const ledger = {
    async *rows(_: number, fromUid = 1) {
      yield [...rows.values()].filter(({ uid }) => uid >= fromUid).toSorted((one, other) => one.uid - other.uid);
    },
    move: async (moves: Moves) => {
      for (const { from, to } of moves) {
        const row = rows.get(from.uid);
        expect({ from: row, to: rows.get(to.uid) }).toEqual({ from: expect.anything(), to: undefined });
        rows.delete(from.uid);
        if (row !== undefined) rows.set(to.uid, { ...row, uid: to.uid });
      }
    },
    redate: async (_: number, dates: readonly { readonly uid: number; readonly date: number }[]) => {
      for (const { uid, date: sourceDate } of dates) {
        const row = rows.get(uid);
        if (row !== undefined) rows.set(uid, { ...row, sourceDate });
      }
    },
    forget: async (_: number, uids: readonly number[]) => {
      for (const uid of uids) rows.delete(uid);
    },
  };
  const listed = new MessageList();
  for (const { uid, bytes, internalDate } of messages)
    listed.set({ uid, size: bytes.length, date: secondsOf(internalDate) });
  const clock = { now: () => NOW * 1000 };
  const run = { ...openFaults(), looked: () => {}, askAgain: () => {}, copy: { ledger, clock } } as unknown as Run;
  const place = sourcePlace(await source.reader(), 'INBOX', 7n);
  const current = { mailbox: MAILBOX, listed, place, run };
  const waiting: string[][] = [];
  const read: number[] = [];
  for (let time = 1; time <= 2; time += 1) {
    const known = await readCurrentRows(current);
    await takeOverOlder([], known, current);
    const { settled } = await readRows(MAILBOX, run, listed);
    waiting.push(now.flatMap(({ name }, at) => (settled.has(1 + at) ? [] : [name])));
    read.push(fetched.splice(0).length);
  }
  return { waiting, read, rows: rows.size };
}

test('what has the UID of a row and another date is read, once: another message waits', async () => {
  const before = ['one', 'two', 'redated', 'of another zone', 'without', 'replaced'].map((name) => ({
    name,
    date: DAY * 9,
  }));
  const dates = [DAY * 9, DAY * 9 + 1, DAY * 9 + 1, DAY * 9 + 3600, null, 0];
  const now = before.map(({ name }, at) => ({ name: name === 'two' ? 'another' : name, date: dates[at] ?? null }));
  // The other one is looked for among former messages, until it is copied.
  expect(await waitingOf(before, now)).toEqual({ waiting: [['another'], ['another']], read: [3, 1], rows: 6 });
});

test('messages that have each other’s UIDs by now keep their rows', async () => {
  const letters = ['one', 'two', 'three', 'four', 'five'].map((name, at) => ({ name, date: DAY * 9 + at }));
  const [first, ...others] = letters.slice(0, 4);
  expect((await waitingOf(letters.slice(0, 4), [...others, ...letters.slice(4)])).waiting[0]).toEqual(['five']);
  expect(await waitingOf(letters, letters.toReversed())).toEqual({ waiting: [[], []], read: [8, 0], rows: 5 });
  expect((await waitingOf(others, letters.slice(0, 4))).waiting[1]).toEqual([first?.name]);
});

test('a message that has a lower UID by now keeps its row, though nothing has its former UID any more', async () => {
  const letters = ['one', 'two', 'three', 'four'].map((name, at) => ({ name, date: DAY * 9 + at }));
  expect(await waitingOf(letters, letters.slice(1))).toEqual({ waiting: [[], []], read: [6, 0], rows: 4 });
});

test('what a row knows of a message that gave its UID away is not forgotten, unless it was refused', async () => {
  const before = (['lost', 'taken', 'refused', 'changed'] as const).map((fate) => ({
    name: fate,
    date: DAY * 9,
    fate,
  }));
  const now = before.map((_, at) => ({ name: `other ${at}`, date: DAY * 10 + 1 }));
  expect(await waitingOf(before, now)).toMatchObject({ rows: 3 });
});

test('what is not handed out and has another date is another message if its size is another one, too', async () => {
  const before = ['one', 'two'].map((name) => ({ name, date: DAY * 9 }));
  const now = ['another', 'own'].map((name) => ({ name, date: DAY * 10, isWithheld: true }));
  expect((await waitingOf(before, now)).waiting).toEqual([['another'], ['another']]);
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
    former: [3, 1],
    redated: [],
    forgotten: [2],
    read: 4,
  });
  expect(await takenOver(before.slice(1, 2), now)).toMatchObject({ hasTaken: false, taken: [], forgotten: [1] });
});

const equal = (fate: Row['fate'], date: number | null): Known => ({ name: 'one', fate, date });
const at = (date: number | null): Told => ({ name: 'one', date });

test('for a row whose message is gone, not all that waits is read, but what has its size, and some to know the sizes by', async () => {
  const before = [{ name: 'one', fate: 'stored', date: DAY * 9 } as const];
  const waiting = Array.from({ length: 300 }, (_, at) => ({ name: `another ${at}`, date: DAY * 8 + at }));
  const size = { name: 'two', date: DAY * 8 };
  expect(await takenOver(before, [...waiting, size])).toMatchObject({ hasTaken: false, taken: [], read: 10 });
});

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
  // One of another date comes last: as a server that was rebuilt may tell other dates of all.
  expect(await takenOver([equal('stored', DAY * 9)], [at(DAY * 8)])).toMatchObject({
    taken: [[11, 'stored']],
    redated: [{ uid: 11, date: DAY * 8 }],
  });
  for (const other of [null, DAY * 8])
    expect(await takenOver([equal('stored', DAY * 9)], [at(other), at(DAY * 9)])).toMatchObject({
      taken: [[12, 'stored']],
    });
  const two = [equal('stored', DAY * 9), equal('kept', DAY * 8)];
  expect(await takenOver(two, [at(DAY * 7), at(DAY * 8)])).toMatchObject({
    taken: [
      [12, 'kept'],
      [11, 'stored'],
    ],
  });
  expect(await takenOver([equal('stored', DAY * 9)], [at(null)])).toMatchObject({ taken: [[11, 'stored']] });
});

test('what was refused under the former UIDVALIDITY is told under the new one only', async () => {
  const rows = [DAY * 9, DAY * 8, null].map((date): Known => ({ name: 'one', fate: 'refused', date }));
  expect(await takenOver(rows, [{ name: 'one', date: DAY * 9 }])).toMatchObject({ hasTaken: false, forgotten: [1, 3] });
});
