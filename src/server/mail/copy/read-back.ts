import { isBreak, isRefusal, MailboxRenumbered, unlessRefused } from '../imap/mail-error.ts';
import type { Fetched, Listed, MailReader, Octets, Opened } from '../imap/streams.ts';
import { destinationPlace, fetchReadable, messageName, notingBreaks, readableOf, sourcePlace } from './breaks.ts';
import { digestOf, portraits, secondsOf, type Portrait } from './digest.ts';
import type { LedgerMailbox, NewRow, Row } from './ledger.ts';
import { isMacOf } from './mac.ts';
import { inParts, isUnlisted, listedAmong, listedFrom, stillThere } from './looking.ts';
import { findMoved, isMissing, openSource } from './moved.ts';
import { isProvidersForm } from './norm.ts';
import { isWindow } from './provider-limits.ts';
import type { Check, CheckSession, Run, Unchecked } from './run.ts';

/** Flags that a message was appended with and does not have. */
export type FlagsMissing = { readonly path: string; readonly uid: number; readonly flags: readonly string[] };

/** What reading back leaves for the end. */
export type Findings = {
  readonly flags: FlagsMissing[];
  /** By mailbox path: flags that the destination has kept on some message, in lower case. */
  readonly kept: Map<string, Set<string>>;
  /** Not found where they were stored; they are looked for elsewhere. */
  readonly absent: { readonly check: Check; readonly message: Unchecked }[];
  /** Read back and found to be what was sent. */
  readonly read: WeakSet<Unchecked>;
  /** The server has refused something while they were read. */
  readonly unread: Set<LedgerMailbox>;
};

/** So many are noted at a time, so that reading back can be interrupted. */
const NOTED_TOGETHER = 100;

/** Reads messages back and holds their octets against what was sent. */
export async function readBack(check: Check, session: CheckSession, run: Run, findings: Findings): Promise<void> {
  const { ledger, onStep } = run.copy;
  const { mailbox, uidValidity } = check;
  const path = mailbox.destinationPath;
  const { checker } = session;
  const place = destinationPlace(checker, path, uidValidity);
  const unseen = check.messages.filter((message) => !findings.read.has(message));
  // Several, where the server keeps one of equal messages.
  const all = Map.groupBy(unseen, ({ destinationUid }) => destinationUid);
  const uids = [...all.keys()].toSorted((a, b) => a - b);
  const { together, alone } = readableOf(place, uids, run);
  const unread = new Map([...together, ...alone].map((uid) => [uid, all.get(uid) ?? []]));
  if (unread.size === 0) return;
  const opening = unlessRefused(checker.open(path));
  // Sent with it: waiting for the one before the other would cost a round trip.
  const [first, ...others] = [together, ...alone.map((uid) => [uid])].filter((asked) => asked.length > 0);
  const messages = checker.fetch(path, first ?? []);
  const opened = await opening;
  if (opened?.uidValidity !== uidValidity) {
    if (opened === null) findings.absent.push(...check.messages.map((message) => ({ check, message })));
    else run.stale.add(mailbox.id);
    await passOver(messages);
    return;
  }
  const verified: number[] = [];
  const noting: Promise<void>[] = [];
  const note = () => {
    const noted = ledger.verified(mailbox.id, verified.splice(0));
    noted.catch(() => {});
    noting.push(noted);
  };
  const different: Unchecked[] = [];
  const compare = async (asked: readonly number[] = [], fetched = checker.fetch(path, asked)) => {
    for await (const found of notingBreaks(fetched, asked, place, run)) {
      const expected = unread.get(found.uid);
      if (expected === undefined) continue;
      const same = await sameAs(found.octets, expected);
      unread.delete(found.uid);
      for (const message of expected) {
        if (same.has(message) && isSameDate(found, message)) {
          verified.push(message.uid);
          findings.read.add(message);
        } else different.push(message);
        noteFlags(path, found, message, findings);
      }
      if (verified.length >= NOTED_TOGETHER) note();
    }
  };
  try {
    await compare(first, messages);
    for (const asked of others) await compare(asked);
    if (unread.size > 0) await compare([...unread.keys()]);
  } catch (error) {
    // What has been read is not read again.
    if (verified.length > 0) {
      note();
      run.looked();
    }
    await Promise.allSettled(noting);
    throw error;
  }
  await noteAbsent([...unread.values()].flat(), check, checker, run, findings);
  if (verified.length > 0) note();
  await Promise.all(noting);
  if (different.length > 0) await settleDifferent(different, check, session, run, findings);
  await onStep('verified', mailbox.sourcePath);
}

/** Reads all octets. @returns the messages whose octets they are */
async function sameAs(octets: Octets, expected: readonly Unchecked[]): Promise<ReadonlySet<Unchecked>> {
  const [only] = expected;
  if (expected.length === 1 && only?.mac !== undefined)
    return new Set((await isMacOf(only.mac, octets)) ? expected : []);
  const { sha256 } = await digestOf(octets);
  return new Set(expected.filter((message) => message.sha256 === sha256));
}

/** Messages that were asked for in vain must not stand in the way of the next answer; nobody wants them. */
async function passOver(messages: AsyncIterable<Fetched>): Promise<void> {
  try {
    for await (const _ of messages);
  } catch (error) {
    if (!isRefusal(error) && !isBreak(error)) throw error;
  }
}

/** For messages that were not handed out. What the mailbox lists is asked for again, once; the last look tells of it then. */
async function noteAbsent(
  messages: readonly Unchecked[],
  check: Check,
  checker: MailReader,
  run: Run,
  findings: Findings,
): Promise<void> {
  if (messages.length === 0) return;
  const place = destinationPlace(checker, check.mailbox.destinationPath, check.uidValidity);
  const uids = messages.map(({ destinationUid }) => destinationUid);
  const listed = await listedAmong(place, uids);
  run.askAgain([...listed].map((uid) => messageName(place, uid)));
  const gone = messages.filter(({ destinationUid }) => !listed.has(destinationUid));
  findings.absent.push(...gone.map((message) => ({ check, message })));
}

/** One that the server keeps once with an equal one has the date of that. */
function isSameDate({ internalDate }: Listed, { date, fate }: Unchecked): boolean {
  return date === null || fate === 'twin' || secondsOf(internalDate) === date;
}

/** Keywords and system flags differ in case between servers (RFC 9051 §2.3.2). */
function noteFlags(path: string, found: Listed, { flags, destinationUid }: Unchecked, findings: Findings): void {
  if (flags === undefined || flags.length === 0) return;
  const there = new Set(found.flags.map((flag) => flag.toLowerCase()));
  const kept = findings.kept.get(path) ?? new Set();
  findings.kept.set(path, kept);
  const missing = flags.filter((flag) => !there.has(flag.toLowerCase()));
  for (const flag of flags) if (there.has(flag.toLowerCase())) kept.add(flag.toLowerCase());
  if (missing.length > 0) findings.flags.push({ path, uid: destinationUid, flags: missing });
}

/** Whether they are kept in the provider's own form; the date is not part of that. */
async function settleDifferent(
  messages: readonly Unchecked[],
  check: Check,
  session: CheckSession,
  run: Run,
  findings: Findings,
): Promise<void> {
  const { mailbox, uidValidity } = check;
  const { checker } = session;
  const reader = await session.reader();
  const { uidValidity: now } = await reader.open(mailbox.sourcePath);
  if (now !== mailbox.sourceUidValidity) {
    // Where it has been listed under that one the messages get their rows there; the rest can't be compared any more.
    if (run.known.get(mailbox.sourcePath)?.some(({ sourceUidValidity }) => sourceUidValidity === now) === true) return;
    throw new MailboxRenumbered();
  }
  const source = sourcePlace(reader, mailbox.sourcePath, now);
  const destination = destinationPlace(checker, mailbox.destinationPath, uidValidity);
  for (const part of inParts(messages)) {
    const sentUids = part.map(({ uid }) => uid);
    const sent = await portraitsByUid(fetchReadable(source, sentUids, run));
    const storedUids = new Set(part.flatMap(({ uid, destinationUid }) => (sent.has(uid) ? [destinationUid] : [])));
    const stored = await portraitsByUid(fetchReadable(destination, [...storedUids], run));
    const unsent = sentUids.filter((uid) => !sent.has(uid));
    const withheld = unsent.length === 0 ? new Set<number>() : await stillThere(source, unsent);
    const rows: NewRow[] = [];
    const absent: Unchecked[] = [];
    for (const message of part) {
      // Not handed out for now: the last look finds that nothing is known of it.
      if (withheld.has(message.uid)) continue;
      const [one, other] = [sent.get(message.uid), stored.get(message.destinationUid)];
      // Taken away since it was read.
      if (one !== undefined && other === undefined) absent.push(message);
      else rows.push(comparedRow(message, one, other, { mailbox, uidValidity }));
    }
    await noteAbsent(absent, check, checker, run, findings);
    await run.copy.ledger.settle(rows);
    run.refated(mailbox.sourcePath, rows);
  }
}

async function portraitsByUid(messages: AsyncIterable<Fetched>): Promise<ReadonlyMap<number, Portrait>> {
  const all = new Map<number, Portrait>();
  for await (const portrait of portraits(messages)) all.set(portrait.uid, portrait);
  return all;
}

/** @param sent missing when the source has lost it */
function comparedRow(
  message: Unchecked,
  sent: Portrait | undefined,
  stored: Portrait | undefined,
  { mailbox, uidValidity }: Pick<Check, 'mailbox' | 'uidValidity'>,
): NewRow {
  if (sent === undefined || stored === undefined) return rowOf(message, mailbox.id, uidValidity, 'changed');
  const hasDate = message.date === null || message.fate === 'twin' || stored.date === message.date;
  const isSame = hasDate && stored.sha256 === message.sha256;
  const isKept = hasDate && sent.sha256 === message.sha256 && isProvidersForm(sent.form, stored.form);
  const fate = isSame ? message.fate : fateOf(message, isKept);
  return { ...rowOf(message, mailbox.id, uidValidity, fate), storedSha256: stored.sha256 };
}

/** Another message in the place of one is no form of it: the server has let go of it. */
function fateOf({ fate }: Unchecked, isKept: boolean): NewRow['fate'] {
  if (fate === 'twin') return isKept ? 'twin' : 'lost';
  return isKept ? 'kept' : 'changed';
}

function rowOf(message: Unchecked, mailboxId: number, uidValidity: bigint, fate: NewRow['fate']): NewRow {
  const { flags: _, mac: __, ...what } = message;
  return { ...what, mailboxId, fate, destinationUidValidity: uidValidity, verified: fate !== 'lost' };
}

/**
 * Settles messages that are not where they were stored: kept once with an equal one, moved into another mailbox,
 * removed since, or lost. Under another UIDVALIDITY they are to be found anew.
 * @throws {MailError} where the destination still has the mailbox, and does not let us in: nobody knows
 */
export async function settleAbsent(
  path: string,
  absent: Findings['absent'],
  session: CheckSession,
  run: Run,
): Promise<void> {
  const { checker } = session;
  const opened = await checker.open(path).catch(async (error: unknown) => {
    if (isRefusal(error) && (await isMissing(checker, path, run.destinationPaths()))) return null;
    throw error;
  });
  const here = absent.filter(({ check }) => opened === null || check.uidValidity === opened.uidValidity);
  for (const each of absent) if (!here.includes(each)) run.stale.add(each.check.mailbox.id);
  // One that could not be opened for a moment may have all of them: the last look finds them unread.
  const uids = opened === null ? [] : here.map(({ message }) => message.destinationUid);
  const listed = await listedAmong({ reader: checker, path }, uids);
  // Listings lie.
  if (uids.some((uid) => !listed.has(uid))) for (const uid of await checker.search(path)) listed.add(uid);
  const open = new Map(
    here.flatMap(({ message, check }) => (listed.has(message.destinationUid) ? [] : [[message, check]])),
  );
  if (open.size === 0) return;
  if (opened !== null) await settleTwins(path, opened, open, checker, run);
  for (const [mailbox, left] of Map.groupBy(open, ([, check]) => check.mailbox)) {
    const source = await openSource(await session.reader(), mailbox);
    const moved = await findMoved(
      left.map(([message, { uidValidity }]) => ({ ...message, destinationUidValidity: uidValidity })),
      path,
      run.destinationPaths(),
      source,
      checker,
      run,
    );
    const standsFor = left.some(([{ fate }]) => fate === 'twin') ? await standingOf(mailbox, run) : new Set<string>();
    // A UID that the mailbox has given to a message and that it does not list is of one that was expunged.
    const assigned = opened === null ? Infinity : (opened.uidNext ?? 0);
    const rows = left.map(([message, { uidValidity }]): NewRow => {
      if (moved.has(message.uid)) return rowOf(message, mailbox.id, uidValidity, 'taken');
      const isAlone = message.fate === 'twin' && !hasEqual(message, here) && !standsFor.has(standing(message));
      const isLost = message.destinationUid >= assigned || isAlone;
      if (isLost) return rowOf(message, mailbox.id, uidValidity, 'lost');
      return { ...rowOf(message, mailbox.id, uidValidity, 'taken'), reason: 'removed' };
    });
    await run.copy.ledger.settle(rows);
  }
}

function standing({ destinationUid, sha256 }: Pick<Row, 'destinationUid' | 'sha256'>): string {
  return `${destinationUid} ${sha256}`;
}

/** Messages of a mailbox that were read back and found to be what was sent. */
async function standingOf({ id }: LedgerMailbox, { copy }: Run): Promise<ReadonlySet<string>> {
  const standsFor = new Set<string>();
  for await (const page of copy.ledger.rows(id))
    for (const row of page)
      if (row.verified && row.fate !== 'twin' && row.fate !== 'changed') standsFor.add(standing(row));
  return standsFor;
}

/** Whether a twin has gone together with the one that the server kept it as; else nobody has ever seen it. */
function hasEqual(twin: Unchecked, absent: Findings['absent']): boolean {
  return absent.some(
    ({ message }) =>
      message.fate !== 'twin' && message.destinationUid === twin.destinationUid && message.sha256 === twin.sha256,
  );
}

/** Settles those that an equal message in the same mailbox stands for, and takes out what is behind a window: it is there. */
async function settleTwins(
  path: string,
  { exists, uidValidity }: Opened,
  open: Map<Unchecked, Check>,
  checker: MailReader,
  run: Run,
): Promise<void> {
  const looks = new Set([...open.keys()].map(({ size, date }) => `${size} ${date}`));
  const alike: number[] = [];
  let lowest = Infinity;
  for await (const listed of listedFrom(checker, path, 1)) {
    lowest = Math.min(lowest, listed.uid);
    if (isUnlisted(listed) || looks.has(`${listed.size} ${secondsOf(listed.internalDate)}`)) alike.push(listed.uid);
  }
  if (isWindow(exists, run.copy.destination.limits))
    for (const message of open.keys())
      if (message.fate !== 'twin' && message.destinationUid < lowest) open.delete(message);
  const rows: NewRow[] = [];
  for (const uids of inParts(alike))
    for await (const { octets } of fetchReadable(destinationPlace(checker, path, uidValidity), uids, run)) {
      const { sha256 } = await digestOf(octets);
      for (const [message, { mailbox, uidValidity }] of open) {
        if (message.sha256 !== sha256) continue;
        rows.push(rowOf(message, mailbox.id, uidValidity, 'twin'));
        open.delete(message);
      }
    }
  if (rows.length > 0) await run.copy.ledger.settle(rows);
}
