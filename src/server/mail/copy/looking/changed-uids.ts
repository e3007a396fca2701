import type { MessageList } from '../ledger/columns.ts';
import type { LedgerMailbox, Planned, Row } from '../ledger/ledger.ts';
import { digestOf } from '../message/digest.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Run } from '../run/run.ts';
import { fetchReadable, isReadable, messageName, type Place } from '../troubles/breaks.ts';
import { AT_DESTINATION, FORMER_FROM, isDated, readRows, type KnownRows } from './known-rows.ts';
import { ABOUT_OCTETS, inParts } from './looking.ts';

/** Fates of messages whose rows are carried over to another UIDVALIDITY of the source. */
const COMES_ALONG: ReadonlySet<string> = new Set([...AT_DESTINATION, 'taken', 'lost']);

/** So many messages show whether a server rounds the sizes that it lists. */
const SIZES_COMPARED = 10;
/** Where it does, no more are read after so many that no row is of: those that have one come before what is new. */
const STRANGERS_AT_MOST = 50;

/** A mailbox as the source lists it now. */
export type Current = {
  readonly mailbox: LedgerMailbox;
  readonly listed: MessageList;
  readonly place: Place;
  readonly run: Run;
};

/**
 * The rows of a mailbox, each under the UID of its message. Some servers give a UID to another message under the same
 * UIDVALIDITY, as after a backup of them was restored: that one waits.
 */
export async function readCurrentRows(now: Current): Promise<KnownRows> {
  const { mailbox, listed, run } = now;
  const known = await readRows(mailbox, run, listed);
  if (known.doubtful.size === 0) return known;
  return (await setOthersApart(known, now)) ? readRows(mailbox, run, listed) : known;
}

/**
 * Reads what may be another message than its row's, and sets those rows apart that it is not. Those that no message is
 * listed for come first, as their messages may have other UIDs by now, too: after a death the next run finds all.
 * @returns whether there are any
 */
async function setOthersApart({ doubtful, lastRow }: KnownRows, now: Current): Promise<boolean> {
  const { mailbox, listed, run } = now;
  const { ledger } = run.copy;
  const mailboxId = mailbox.id;
  let next = Math.max(FORMER_FROM, lastRow + 1, listed.highest + 1);
  const setApart = (rows: readonly Row[]) => {
    const stored = rows.filter((row) => !isRefused(row));
    return ledger.move(stored.map(({ uid }) => ({ from: { mailboxId, uid }, to: { mailboxId, uid: next++ } })));
  };
  let hasOthers = false;
  const settle = async ({ others, same }: Compared) => {
    await ledger.redate(mailboxId, same);
    if (others.length > 0 && !hasOthers)
      for await (const all of ledger.rows(mailboxId))
        await setApart(all.filter(({ uid }) => uid < FORMER_FROM && !listed.has(uid)));
    hasOthers ||= others.length > 0;
    await setApart(others);
    const refused = others.filter(isRefused).map(({ uid }) => uid);
    if (refused.length > 0) await ledger.forget(mailboxId, refused);
  };
  for await (const page of ledger.rows(mailboxId))
    for (const part of inParts(page.filter(({ uid }) => doubtful.has(uid)))) {
      const compared: Compared = { others: [], same: [] };
      try {
        await compareWithSource(part, compared, now);
      } finally {
        // What has been read is not read again.
        await settle(compared);
      }
      run.looked();
    }
  return hasOthers;
}

const isRefused = ({ fate }: Row) => fate === 'refused';

/** Rows of other messages than the source has under their UIDs, and the dates of the others. */
type Compared = { readonly others: Row[]; readonly same: { readonly uid: number; readonly date: number }[] };

/** Compares rows with the source. What it does not hand out is another message if it has another size as well. */
async function compareWithSource(
  rows: readonly Row[],
  { others, same }: Compared,
  { listed, place, run }: Current,
): Promise<void> {
  const unseen = new Map(rows.map((row) => [row.uid, row]));
  for await (const { uid, octets } of fetchReadable(place, [...unseen.keys()], run)) {
    const { sha256 } = await digestOf(octets);
    const [row, date] = [unseen.get(uid), listed.get(uid)?.date ?? null];
    if (row === undefined) continue;
    unseen.delete(uid);
    if (row.sha256 !== sha256) others.push(row);
    else if (date !== null) same.push({ uid, date });
  }
  askForUnseen(unseen.keys(), place, run);
  for (const row of unseen.values()) if (listed.get(row.uid)?.size !== row.size) others.push(row);
}

/** A row whose message may have another UID by now, and the mailbox that has it. */
type Former = { readonly from: LedgerMailbox; readonly row: Row };
/** With the message that gets the row. */
type Taken = Former & { readonly now: Planned };

const isLost = ({ row }: Former) => row.fate === 'lost';

/**
 * Messages that have other UIDs by now, as after a new UIDVALIDITY at the source, are recognised by their octets, and
 * get the row of the old UID. What was refused or lost is tried again under its new UID, and not reported twice.
 * @param older the mailbox under other UIDVALIDITYs
 * @returns whether any row was taken over
 */
export async function takeOverOlder(
  older: readonly LedgerMailbox[],
  { settled, hasFormer }: Pick<KnownRows, 'settled' | 'hasFormer'>,
  now: Current,
): Promise<boolean> {
  const { listed, run } = now;
  const { rows, dates, refused } = await formerRows(older, hasFormer, now);
  if (refused.length > 0) await forgetRefused(refused, now);
  if (rows.size === 0) return false;
  const { clock } = run.copy;
  const isSure = ({ date }: Planned) => dates.has(date) && !isUnsureDate(date, clock);
  const waitingThat = (isLike: (message: Planned) => boolean) =>
    listed.filter((message) => !settled.has(message.uid) && isLike(message));
  const taking: Taking = { ...now, rows, moved: 0, compared: 0, areSizesExact: true };
  // Those of the same date first: one that has none, or another one by now, must not take the row of one of them.
  const undated = await takeRows(waitingThat(isSure), isDated, taking);
  const sizes = new Set([...rows.values()].flat().map(({ row }) => row.size));
  const isAlike = ({ date, size }: Planned) => sizes.has(size) || isUnsureDate(date, clock);
  const others = waitingThat((message) => !isSure(message) && isAlike(message));
  await takeRows([...undated, ...others], () => true, taking);
  const isAbout = sizesOf([...rows.values()].flat());
  await takeRounded(
    waitingThat((message) => !isSure(message) && !isAlike(message) && isAbout(message.size)),
    taking,
  );
  return taking.moved > 0;
}

/** The rows that may be taken over, by digest, with the dates of their messages, and those that were refused. */
type FormerRows = {
  readonly rows: Map<string, Former[]>;
  readonly dates: Set<number | null>;
  readonly refused: Former[];
};

async function formerRows(
  older: readonly LedgerMailbox[],
  hasFormer: boolean,
  { mailbox, listed, run }: Current,
): Promise<FormerRows> {
  const { ledger } = run.copy;
  const former: FormerRows = { rows: new Map(), dates: new Set(), refused: [] };
  for (const from of older)
    for await (const page of ledger.rows(from.id)) for (const row of page) addFormer(from, row, former);
  if (hasFormer)
    for await (const page of ledger.rows(mailbox.id, FORMER_FROM))
      for (const row of page) if (!listed.has(row.uid)) addFormer(mailbox, row, former);
  return former;
}

function addFormer(from: LedgerMailbox, row: Row, { rows, dates, refused }: FormerRows): void {
  const { fate, sha256, date, sourceDate } = row;
  if (fate === 'refused') refused.push({ from, row });
  if (sha256 === undefined || !COMES_ALONG.has(fate)) return;
  const same = rows.get(sha256) ?? [];
  // Of equal messages, one that is there comes before one that is lost.
  rows.set(sha256, fate === 'lost' ? [...same, { from, row }] : [{ from, row }, ...same]);
  dates.add(date);
  if (sourceDate !== undefined) dates.add(sourceDate);
}

/**
 * Lets what was refused be tried again: what has the date of a message or, if it was too large, the size, as its date
 * may be another one by now. Others may be from another folder that had the same name.
 */
async function forgetRefused(refused: readonly Former[], { listed, run }: Current): Promise<void> {
  const [dates, sizes] = [new Set<number | null>([null]), new Set<number>()];
  for (const { date, size } of listed) {
    dates.add(date);
    sizes.add(size);
  }
  await forgetAll(
    refused.filter(({ row }) => dates.has(row.date) || (row.reason === 'too large' && sizes.has(row.size))),
    run,
  );
}

/** @returns whether a size is about that of one of these, as some servers round those that they list */
function sizesOf(rows: readonly Former[]): (size: number) => boolean {
  const parts = new Set(rows.map(({ row }) => Math.floor(row.size / ABOUT_OCTETS)));
  return (size) => [-1, 0, 1].some((by) => parts.has(Math.floor(size / ABOUT_OCTETS) + by));
}

type Taking = Current & {
  /** By digest; those that are taken are left out from then on. */
  readonly rows: ReadonlyMap<string, Former[]>;
  /** How many were moved to their messages, of how many that were read. */
  moved: number;
  compared: number;
  /** Whether all that were read were listed with the size that they have. */
  areSizesExact: boolean;
};

/**
 * Takes rows over where the source rounds sizes. Not all is read: else all that waits would be, with each run, for a row
 * whose message is gone.
 */
async function takeRounded(messages: readonly Planned[], taking: Taking): Promise<void> {
  const some = Math.max(0, SIZES_COMPARED - taking.compared);
  await takeRows(messages.slice(0, some), () => true, taking);
  for (let from = some; !taking.areSizesExact && from < messages.length; from += STRANGERS_AT_MOST) {
    const before = taking.moved;
    await takeRows(messages.slice(from, from + STRANGERS_AT_MOST), () => true, taking);
    if (taking.moved === before) return;
  }
}

/** @returns the messages of which there are only rows that do not fit */
async function takeRows(
  messages: readonly Planned[],
  fits: (row: Row, date: number | null) => boolean,
  taking: Taking,
): Promise<readonly Planned[]> {
  const { rows, place, run } = taking;
  const left: Planned[] = [];
  for (const part of inParts(messages)) {
    const taken: Taken[] = [];
    const unseen = new Map(part.map((message) => [message.uid, message]));
    try {
      for await (const { uid, octets } of fetchReadable(place, [...unseen.keys()], run)) {
        const { sha256, size } = await digestOf(octets);
        const now = unseen.get(uid);
        if (now === undefined) continue;
        unseen.delete(uid);
        taking.compared += 1;
        taking.areSizesExact &&= size === now.size;
        const same = rows.get(sha256) ?? [];
        const at = same.findIndex(({ row }) => fits(row, now.date));
        for (const each of at < 0 ? [] : same.splice(at, 1)) taken.push({ ...each, now });
        if (at < 0 && same.length > 0) left.push(now);
      }
    } finally {
      // What has been read is not read again.
      await settleTaken(taken, taking);
    }
    askForUnseen(unseen.keys(), place, run);
  }
  return left;
}

async function settleTaken(taken: readonly Taken[], taking: Taking): Promise<void> {
  const { mailbox, run } = taking;
  const { ledger } = run.copy;
  const moved = taken.filter((each) => !isLost(each));
  const dates = moved.flatMap(({ row, now: { uid, date } }) =>
    date === null || isDated(row, date) ? [] : [{ uid, date }],
  );
  // By one commit. Else each would be read once more, for its date.
  await Promise.all([
    ledger.move(
      moved.map(({ from, row, now: { uid } }) => ({
        from: { mailboxId: from.id, uid: row.uid },
        to: { mailboxId: mailbox.id, uid },
      })),
    ),
    ledger.redate(mailbox.id, dates),
  ]);
  await forgetAll(taken.filter(isLost), run);
  if (moved.length > 0) run.looked();
  taking.moved += moved.length;
}

/** A known message that comes only later would be copied a second time. @throws {MailError} the first time */
function askForUnseen(uids: Iterable<number>, place: Place, run: Run): void {
  run.askAgain([...uids].filter((uid) => isReadable(place, uid, run)).map((uid) => messageName(place, uid)));
}

async function forgetAll(rows: readonly Former[], { copy: { ledger } }: Run): Promise<void> {
  for (const [id, all] of Map.groupBy(rows, ({ from }) => from.id))
    await ledger.forget(
      id,
      all.map(({ row }) => row.uid),
    );
}
