import type { Clock } from '../../clock.ts';
import { Stopped } from '../../stopped.ts';
import { isBareRefusal, isRefusal, MailboxRenumbered, MailError, unlessRefused } from '../imap/mail-error.ts';
import type { Mailbox } from '../imap/mailbox.ts';
import type { MailControl, MailReader, MailWriter, Opened } from '../imap/streams.ts';
import { workOf } from './lanes/lane-work.ts';
import { openLanes } from './lanes/lanes.ts';
import { storedPath } from './ledger/rows.ts';
import type { Appended, TakeBackRecords } from './ledger/take-back-records.ts';
import { inParts } from './looking/looking.ts';
import { isGmailLike } from './mailboxes/mapping.ts';
import { isMissing } from './mailboxes/missing.ts';
import { digestOf } from './message/digest.ts';
import type { AccountLimits } from './run/mail-copy.ts';
import { isWindow } from './run/provider-limits.ts';
import { destinationPlace, fetchReadable, openFaults, type Faults, type Place } from './troubles/breaks.ts';
import { blamingHangUps, notingHangUps, type Openings } from './troubles/hang-ups.ts';
import { askedAgain, isTroubled, RefusedForNow } from './troubles/troubles.ts';

const MESSAGES_AT_ONCE = 200;

/** The moments between which a worker can die. */
export type TakeBackStep = 'intended' | 'expunged' | 'noted' | 'folder removed';

export type TakingBack = {
  readonly clock: Clock;
  readonly reader: () => Promise<MailReader>;
  readonly writer: () => Promise<MailWriter>;
  readonly control: () => Promise<MailControl>;
  readonly records: TakeBackRecords;
  readonly limits: AccountLimits;
  readonly mayWrite: () => boolean;
  /** Whether the operation may try again for a mailbox that the server fails at. */
  readonly mayWait: boolean;
  readonly signal: AbortSignal;
  readonly onStep: (step: TakeBackStep) => void | Promise<void>;
};

/**
 * `isOneByOne`: whether the server can expunge single messages; if not, nothing was taken back. `absent`: how many were
 * not where they had been put. `archives`: what is removed from a mailbox stays in another one (Gmail).
 */
export type TakeBackEnd = { readonly isOneByOne: boolean; readonly absent: number; readonly archives: boolean };

/**
 * Takes back what a transfer has appended and nobody has touched since: by UID, in the same folder under the same
 * UIDVALIDITY, with the flags that it was given, and with the same octets. Then the folders that it made and that are
 * empty. What is not certain stays, and what the server refuses or drops the connection at. Can be repeated after any
 * failure.
 * @throws {MailError}, {@link LeaseLost}, {@link Stopped}
 */
export async function takeBack(taking: TakingBack): Promise<TakeBackEnd> {
  const { clock, signal, records } = taking;
  let moved = 0;
  const looked = () => {
    moved += 1;
  };
  const paths = await records.paths();
  const mailboxes = await listed(taking);
  const run: Faults & Openings = {
    ...openFaults(),
    looked,
    opened: { source: new Set(), destination: new Set() },
    sourcePaths: () => [],
    destinationPaths: () => mailboxes.map(({ path }) => path),
  };
  // The server's names by the form that the ledger keeps them in.
  const names = new Map(mailboxes.map(({ path }) => [storedPath(path), path]));
  const archives = isGmailLike(mailboxes);
  const absent = new Map<string, number>();
  {
    await using lanes = openLanes<Session>({
      size: 1,
      clock,
      signal,
      moved: () => moved,
      open: () => openSession(taking),
    });
    let saysUids = false;
    await lanes.work(workOf([0]), async (_, { writer }) => {
      ({ saysUids } = writer.traits);
    });
    if (!saysUids) return { isOneByOne: false, absent: 0, archives };
    const troubles: MailError[] = [];
    await lanes.work(workOf(paths), async (stored, session) => {
      const path = names.get(stored) ?? stored;
      try {
        absent.set(stored, await takeBackUnlessMissing({ path, stored }, session, taking, run));
      } catch (error) {
        // A refusal without a code may be for a while only. What is in a mailbox that is refused otherwise stays.
        if (isBareRefusal(error)) troubles.push(new RefusedForNow('refusalWaits', 0, error));
        else if (isRefusal(error)) return;
        else if (isTroubled(error, path, run)) troubles.push(error);
        else throw error;
      }
    });
    const [trouble] = troubles;
    if (trouble !== undefined && taking.mayWait) throw trouble;
  }
  await removeFolders(taking);
  return { isOneByOne: true, absent: [...absent.values()].reduce((sum, each) => sum + each, 0), archives };
}

type Session = AsyncDisposable & { readonly reader: MailReader; readonly writer: MailWriter };

async function openSession(taking: TakingBack): Promise<Session> {
  const writer = await taking.writer();
  try {
    const reader = await taking.reader();
    const dispose = async () => {
      await Promise.all([reader[Symbol.asyncDispose](), writer[Symbol.asyncDispose]()]);
    };
    return { reader, writer, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await writer[Symbol.asyncDispose]();
    throw error;
  }
}

async function listed({ control, mayWait }: TakingBack): Promise<readonly Mailbox[]> {
  await using listing = await control();
  try {
    return await askedAgain(() => listing.mailboxes());
  } catch (error) {
    if (!isBareRefusal(error) || !mayWait) throw error;
    throw new RefusedForNow('refusalWaits', 0, error);
  }
}

/** A mailbox by its name and by the one that records have. */
type Named = { readonly path: string; readonly stored: string };

/** What became of messages, as far as it is known. `hidden`: the mailbox may have older ones than it shows. */
type Taken = { readonly removed: number; readonly absent: number; readonly hidden: boolean };

/** The UIDs that a mailbox shows; messages with one up to `lowest` may be there but hidden. */
type Shown = { readonly uids: ReadonlySet<number>; readonly lowest: number };

/** Asked once; `null` if it is refused. @param hidden whether the mailbox may have older messages than it shows */
type Search = (hidden: boolean) => Promise<Shown | null>;

function searchOf(path: string, reader: MailReader): Search {
  let shown: Promise<Shown | null> | undefined;
  const search = async (hidden: boolean) => {
    const uids = await unlessRefused(reader.search(path));
    return uids === null ? null : { uids: new Set(uids), lowest: hidden ? lowestOf(uids) : 0 };
  };
  return (hidden) => (shown ??= search(hidden));
}

/** As {@link takeBackFrom}; of a mailbox that is missing, nothing is where it was put. */
async function takeBackUnlessMissing(
  named: Named,
  session: Session,
  taking: TakingBack,
  run: Faults & Openings,
): Promise<number> {
  const { path, stored } = named;
  const { reader } = session;
  try {
    return await takeBackFrom(named, session, taking, run);
  } catch (error) {
    const ask = () => isMissing(reader, path, run.destinationPaths());
    if (isRefusal(error) && (await blamingHangUps('destination', path, reader, run, ask)))
      return taking.records.count(stored);
    throw error;
  }
}

/** @returns how many are not where they were put */
async function takeBackFrom(
  { path, stored }: Named,
  session: Session,
  taking: TakingBack,
  run: Faults & Openings,
): Promise<number> {
  const { reader } = session;
  const { records } = taking;
  let after = { mailboxId: 0, uid: 0 };
  let search = searchOf(path, reader);
  let [removed, absent, hidden] = [0, 0, false];
  for (;;) {
    const page = await records.page(stored, after, MESSAGES_AT_ONCE);
    const last = page.at(-1);
    if (last === undefined) {
      // If only the newest are shown, removing some makes others visible.
      if (!hidden || removed === 0) return absent;
      after = { mailboxId: 0, uid: 0 };
      search = searchOf(path, reader);
      [removed, absent, hidden] = [0, 0, false];
      continue;
    }
    after = last;
    stopWhenAsked(taking);
    // Again for each page, to see what others have changed.
    const opened = await opening(path, reader, run, () => askedAgain(() => reader.open(path, { counted: true })));
    // Under another UIDVALIDITY a UID means some other message.
    const named = page.filter(({ uidValidity }) => uidValidity === opened.uidValidity);
    const taken = await takeBackPage(path, named, opened, { ...session, search }, taking, run);
    removed += taken.removed;
    absent += taken.absent;
    hidden ||= taken.hidden;
  }
}

async function takeBackPage(
  path: string,
  messages: readonly Appended[],
  opened: Opened,
  { reader, writer, search }: Session & { readonly search: Search },
  taking: TakingBack,
  run: Faults & Openings,
): Promise<Taken> {
  const { records, onStep, limits } = taking;
  const hidden = isWindow(opened.exists, limits);
  if (messages.length === 0) return { removed: 0, absent: 0, hidden };
  const flags = await flagsOf(path, messages, reader);
  const gone = await goneOf(path, messages, flags, { reader, search, hidden });
  // A message with an intent that is not there was removed by us.
  const goneByUs = gone.filter(({ intent }) => intent);
  if (goneByUs.length > 0) await records.removed(goneByUs);
  const absent = gone.length - goneByUs.length;
  const untouched = messages.filter((message) => isUntouched(message, flags.get(message.destinationUid)));
  const ours = await withSameOctets(destinationPlace(reader, path, opened.uidValidity), untouched, run);
  const spared = messages.filter(
    (message) => message.intent && flags.has(message.destinationUid) && !ours.includes(message),
  );
  const select = async () => {
    const selected = await opening(path, reader, run, () => writer.select(path));
    if (selected.uidValidity !== opened.uidValidity) throw new MailboxRenumbered();
    // A worker that stood still meanwhile has looked at flags that its owner may have changed since.
    stopWhenAsked(taking);
  };
  const marked = markedByUs(spared, flags);
  if (marked.length > 0) await select();
  await undelete(path, marked, writer);
  if (spared.length > 0) await records.spare(spared);
  if (ours.length === 0) return { removed: 0, absent, hidden };
  await records.intend(ours);
  await onStep('intended');
  stopWhenAsked(taking);
  await select();
  try {
    await writer.expunge(
      path,
      ours.map(({ destinationUid }) => destinationUid),
      opened.highestModseq,
    );
  } catch (error) {
    if (error instanceof MailError && !writer.isOver) await undelete(path, unmarked(ours), writer).catch(() => {});
    throw error;
  }
  await onStep('expunged');
  await reader.open(path);
  const still = await flagsOf(path, ours, reader);
  const removed = ours.filter(({ destinationUid }) => !still.has(destinationUid));
  await records.removed(removed);
  // These do not come again, so this is progress: what fails after it gets as many tries.
  if (removed.length > 0) run.looked();
  const touchedSince = ours.filter(({ destinationUid }) => still.has(destinationUid));
  await undelete(path, markedByUs(touchedSince, still), writer);
  if (touchedSince.length > 0) await records.spare(touchedSince);
  await onStep('noted');
  return { removed: removed.length, absent, hidden };
}

const isDeleted = (flags: readonly string[]) => flags.some((flag) => flag.toLowerCase() === '\\deleted');

/** Those that had no \Deleted of their own. */
function unmarked(messages: readonly Appended[]): readonly Appended[] {
  return messages.filter(({ flags }) => !isDeleted(flags));
}

/** @param flags of those that are there */
function markedByUs(messages: readonly Appended[], flags: ReadonlyMap<number, readonly string[]>): readonly Appended[] {
  return unmarked(messages).filter(({ destinationUid }) => isDeleted(flags.get(destinationUid) ?? []));
}

/** What stays must not be marked by us: mail programs hide what is, and remove it. */
async function undelete(path: string, messages: readonly Appended[], writer: MailWriter): Promise<void> {
  const uids = messages.map(({ destinationUid }) => destinationUid);
  if (uids.length > 0) await unlessRefused(writer.undelete(path, uids));
}

/**
 * Those that are not there any more. Listings are unreliable: what one leaves out is searched for, and asked for once
 * more.
 * @param flags of those that are there; what comes late is added
 */
async function goneOf(
  path: string,
  messages: readonly Appended[],
  flags: Map<number, readonly string[]>,
  { reader, search, hidden }: { readonly reader: MailReader; readonly search: Search; readonly hidden: boolean },
): Promise<readonly Appended[]> {
  const missing = messages.filter(({ destinationUid }) => !flags.has(destinationUid));
  const shown = missing.length === 0 ? null : await search(hidden);
  if (shown === null) return [];
  const shownLate = missing.filter(({ destinationUid }) => shown.uids.has(destinationUid));
  for (const [uid, all] of await flagsOf(path, shownLate, reader)) flags.set(uid, all);
  return missing.filter((message) => !shownLate.includes(message) && message.destinationUid > shown.lowest);
}

function opening<Answer>(
  path: string,
  reader: MailReader,
  run: Openings,
  work: () => Promise<Answer>,
): Promise<Answer> {
  return notingHangUps('destination', path, reader, run, work);
}

function lowestOf(uids: readonly number[]): number {
  let lowest = Infinity;
  for (const uid of uids) lowest = Math.min(lowest, uid);
  return lowest;
}

async function flagsOf(
  path: string,
  messages: readonly Appended[],
  reader: MailReader,
): Promise<Map<number, readonly string[]>> {
  const flags = new Map<number, readonly string[]>();
  for (const uids of inParts(messages.map(({ destinationUid }) => destinationUid)))
    for await (const page of reader.look(path, uids)) for (const listed of page) flags.set(listed.uid, listed.flags);
  return flags;
}

/** Whether its flags are those that it was given; \Deleted from an earlier try of ours is not counted. */
function isUntouched({ flags, intent }: Appended, there: readonly string[] | undefined): boolean {
  if (there === undefined) return false;
  const setOf = (all: readonly string[]) =>
    new Set(all.map((flag) => flag.toLowerCase()).filter((flag) => !intent || flag !== '\\deleted'));
  const [given, found] = [setOf(flags), setOf(there)];
  return given.size === found.size && [...given].every((flag) => found.has(flag));
}

async function withSameOctets(place: Place, messages: readonly Appended[], run: Faults): Promise<readonly Appended[]> {
  const same: Appended[] = [];
  const byUid = new Map(messages.map((message) => [message.destinationUid, message]));
  for (const uids of inParts([...byUid.keys()]))
    for await (const { uid, octets } of fetchReadable(place, uids, run)) {
      const { sha256 } = await digestOf(octets);
      const message = byUid.get(uid);
      if (message?.sha256 === sha256) same.push(message);
    }
  return same;
}

/** The deepest first, so that one that held only another one of ours is empty by then. */
async function removeFolders(taking: TakingBack): Promise<void> {
  const { records, onStep } = taking;
  const folders = await records.folders();
  if (folders.length === 0) return;
  await using control = await taking.control();
  await using reader = await taking.reader();
  const { delimiter } = await control.namespace();
  for (const { path, validities } of folders) {
    stopWhenAsked(taking);
    const all = await control.mailboxes();
    const here = all.find((mailbox) => mailbox.path === path);
    const hasChildren = delimiter !== '' && all.some((mailbox) => mailbox.path.startsWith(`${path}${delimiter}`));
    if (here !== undefined) {
      if (hasChildren || here.specialUse !== undefined) continue;
      const opened = await openUnlessInTrouble(path, reader, taking);
      if (opened === null || opened.exists > 0) continue;
      // While a worker stood still, another order may have filled the folder.
      stopWhenAsked(taking);
      // Otherwise it is a new one of its owner's under that name, and only our record of it is removed.
      const isOurs = validities.length === 0 || validities.includes(opened.uidValidity);
      if (isOurs && (await unlessRefused(control.remove(path).then(() => true))) === null) continue;
    }
    await records.folderRemoved(path);
    await onStep('folder removed');
  }
}

/**
 * Opens a folder; `null` if it is refused, or if the server is busy and the operation may not wait any more: it stays.
 */
async function openUnlessInTrouble(path: string, reader: MailReader, { mayWait }: TakingBack): Promise<Opened | null> {
  try {
    return await unlessRefused(reader.open(path));
  } catch (error) {
    if (mayWait || !(error instanceof MailError) || error.fault !== 'busy') throw error;
    return null;
  }
}

function stopWhenAsked({ signal, mayWrite }: TakingBack): void {
  if (signal.aborted || !mayWrite()) throw new Stopped('The work was asked to stop.');
}
