import type { Clock } from '../../../clock.ts';
import {
  isBreak,
  isOfAccount,
  isRefusal,
  MailboxRenumbered,
  type MailError,
  unlessRefused,
} from '../../imap/mail-error.ts';
import type { Fetched, Listed, Octets } from '../../imap/streams.ts';
import type { LedgerMailbox, NewRow } from '../ledger/ledger.ts';
import { inParts, listedAmong, stillThere } from '../looking/looking.ts';
import { digestOf, portraits, secondsOf, type Portrait } from '../message/digest.ts';
import { isMacOf } from '../message/mac.ts';
import { isProvidersForm } from '../message/norm.ts';
import { isUnsureDate } from '../message/odd-dates.ts';
import type { Check, CheckSession, Run, Unchecked } from '../run/run.ts';
import {
  destinationPlace,
  fetchReadable,
  messageName,
  notingBreaks,
  readableOf,
  sourcePlace,
  type Place,
} from '../troubles/breaks.ts';
import { readAnother, type Sized } from '../troubles/another-message.ts';
import { isSuspect, notingHangUps } from '../troubles/hang-ups.ts';

/** Flags that a message was appended with and does not have. */
export type FlagsMissing = { readonly path: string; readonly uid: number; readonly flags: readonly string[] };

/** What reading back leaves for the end. */
export type Findings = {
  readonly flags: FlagsMissing[];
  /** By mailbox path: flags that the destination has kept on some message, in lower case. */
  readonly kept: Map<string, Set<string>>;
  /** Messages not found where they were stored; they are looked for elsewhere. */
  readonly absent: { readonly check: Check; readonly message: Unchecked }[];
  /** Those of `absent` that nobody has seen yet, and that may be shown later. */
  readonly late: Set<Unchecked>;
  /** Read back, and found to be what was sent, or settled as something else. */
  readonly read: WeakSet<Unchecked>;
  /** Mailboxes at which the server refused something while they were read back. */
  readonly unread: Map<LedgerMailbox, MailError>;
};

/** How many are noted at a time, so that reading back can be interrupted. */
const NOTED_TOGETHER = 100;

/** Messages of one mailbox that are read back, and what has come of it so far. */
type Reading = {
  readonly check: Check;
  readonly session: CheckSession;
  readonly run: Run;
  readonly findings: Findings;
  readonly place: Place;
  /** Those that have not come yet, by their UIDs at the destination. */
  readonly unread: Map<number, readonly Unchecked[]>;
  /** Those that are as they were sent, and not noted yet. */
  readonly verified: Unchecked[];
  readonly noting: Promise<void>[];
  readonly different: Unchecked[];
};

/** Reads messages back and compares their octets with what was sent. */
export async function readBack(check: Check, session: CheckSession, run: Run, findings: Findings): Promise<void> {
  const { mailbox, uidValidity } = check;
  const path = mailbox.destinationPath;
  const { checker } = session;
  const place = destinationPlace(checker, path, uidValidity);
  const unseen = check.messages.filter((message) => !findings.read.has(message));
  // Several messages have one UID if the server keeps one of equal messages.
  const all = Map.groupBy(unseen, ({ destinationUid }) => destinationUid);
  const uids = [...all.keys()].toSorted((a, b) => a - b);
  const { together, alone } = readableOf(place, uids, run);
  const unread = new Map([...together, ...alone].map((uid) => [uid, all.get(uid) ?? []]));
  if (unread.size === 0) return;
  const opening = unlessRefused(notingHangUps('destination', path, checker, run, () => checker.open(path)));
  opening.catch(() => {});
  if (isSuspect('destination', path, run)) await opening;
  // FETCH is sent together with EXAMINE: waiting for the answer in between would cost a round trip.
  const messages = checker.fetch(path, together);
  const opened = await opening;
  if (opened?.uidValidity !== uidValidity) {
    if (opened === null) findings.absent.push(...check.messages.map((message) => ({ check, message })));
    else run.stale.add(mailbox.id);
    await passOver(messages);
    return;
  }
  const reading: Reading = { check, session, run, findings, place, unread, verified: [], noting: [], different: [] };
  try {
    await compare(together, messages, reading);
    for (const uid of alone) {
      const size = all.get(uid)?.[0]?.size ?? 0;
      await readAnother(place, { uid, size }, readIn(check, run), run);
      await compare([uid], checker.fetch(path, [uid]), reading);
    }
    const rest = [...unread.keys()];
    if (rest.length > 0) await compare(rest, checker.fetch(path, rest), reading);
  } catch (error) {
    // What has been read is not read again.
    if (reading.verified.length > 0) {
      noteVerified(reading);
      run.looked();
    }
    await Promise.allSettled(reading.noting);
    throw error;
  }
  await noteAbsent([...unread.values()].flat(), reading);
  if (reading.verified.length > 0) noteVerified(reading);
  await Promise.all(reading.noting);
  if (reading.different.length > 0) await settleDifferent(reading);
  await run.copy.onStep('verified', mailbox.sourcePath);
}

/** Compares messages as they come. @param asked their UIDs */
async function compare(asked: readonly number[], messages: AsyncIterable<Fetched>, reading: Reading): Promise<void> {
  const { run, findings, place, unread, verified, different } = reading;
  for await (const found of notingBreaks(messages, asked, place, run, { isAskedAgain: true })) {
    const expected = unread.get(found.uid);
    if (expected === undefined) continue;
    const same = await sameAs(found.octets, expected);
    unread.delete(found.uid);
    for (const message of expected) {
      if (same.has(message) && isSameDate(found, message)) {
        verified.push(message);
        findings.read.add(message);
      } else different.push(message);
      noteFlags(place.path, found, message, findings);
    }
    if (verified.length >= NOTED_TOGETHER) noteVerified(reading);
  }
}

function noteVerified({ check, run, verified, noting }: Reading): void {
  const noted = run.copy.ledger.verified(check.mailbox.id, verified.splice(0));
  noted.catch(() => {});
  noting.push(noted);
}

/** What has been read back of a mailbox, by its UIDs at the destination. */
async function* readIn({ mailbox, uidValidity }: Check, { copy }: Run): AsyncIterable<Sized> {
  for await (const page of copy.ledger.rows(mailbox.id))
    for (const { verified, destinationUid: uid, destinationUidValidity, size } of page)
      if (verified && uid !== undefined && destinationUidValidity === uidValidity) yield { uid, size };
}

/** Reads all octets. @returns the messages whose octets they are */
async function sameAs(octets: Octets, expected: readonly Unchecked[]): Promise<ReadonlySet<Unchecked>> {
  const [only] = expected;
  if (expected.length === 1 && only?.mac !== undefined)
    return new Set((await isMacOf(only.mac, octets)) ? expected : []);
  const { sha256 } = await digestOf(octets);
  return new Set(expected.filter((message) => message.sha256 === sha256));
}

/** Discards messages that were asked for in vain, which would be in the way of the next answer. */
async function passOver(messages: AsyncIterable<Fetched>): Promise<void> {
  try {
    for await (const _ of messages);
  } catch (error) {
    if (!isRefusal(error) && !isOfAccount(error) && !isBreak(error)) throw error;
  }
}

/**
 * For messages that were not handed out. What the mailbox lists is asked for again, once; after that the final
 * comparison finds it unread.
 */
async function noteAbsent(messages: readonly Unchecked[], { check, run, findings, place }: Reading): Promise<void> {
  if (messages.length === 0) return;
  const uids = messages.map(({ destinationUid }) => destinationUid);
  const listed = await listedAmong(place, uids);
  run.askAgain([...listed].map((uid) => messageName(place, uid)));
  const gone = messages.filter(({ destinationUid }) => !listed.has(destinationUid));
  findings.absent.push(...gone.map((message) => ({ check, message })));
}

/** A twin has the date of the message that the server keeps for both. */
function isSameDate({ internalDate }: Listed, { date, fate }: Unchecked): boolean {
  return date === null || fate === 'twin' || secondsOf(internalDate) === date;
}

/** Notes missing flags. Flags differ in case between servers (RFC 9051 §2.3.2). */
function noteFlags(path: string, found: Listed, { flags, destinationUid }: Unchecked, findings: Findings): void {
  if (flags === undefined || flags.length === 0) return;
  const there = new Set(found.flags.map((flag) => flag.toLowerCase()));
  const kept = findings.kept.get(path) ?? new Set();
  findings.kept.set(path, kept);
  const missing = flags.filter((flag) => !there.has(flag.toLowerCase()));
  for (const flag of flags) if (there.has(flag.toLowerCase())) kept.add(flag.toLowerCase());
  if (missing.length > 0) findings.flags.push({ path, uid: destinationUid, flags: missing });
}

/**
 * Of the missing flags, those that the server dropped. It drops a flag from all messages: one that the mailbox has kept
 * on some message, or that only one message lacks, was removed by the subscriber.
 * @param missing of any mailboxes
 * @param kept as in {@link Findings}
 */
export function droppedFlags(missing: readonly FlagsMissing[], kept: Findings['kept']): readonly FlagsMissing[] {
  const times = new Map<string, number>();
  // A message may have been read twice, after a fault.
  const once = [...new Map(missing.map((each) => [`${each.uid} ${each.path}`, each])).values()];
  for (const { flags } of once)
    for (const flag of flags) times.set(flag.toLowerCase(), (times.get(flag.toLowerCase()) ?? 0) + 1);
  const isDropped = (path: string, flag: string) => (times.get(flag) ?? 0) > 1 && kept.get(path)?.has(flag) !== true;
  return once
    .map(({ path, uid, flags }) => ({ path, uid, flags: flags.filter((flag) => isDropped(path, flag.toLowerCase())) }))
    .filter(({ flags }) => flags.length > 0);
}

/**
 * Settles messages that differ, as `kept` or `changed`. Another date fits `kept` only if some servers refuse the one it
 * was sent with.
 */
async function settleDifferent(reading: Reading): Promise<void> {
  const { check, session, run, findings, place: destination, different } = reading;
  const { mailbox, uidValidity } = check;
  const reader = await session.reader();
  const { uidValidity: now } = await reader.open(mailbox.sourcePath);
  if (now !== mailbox.sourceUidValidity) {
    // If it has been listed under the new one, the messages get their rows there; any others can't be compared any
    // more.
    if (run.known.get(mailbox.sourcePath)?.some(({ sourceUidValidity }) => sourceUidValidity === now) === true) return;
    throw new MailboxRenumbered('source');
  }
  const source = sourcePlace(reader, mailbox.sourcePath, now);
  for (const part of inParts(different)) {
    const sentUids = part.map(({ uid }) => uid);
    const sent = await portraitsByUid(fetchReadable(source, sentUids, run));
    const storedUids = new Set(part.flatMap(({ uid, destinationUid }) => (sent.has(uid) ? [destinationUid] : [])));
    const stored = await portraitsByUid(fetchReadable(destination, [...storedUids], run));
    const unsent = sentUids.filter((uid) => !sent.has(uid));
    const withheld = unsent.length === 0 ? new Set<number>() : await stillThere(source, unsent);
    const rows: NewRow[] = [];
    const absent: Unchecked[] = [];
    const compared: Unchecked[] = [];
    for (const message of part) {
      // The source does not hand it out for now: the final comparison finds it unread.
      if (withheld.has(message.uid)) continue;
      const [one, other] = [sent.get(message.uid), stored.get(message.destinationUid)];
      // Taken away since it was read.
      if (one !== undefined && other === undefined) absent.push(message);
      else {
        rows.push(comparedRow(message, one, other, { mailbox, uidValidity }, run.copy.clock));
        compared.push(message);
      }
    }
    await run.copy.ledger.settle(rows);
    run.refated(mailbox.sourcePath, rows);
    for (const message of compared) findings.read.add(message);
    if (rows.length > 0) run.looked();
    // Last, as it may throw, to ask for the others again: what has been compared is not compared again then.
    await noteAbsent(absent, reading);
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
  clock: Clock,
): NewRow {
  if (sent === undefined || stored === undefined) return rowOf(message, mailbox.id, uidValidity, 'changed');
  const hasDate = message.date === null || message.fate === 'twin' || stored.date === message.date;
  const isSame = hasDate && stored.sha256 === message.sha256;
  const mayBeKept = hasDate || isUnsureDate(message.date, clock);
  const isKept = mayBeKept && sent.sha256 === message.sha256 && isProvidersForm(sent.form, stored.form);
  const fate = isSame ? message.fate : fateOf(message, isKept);
  return { ...rowOf(message, mailbox.id, uidValidity, fate), storedSha256: stored.sha256 };
}

/** If the message in a twin's place is another one, the server has dropped the twin. */
function fateOf({ fate }: Unchecked, isKept: boolean): NewRow['fate'] {
  if (fate === 'twin') return isKept ? 'twin' : 'lost';
  return isKept ? 'kept' : 'changed';
}

/** The row of a message as it was found. What was taken away before it could be read back was not compared. */
export function rowOf(message: Unchecked, mailboxId: number, uidValidity: bigint, fate: NewRow['fate']): NewRow {
  const { flags: _, mac: __, ...what } = message;
  return {
    ...what,
    mailboxId,
    fate,
    destinationUidValidity: uidValidity,
    verified: fate !== 'lost' && fate !== 'taken',
    isKnown: true,
  };
}
