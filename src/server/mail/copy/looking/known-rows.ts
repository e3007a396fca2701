import type { Clock } from '../../../clock.ts';
import { UidSet, type MessageList } from '../ledger/columns.ts';
import type { LedgerMailbox, Planned, Row } from '../ledger/ledger.ts';
import { digestOf } from '../message/digest.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Check, FolderCount, Run, Session } from '../run/run.ts';
import { fetchReadable, isReadable, messageName, sourcePlace, type Place } from '../troubles/breaks.ts';
import type { Listing } from './listing.ts';
import { inParts } from './looking.ts';
import { ABOUT_OCTETS } from './matching.ts';

const CHECKED_AT_ONCE = 200;

/**
 * The rows of a mailbox: which messages are settled, under which UIDVALIDITYs of the destination, and what is still to
 * be read back.
 */
export type KnownRows = {
  readonly settled: UidSet;
  /** Those of the settled that the destination refused, or the source did not hand out. */
  readonly refused: UidSet;
  /** Those of the settled whose UID may be another message's by now. */
  readonly doubtful: UidSet;
  readonly validities: ReadonlySet<bigint>;
  /** Whether there are rows that were set apart, as their messages may have other UIDs by now. */
  readonly hasFormer: boolean;
  /** The highest UID of a row. */
  readonly lastRow: number;
  /** The highest UID of what was stored, as far as the server has reported UIDs. */
  readonly lastUid: number;
  readonly checks: readonly Check[];
  readonly count: FolderCount;
};

/** Fates of messages that the destination has. */
export const AT_DESTINATION: ReadonlySet<string> = new Set(['stored', 'kept', 'changed', 'twin']);

/** Fates of messages whose rows are carried over to another UIDVALIDITY of the source. */
const COMES_ALONG: ReadonlySet<string> = new Set([...AT_DESTINATION, 'taken', 'lost']);

/** Whether the destination has confirmed the message as stored, and it has not been read back yet. */
export function isUnread({ fate, verified, sha256, destinationUid }: Row): boolean {
  const isThere = AT_DESTINATION.has(fate) && destinationUid !== undefined;
  return isThere && !verified && sha256 !== undefined && fate !== 'changed';
}

/** Dates that a server tells in the wrong zone differ by whole quarters of an hour. In seconds. */
const QUARTER_HOUR = 900;

/**
 * Rows whose messages have gone, or have another UID that is not known yet, are under UIDs from here on, which no
 * server has come to; should one, it is a UID like any other.
 */
const FORMER_FROM = 2_000_000_000;

/** So many messages show whether a server rounds the sizes that it lists. */
const SIZES_COMPARED = 10;
/** Where it does, no more are read after so many that no row is of: those that have one come before what is new. */
const STRANGERS_AT_MOST = 50;

/** Whether the message has this date, or has had it. */
function isDated({ date, sourceDate }: Row, now: number | null): boolean {
  return now === date || now === sourceDate;
}

/** Whether the source lists a message of another date under the UID of this one, and not for its zone only. */
function isPerhapsAnother(row: Row, now: Planned | undefined, clock: Clock): boolean {
  const { date, size } = row;
  if (date === null || now === undefined || now.date === null || isDated(row, now.date)) return false;
  const isOfZone = now.size === size && (now.date - date) % QUARTER_HOUR === 0;
  return !isOfZone && !isUnsureDate(now.date, clock);
}

/** What is known of a mailbox that has no rows: fresh each time, to be filled. */
export function noRows() {
  const count: FolderCount = { done: 0, total: 0, bytes: 0, kept: 0, octetsLeft: null };
  return {
    settled: new UidSet(),
    refused: new UidSet(),
    doubtful: new UidSet(),
    validities: new Set<bigint>(),
    hasFormer: false,
    lastRow: 0,
    lastUid: 0,
    checks: [] as Check[],
    count,
  };
}

/**
 * @param listed what the source lists now: a message that was gone and is there again waits as if it had never been
 * there
 */
export async function readRows(mailbox: LedgerMailbox, { copy }: Run, listed?: MessageList): Promise<KnownRows> {
  const { settled, refused, doubtful, validities, checks, count } = noRows();
  let [hasFormer, lastRow, lastUid] = [false, 0, 0];
  let unchecked: { uidValidity: bigint; messages: Check['messages'][number][] } | undefined;
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      const { uid, fate, size, date, sha256, destinationUid, destinationUidValidity: uidValidity } = row;
      lastRow = uid;
      hasFormer ||= uid >= FORMER_FROM;
      if (fate === 'gone' && listed?.has(uid) === true) continue;
      settled.add(uid);
      if (fate === 'refused') refused.add(uid);
      if (isPerhapsAnother(row, listed?.get(uid), copy.clock)) doubtful.add(uid);
      if (!AT_DESTINATION.has(fate) || uidValidity === undefined || destinationUid === undefined) continue;
      validities.add(uidValidity);
      // A twin has the UID of another row's message, or of the subscriber's own.
      if (fate !== 'twin') lastUid = Math.max(lastUid, destinationUid);
      if (!row.earlier && fate !== 'twin') count.bytes += size;
      if (fate === 'kept') count.kept += 1;
      if (sha256 === undefined || !isUnread(row)) continue;
      if (unchecked?.uidValidity !== uidValidity || unchecked.messages.length >= CHECKED_AT_ONCE) {
        unchecked = { uidValidity, messages: [] };
        checks.push({ mailbox, ...unchecked });
      }
      const { subject } = row;
      unchecked.messages.push({
        uid,
        destinationUid,
        size,
        sha256,
        date,
        fate,
        ...(subject === undefined ? {} : { subject }),
      });
    }
  return { settled, refused, doubtful, validities, hasFormer, lastRow, lastUid, checks, count };
}

/**
 * The rows of a mailbox, each under the UID of its message. Some servers give a UID to another message under the same
 * UIDVALIDITY, as after a backup of them was restored: that one waits.
 */
export async function readCurrentRows(
  mailbox: LedgerMailbox,
  listed: MessageList,
  { reader }: Session,
  run: Run,
): Promise<KnownRows> {
  const known = await readRows(mailbox, run, listed);
  if (known.doubtful.size === 0) return known;
  const place = sourcePlace(reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const hasOthers = await setOthersApart(known, mailbox, listed, place, run);
  return hasOthers ? readRows(mailbox, run, listed) : known;
}

/**
 * Reads what may be another message than its row's, and sets those rows apart that it is not. Those that no message is
 * listed for come first, as their messages may have other UIDs by now, too: after a death the next run finds all.
 * @returns whether there are any
 */
async function setOthersApart(
  { doubtful, lastRow }: KnownRows,
  mailbox: LedgerMailbox,
  listed: MessageList,
  place: Place,
  run: Run,
): Promise<boolean> {
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
        await compareWithSource(part, listed, compared, place, run);
      } finally {
        // What has been read is not read again.
        await settle(compared);
      }
      run.looked();
    }
  return hasOthers;
}

const isRefused = ({ fate }: Row) => fate === 'refused';
const isLost = ({ row }: Former) => row.fate === 'lost';

/** Rows of other messages than the source has under their UIDs, and the dates of the others. */
type Compared = { readonly others: Row[]; readonly same: { readonly uid: number; readonly date: number }[] };

/** Compares rows with the source. What it does not hand out is another message if it has another size as well. */
async function compareWithSource(
  rows: readonly Row[],
  listed: MessageList,
  { others, same }: Compared,
  place: Place,
  run: Run,
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

/** A known message that comes only later would be copied a second time. @throws {MailError} the first time */
function askForUnseen(uids: Iterable<number>, place: Place, run: Run): void {
  run.askAgain([...uids].filter((uid) => isReadable(place, uid, run)).map((uid) => messageName(place, uid)));
}

type Former = { readonly from: LedgerMailbox; readonly row: Row };
/** With the message that gets the row. */
type Taken = Former & { readonly now: Planned };

/**
 * Messages that have other UIDs by now, as after a new UIDVALIDITY at the source, are recognised by their octets, and
 * get the row of the old UID. What was refused or lost is tried again under its new UID, and not reported twice.
 * @param older the mailbox under other UIDVALIDITYs
 * @returns whether any row was taken over
 */
export async function takeOverOlder(
  older: readonly LedgerMailbox[],
  mailbox: LedgerMailbox,
  listing: Listing,
  { settled, hasFormer }: Pick<KnownRows, 'settled' | 'hasFormer'>,
  { reader }: Session,
  run: Run,
): Promise<boolean> {
  const { ledger, clock } = run.copy;
  const rows = new Map<string, Former[]>();
  const looks = new Set<number | null>();
  const refused: Former[] = [];
  const add = (from: LedgerMailbox, row: Row) => {
    if (row.fate === 'refused') refused.push({ from, row });
    if (row.sha256 === undefined || !COMES_ALONG.has(row.fate)) return;
    const key = row.sha256;
    const same = rows.get(key) ?? [];
    // Of equal messages, one that is there comes before one that is lost.
    rows.set(key, row.fate === 'lost' ? [...same, { from, row }] : [{ from, row }, ...same]);
    looks.add(row.date);
    if (row.sourceDate !== undefined) looks.add(row.sourceDate);
  };
  for (const from of older) for await (const page of ledger.rows(from.id)) for (const row of page) add(from, row);
  if (hasFormer)
    for await (const page of ledger.rows(mailbox.id, FORMER_FROM))
      for (const row of page) if (!listing.messages.has(row.uid)) add(mailbox, row);
  if (refused.length > 0) {
    const dates = new Set<number | null>();
    for (const { date } of listing.messages) dates.add(date);
    // Others may be from another folder that had the same name.
    await forgetAll(
      refused.filter(({ row }) => row.date === null || dates.has(row.date)),
      run,
    );
  }
  if (rows.size === 0) return false;
  const isSure = ({ date }: Planned) => looks.has(date) && !isUnsureDate(date, clock);
  const waitingThat = (isLike: (message: Planned) => boolean) =>
    listing.messages.filter((message) => !settled.has(message.uid) && isLike(message));
  const sizes = { compared: 0, areExact: true };
  const taking = {
    rows,
    mailbox,
    place: sourcePlace(reader, mailbox.sourcePath, mailbox.sourceUidValidity),
    sizes,
    run,
  };
  // Those of the same date first: one that has none, or another one by now, must not take the row of one of them.
  const dated = await takeRows(waitingThat(isSure), isDated, taking);
  const ofSize = new Set([...rows.values()].flat().map(({ row }) => row.size));
  const isAlike = ({ date, size }: Planned) => ofSize.has(size) || isUnsureDate(date, clock);
  const others = waitingThat((message) => !isSure(message) && isAlike(message));
  const rest = await takeRows([...dated.left, ...others], () => true, taking);
  // Else all that waits would be read with each run, for a row whose message is gone.
  const isAbout = sizesOf([...rows.values()].flat());
  const rounded = waitingThat((message) => !isSure(message) && !isAlike(message) && isAbout(message.size));
  const some = Math.max(0, SIZES_COMPARED - sizes.compared);
  const first = await takeRows(rounded.slice(0, some), () => true, taking);
  let hasTaken = [dated, rest, first].some((each) => each.hasTaken);
  for (let from = some; !sizes.areExact && from < rounded.length; from += STRANGERS_AT_MOST) {
    const part = await takeRows(rounded.slice(from, from + STRANGERS_AT_MOST), () => true, taking);
    hasTaken ||= part.hasTaken;
    if (!part.hasTaken) break;
  }
  return hasTaken;
}

/** @returns whether a size is about that of one of these, as some servers round those that they list */
function sizesOf(rows: readonly Former[]): (size: number) => boolean {
  const parts = new Set(rows.map(({ row }) => Math.floor(row.size / ABOUT_OCTETS)));
  return (size) => [-1, 0, 1].some((by) => parts.has(Math.floor(size / ABOUT_OCTETS) + by));
}

type Taking = {
  readonly rows: ReadonlyMap<string, Former[]>;
  readonly mailbox: LedgerMailbox;
  readonly place: Place;
  /** Of messages that were read: how many, and whether all were listed with the size that they have. */
  readonly sizes: { compared: number; areExact: boolean };
  readonly run: Run;
};

/** @returns whether any row was taken over, and the messages of which there are only rows that do not fit */
async function takeRows(
  messages: readonly Planned[],
  fits: (row: Row, date: number | null) => boolean,
  { rows, mailbox, place, sizes, run }: Taking,
) {
  let hasTaken = false;
  const left: Planned[] = [];
  const { ledger } = run.copy;
  const settle = async (taken: readonly Taken[]) => {
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
    hasTaken ||= moved.length > 0;
  };
  for (const part of inParts(messages)) {
    const taken: Taken[] = [];
    const unseen = new Map(part.map((message) => [message.uid, message]));
    try {
      for await (const { uid, octets } of fetchReadable(place, [...unseen.keys()], run)) {
        const { sha256, size } = await digestOf(octets);
        const now = unseen.get(uid);
        if (now === undefined) continue;
        unseen.delete(uid);
        sizes.compared += 1;
        sizes.areExact &&= size === now.size;
        const same = rows.get(sha256) ?? [];
        const at = same.findIndex(({ row }) => fits(row, now.date));
        for (const each of at < 0 ? [] : same.splice(at, 1)) taken.push({ ...each, now });
        if (at < 0 && same.length > 0) left.push(now);
      }
    } finally {
      // What has been read is not read again.
      await settle(taken);
    }
    askForUnseen(unseen.keys(), place, run);
  }
  return { hasTaken, left };
}

async function forgetAll(rows: readonly Former[], { copy: { ledger } }: Run): Promise<void> {
  for (const [id, all] of Map.groupBy(rows, ({ from }) => from.id))
    await ledger.forget(
      id,
      all.map(({ row }) => row.uid),
    );
}

/** The same folder under UIDVALIDITYs that it had before. */
export function olderOf(mailbox: LedgerMailbox, { known }: Run): readonly LedgerMailbox[] {
  const all = known.get(mailbox.sourcePath) ?? [];
  if (!all.some(({ id }) => id === mailbox.id)) known.set(mailbox.sourcePath, [...all, mailbox]);
  return all.filter(({ id, destinationPath }) => id !== mailbox.id && destinationPath === mailbox.destinationPath);
}
