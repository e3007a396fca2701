import { Stopped } from '../../../stopped.ts';
import { isBreak, isFarewell } from '../../imap/mail-error.ts';
import type { LedgerMailbox, NewRow, Planned } from '../ledger/ledger.ts';
import { storedPath } from '../ledger/rows.ts';
import { listedFrom } from '../looking/looking.ts';
import { match } from '../looking/matching.ts';
import { secondsOf } from '../message/digest.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Run } from '../run/run.ts';
import type { Sending } from '../storing/settling.ts';
import { destinationPlace, sourcePlace } from '../troubles/breaks.ts';

/**
 * How many messages of both sides are read before the outcome is settled; fewer after each failure, as one of them may
 * be its cause.
 */
const READ_TOGETHER = [200, 50, 10, 1];
/** After this many tries in one run that settled nothing, a mailbox is copied without having been looked through. */
const TRIES = 5;

/** Messages of the source, and those that may be the same at the destination. */
type Perhaps = { readonly wanted: readonly Planned[]; readonly candidates: readonly Planned[] };
type Into = Omit<Sending, 'resolve'>;

/**
 * Which of these messages the destination seems to have, by its listing, although no row knows them: from before this
 * transfer (such as from one that has been erased since), or from after the backup that the ledger was restored from.
 * In parts that can be compared independently. A message is known by its date; one whose date some servers replace, by
 * its size as well.
 * @param from messages with a lower UID were looked through before, or have a row
 */
export async function perhapsPresent(
  waiting: readonly Planned[],
  from: number,
  { mailbox, selected, session: { checker }, run }: Into,
): Promise<readonly Perhaps[]> {
  if (selected.exists === 0 || run.faults(triesAt(mailbox)) >= TRIES) return [];
  const redated = waiting.filter(({ date }) => isUnsureDate(date, run.copy.clock));
  const [dates, sizes] = [new Set(waiting.map(dateOf)), new Set(redated.map(sizeOf))];
  dates.delete(null);
  const path = mailbox.destinationPath;
  const there: Planned[] = [];
  await checker.open(path);
  for await (const { uid, size, internalDate } of listedFrom(checker, path, from)) {
    const date = secondsOf(internalDate);
    if (dates.has(date) || sizes.has(size)) there.push({ uid, size, date });
  }
  if (there.length === 0) return [];
  const { until, claims } = await known(mailbox, selected.uidValidity, run);
  const unclaimed = there.filter(({ uid }) => uid < until && !claims.has(uid));
  const together = READ_TOGETHER[Math.min(run.faults(failuresAt(mailbox)), READ_TOGETHER.length - 1)] ?? 1;
  const parts = [...partsOf(waiting, unclaimed, together, dateOf), ...partsOf(redated, unclaimed, together, sizeOf)];
  // Each failure starts at another part: one unreadable message must not hold up the others.
  const first = parts.length === 0 ? 0 : run.faults(failuresAt(mailbox)) % parts.length;
  return [...parts.slice(first), ...parts.slice(0, first)];
}

/**
 * For a mailbox that another folder of the source goes to as well: the UIDs that have rows, and the UID from which on
 * that folder's lane may be storing more. To be asked after the mailbox was listed, so that whatever is listed and was
 * stored by that lane is in one of the two.
 */
async function known({ id, destinationPath }: LedgerMailbox, uidValidity: bigint, { copy: { ledger } }: Run) {
  const path = storedPath(destinationPath);
  const others = new Set(
    (await ledger.mailboxes()).flatMap((each) =>
      each.id !== id && storedPath(each.destinationPath) === path ? [each.id] : [],
    ),
  );
  const open = others.size === 0 ? [] : await ledger.groups();
  const until = Math.min(
    ...open.flatMap(({ mailboxId, uidNext }) => (others.has(mailboxId) ? [uidNext] : [])),
    Infinity,
  );
  return { until, claims: await ledger.claimed(destinationPath, uidValidity) };
}

const dateOf = ({ date }: Planned) => date;
const sizeOf = ({ size }: Planned) => size;

/** Splits into parts; messages that are `alike` stay together, and what has nothing to be compared by is in none. */
function partsOf(
  waiting: readonly Planned[],
  there: readonly Planned[],
  together: number,
  alike: (message: Planned) => number | null,
): readonly Perhaps[] {
  const candidates = Map.groupBy(there, alike);
  candidates.delete(null);
  const wanted = Map.groupBy(
    waiting.filter((message) => candidates.has(alike(message))),
    alike,
  );
  const parts: { readonly wanted: Planned[]; readonly candidates: Planned[] }[] = [];
  for (const [likeness, messages] of wanted) {
    let part = parts.at(-1);
    if (part === undefined || part.wanted.length + messages.length > together)
      parts.push((part = { wanted: [], candidates: [] }));
    for (const message of messages) part.wanted.push(message);
    for (const message of candidates.get(likeness) ?? []) part.candidates.push(message);
  }
  return parts;
}

function triesAt({ id }: LedgerMailbox): string {
  return `present ${id}`;
}

function failuresAt({ id }: LedgerMailbox): string {
  return `present in vain ${id}`;
}

/** Whether reading has broken off in this run: some servers end a connection after so many commands. */
export function hasBrokenOff(mailbox: LedgerMailbox, run: Run): boolean {
  return run.faults(failuresAt(mailbox)) > 0;
}

/**
 * Reads these of both sides, and settles those that are the same there, with the same date or one that may have
 * replaced it: they are not stored again.
 * @throws {MailError}, {@link Stopped}, {@link LeaseLost}
 */
export async function settlePresent(parts: readonly Perhaps[], into: Into): Promise<readonly NewRow[]> {
  const { mailbox, claims, run, goesOn } = into;
  const all: NewRow[] = [];
  const settledUids = new Set<number>();
  for (const { wanted, candidates } of parts) {
    // One that is looked for by its size may have been found by its date.
    const part = {
      wanted: wanted.filter(({ uid }) => !settledUids.has(uid)),
      candidates: candidates.filter(({ uid }) => !claims.has(uid)),
    };
    if (part.wanted.length === 0 || part.candidates.length === 0) continue;
    if (run.copy.signal.aborted || !goesOn()) throw new Stopped('The copy was asked to stop.');
    const { rows, unseen } = await presentOf(part, into).catch((error: unknown) => {
      // Only breaks count as tries: other failures pass, and are waited for.
      if (isBreak(error)) run.noteFault(triesAt(mailbox));
      if (isBreak(error) || isFarewell(error)) run.noteFault(failuresAt(mailbox));
      throw error;
    });
    const unwritten = await run.copy.ledger.settle(rows);
    const settled = rows.filter((row) => !unwritten.includes(row));
    run.settledFound(mailbox.sourcePath, settled);
    all.push(...settled);
    for (const { uid, destinationUid } of settled) {
      settledUids.add(uid);
      if (destinationUid !== undefined) claims.add(destinationUid);
    }
    run.askAgain(unseen);
    if (rows.length === 0) continue;
    run.looked();
    run.forgetFaults(triesAt(mailbox));
  }
  // This counts as a try, so that messages that match nothing are not read again after each fault.
  if (all.length === 0) run.noteFault(triesAt(mailbox));
  return all;
}

async function presentOf(
  { wanted, candidates }: Perhaps,
  into: Into,
): Promise<{ readonly rows: readonly NewRow[]; readonly unseen: readonly string[] }> {
  const { mailbox, selected, session, run } = into;
  const { uidValidity } = selected;
  const source = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const destination = destinationPlace(session.checker, mailbox.destinationPath, uidValidity);
  const listed = candidates.map(({ uid, size, date }) => ({
    uid,
    size,
    flags: [],
    internalDate: new Date(date === null ? Number.NaN : date * 1000),
  }));
  const { found, unseen } = await match(wanted, listed, { source, destination, run });
  const rows = wanted.flatMap(({ uid, date }): NewRow[] => {
    const one = found.get(uid);
    if (one === undefined || one.fate === 'changed' || !one.isRead) return [];
    if (!one.hasDate && !isUnsureDate(date, run.copy.clock)) return [];
    const { isRead: verified, hasDate, ...what } = one;
    const fate = hasDate ? one.fate : 'kept';
    const place = { mailboxId: mailbox.id, destinationUidValidity: uidValidity };
    return [{ ...what, ...place, fate, uid, date, verified, earlier: true }];
  });
  return { rows, unseen };
}
