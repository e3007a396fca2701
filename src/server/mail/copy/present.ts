import { destinationPlace, sourcePlace } from './breaks.ts';
import { secondsOf } from './digest.ts';
import type { LedgerMailbox, NewRow, Planned } from './ledger.ts';
import { isBreak } from '../imap/mail-error.ts';
import { Stopped } from './lanes.ts';
import { storedPath } from './ledger-rows.ts';
import { listedFrom } from './looking.ts';
import { match } from './matching.ts';
import type { Run } from './run.ts';
import type { Sending } from './settling.ts';

/**
 * How many messages of both sides are read before the outcome is settled; fewer after each failure, as one of them may
 * be its cause.
 */
const READ_TOGETHER = [200, 50, 10, 1];
/** After this many tries in one run that settled nothing, a mailbox is copied without having been looked through. */
const TRIES = 5;

/** Messages of the source, and those that may be the same at the destination. */
type Perhaps = { readonly wanted: readonly Dated[]; readonly candidates: readonly Dated[] };
type Dated = Planned & { readonly date: number };
type Into = Omit<Sending, 'resolve'>;

/**
 * Which of these messages the destination seems to have, by its listing, although no row knows them: from before this
 * transfer (such as from one that has been erased since), or from after the backup that the ledger was restored from.
 * In parts that can be compared independently.
 * @param from messages with a lower UID were looked through before, or have a row
 */
export async function perhapsPresent(
  waiting: readonly Planned[],
  from: number,
  { mailbox, selected, session: { checker }, run }: Into,
): Promise<readonly Perhaps[]> {
  if (selected.exists === 0 || run.faults(triesAt(mailbox)) >= TRIES) return [];
  const dates = new Set<number>();
  for (const { date } of waiting) if (date !== null) dates.add(date);
  const path = mailbox.destinationPath;
  const there: Dated[] = [];
  await checker.open(path);
  for await (const { uid, size, internalDate } of listedFrom(checker, path, from)) {
    const date = secondsOf(internalDate);
    if (date !== null && dates.has(date)) there.push({ uid, size, date });
  }
  if (there.length === 0) return [];
  const { until, claims } = await known(mailbox, selected.uidValidity, run);
  const parts = partsOf(
    waiting.filter(isDated),
    there.filter(({ uid }) => uid < until && !claims.has(uid)),
    READ_TOGETHER[Math.min(run.faults(failuresAt(mailbox)), READ_TOGETHER.length - 1)] ?? 1,
  );
  // One that can't be read is not to keep the others back.
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

function isDated(message: Planned): message is Dated {
  return message.date !== null;
}

/** Splits into parts; messages of one date stay together. */
function partsOf(waiting: readonly Dated[], there: readonly Dated[], together: number): readonly Perhaps[] {
  const candidates = Map.groupBy(there, ({ date }) => date);
  const wanted = Map.groupBy(
    waiting.filter(({ date }) => candidates.has(date)),
    ({ date }) => date,
  );
  const parts: { readonly wanted: Dated[]; readonly candidates: Dated[] }[] = [];
  for (const [date, messages] of wanted) {
    let part = parts.at(-1);
    if (part === undefined || part.wanted.length + messages.length > together)
      parts.push((part = { wanted: [], candidates: [] }));
    for (const message of messages) part.wanted.push(message);
    for (const message of candidates.get(date) ?? []) part.candidates.push(message);
  }
  return parts;
}

function triesAt({ id }: LedgerMailbox): string {
  return `present ${id}`;
}

function failuresAt({ id }: LedgerMailbox): string {
  return `present in vain ${id}`;
}

/**
 * Reads these of both sides, and settles those that are the same there, with the same date: they are not stored again.
 * @throws {MailError}, {@link Stopped}, {@link LeaseLost}
 */
export async function settlePresent(parts: readonly Perhaps[], into: Into): Promise<readonly NewRow[]> {
  const { mailbox, claims, run, goesOn } = into;
  const all: NewRow[] = [];
  for (const part of parts) {
    if (run.copy.signal.aborted || !goesOn()) throw new Stopped('The copy was asked to stop.');
    const { rows, unseen } = await presentOf(part, into).catch((error: unknown) => {
      // Trouble that passes is waited for.
      if (isBreak(error)) for (const name of [triesAt(mailbox), failuresAt(mailbox)]) run.noteFault(name);
      throw error;
    });
    const unwritten = await run.copy.ledger.settle(rows);
    const settled = rows.filter((row) => !unwritten.includes(row));
    run.settled(mailbox.sourcePath, settled);
    all.push(...settled);
    for (const { destinationUid } of settled) if (destinationUid !== undefined) claims.add(destinationUid);
    run.askAgain(unseen);
    if (rows.length === 0) continue;
    run.looked();
    run.forgetFaults(triesAt(mailbox));
  }
  // What is none of them is not read again after each fault.
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
    internalDate: new Date(date * 1000),
  }));
  const { found, unseen } = await match(wanted, source, listed, destination, run);
  const rows = wanted.flatMap(({ uid, date }): NewRow[] => {
    const one = found.get(uid);
    if (one === undefined || one.fate === 'changed' || !one.isRead || !one.hasDate) return [];
    const { isRead: verified, hasDate: _, ...what } = one;
    const place = { mailboxId: mailbox.id, destinationUidValidity: uidValidity };
    return [{ ...what, ...place, uid, date, verified, earlier: true }];
  });
  return { rows, unseen };
}
