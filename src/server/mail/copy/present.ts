import { destinationPlace, sourcePlace } from './breaks.ts';
import { secondsOf } from './digest.ts';
import type { LedgerMailbox, NewRow, Planned } from './ledger.ts';
import { Stopped } from './lanes.ts';
import { nameKey } from './ledger-rows.ts';
import { listedFrom, match } from './matching.ts';
import type { Run } from './run.ts';
import type { Sending } from './settling.ts';

/** So many messages are read of both sides before what they are is settled. */
const READ_TOGETHER = 200;
/** After so many tries in a run that have settled nothing, a mailbox is copied without having been looked through. */
const TRIES = 5;

/** Messages of the source, and those that may be the same at the destination. */
type Perhaps = { readonly wanted: readonly Dated[]; readonly candidates: readonly Dated[] };
type Dated = Planned & { readonly date: number };
type Into = Omit<Sending, 'resolve'>;

/**
 * What of these messages the destination seems to have had before this transfer, by its listing: such as from one that
 * has been forgotten since, or from another program. In parts that can be compared by themselves.
 */
export async function perhapsPresent(
  waiting: readonly Planned[],
  { mailbox, selected, claims, session: { checker }, run }: Into,
): Promise<readonly Perhaps[]> {
  if (mailbox.destination !== undefined || selected.exists <= claims.size || run.faults(triesAt(mailbox)) >= TRIES)
    return [];
  const dates = new Set<number>();
  for (const { date } of waiting) if (date !== null) dates.add(date);
  const there: Dated[] = [];
  await checker.open(mailbox.destinationPath);
  for await (const { uid, size, internalDate } of listedFrom(checker, mailbox.destinationPath, 1)) {
    const date = secondsOf(internalDate);
    if (date !== null && dates.has(date) && !claims.has(uid)) there.push({ uid, size, date });
  }
  const first = await firstOfOurs(mailbox, selected.uidValidity, run);
  return partsOf(
    waiting.filter(isDated),
    there.filter(({ uid }) => uid < first),
  );
}

function isDated(message: Planned): message is Dated {
  return message.date !== null;
}

/** Those of one date stay together. */
function partsOf(waiting: readonly Dated[], there: readonly Dated[]): readonly Perhaps[] {
  const candidates = Map.groupBy(there, ({ date }) => date);
  const wanted = Map.groupBy(
    waiting.filter(({ date }) => candidates.has(date)),
    ({ date }) => date,
  );
  const parts: { readonly wanted: Dated[]; readonly candidates: Dated[] }[] = [];
  for (const [date, messages] of wanted) {
    let part = parts.at(-1);
    if (part === undefined || part.wanted.length + messages.length > READ_TOGETHER)
      parts.push((part = { wanted: [], candidates: [] }));
    for (const message of messages) part.wanted.push(message);
    for (const message of candidates.get(date) ?? []) part.candidates.push(message);
  }
  return parts;
}

function triesAt({ id }: LedgerMailbox): string {
  return `present ${id}`;
}

/** The first UID that this transfer may have given there: another folder of the source can go there as well. */
async function firstOfOurs({ destinationPath }: LedgerMailbox, uidValidity: bigint, run: Run): Promise<number> {
  const begun = (await run.copy.ledger.mailboxes()).flatMap(({ destinationPath: path, destination }) =>
    nameKey(path) === nameKey(destinationPath) && destination?.uidValidity === uidValidity ? [destination.uidNext] : [],
  );
  return Math.min(...begun, Infinity);
}

/**
 * Reads these of both sides, and settles those that are the same there, with the same date: they are not stored again.
 * @throws {MailError}, {@link Stopped}, {@link LeaseLost}
 */
export async function settlePresent(parts: readonly Perhaps[], into: Into): Promise<readonly NewRow[]> {
  const { mailbox, claims, run, goesOn } = into;
  run.noteFault(triesAt(mailbox));
  const all: NewRow[] = [];
  for (const part of parts) {
    if (run.copy.signal.aborted || !goesOn()) throw new Stopped('The copy was asked to stop.');
    const rows = await presentOf(part, into);
    const unwritten = await run.copy.ledger.settle(rows);
    const settled = rows.filter((row) => !unwritten.includes(row));
    run.settled(mailbox.sourcePath, settled);
    all.push(...settled);
    for (const { destinationUid } of settled) if (destinationUid !== undefined) claims.add(destinationUid);
    if (rows.length === 0) continue;
    run.looked();
    run.forgetFaults(triesAt(mailbox));
  }
  return all;
}

async function presentOf({ wanted, candidates }: Perhaps, into: Into): Promise<readonly NewRow[]> {
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
  const { found } = await match(wanted, source, listed, destination, run);
  return wanted.flatMap(({ uid, date }): NewRow[] => {
    const one = found.get(uid);
    if (one === undefined || one.fate === 'changed' || !one.isRead || !one.hasDate) return [];
    const { isRead: verified, hasDate: _, ...what } = one;
    const place = { mailboxId: mailbox.id, destinationUidValidity: uidValidity };
    return [{ ...what, ...place, uid, date, verified, earlier: true }];
  });
}
