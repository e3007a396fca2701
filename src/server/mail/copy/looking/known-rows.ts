import type { Clock } from '../../../clock.ts';
import { UidSet, type MessageList } from '../ledger/columns.ts';
import type { LedgerMailbox, Planned, Row } from '../ledger/ledger.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Check, FolderCount, Run } from '../run/run.ts';

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
export const FORMER_FROM = 2_000_000_000;

/** Whether the message has this date, or has had it. */
export function isDated({ date, sourceDate }: Row, now: number | null): boolean {
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

/** The same folder under UIDVALIDITYs that it had before. */
export function olderOf(mailbox: LedgerMailbox, { known }: Run): readonly LedgerMailbox[] {
  const all = known.get(mailbox.sourcePath) ?? [];
  if (!all.some(({ id }) => id === mailbox.id)) known.set(mailbox.sourcePath, [...all, mailbox]);
  return all.filter(({ id, destinationPath }) => id !== mailbox.id && destinationPath === mailbox.destinationPath);
}
