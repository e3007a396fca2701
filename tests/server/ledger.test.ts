import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewRow } from '../../src/server/mail/copy/ledger/ledger.ts';
import { openLedger } from '../../src/server/mail/copy/ledger/on-database.ts';
import { foldersLeft, foldersOf, skippedMessages } from '../../src/server/mail/copy/ledger/report.ts';
import {
  noteMadeFolders,
  openTakeBackRecords,
  takenBack,
} from '../../src/server/mail/copy/ledger/take-back-records.ts';
import { itemsOf } from '../../src/server/receipt/items.ts';
import type { Database } from '../../src/server/store/database.ts';
import { confirmLease, LeaseLost, releaseLease, takeTransfer, type Lease } from '../../src/server/transfers/lease.ts';
import { beginTakeBack } from '../../src/server/transfers/taking-back.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { orderedMail } from '../support/ordered-mail.ts';
import { notedDatabase, rowsRead } from '../support/rows-read.ts';

const INBOX = { sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX', total: 3 };
const FACTS = { uidValidity: 4_294_967_295n, uidNext: 17 };

let database: Database;
let transfers = 0;
beforeAll(async () => {
  database = await openTestDatabase(FRESH);
});
afterAll(() => database[Symbol.asyncDispose]());

async function ordered(source?: string): Promise<string> {
  transfers += 1;
  return orderedMail(database, transfers, source);
}

async function taken(id: string): Promise<Lease> {
  await database.query('update transfers set leased_until = null where id = $1', [id]);
  const taking = await takeTransfer(database, id, 0);
  if (taking === null || !('lease' in taking)) throw new Error('The transfer is not to be had.');
  return taking.lease;
}

async function opened(id: string) {
  const lease = await taken(id);
  const ledger = openLedger(database, lease);
  const [mailbox] = await ledger.addMailboxes([INBOX]);
  if (mailbox === undefined) throw new Error('There is no mailbox.');
  const row = (uid: number, more: Partial<NewRow> = {}): NewRow => ({
    mailboxId: mailbox.id,
    uid,
    fate: 'stored',
    size: 3,
    sha256: 'ab'.repeat(32),
    date: 981_173_106,
    destinationUidValidity: 5n,
    destinationUid: 100 + uid,
    verified: false,
    ...more,
  });
  return { lease, ledger, mailbox, row };
}

async function rowsOf(ledger: ReturnType<typeof openLedger>, mailboxId: number) {
  const rows = [];
  for await (const page of ledger.rows(mailboxId)) rows.push(...page);
  return rows;
}

describe('the ledger', () => {
  test('gives a group back as it was, and forgets it when its outcome is known', async () => {
    const { ledger, mailbox, row } = await opened(await ordered());
    const messages = [
      { uid: 1, size: 3, date: 981_173_106 },
      { uid: 2, size: 4, date: null },
    ];
    const [group] = await ledger.open([{ mailboxId: mailbox.id, messages, ...FACTS }]);
    expect(await ledger.groups()).toEqual([{ ...group, messages, ...FACTS }]);
    expect((await ledger.mailboxes())[0]?.destination).toEqual(FACTS);
    await ledger.settle([row(1)], [group?.id ?? 0]);
    expect(await ledger.groups()).toEqual([]);
    expect(await ledger.claimed('INBOX', 5n)).toEqual(new Set([101]));
    expect(await ledger.claimed('INBOX', 6n)).toEqual(new Set());
    await ledger.verified(mailbox.id, [{ uid: 1, destinationUid: 101 }]);
    expect(await rowsOf(ledger, mailbox.id)).toMatchObject([
      { uid: 1, fate: 'stored', verified: true, earlier: false },
    ]);
    expect(await ledger.tally()).toEqual({ done: 1, bytes: 3, kept: 0 });
  });

  test('knows how a mailbox of the destination was before the first append under its UIDVALIDITY of now', async () => {
    const { ledger, mailbox } = await opened(await ordered());
    const messages = [{ uid: 1, size: 3, date: null }];
    const renumbered = { uidValidity: 7n, uidNext: 3 };
    const known = [];
    for (const facts of [FACTS, { ...FACTS, uidNext: 40 }, renumbered, { ...renumbered, uidNext: 9 }]) {
      await ledger.open([{ mailboxId: mailbox.id, messages, ...facts }]);
      known.push((await ledger.mailboxes())[0]?.destination);
    }
    expect(known).toEqual([FACTS, FACTS, renumbered, renumbered]);
  });

  test('counts what was stored as traffic of that day, whatever becomes of it later', async () => {
    const { ledger, mailbox, row } = await opened(await ordered());
    await ledger.settle([
      row(1, { flags: ['\\Seen'] }),
      { mailboxId: mailbox.id, uid: 2, fate: 'refused', size: 3, date: null, verified: false },
    ]);
    await database.query("update ledger set settled = now() - interval '2 days' where mailbox_id = $1", [mailbox.id]);
    const yesterday = Date.now() - 86_400_000;
    await ledger.settle([row(1, { fate: 'taken', verified: true })]);
    const key = (uid: number) => ({ mailboxId: mailbox.id, uid });
    await ledger.move([{ from: key(1), to: key(9) }]);
    expect((await ledger.traffic(yesterday)).down).toBe(0);
    // Nor is anything else forgotten by that: what has no flags is not taken back.
    const kept = await database.query('select flags from ledger where mailbox_id = $1 and uid = 9', [mailbox.id]);
    expect(kept).toEqual([{ flags: ['\\Seen'] }]);
    await ledger.settle([row(2)]);
    expect((await ledger.traffic(yesterday)).down).toBe(3);
    // The database's clock was ahead by a week as it was stored.
    await database.query("update ledger set settled = now() + interval '7 days' where mailbox_id = $1", [mailbox.id]);
    expect((await ledger.traffic(yesterday)).down).toBe(0);
  });

  test('holds names, subjects and dates that a column of the database does not', async () => {
    const { ledger, mailbox, row } = await opened(await ordered());
    const odd = { ...INBOX, sourcePath: 'cut \ud83d and \0', destinationPath: 'cut', total: 1 };
    const again = await ledger.addMailboxes([odd, { ...odd, sourcePath: 'cut \ud83e and \0' }]);
    expect(again.map(({ sourcePath }) => sourcePath)).toEqual([odd.sourcePath, 'cut \ud83e and \0']);
    expect(new Set(again.map(({ id }) => id)).size).toBe(2);
    await ledger.settle([row(1, { subject: 'cut \ud83d\0', date: -99_999_999_999, fate: 'refused', reason: 'virus' })]);
    expect(await rowsOf(ledger, mailbox.id)).toMatchObject([{ subject: 'cut \ufffd ', date: -99_999_999_999 }]);
  });

  test('refuses what a worker writes after another one has taken the transfer over', async () => {
    const id = await ordered();
    const older = await opened(id);
    const messages = [{ uid: 1, size: 3, date: null }];
    await older.ledger.open([{ mailboxId: older.mailbox.id, messages, ...FACTS }]);
    const newer = await opened(id);
    await expect(older.ledger.settle([older.row(1)])).rejects.toThrow(LeaseLost);
    await expect(older.ledger.open([{ mailboxId: older.mailbox.id, messages, ...FACTS }])).rejects.toThrow(LeaseLost);
    await expect(older.ledger.addMailboxes([{ ...INBOX, sourcePath: 'Sent' }])).rejects.toThrow(LeaseLost);
    expect(await newer.ledger.groups()).toHaveLength(1);
    await newer.ledger.settle([newer.row(1)]);
  });

  test('lets a worker without its lease take back what nobody has claimed, and then nobody claims it', async () => {
    const id = await ordered();
    const older = await opened(id);
    const newer = await opened(id);
    await newer.ledger.settle([newer.row(1)]);
    expect(await older.ledger.disown('INBOX', 5n, 101)).toBe(false);
    expect(await older.ledger.disown('INBOX', 5n, 102)).toBe(true);
    expect(await newer.ledger.disowned()).toEqual([{ destinationPath: 'INBOX', uidValidity: 5n, uid: 102 }]);
    expect(await newer.ledger.settle([newer.row(2), newer.row(3)])).toEqual([newer.row(2)]);
    expect((await rowsOf(newer.ledger, newer.mailbox.id)).map(({ uid }) => uid)).toEqual([1, 3]);
  });

  test('lets nobody take back what was stored for a subscriber who is erased meanwhile, as a new order may count on it', async () => {
    const id = await ordered();
    const { ledger } = await opened(id);
    await database.query('delete from transfers where id = $1', [id]);
    expect(await ledger.disown('INBOX', 5n, 102)).toBe(false);
  });

  test('takes over what an earlier transfer between the same accounts has stored, and not what was refused', async () => {
    const source = 'again@b.example';
    const before = await opened(await ordered(source));
    await before.ledger.adopt();
    await before.ledger.settle([
      before.row(1, { verified: true }),
      before.row(2, { fate: 'taken' }),
      before.row(3, { fate: 'refused', reason: 'virus' }),
    ]);
    await database.query('update transfers set finished = now() where id = $1', [before.lease.transferId]);
    const after = await opened(await ordered(source));
    await after.ledger.adopt();
    await after.ledger.adopt();
    expect(await rowsOf(after.ledger, after.mailbox.id)).toMatchObject([
      { uid: 1, fate: 'stored', verified: true, earlier: true },
      { uid: 2, fate: 'taken', earlier: true },
    ]);
    expect(await after.ledger.tally()).toMatchObject({ bytes: 0 });
  });

  test('takes over more than fits into one transaction, with the latest state of each message, even after a death', async () => {
    const source = 'much@b.example';
    const fill = `insert into ledger (mailbox_id, uid, fate, size, verified, destination_uid_validity, destination_uid)
      select $1, 3 * uid, 'stored', $4, true, 5, uid from generate_series($2::integer, $3::integer) uid`;
    for (const [from, to, size] of [
      [1, 45_000, 10],
      [30_001, 50_000, 20],
    ]) {
      const { ledger, lease, mailbox } = await opened(await ordered(source));
      await ledger.adopt();
      await database.query('delete from ledger where mailbox_id = $1 and uid >= $2', [mailbox.id, 3 * Number(from)]);
      await database.query(fill, [mailbox.id, from, to, size]);
      await database.query('update transfers set finished = now() where id = $1', [lease.transferId]);
    }
    const { ledger, mailbox } = await opened(await ordered(source));
    // What the worker of before had taken over when it died.
    await database.query(fill, [mailbox.id, 1, 7, 10]);
    await ledger.adopt();
    const rows = await rowsOf(ledger, mailbox.id);
    expect(rows.map(({ uid }) => uid)).toEqual(Array.from({ length: 50_000 }, (_, at) => 3 * (at + 1)));
    expect(rows.findIndex(({ size }) => size === 20)).toBe(30_000);
    expect(rows.findLastIndex(({ size }) => size === 10)).toBe(29_999);
  });

  test('takes over what the last transfer knows, and not what an earlier one had under an old name', async () => {
    const source = 'renamed@b.example';
    const end = (id: string) => database.query('update transfers set finished = now() where id = $1', [id]);
    const first = await opened(await ordered(source));
    await first.ledger.adopt();
    await first.ledger.settle([first.row(1), first.row(2)]);
    await end(first.lease.transferId);
    const second = await taken(await ordered(source));
    const ledger = openLedger(database, second);
    await ledger.adopt();
    const [mailbox] = await ledger.mailboxes();
    await ledger.rename([mailbox?.id ?? 0], 'Letters');
    await ledger.settle([{ ...first.row(3), mailboxId: mailbox?.id ?? 0 }]);
    await end(second.transferId);
    const third = openLedger(database, await taken(await ordered(source)));
    await third.adopt();
    const known = await third.mailboxes();
    expect(known.map(({ sourcePath }) => sourcePath)).toEqual(['Letters']);
    expect((await rowsOf(third, known[0]?.id ?? 0)).map(({ uid }) => uid)).toEqual([1, 2, 3]);
  });

  test('of folders and messages that were left out neither takes the place of the other', async () => {
    const { ledger, lease, row } = await opened(await ordered());
    const locked = { ...INBOX, total: 0, reason: 'mailbox unreadable' };
    await ledger.addMailboxes([1, 2, 3, 4, 5, 6].map((at) => ({ ...locked, sourcePath: `Locked ${at}` })));
    const refused = { fate: 'refused', reason: 'too large', subject: 'Film' } as const;
    await ledger.settle([row(1, refused)]);
    const told = async () =>
      (await skippedMessages(database, lease.transferId, 4)).map(({ mailbox, subject }) => subject ?? mailbox);
    expect(await told()).toEqual(['Locked 1', 'Locked 2', 'Locked 3', 'Film']);
    await ledger.settle([row(2, refused), row(3, refused)]);
    expect(await told()).toEqual(['Locked 1', 'Locked 2', 'Film', 'Film']);
  });

  test('tells what was left out, and how far the folders are', async () => {
    const { ledger, lease, row } = await opened(await ordered());
    const locked = { ...INBOX, sourcePath: 'Locked', total: 0, reason: 'mailbox unreadable' };
    await ledger.addMailboxes([locked]);
    await ledger.addMailboxes([{ ...locked, sourceUidValidity: 2n }]);
    const refused = { fate: 'refused', reason: 'too large', subject: 'Film' } as const;
    await ledger.settle([row(1), row(2, refused), row(3, { fate: 'gone' })]);
    expect(await skippedMessages(database, lease.transferId, 10)).toEqual([
      { mailbox: 'Locked', reason: 'The mail server does not let us read this folder.' },
      { mailbox: 'INBOX', reason: 'The message is too large for the new mailbox.', subject: 'Film' },
    ]);
    expect(await foldersLeft(database, lease.transferId)).toEqual([
      { folder: 'Locked', reason: 'The mail server does not let us read this folder.' },
    ]);
    expect(await foldersOf(database, lease.transferId)).toEqual([
      { name: 'INBOX', done: 1, total: 3, settled: 2, gone: 1 },
      { name: 'Locked', done: 0, total: 0, settled: 0, gone: 0 },
    ]);
  });

  test('tells how many messages a folder has under its UIDVALIDITY of now, where it had more before', async () => {
    const { ledger, lease, row } = await opened(await ordered());
    const [now] = await ledger.addMailboxes([{ ...INBOX, sourceUidValidity: 2n, total: 2 }]);
    await ledger.addMailboxes([{ ...INBOX, sourceUidValidity: 0n, total: 3, reason: 'mailbox unreadable' }]);
    await ledger.settle([1, 2].map((uid) => ({ ...row(uid), mailboxId: now?.id ?? 0 })));
    expect(await foldersOf(database, lease.transferId)).toEqual([
      { name: 'INBOX', done: 2, total: 2, settled: 2, gone: 0 },
    ]);
    await ledger.countMailbox(now?.id ?? 0, 4);
    expect(await foldersOf(database, lease.transferId)).toMatchObject([{ done: 2, total: 4 }]);
  });
});

const isLedger = (table: string | undefined) => table === 'ledger';

describe('a large mailbox', () => {
  const MANY = 12_000;
  let lease: Lease;
  beforeAll(async () => {
    const { mailbox, ...rest } = await opened(await ordered());
    ({ lease } = rest);
    const [other] = await rest.ledger.addMailboxes([{ ...INBOX, sourcePath: 'Other' }]);
    for (const [id, count] of [[mailbox.id, MANY] as const, [other?.id, 10] as const])
      await database.query(
        `insert into ledger (mailbox_id, uid, fate, size, sha256, destination_uid_validity, destination_uid, flags)
         select $1, uid, 'stored', 3, decode('ab', 'hex'), 1, uid, '{}' from generate_series(1, $2::integer) uid`,
        [id, count],
      );
    // Beside many small ones a query over several is planned as if each were small.
    await database.query(
      `insert into ledger_mailboxes (transfer_id, source_path, source_uid_validity, destination_path)
       select $1, 'Small ' || number, 1, 'Small' from generate_series(1, 300) number`,
      [await ordered()],
    );
    await database.query(
      `insert into ledger (mailbox_id, uid, fate, size)
       select id, uid, 'gone', 3 from ledger_mailboxes, generate_series(1, 10) uid where destination_path = 'Small'`,
    );
  });

  const STATISTICS = [
    ['before the database knows how large it is', 'select 1'],
    ['beside many small ones', 'analyze'],
  ] as const;

  test.each(STATISTICS)('is written into a receipt %s, and none of its rows is read for two pages', async (_, when) => {
    await database.query(when);
    const { database: noting, asked } = notedDatabase(database);
    let messages = 0;
    for await (const { kind } of itemsOf(noting, lease.transferId)) if (kind === 'message') messages += 1;
    expect(messages).toBe(MANY + 10);
    expect(await rowsRead(database, asked, isLedger)).toBeLessThan(1.2 * MANY);
  });

  test.each(STATISTICS)('is taken back %s, and none of its rows is read for two pages', async (_, when) => {
    await database.query(when);
    const { database: noting, asked } = notedDatabase(database);
    const records = openTakeBackRecords(noting, lease);
    expect(await records.paths()).toEqual(['INBOX']);
    asked.length = 0;
    const uids: number[] = [];
    for (let after = { mailboxId: 0, uid: 0 }; ;) {
      const page = await records.page('INBOX', after, 200);
      const last = page.at(-1);
      if (last === undefined) break;
      uids.push(...page.map(({ uid }) => uid));
      after = last;
    }
    expect(uids).toEqual([...Array(MANY).keys(), ...Array(10).keys()].map((at) => at + 1));
    expect(await rowsRead(database, asked, isLedger)).toBeLessThan(1.2 * MANY);
  });
});

const end = async (id: string) => {
  await database.query('update transfers set finished = now() where id = $1', [id]);
};

/** By mailbox and UID: how far taking each message back has got. */
async function removals(id: string): Promise<Record<string, string | null>> {
  const rows = await database.query<{ message: string; removal: string | null }>(
    `select m.destination_path || ' ' || l.uid as message, l.removal from ledger l
     join ledger_mailboxes m on m.id = l.mailbox_id where m.transfer_id = $1`,
    [id],
  );
  return Object.fromEntries(rows.map(({ message, removal }) => [message, removal]));
}

describe('what is taken back', () => {
  const SHA256 = 'ab'.repeat(32);
  const KEPT = 'cd'.repeat(32);
  const START = { mailboxId: 0, uid: 0 };

  test('is what the transfer itself has put there, and of which its flags and its octets there are known', async () => {
    const { lease, ledger, mailbox, row } = await opened(await ordered());
    const [sent] = await ledger.addMailboxes([{ ...INBOX, sourcePath: 'Sent' }]);
    await ledger.settle([
      row(1, { flags: ['\\Seen'] }),
      row(2, { flags: [], fate: 'kept', storedSha256: KEPT }),
      row(3, { flags: [], fate: 'kept' }),
      row(4),
      row(5, { flags: [], fate: 'changed', storedSha256: KEPT }),
      row(6, { flags: [], fate: 'taken' }),
      row(7, { flags: [], earlier: true }),
      row(1, { flags: [], mailboxId: sent?.id ?? 0, destinationUid: 201 }),
    ]);
    const records = openTakeBackRecords(database, lease);
    const page = await records.page('INBOX', START, 10);
    const one = { mailboxId: mailbox.id, uidValidity: 5n, intent: false };
    expect(page).toEqual([
      { ...one, uid: 1, destinationUid: 101, flags: ['\\Seen'], sha256: SHA256 },
      { ...one, uid: 2, destinationUid: 102, flags: [], sha256: KEPT },
    ]);
    // Two mailboxes of the source go into this one.
    expect(await records.page('INBOX', { mailboxId: mailbox.id, uid: 2 }, 10)).toMatchObject([{ destinationUid: 201 }]);
    expect(await records.count('INBOX')).toBe(5);
    await records.intend(page);
    expect(await records.page('INBOX', START, 10)).toMatchObject([{ intent: true }, { intent: true }]);
    await records.spare(page.slice(1));
    expect(await records.page('INBOX', START, 10)).toMatchObject([{ intent: true }, { intent: false }]);
    await records.removed(page.slice(0, 1));
    expect(await records.page('INBOX', START, 10)).toMatchObject([{ uid: 2 }]);
    expect(await records.count('INBOX')).toBe(4);
  });

  test('is noted of the message that it is, and of the same one in another transfer between these accounts', async () => {
    const source = 'twice@b.example';
    const first = await opened(await ordered(source));
    const { transferId: firstId } = first.lease;
    await first.ledger.adopt();
    const [sent] = await first.ledger.addMailboxes([{ ...INBOX, sourcePath: 'Sent', destinationPath: 'Sent' }]);
    await first.ledger.settle([
      first.row(1, { flags: [] }),
      first.row(2, { flags: [] }),
      // The same UID before the mailbox was renumbered, and in another mailbox.
      first.row(3, { flags: [], destinationUidValidity: 4n, destinationUid: 101 }),
      first.row(1, { flags: [], mailboxId: sent?.id ?? 0 }),
    ]);
    await end(firstId);
    const second = await opened(await ordered(source));
    await second.ledger.adopt();
    const records = openTakeBackRecords(database, first.lease);
    const page = await records.page('INBOX', START, 1);
    await records.intend(page);
    const none = { 'INBOX 1': null, 'INBOX 2': null, 'INBOX 3': null, 'Sent 1': null };
    expect(await removals(firstId)).toEqual({ ...none, 'INBOX 1': 'intent' });
    await records.removed(page);
    expect(await removals(firstId)).toEqual({ ...none, 'INBOX 1': 'removed' });
    expect(await removals(second.lease.transferId)).toEqual({ ...none, 'INBOX 1': 'removed' });
  });

  test('is looked for by the next transfer where that broke off, and by none after that where it has been found', async () => {
    const source = 'broken-off@b.example';
    const first = await opened(await ordered(source));
    await first.ledger.adopt();
    await first.ledger.settle([1, 2, 3].map((uid) => first.row(uid, { flags: [], verified: true })));
    await end(first.lease.transferId);
    const records = openTakeBackRecords(database, first.lease);
    await records.intend((await records.page('INBOX', START, 10)).slice(1));
    const second = await opened(await ordered(source));
    await second.ledger.adopt();
    const uidsOf = async ({ ledger, mailbox }: typeof second) =>
      (await rowsOf(ledger, mailbox.id)).map(({ uid }) => uid);
    expect(await uidsOf(second)).toEqual([1]);
    const groups = await second.ledger.groups();
    expect(groups).toMatchObject([{ messages: [{ uid: 2 }, { uid: 3 }], uidValidity: 5n, uidNext: 102 }]);
    // One of them is there, and the other one is copied again.
    const rows = [second.row(2), second.row(3, { destinationUid: 110 })];
    await second.ledger.settle(rows, [groups[0]?.id ?? 0]);
    await end(second.lease.transferId);
    for (const _ of [3, 4]) {
      const later = await opened(await ordered(source));
      await later.ledger.adopt();
      expect([await uidsOf(later), await later.ledger.groups()]).toEqual([[1, 2, 3], []]);
      await end(later.lease.transferId);
    }
  });

  test('is not noted by a worker after another one has taken that over', async () => {
    const { lease: newer, ledger, row } = await opened(await ordered());
    await ledger.settle([row(1, { flags: [] })]);
    const older = { ...newer, epoch: newer.epoch - 1 };
    const records = openTakeBackRecords(database, older);
    const page = await records.page('INBOX', START, 10);
    await expect(records.intend(page)).rejects.toThrow(LeaseLost);
    await expect(records.spare(page)).rejects.toThrow(LeaseLost);
    await expect(records.removed(page)).rejects.toThrow(LeaseLost);
    await expect(records.folderRemoved('INBOX')).rejects.toThrow(LeaseLost);
    await expect(noteMadeFolders(database, older)('Family')).rejects.toThrow(LeaseLost);
    expect(await removals(newer.transferId)).toEqual({ 'INBOX 1': null });
    expect(await openTakeBackRecords(database, newer).folders()).toEqual([]);
  });

  test('are the folders that it made, the deepest first, and of a transfer taken back before only those from which it takes something back', async () => {
    const source = 'folders@b.example';
    const first = await opened(await ordered(source));
    for (const path of ['Family', 'Other']) await noteMadeFolders(database, first.lease)(path);
    await end(first.lease.transferId);
    const second = await opened(await ordered(source));
    const made = { ...INBOX, sourcePath: 'Family/Old', destinationPath: 'Family/Old' };
    const other = { ...INBOX, sourcePath: 'Other', destinationPath: 'Other' };
    const [old, others] = await second.ledger.addMailboxes([made, other]);
    for (const path of ['New', 'Family/Old']) await noteMadeFolders(database, second.lease)(path);
    await second.ledger.settle([
      second.row(1, { flags: [], mailboxId: old?.id ?? 0 }),
      second.row(2, { flags: [], mailboxId: old?.id ?? 0, destinationUidValidity: 6n, earlier: true }),
      second.row(1, { flags: [], mailboxId: others?.id ?? 0 }),
      second.row(2, { flags: [], mailboxId: others?.id ?? 0, earlier: true }),
    ]);
    // Taken back by an earlier transfer, which had put it there.
    await database.query("update ledger set removal = 'removed' where mailbox_id = $1 and earlier", [others?.id]);
    const records = openTakeBackRecords(database, second.lease);
    const own = [
      { path: 'Family/Old', validities: [5n] },
      { path: 'New', validities: [] },
    ];
    await records.removed(await records.page('Family/Old', START, 1));
    expect(await records.folders()).toEqual(own);
    await database.query('insert into take_backs (transfer_id) values ($1)', [first.lease.transferId]);
    expect(await records.folders()).toEqual([own[0], { path: 'Family', validities: [] }, own[1]]);
    await records.folderRemoved('Family');
    expect(await records.folders()).toEqual(own);
    await records.folderRemoved('New');
    expect(await records.folders()).toEqual(own.slice(0, 1));
  });

  test('is told by what became of each message', async () => {
    const { lease, ledger, mailbox, row } = await opened(await ordered());
    await ledger.settle([
      row(1, { flags: [] }),
      row(2, { flags: [] }),
      row(3, { fate: 'changed' }),
      row(4, { fate: 'taken' }),
      row(5, { fate: 'refused', reason: 'virus' }),
      row(6, { earlier: true }),
    ]);
    await ledger.open([{ mailboxId: mailbox.id, messages: [{ uid: 9, size: 3, date: null }], ...FACTS }]);
    expect(await takenBack(database, lease.transferId)).toBeNull();
    await database.query('insert into take_backs (transfer_id) values ($1)', [lease.transferId]);
    const records = openTakeBackRecords(database, lease);
    await database.query('update take_backs set idle_runs = 9 where transfer_id = $1', [lease.transferId]);
    await records.removed(await records.page('INBOX', START, 1));
    // As many tries as in the beginning for what is left.
    expect(await beginTakeBack(database, lease.transferId)).toBe(1);
    const counts = { removed: 1, left: 2, moved: 1, unsure: 1 };
    expect(await takenBack(database, lease.transferId)).toEqual({ ...counts, goesOn: true, remark: null });
  });
});

describe('a lease', () => {
  test('keeps every other worker away until it has expired or is released', async () => {
    const id = await ordered();
    const first = await takeTransfer(database, id, 60);
    if (first === null || !('lease' in first)) throw new Error('The transfer is not to be had.');
    const second = await takeTransfer(database, id, 60);
    expect(second).toEqual({ heldForSeconds: expect.closeTo(60, -1) as number });
    await releaseLease(database, first.lease);
    expect(await takeTransfer(database, id, 60)).toHaveProperty('lease');
    expect(await confirmLease(database, first.lease, 60)).toBe('lost');
    // Nor may whoever had it give back what is another one's by now.
    await releaseLease(database, first.lease);
    expect(await takeTransfer(database, id, 60)).toEqual({ heldForSeconds: expect.closeTo(60, -1) as number });
  });

  test('that the database has lost is not mistaken for one that it has granted since', async () => {
    const id = await ordered();
    const given: Lease[] = [];
    // One after another may be the same by chance, but not all.
    for (let failover = 0; failover < 4; failover += 1) {
      await database.query('update transfers set epoch = 7, leased_until = null where id = $1', [id]);
      given.push(await taken(id));
    }
    expect(new Set(given.map(({ epoch }) => epoch)).size).toBeGreaterThan(1);
  });

  test('that was granted while a clock was ahead lasts no longer than any other once the clock is put right', async () => {
    const id = await ordered();
    const first = await takeTransfer(database, id, 60);
    await database.query("update transfers set leased_until = leased_until + interval '1 hour' where id = $1", [id]);
    expect(await takeTransfer(database, id, 60)).toEqual({ heldForSeconds: expect.closeTo(60, -1) as number });
    // Whoever has it keeps it, and may confirm it as ever.
    if (first === null || !('lease' in first)) throw new Error('The transfer is not to be had.');
    expect(await confirmLease(database, first.lease, 60)).toBe('ours');
  });

  test('that has expired without being released goes to another worker if nobody renews it between two looks', async () => {
    const id = await ordered();
    const first = await taken(id);
    const jump = () =>
      database.query("update transfers set leased_until = now() - interval '1 hour' where id = $1", [id]);
    const look = (unreleased?: string) => takeTransfer(database, id, 60, unreleased);
    const runOut = async (unreleased?: string) => {
      await jump();
      const taking = await look(unreleased);
      if (taking === null || !('unreleased' in taking)) throw new Error('The lease has not run out.');
      return taking.unreleased;
    };
    const before = await runOut();
    expect(await confirmLease(database, first, 60)).toBe('ours');
    expect(await look(before)).toEqual({ heldForSeconds: expect.closeTo(60, -1) as number });
    expect(await look(await runOut(before))).toHaveProperty('lease');
    expect(await confirmLease(database, first, 60)).toBe('lost');
  });

  test('is granted to nobody once the transfer has ended', async () => {
    const id = await ordered();
    await database.query('update transfers set finished = now() where id = $1', [id]);
    expect(await takeTransfer(database, id, 60)).toBeNull();
  });
});
