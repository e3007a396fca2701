import type { Clock } from '../../../clock.ts';
import { UidSet, type MessageList } from '../ledger/columns.ts';
import type { LedgerMailbox, NewRow, Planned, Row } from '../ledger/ledger.ts';
import { digestOf } from '../message/digest.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Check, FolderCount, Run, Session } from '../run/run.ts';
import { fetchReadable, isReadable, messageName, sourcePlace, type Place } from '../troubles/breaks.ts';
import type { Listing } from './listing.ts';
import { inParts } from './looking.ts';

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

/** Whether the source lists a message of another date under the UID of this one, and not for its zone only. */
function isPerhapsAnother({ date, size }: Row, now: Planned | undefined, clock: Clock): boolean {
  if (date === null || now === undefined || now.date === null || now.date === date) return false;
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
  let lastUid = 0;
  let unchecked: { uidValidity: bigint; messages: Check['messages'][number][] } | undefined;
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      const { uid, fate, size, date, sha256, destinationUid, destinationUidValidity: uidValidity } = row;
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
  return { settled, refused, doubtful, validities, lastUid, checks, count };
}

/**
 * The rows of a mailbox, each under the UID that its message has now. Some servers give a UID to another message under
 * the same UIDVALIDITY, as after a backup of them was restored: that one waits, unless it has a row under another UID.
 */
export async function readCurrentRows(
  mailbox: LedgerMailbox,
  listed: MessageList,
  { reader }: Session,
  run: Run,
): Promise<KnownRows> {
  const { ledger, clock } = run.copy;
  const known = await readRows(mailbox, run, listed);
  if (known.doubtful.size === 0) return known;
  const place = sourcePlace(reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const replaced = await replacedAmong(known.doubtful, mailbox, listed, place, run);
  if (replaced.size === 0) return known;
  // What has another UID now may have left one that nothing has any more.
  const rows = await byDigest([...replaced.values()], mailbox, listed, run);
  const looks = new Set([...rows.values()].flatMap((same) => same.map(({ row: { date } }) => date)));
  const isAlike = (date: number | null) => isUnsureDate(date, clock) || looks.has(date) || looks.has(null);
  const alike = listed.filter(({ uid, date }) => (replaced.has(uid) || !known.settled.has(uid)) && isAlike(date));
  const former = new Set(replaced.keys());
  const taken: NewRow[] = [];
  for await (const [{ uid, date }, sha256] of digestsIn(place, alike, run)) {
    const same = takeAlike(rows.get(sha256), date, clock);
    if (same === undefined) continue;
    taken.push({ ...same.row, uid, mailboxId: mailbox.id });
    former.add(same.row.uid);
  }
  await ledger.settle(
    taken,
    [],
    [...former].map((uid) => ({ mailboxId: mailbox.id, uid })),
  );
  return readRows(mailbox, run, listed);
}

/** Rows that are replaced, and behind them those whose UID is not listed any more, by their SHA-256. */
async function byDigest(
  replaced: readonly Row[],
  mailbox: LedgerMailbox,
  listed: MessageList,
  { copy }: Run,
): Promise<ReadonlyMap<string, { readonly row: Row }[]>> {
  const rows = new Map<string, { readonly row: Row }[]>();
  const add = (row: Row) => {
    if (row.sha256 === undefined || row.fate === 'lost') return;
    const same = rows.get(row.sha256);
    if (same === undefined) rows.set(row.sha256, [{ row }]);
    else same.push({ row });
  };
  for (const row of replaced) add(row);
  for await (const page of copy.ledger.rows(mailbox.id)) for (const row of page) if (!listed.has(row.uid)) add(row);
  return rows;
}

/** The rows whose UID is another message's by now. */
async function replacedAmong(
  doubtful: UidSet,
  mailbox: LedgerMailbox,
  listed: MessageList,
  place: Place,
  run: Run,
): Promise<ReadonlyMap<number, Row>> {
  const replaced = new Map<number, Row>();
  for await (const page of run.copy.ledger.rows(mailbox.id)) {
    const rows = new Map(page.flatMap((row) => (doubtful.has(row.uid) ? [[row.uid, row]] : [])));
    const messages = [...rows.keys()].flatMap((uid) => listed.get(uid) ?? []);
    for await (const [{ uid }, sha256] of digestsIn(place, messages, run)) {
      const row = rows.get(uid);
      if (row !== undefined && row.sha256 !== sha256) replaced.set(uid, row);
    }
  }
  return replaced;
}

/**
 * Reads messages, each once in a run. What is not handed out is asked for once more: it would be missing, or copied a
 * second time.
 */
async function* digestsIn(
  place: Place,
  messages: readonly Planned[],
  run: Run,
): AsyncIterable<readonly [message: Planned, sha256: string]> {
  const known = run.digests.get(place.name) ?? new Map<number, { date: number | null; sha256: string }>();
  run.digests.set(place.name, known);
  for (const part of inParts(messages)) {
    const unseen = new Map<number, Planned>();
    for (const message of part) {
      const before = known.get(message.uid);
      if (before?.date === message.date) yield [message, before.sha256];
      else unseen.set(message.uid, message);
    }
    if (unseen.size === 0) continue;
    for await (const { uid, octets } of fetchReadable(place, [...unseen.keys()], run)) {
      const { sha256 } = await digestOf(octets);
      const message = unseen.get(uid);
      if (message === undefined) continue;
      unseen.delete(uid);
      known.set(uid, { date: message.date, sha256 });
      yield [message, sha256];
    }
    run.looked();
    const unhanded = [...unseen.keys()].filter((uid) => isReadable(place, uid, run));
    run.askAgain(unhanded.map((uid) => messageName(place, uid)));
  }
}

/**
 * After a new UIDVALIDITY at the source, messages are recognised by their octets and date, and get the row of the old
 * UID. What was refused or lost is tried again under its new UID, and not reported twice.
 * @returns whether any row was taken over
 */
export async function takeOverOlder(
  older: readonly LedgerMailbox[],
  mailbox: LedgerMailbox,
  listing: Listing,
  settled: UidSet,
  { reader }: Session,
  run: Run,
): Promise<boolean> {
  const { ledger, clock } = run.copy;
  const rows = new Map<string, { readonly from: LedgerMailbox; readonly row: Row }[]>();
  const looks = new Set<number | null>();
  const refused: { readonly from: LedgerMailbox; readonly row: Row }[] = [];
  for (const from of older)
    for await (const page of ledger.rows(from.id))
      for (const row of page) {
        if (row.fate === 'refused') refused.push({ from, row });
        if (row.sha256 === undefined || !COMES_ALONG.has(row.fate)) continue;
        const key = row.sha256;
        const same = rows.get(key) ?? [];
        // Of equal messages, one that is there comes before one that is lost.
        rows.set(key, row.fate === 'lost' ? [...same, { from, row }] : [{ from, row }, ...same]);
        looks.add(row.date);
      }
  if (refused.length > 0) {
    const dates = new Set<number | null>();
    for (const { date } of listing.messages) dates.add(date);
    // Others may be from another folder that had the same name.
    const again = refused.filter(({ row }) => row.date === null || dates.has(row.date));
    for (const [id, all] of Map.groupBy(again, ({ from }) => from.id))
      await ledger.forget(
        id,
        all.map(({ row }) => row.uid),
      );
  }
  if (rows.size === 0) return false;
  let hasTaken = false;
  const place = sourcePlace(reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const isAlike = (date: number | null) => isUnsureDate(date, clock) || looks.has(date) || looks.has(null);
  const alike = listing.messages.filter(({ uid, date }) => !settled.has(uid) && isAlike(date));
  const dates = new Map(alike.map((message) => [message.uid, message.date]));
  // Messages with a reliable date first: one without must not take the row of one of them.
  const isUnsure = ({ date }: Planned) => isUnsureDate(date, clock);
  const ordered = [alike.filter((message) => !isUnsure(message)), alike.filter(isUnsure)];
  for (const uids of ordered.flatMap((some) => [...inParts(some.map(({ uid }) => uid))])) {
    const taken: NewRow[] = [];
    const unseen = new Set(uids);
    const former: Pick<NewRow, 'mailboxId' | 'uid'>[] = [];
    for await (const { uid, octets } of fetchReadable(place, uids, run)) {
      const { sha256 } = await digestOf(octets);
      unseen.delete(uid);
      const same = takeAlike(rows.get(sha256), dates.get(uid) ?? null, clock);
      if (same === undefined) continue;
      if (same.row.fate !== 'lost') taken.push({ ...same.row, uid, mailboxId: mailbox.id });
      former.push({ mailboxId: same.from.id, uid: same.row.uid });
    }
    await ledger.settle(taken, [], former);
    hasTaken ||= taken.length > 0;
    // A known message that comes only later would be copied a second time.
    const unhanded = [...unseen].filter((uid) => isReadable(place, uid, run));
    run.askAgain(unhanded.map((uid) => messageName(place, uid)));
  }
  return hasTaken;
}

/**
 * The first of equal messages with this date, or else one where either date is missing, or servers may replace this
 * one.
 */
function takeAlike<One extends { readonly row: Row }>(
  among: One[] = [],
  date: number | null,
  clock: Clock,
): One | undefined {
  const same = among.findIndex(({ row }) => row.date === date);
  const index = same >= 0 ? same : among.findIndex(({ row }) => row.date === null || isUnsureDate(date, clock));
  return index < 0 ? undefined : among.splice(index, 1)[0];
}

/** The same folder under UIDVALIDITYs that it had before. */
export function olderOf(mailbox: LedgerMailbox, { known }: Run): readonly LedgerMailbox[] {
  const all = known.get(mailbox.sourcePath) ?? [];
  if (!all.some(({ id }) => id === mailbox.id)) known.set(mailbox.sourcePath, [...all, mailbox]);
  return all.filter(({ id, destinationPath }) => id !== mailbox.id && destinationPath === mailbox.destinationPath);
}
