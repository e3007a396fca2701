import { unlessRefused } from '../../imap/mail-error.ts';
import type { MailReader } from '../../imap/streams.ts';
import { MessageList, UidSet } from '../ledger/columns.ts';
import type { LedgerMailbox, NewRow, Planned, Row } from '../ledger/ledger.ts';
import { isUnread } from '../looking/known-rows.ts';
import { inParts } from '../looking/looking.ts';
import { portraits, secondsOf } from '../message/digest.ts';
import type { Form } from '../message/norm.ts';
import { isWindow } from '../run/provider-limits.ts';
import type { Run } from '../run/run.ts';
import { destinationPlace, fetchReadable, type Place } from '../troubles/breaks.ts';

/** What the final comparison of one mailbox has found. */
export type Compared = {
  readonly lost: number;
  readonly changed: number;
  readonly kept: number;
  /**
   * Messages that are equal to one of ours, have its date unless the destination gives its own, have come since our
   * first append, and belong to no row; less as many of each as were taken away, as the subscriber may have put those
   * back.
   */
  readonly duplicated: number;
  /** Rows have UIDs of another UIDVALIDITY than the mailbox has now. */
  readonly isStale: boolean;
  /** There is a message that could be read back, and was not. */
  readonly isUnread: boolean;
};

const TRIES = 3;

/**
 * Compares the ledger's rows of a mailbox with what the destination lists now. A message that had been read back and is
 * no longer listed was taken away by the subscriber; one that is behind a server's window is still there.
 */
export async function compareMailbox(mailbox: LedgerMailbox, checker: MailReader, run: Run): Promise<Compared> {
  const there = await listDestination(checker, mailbox.destinationPath);
  const { claimed, away, taken, ...counts } = await compareRows(mailbox, there, run);
  const duplicated = await countDuplicated(mailbox, there, { claimed, away }, checker, run);
  if (taken.length > 0) await run.copy.ledger.settle(taken);
  return { ...counts, duplicated };
}

/** @returns besides the counts, what {@link Rows} says, and the rows of messages that were taken away */
async function compareRows(mailbox: LedgerMailbox, there: There, { copy }: Run) {
  const { uidValidity, exists, isWhole, messages } = there;
  const hasWindow = isWindow(exists, copy.destination.limits);
  const counts = { lost: 0, changed: 0, kept: 0, isStale: false, isUnread: false };
  const claimed = new UidSet();
  const away = new Set<number>();
  const taken: NewRow[] = [];
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      const { fate, destinationUid: uid } = row;
      if (fate === 'lost' || fate === 'changed' || fate === 'kept') counts[fate] += 1;
      if (uid === undefined) continue;
      const isBehindWindow = hasWindow && uid < messages.lowest;
      counts.isUnread ||= isUnread(row) && !isBehindWindow;
      if (!isStored(row)) continue;
      if (row.destinationUidValidity !== uidValidity) {
        counts.isStale ||= uidValidity !== undefined;
        continue;
      }
      claimed.add(uid);
      if (!isWhole || messages.has(uid) || isBehindWindow) continue;
      away.add(row.uid);
      if (!row.verified) continue;
      taken.push({ ...row, mailboxId: mailbox.id, fate: 'taken' });
      // An earlier transfer has reported it, and its owner has taken it away since.
      if (row.earlier && fate === 'changed') counts.changed -= 1;
    }
  return { ...counts, claimed, away, taken };
}

/** `claimed`: the destination UIDs of rows; `away`: the source UIDs of messages that are not there any more. */
type Rows = { readonly claimed: UidSet; readonly away: ReadonlySet<number> };

/**
 * How many messages equal to one of ours have come since our first append, and belong to no row of the mailbox. Under
 * another UIDVALIDITY than the mailbox had at the last append, it is unknown which have come since.
 */
async function countDuplicated(
  mailbox: LedgerMailbox,
  { uidValidity, messages }: There,
  { claimed, away }: Rows,
  checker: MailReader,
  run: Run,
): Promise<number> {
  const first = mailbox.destination;
  if (first === undefined || first.uidValidity !== uidValidity) return 0;
  const newcomers = messages.filter(({ uid }) => uid >= first.uidNext && !claimed.has(uid));
  return newcomers.length === 0 ? 0 : countEqual(newcomers, mailbox, { uidValidity, away }, checker, run);
}

/** How many of these newcomers are equal to a message of ours and known to no row of another mailbox. */
async function countEqual(
  newcomers: readonly Planned[],
  mailbox: LedgerMailbox,
  { uidValidity, away }: Pick<Rows, 'away'> & { readonly uidValidity: bigint },
  checker: MailReader,
  run: Run,
): Promise<number> {
  const { ledger } = run.copy;
  const path = mailbox.destinationPath;
  const others = await ledger.claimed(path, uidValidity);
  const unknown = new Map(newcomers.flatMap((one) => (others.has(one.uid) ? [] : [[one.uid, one] as const])));
  const rows = await rowsByLook(unknown.values(), mailbox, uidValidity, run);
  const asked = [...unknown.values()].filter((one) => alikeTo(one, rows).length > 0);
  const alike = [...new Set(asked.flatMap((one) => alikeTo(one, rows)))].flatMap((same) => [...same.values()]);
  const place = destinationPlace(checker, path, uidValidity);
  const dates = new Set(asked.flatMap(({ date }) => date ?? []));
  const ofOwnForm = alike.filter((row) => hasOwnForm(row) && row.date !== null && dates.has(row.date));
  const rowsByForm = await formsOf(ofOwnForm, place, run);
  const rowOf = (one: Looks, sha256: string, form: Form) =>
    alikeTo(one, rows).flatMap((same) => same.get(sha256) ?? [])[0] ?? rowsByForm.get(formKeyOf(one, form));
  const putBack = await digestsAway(mailbox, away, new Set(alike.map(({ sha256 }) => sha256)), run);
  // If the copying of the mailbox was interrupted, what was being sent may have arrived since.
  const underWay = (await ledger.groups()).flatMap(({ mailboxId, messages }) =>
    mailboxId === mailbox.id ? messages : [],
  );
  let equal = 0;
  for (const uids of inParts(asked.map(({ uid }) => uid)))
    for await (const { uid, sha256, form } of portraits(fetchReadable(place, uids, run, { isAskedAgain: true }))) {
      const one = unknown.get(uid);
      const same = one && rowOf(one, sha256, form);
      if (one === undefined || same === undefined) continue;
      const arrived = arrivedAs(one, underWay);
      const returned = putBack.get(same.sha256) ?? 0;
      if (returned > 0) putBack.set(same.sha256, returned - 1);
      else if (arrived >= 0) underWay.splice(arrived, 1);
      else equal += 1;
    }
  return equal;
}

type Ours = Pick<Row, 'date' | 'fate'> & { readonly sha256: string; readonly destinationUid: number };
type Looks = Pick<Planned, 'size' | 'date'>;
type OfDigest = Map<string, Ours>;
/**
 * Rows of our messages by what a listing shows of an equal message, and by their digests: a mailbox may have thousands
 * of one look. Some servers round sizes, or keep a form of their own, so that a size tells only where the date does not.
 */
type ByLook = { readonly ofDate: ReadonlyMap<number, OfDigest>; readonly ofSize: ReadonlyMap<number, OfDigest> };

function alikeTo({ size, date }: Looks, { ofDate, ofSize }: ByLook): readonly OfDigest[] {
  const dated = date === null ? undefined : ofDate.get(date);
  return [dated, ofSize.get(size)].filter((same) => same !== undefined);
}

/** The place of the one that it is, among messages under way. @returns -1 for none */
function arrivedAs(one: Looks, underWay: readonly Looks[]): number {
  const isDated = ({ date }: Looks) => date !== null && date === one.date;
  const exact = underWay.findIndex((each) => each.size === one.size && isDated(each));
  return exact >= 0 ? exact : underWay.findIndex((each) => each.size === one.size || isDated(each));
}

async function rowsByLook(
  newcomers: Iterable<Looks>,
  mailbox: LedgerMailbox,
  uidValidity: bigint,
  { copy }: Run,
): Promise<ByLook> {
  const [ofDate, ofSize] = [new Map<number, OfDigest>(), new Map<number, OfDigest>()];
  const [dates, sizes] = [new Set<number | null>(), new Set<number>()];
  for (const { size, date } of newcomers) {
    dates.add(date);
    sizes.add(size);
  }
  if (sizes.size === 0) return { ofDate, ofSize };
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const row of page) {
      const { sha256, date, size, fate, destinationUid } = row;
      if (row.destinationUidValidity !== uidValidity || !isStored(row)) continue;
      if (sha256 === undefined || destinationUid === undefined) continue;
      const ours = { sha256, date, fate, destinationUid };
      if (date !== null && dates.has(date)) note(ours, ofDate, date);
      if ((date === null || fate === 'changed') && sizes.has(size)) note(ours, ofSize, size);
    }
  return { ofDate, ofSize };
}

/** Of several of one digest, one that is kept in another form tells more. */
function note(ours: Ours, rows: Map<number, OfDigest>, look: number): void {
  const same = rows.get(look) ?? new Map<string, Ours>();
  rows.set(look, same);
  const before = same.get(ours.sha256);
  if (before === undefined || !hasOwnForm(before)) same.set(ours.sha256, ours);
}

function hasOwnForm({ fate }: Ours): boolean {
  return fate === 'kept' || fate === 'changed';
}

/** Rows that the destination keeps in a form of its own, by {@link formKeyOf}. */
async function formsOf(rows: readonly Ours[], place: Place, run: Run): Promise<ReadonlyMap<string, Ours>> {
  const byForm = new Map<string, Ours>();
  const kept = new Map(rows.map((row) => [row.destinationUid, row]));
  for (const uids of inParts([...kept.keys()]))
    for await (const { uid, form } of portraits(fetchReadable(place, uids, run, { isAskedAgain: true }))) {
      const row = kept.get(uid);
      if (row !== undefined) byForm.set(formKeyOf(row, form), row);
    }
  return byForm;
}

/** The same for all that the destination keeps in a form of its own with the same date, body and Message-ID. */
function formKeyOf({ date }: Pick<Looks, 'date'>, { body, messageId }: Form): string {
  return JSON.stringify([date, body, messageId]);
}

/** Those of these digests whose messages were taken away, or gave way to an equal one, with how many did. */
async function digestsAway(
  { id }: LedgerMailbox,
  away: ReadonlySet<number>,
  wanted: ReadonlySet<string>,
  { copy }: Run,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (wanted.size === 0) return counts;
  for await (const page of copy.ledger.rows(id))
    for (const { uid, fate, sha256 } of page)
      if (sha256 !== undefined && wanted.has(sha256) && (fate === 'taken' || fate === 'twin' || away.has(uid)))
        counts.set(sha256, (counts.get(sha256) ?? 0) + 1);
  return counts;
}

/** Whether it has a message of its own at the destination. */
function isStored({ fate }: Row): boolean {
  return fate !== 'taken' && fate !== 'lost' && fate !== 'twin';
}

type There = {
  /** Missing when the mailbox is. */
  readonly uidValidity: bigint | undefined;
  readonly exists: number;
  readonly messages: MessageList;
  /** Whether it lists as many as it counts. */
  readonly isWhole: boolean;
};

async function listDestination(checker: MailReader, path: string): Promise<There> {
  for (let attempt = 1; ; attempt += 1) {
    const messages = new MessageList();
    const { opened: opening, pages } = checker.openAndList(path);
    const opened = await unlessRefused(opening);
    if (opened === null) return { uidValidity: undefined, exists: 0, messages, isWhole: false };
    for await (const page of pages)
      for (const { uid, size, internalDate } of page) messages.set({ uid, size, date: secondsOf(internalDate) });
    const isWhole = messages.length >= opened.exists;
    const { uidValidity, exists } = opened;
    if (isWhole || attempt === TRIES) return { uidValidity, exists, messages, isWhole };
  }
}
