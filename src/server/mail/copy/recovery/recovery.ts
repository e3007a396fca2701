import type { Clock } from '../../../clock.ts';
import type { Listed, MailReader, Selected } from '../../imap/streams.ts';
import type { UidSet } from '../ledger/columns.ts';
import type { Group, LedgerMailbox, NewRow, Planned } from '../ledger/ledger.ts';
import { AT_DESTINATION, readRows } from '../looking/known-rows.ts';
import { listedFrom } from '../looking/looking.ts';
import { match } from '../looking/matching.ts';
import type { Found } from '../looking/wanted.ts';
import { isMissing } from '../mailboxes/missing.ts';
import { findRenamed } from '../mailboxes/moved.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import { saidKey, type Run, type Session } from '../run/run.ts';
import { fateAsSent, type Unsaid } from '../storing/settling.ts';
import { destinationPlace, sourcePlace } from '../troubles/breaks.ts';
import { blamingHangUps } from '../troubles/hang-ups.ts';
import { unlessInTrouble } from '../troubles/troubles.ts';

/*
 * What a death leaves, and how the next worker settles it (tests/simulation/deaths.test.ts, row by row):
 *
 * between                          is there                        settled by
 * listing → intent committed       nothing                         listing again
 * intent → first octet             an open group, nothing stored   looking from its UIDNEXT on; sending
 * inside a literal                 none of a MULTIAPPEND, or the   looking; sending what is missing
 *                                  appends before it
 * stored → commit of the outcome   stored, not known               matching unclaimed UIDs from UIDNEXT on, by digest
 * outcome → read back              known                           reading back only
 * MULTIAPPEND answered NO          none                            sending each alone; the culprit is left out
 * the source lost it meanwhile     no digest                       size and date; else it is gone, also where the
 *                                                                  destination has one that it does not hand out
 * the destination rewrites         no digest fits                  the norm: see ../message/norm.ts
 * behind a window                  not listed                      the ledger's UIDs; never appended again
 * another UIDVALIDITY              UIDs mean nothing               matching by digest over the mailbox, then the others
 */

/** Of so many other mailboxes at most it is asked if their dates were kept. */
const OTHERS_ASKED = 20;

/**
 * Messages that open groups may have stored. Those of a group under an older UIDVALIDITY of the source have new UIDs,
 * and are recognised by size and date.
 */
export function wantedOf(
  groups: readonly Group[],
  { id }: LedgerMailbox,
  waiting: readonly Planned[],
  settled: UidSet,
  { copy: { clock } }: Run,
): readonly Planned[] {
  const wanted = new Map<number, Planned>();
  const looks = new Set<string>();
  const bySize = new Map<number, Planned>();
  const listed = new Map(waiting.map((message) => [message.uid, message]));
  for (const { mailboxId, messages } of groups)
    for (const message of messages) {
      if (mailboxId !== id) {
        looks.add(`${message.size} ${message.date}`);
        bySize.set(message.size, message);
      }
      // A message that was not listed when it was sent may be by now.
      else if (!settled.has(message.uid)) wanted.set(message.uid, asSent(message, listed.get(message.uid)));
    }
  // If the group has neither size nor date of a message, as it was not listed, any that waits may be it.
  const isAny = looks.has('0 null');
  for (const message of waiting) {
    const alike = bySize.get(message.size);
    if (isAny || looks.has(`${message.size} ${message.date}`)) wanted.set(message.uid, message);
    else if (alike !== undefined && isUnsureDate(message.date, clock))
      wanted.set(message.uid, asSent({ ...alike, uid: message.uid }, message));
  }
  return [...wanted.values()];
}

/**
 * The message with the date that it was sent with.
 * @param intended as its group has it
 * @param listed as its mailbox lists it
 */
function asSent(intended: Planned, listed: Planned | undefined): Planned {
  if (intended.date === null) return listed ?? intended;
  const isRedated = listed !== undefined && listed.date !== null && listed.date !== intended.date;
  return isRedated ? { ...intended, isRedated } : intended;
}

/** Groups that a crash left open, and what they may have stored. */
type LeftOpen = {
  readonly groups: readonly Group[];
  readonly wanted: readonly Planned[];
  readonly mailbox: LedgerMailbox;
  /** UIDs that rows have at the destination. */
  readonly claims: Set<number>;
};

/**
 * Settles groups that a crash left open: what is stored gets its row, what the source has lost is gone, the rest waits
 * again.
 */
export async function settleOpen(
  { groups, wanted, mailbox, claims }: LeftOpen,
  session: Pick<Session, 'checker'> & { readonly reader: MailReader | null },
  run: Run,
): Promise<readonly NewRow[]> {
  const { ledger, onStep } = run.copy;
  const { checker } = session;
  const { uidValidity, uidNext = 0 } = await checker.open(mailbox.destinationPath);
  const before = groups.filter((group) => group.uidValidity !== uidValidity);
  if (before.length > 0 && session.reader !== null) run.planAgain('destination', mailbox.destinationPath, uidValidity);
  const from = Math.min(...groups.map((group) => (group.uidValidity === uidValidity ? group.uidNext : 1)));
  const { there, candidates } = await unclaimedFrom(from, checker, mailbox.destinationPath, claims);
  const source =
    session.reader === null ? null : sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const destination = destinationPlace(checker, mailbox.destinationPath, uidValidity);
  // What the server has confirmed as stored is not appended again, wherever it is.
  const said = new Map(
    wanted.flatMap(({ uid }) => {
      const one = run.said.get(saidKey(mailbox, uid));
      return one?.uidValidity === uidValidity ? [[uid, one]] : [];
    }),
  );
  const areStored = (uid: number) => said.has(uid);
  const areNew = before.length === 0 && candidates.length > 0 && !(await hasKeptDates(mailbox, run));
  const matching = { areStored, readsRest: true, areNew };
  // Their digests are known, even if the source has them under another name by now.
  const looked = wanted.map((message) => said.get(message.uid) ?? message);
  const { found, gone, unseen } = await match(looked, candidates, { source, destination, run }, matching);
  run.askAgain(unseen);
  const missing = source === null ? [] : wanted.filter(({ uid }) => !found.has(uid) && !gone.has(uid));
  const elsewhere = await findRenamed(missing, before, mailbox, source, checker, run);
  const rows: NewRow[] = [];
  const standsFor = await standingFor([...said.values()], found, mailbox, run);
  const isThere = (uid: number) => there.has(uid) || claims.has(uid);
  const left = before.length > 0 ? NONE_LEFT : uidsLeft([...said.values()], found, { from, uidNext, isThere });
  for (const planned of wanted) {
    const { uid, size } = planned;
    const one = found.get(uid);
    const stored = said.get(uid);
    // The one that it was sent with, also where its source tells none.
    const { date } = stored ?? planned;
    const base = { uid, date, mailboxId: mailbox.id };
    if (one !== undefined) {
      claims.add(one.destinationUid);
      const { isRead, hasDate: _, ...what } = one;
      rows.push({
        ...base,
        ...what,
        fate: fateOf(one, stored ?? planned, run.copy.clock),
        destinationUidValidity: uidValidity,
        verified: isRead,
      });
    } else if (stored !== undefined && !elsewhere.has(uid) && !gone.has(uid)) {
      const { uidValidity: _, ...what } = stored;
      rows.push(rowOfMissing({ ...what, mailboxId: mailbox.id }, uidValidity, standsFor, left, claims));
    } else if (elsewhere.has(uid)) {
      rows.push({ ...base, size, verified: false, ...elsewhere.get(uid), fate: 'taken' });
    } else if (gone.has(uid) || source === null) rows.push({ ...base, size, fate: 'gone', verified: false });
  }
  const refused = await ledger.settle(
    rows,
    groups.map((group) => group.id),
  );
  for (const { uid } of rows) run.said.delete(saidKey(mailbox, uid));
  for (const [uid, { size }] of found) if (!said.has(uid)) run.budget.correct(size);
  await onStep('recovered', mailbox.sourcePath);
  return rows.filter((row) => !refused.includes(row));
}

/**
 * Lists a mailbox from a UID on.
 * @returns which UIDs are `there`, those of them that no row has as `candidates`, and from where on there are none
 */
async function unclaimedFrom(from: number, checker: MailReader, path: string, claims: ReadonlySet<number>) {
  const candidates: Listed[] = [];
  const there = new Set<number>();
  let next = from;
  for await (const listed of listedFrom(checker, path, from)) {
    next = Math.max(next, listed.uid + 1);
    there.add(listed.uid);
    if (!claims.has(listed.uid)) candidates.push(listed);
  }
  return { there, candidates, next };
}

/**
 * A message with another date than it was sent with is `changed`, or `kept` if some servers refuse the date it was sent
 * with.
 */
function fateOf({ fate, hasDate }: Found, sent: Pick<Planned, 'date' | 'isRedated'>, clock: Clock): Found['fate'] {
  if (!hasDate) return fate !== 'changed' && isUnsureDate(sent.date, clock) ? 'kept' : 'changed';
  return fate === 'stored' ? fateAsSent(sent) : fate;
}

/** Whether the destination has kept the date of a message that was read back, of this mailbox or another one. */
async function hasKeptDates({ id }: LedgerMailbox, { copy, known }: Run): Promise<boolean> {
  const others = [...known.values()].flat().map((mailbox) => mailbox.id);
  for (const mailboxId of new Set([id, ...others.slice(0, OTHERS_ASKED)]))
    for await (const page of copy.ledger.rows(mailboxId)) {
      const read = page.filter(({ verified, date }) => verified && !isUnsureDate(date, copy.clock));
      if (read.some(({ fate }) => fate === 'stored' || fate === 'kept')) return true;
      // Of a large mailbox, some are enough.
      break;
    }
  return false;
}

/** Digests of messages that the destination has, for which one of these may be a twin. */
async function standingFor(
  unsaid: readonly Unsaid[],
  found: ReadonlyMap<number, Found>,
  { id }: LedgerMailbox,
  { copy }: Run,
): Promise<ReadonlySet<string>> {
  const digests = new Set<string>();
  for (const { sha256 } of found.values()) if (sha256 !== undefined) digests.add(sha256);
  if (unsaid.some(({ uid, sha256 }) => !found.has(uid) && !digests.has(sha256)))
    for await (const page of copy.ledger.rows(id))
      for (const row of page) if (row.sha256 !== undefined && AT_DESTINATION.has(row.fate)) digests.add(row.sha256);
  return digests;
}

/**
 * Settles what waits under a mailbox or UIDVALIDITY that the source no longer has: what may have been appended is
 * looked for; the rest is gone, or is listed anew somewhere else. If the destination does not let us open the mailbox,
 * it goes on waiting.
 */
export async function settleAbandoned(
  mailbox: LedgerMailbox,
  groups: readonly Group[],
  session: Session,
  run: Run,
): Promise<void> {
  const { settled } = await readRows(mailbox, run);
  const { checker } = session;
  const path = mailbox.destinationPath;
  const why = 'abandoned in';
  const asked = <Answer>(ask: () => Promise<Answer>) =>
    unlessInTrouble(() => blamingHangUps('destination', path, checker, run, ask), why, path, run);
  const opened = await asked(() => checker.open(path));
  if (opened === null) {
    const closed = groups.map((group) => group.id);
    if (await asked(() => isMissing(checker, path, run.destinationPaths()))) await run.copy.ledger.settle([], closed);
    return;
  }
  const claims = new Set(await run.copy.ledger.claimed(path, opened.uidValidity));
  const wanted = wantedOf(groups, mailbox, [], settled, run);
  const settling = () => settleOpen({ groups, wanted, mailbox, claims }, { checker, reader: null }, run);
  await asked(settling);
}

type Looking = {
  readonly mailbox: LedgerMailbox;
  readonly selected: Selected;
  readonly from: number;
  readonly claims: Set<number>;
  readonly session: Session;
  readonly run: Run;
};

/**
 * Finds messages stored without a reported UID, and writes their rows. The server has them, so none is ever appended
 * again: what is not found was kept once with an equal one, has been moved or deleted since, or is lost.
 * @returns from which UID on to look the next time
 */
export async function settleUnsaid(
  unsaid: readonly Unsaid[],
  groups: readonly number[],
  looking: Looking,
): Promise<number> {
  const { mailbox, session, run } = looking;
  const { ledger, onStep } = run.copy;
  const path = mailbox.destinationPath;
  const { checker } = session;
  const { uidValidity, uidNext = 0 } = await checker.open(path);
  const isSame = uidValidity === looking.selected.uidValidity;
  if (!isSame) run.planAgain('destination', path, uidValidity);
  // Claims under another UIDVALIDITY mean nothing.
  const from = isSame ? looking.from : 1;
  const claims = isSame ? looking.claims : new Set(await ledger.claimed(path, uidValidity));
  const { there, candidates, next } = await unclaimedFrom(from, checker, path, claims);
  const source = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const destination = destinationPlace(checker, path, uidValidity);
  const { found, unseen } = await match(unsaid, candidates, { source, destination, run }, { areStored: () => true });
  run.askAgain(unseen);
  const digests = await standingFor(unsaid, found, mailbox, run);
  const isThere = (uid: number) => there.has(uid) || claims.has(uid);
  const left = isSame ? uidsLeft(unsaid, found, { from, uidNext, isThere }) : NONE_LEFT;
  const rows = unsaid.map((message): NewRow => {
    const one = found.get(message.uid);
    const base = { ...message, mailboxId: mailbox.id };
    if (one === undefined) return rowOfMissing(base, uidValidity, digests, left, claims);
    claims.add(one.destinationUid);
    const { destinationUid, isRead } = one;
    return {
      ...base,
      fate: fateOf(one, message, run.copy.clock),
      destinationUid,
      destinationUidValidity: uidValidity,
      verified: isRead,
    };
  });
  await ledger.settle(rows, groups);
  for (const { uid } of unsaid) run.said.delete(saidKey(mailbox, uid));
  run.settled(mailbox.sourcePath, rows);
  await onStep('outcome committed', mailbox.sourcePath);
  return next;
}

/**
 * The row of a stored message that was not found: a twin, or under the UID that it had, so that reading back finds
 * where it has gone; else lost.
 */
function rowOfMissing(
  message: Unsaid & Pick<NewRow, 'mailboxId'>,
  uidValidity: bigint,
  standsFor: ReadonlySet<string>,
  left: ReadonlyMap<number, number>,
  claims: Set<number>,
): NewRow {
  const destinationUid = left.get(message.uid);
  if (standsFor.has(message.sha256)) return { ...message, fate: 'twin', verified: false };
  if (destinationUid === undefined) return { ...message, fate: 'lost', verified: false };
  claims.add(destinationUid);
  return {
    ...message,
    fate: fateAsSent(message),
    destinationUid,
    destinationUidValidity: uidValidity,
    verified: false,
  };
}

const NONE_LEFT: ReadonlyMap<number, number> = new Map();

type Numbers = { readonly from: number; readonly uidNext: number; readonly isThere: (uid: number) => boolean };

/**
 * The UIDs of messages that were stored and are not there any more: a mailbox assigns UIDs in the order in which
 * messages come, and none to what it drops.
 * @param unsaid in the order in which they were appended
 */
function uidsLeft(
  unsaid: readonly Unsaid[],
  found: ReadonlyMap<number, Found>,
  { from, uidNext, isThere }: Numbers,
): ReadonlyMap<number, number> {
  const left = new Map<number, number>();
  let last = from - 1;
  for (const [index, { uid }] of unsaid.entries()) {
    const here = found.get(uid)?.destinationUid;
    if (here !== undefined) {
      last = here;
      continue;
    }
    const following = unsaid.slice(index + 1).find((each) => found.has(each.uid));
    const end = following === undefined ? uidNext : (found.get(following.uid)?.destinationUid ?? uidNext);
    let free = last + 1;
    while (free < end && isThere(free)) free += 1;
    if (free >= end) continue;
    left.set(uid, free);
    last = free;
  }
  return left;
}
