import { isRefusal, MailError } from '../imap/mail-error.ts';
import type { Listed, MailWriter, Opened, Selected } from '../imap/streams.ts';
import type { AddedMailbox, Group, LedgerMailbox, Planned } from './ledger/ledger.ts';
import { readCurrentRows, takeOverOlder } from './looking/changed-uids.ts';
import { noRows, olderOf, readRows, type KnownRows } from './looking/known-rows.ts';
import { listMailbox, type Listing } from './looking/listing.ts';
import { afterRefusal, openBoth, overNewReader, overNewSession, unlessClosed } from './mailboxes/both-mailboxes.ts';
import { findAnew } from './mailboxes/renumbered.ts';
import { hasBrokenOff, perhapsPresent, settlePresent } from './recovery/present.ts';
import { settleOpen, settleUnsaid, wantedOf } from './recovery/recovery.ts';
import { FolderLeft, type Run, type Session } from './run/run.ts';
import type { Sizes } from './run/sizes.ts';
import { readAnyOther } from './storing/any-other.ts';
import type { Fetches } from './storing/fetches.ts';
import { askForFirst, sendMessages } from './storing/sending.ts';
import { refuse, type Sending, type Unsaid } from './storing/settling.ts';
import {
  appendName,
  BREAKS_ALONE,
  BREAKS_TOGETHER,
  isSentAway,
  isSentAwayOften,
  messageName,
  sourcePlace,
} from './troubles/breaks.ts';
import { isSuspect, notingHangUps } from './troubles/hang-ups.ts';

/** How often, in one run, a folder's messages are looked for again because its destination has another UIDVALIDITY. */
const RENUMBERED_AT_MOST = 10;

export type Folder = {
  readonly sourcePath: string;
  readonly isInbox: boolean;
  /** Where it goes; the mailbox exists when this resolves. @throws {FolderLeft} when it can't be made, {MailError} */
  readonly destination: (writer: MailWriter) => Promise<string>;
  /** Where it is planned to go, as far as that is known. */
  readonly planned: () => string;
  /** Which of the marked messages forwarding has already brought. */
  readonly forwarded: (marked: readonly Listed[], opened: Opened, session: Session) => Promise<ReadonlySet<number>>;
};

/** What a mailbox of the source holds, and which of it forwarding has already brought. */
export type FolderListing = Listing & { readonly leftOut: ReadonlySet<number> };

/** @throws {MailError}, {@link FolderLeft} */
export async function listFolder(folder: Folder, keyword: string, session: Session, run: Run): Promise<FolderListing> {
  const unsure = run.unsure.get(folder.sourcePath);
  if (unsure !== undefined) throw unsure;
  const listing = await list(folder, keyword, session, run);
  const leftOut = await folder.forwarded(listing.marked, listing.opened, session);
  run.count(folder.sourcePath, {
    done: 0,
    total: listing.messages.length - leftOut.size,
    bytes: 0,
    kept: 0,
    octetsLeft: run.known.has(folder.sourcePath) ? null : octetsOf(listing.messages, leftOut),
  });
  return { ...listing, leftOut };
}

/**
 * Copies the messages of a mailbox that have no row yet, from wherever an earlier run left it. It can be repeated with
 * a new listing after any failure, because it settles what may have been stored before it appends anything.
 * @returns how many messages waited
 * @throws {MailError}, {@link FolderLeft}, {@link LeaseLost}, {@link Stopped}
 */
export async function copyFolder(
  folder: Folder,
  listing: FolderListing,
  session: Session,
  run: Run,
  goesOn: () => boolean,
): Promise<number> {
  const { sourcePath } = folder;
  const known = run.known.get(sourcePath);
  const isKnown = known?.some(({ sourceUidValidity }) => sourceUidValidity === listing.opened.uidValidity);
  // Its name may be another folder's by now.
  if (isKnown === false) run.planAgain('source', sourcePath, listing.opened.uidValidity);
  const destinationPath = await folder.destination(session.writer);
  // If nothing is known of a folder, all of its messages wait: they are asked for while the ledger is being asked.
  const begun = known !== undefined ? undefined : begin(folder, destinationPath, listing, session, run);
  const work = { folder, listing, session, run, goesOn };
  try {
    return await copyInto(destinationPath, begun, work);
  } catch (error) {
    await begun?.fetches.letGo();
    throw error;
  }
}

type Work = {
  readonly folder: Folder;
  readonly listing: FolderListing;
  readonly session: Session;
  readonly run: Run;
  readonly goesOn: () => boolean;
};

/** A copy that was begun ahead: both mailboxes are being opened, and the first messages have been asked for. */
type Begun = {
  readonly selected: Promise<Selected>;
  readonly claims: Promise<ReadonlySet<number>>;
  readonly fetches: Fetches;
};

/** What a folder's messages go into, with what the ledger knows of them. */
type Filling = Omit<Sending, 'resolve'> &
  Pick<Work, 'folder' | 'listing'> & { readonly known: KnownRows; readonly begun: Begun | undefined };

function begin(folder: Folder, path: string, listing: FolderListing, session: Session, run: Run): Begun | undefined {
  const messages = listing.messages.filter(({ uid }) => !listing.leftOut.has(uid));
  // For a suspect another mailbox is opened first, whose answer would come behind what was asked for ahead.
  if (messages.length === 0 || isSuspect('source', folder.sourcePath, run)) return undefined;
  const place = sourcePlace(session.reader, folder.sourcePath, listing.opened.uidValidity);
  // Such messages are sent in another form, and not in their turn.
  if (messages.some(({ uid }) => run.otherwise.has(messageName(place, uid)))) return undefined;
  const selected = openBoth(folder.sourcePath, path, listing.opened.uidValidity, session, run);
  const { sizes, ledger } = run.copy;
  const first = ordered(messages, folder, sizes);
  const claims = selected.then(({ uidValidity }) => ledger.claimed(path, uidValidity));
  claims.catch(() => {});
  return {
    selected,
    claims,
    fetches: askForFirst(first, session, folder.sourcePath, sizes),
  };
}

async function copyInto(destinationPath: string, begun: Begun | undefined, work: Work): Promise<number> {
  const { folder, listing, session, run, goesOn } = work;
  const { isNew, ...mailbox } = await mailboxOf(destinationPath, work);
  const older = olderOf(mailbox, run);
  const known = await rowsOf(mailbox, isNew, older, work);
  const groups = isNew && older.length === 0 ? [] : await openGroupsOf([mailbox, ...older], run);
  const todo = countWaiting(known, work);
  run.gone.delete(mailbox.id);
  // The ledger does know the folder, under a name that it keeps in another form: from the next try on, `older` has it.
  const isBlank = mailbox.destinationPath === destinationPath && known.settled.size === 0 && groups.length === 0;
  if (begun !== undefined && !isBlank) throw new MailError('lost', 'The mailbox is known after all.');
  if (todo > 0 || groups.length > 0) {
    const selected = await (begun?.selected ??
      openBoth(folder.sourcePath, mailbox.destinationPath, listing.opened.uidValidity, session, run));
    if ([...known.validities].some((validity) => validity !== selected.uidValidity)) {
      await findAllAnew(mailbox, selected, session, run);
      return copyFolder(folder, listing, session, run, goesOn);
    }
    const claims = new Set(
      await (begun?.claims ?? run.copy.ledger.claimed(mailbox.destinationPath, selected.uidValidity)),
    );
    await settleAndSend(groups, { ...work, mailbox, selected, claims, known, begun });
    await unlessNoneIsKnown(mailbox, work);
  }
  for (const check of known.checks) run.check(check);
  return todo;
}

/** What the ledger knows of the mailbox, after it has taken over what was known under older UIDVALIDITYs. */
async function rowsOf(
  mailbox: LedgerMailbox,
  isNew: boolean,
  older: readonly LedgerMailbox[],
  { listing, session, run }: Work,
): Promise<KnownRows> {
  const listed = listing.messages;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const now = { mailbox, listed, place, run };
  const known = isNew ? noRows() : await readCurrentRows(now);
  return (await takeOverOlder(older, known, now)) ? readRows(mailbox, run, listed) : known;
}

/**
 * All that was listed is said to be gone, and the mailbox holds no less than before: the source has other UIDs each time
 * it is asked, under the same UIDVALIDITY.
 * @throws {FolderLeft}
 */
async function unlessNoneIsKnown(mailbox: LedgerMailbox, { listing: { messages }, run }: Work): Promise<void> {
  const gone = run.gone.get(mailbox.id);
  if (messages.length === 0 || gone?.count !== messages.length || gone.exists < messages.length) return;
  await run.copy.ledger.forget(
    mailbox.id,
    Array.from(messages, ({ uid }) => uid),
  );
  throw new FolderLeft('mailbox unreadable', new Error('The source knows none of the UIDs that it lists.'));
}

async function openGroupsOf(mailboxes: readonly LedgerMailbox[], { copy }: Run): Promise<readonly Group[]> {
  const groups = await copy.ledger.groups();
  return groups.filter(({ mailboxId }) => mailboxes.some(({ id }) => id === mailboxId));
}

/** Sets the folder's part of the progress. @returns how many messages wait */
function countWaiting(known: KnownRows, { folder, listing, run }: Work): number {
  const waiting = waitingIn(listing, known);
  const done = known.settled.size;
  run.count(folder.sourcePath, {
    ...known.count,
    done,
    total: done + waiting.length,
    octetsLeft: octetsOf(waiting),
  });
  return waiting.length;
}

function waitingIn({ messages, leftOut }: FolderListing, { settled }: KnownRows): readonly Planned[] {
  return messages.filter(({ uid }) => !settled.has(uid) && !leftOut.has(uid));
}

/** Finds all rows anew under the destination's new UIDVALIDITY; what is not found waits again. */
async function findAllAnew(
  mailbox: LedgerMailbox,
  { uidValidity }: Selected,
  session: Session,
  run: Run,
): Promise<void> {
  if (run.noteFault(`renumbered ${mailbox.id}`) > RENUMBERED_AT_MOST)
    throw new FolderLeft('mailbox not read back', new Error('The destination says another UIDVALIDITY each time.'));
  // What is not found is sent again, so both sides are listed first: the mailbox may only have been renamed.
  run.planAgain('destination', mailbox.destinationPath, uidValidity);
  await unlessClosed(findAnew(mailbox, uidValidity, session, run));
}

/** Settles what a crash left open and what the destination has already, then sends the rest. */
async function settleAndSend(groups: readonly Group[], filling: Filling): Promise<void> {
  const { folder, listing, mailbox, selected, claims, known, begun, session, run } = filling;
  const place = `${mailbox.id} ${selected.uidValidity}`;
  const from = Math.min(unknownFrom(mailbox, selected, known, groups), run.unlooked.get(place) ?? Infinity);
  run.unlooked.set(place, from);
  if (groups.length > 0) {
    const wanted = wantedOf(groups, mailbox, waitingIn(listing, known), known.settled, run);
    const rows = await unlessClosed(settleOpen({ groups, wanted, mailbox, claims }, session, run));
    noteKnown(rows, filling);
    run.settledFound(folder.sourcePath, rows);
  }
  const waiting = waitingIn(listing, known);
  const perhaps = await perhapsPresent(waiting, from, filling);
  if (perhaps.length === 0) {
    run.unlooked.delete(place);
    return sendWaiting(waiting, filling);
  }
  const lookAndSend = async (by: Session) => {
    const over = { ...filling, begun: undefined, session: by };
    noteKnown(await settlePresent(perhaps, over), over);
    run.unlooked.delete(place);
    await sendWaiting(waitingIn(listing, known), over);
  };
  if (begun === undefined)
    return hasBrokenOff(mailbox, run) ? overNewSession(session, mailbox, run, lookAndSend) : lookAndSend(session);
  // The answers to what was asked for ahead would be in the way of the reading.
  await begun.fetches.letGo();
  await overNewReader(session, mailbox, run, lookAndSend);
}

function noteKnown(rows: readonly Pick<Planned, 'uid'>[], { known, mailbox, session, run }: Filling): void {
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  for (const { uid } of rows) {
    known.settled.add(uid);
    run.otherwise.delete(messageName(place, uid));
  }
}

/**
 * The destination UID from which on nothing has been looked through: behind the last message that was stored, or where
 * an open group may have stored one.
 */
function unknownFrom(
  { destination }: LedgerMailbox,
  { uidValidity }: Selected,
  { lastUid }: KnownRows,
  groups: readonly Group[],
): number {
  if (destination?.uidValidity !== uidValidity) return 1;
  return Math.min(...groups.map((group) => group.uidNext), Math.max(destination.uidNext, lastUid + 1));
}

async function mailboxOf(destinationPath: string, { folder, listing, run }: Work): Promise<AddedMailbox> {
  const { sourcePath } = folder;
  const { opened, messages, unlisted, leftOut } = listing;
  const [mailbox] = await run.copy.ledger.addMailboxes([
    {
      sourcePath,
      sourceUidValidity: opened.uidValidity,
      destinationPath,
      total: messages.length - leftOut.size + unlisted,
      ...(unlisted > 0 ? { reason: 'mailbox not complete' } : {}),
    },
  ]);
  if (mailbox === undefined) throw new Error('The ledger gave no mailbox back.');
  await run.copy.onStep('listed', sourcePath);
  // The ledger keeps some names in another form.
  return { ...mailbox, sourcePath };
}

async function sendWaiting(waiting: readonly Planned[], filling: Filling): Promise<void> {
  const { folder, listing, mailbox, selected, known, begun, session, run } = filling;
  let lookFrom = selected.uidNext ?? 1;
  const sendingOver = (by: Session): Sending => ({
    ...filling,
    session: by,
    resolve: async (unsaid: readonly Unsaid[], ids: readonly number[]) => {
      lookFrom = await settleUnsaid(unsaid, ids, { ...filling, session: by, from: lookFrom });
    },
  });
  const sending = sendingOver(session);
  const there = { messages: listing.messages, known };
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const breaksOf = ({ uid }: Planned) => run.faults(messageName(place, uid));
  const appendBreaksOf = ({ uid }: Planned) => run.faults(appendName(place, uid));
  const [whole, suspects] = [[], []] as [Planned[], Planned[]];
  for (const message of waiting)
    (Math.max(breaksOf(message), appendBreaksOf(message)) < BREAKS_TOGETHER ? whole : suspects).push(message);
  try {
    const ofWhole = ordered(whole, folder, run.copy.sizes);
    const [first] = ofWhole;
    if (begun === undefined && first !== undefined && isSentAwayOften('source', run))
      await readAnyOther(first, there, session, filling);
    // The last answer to an append was BYE. This connection has settled and listed, and may end before anything is
    // appended.
    if (begun === undefined && whole.length > 0 && isSentAway('appends', run))
      await overNewSession(session, mailbox, run, (by) => sendMessages(ofWhole, sendingOver(by)));
    else await sendMessages(ofWhole, sending, begun?.fetches);
    for (const message of suspects) {
      // It has been looked for at the destination since.
      if (appendBreaksOf(message) >= BREAKS_TOGETHER + BREAKS_ALONE) {
        await refuse([message], 'not accepted', sending);
        continue;
      }
      try {
        const over = appendBreaksOf(message) >= BREAKS_TOGETHER ? overNewSession : overNewReader;
        await over(session, mailbox, run, async (by) => {
          if (breaksOf(message) > 0) await readAnyOther(message, there, by, filling);
          await sendMessages([message], sendingOver(by));
        });
      } catch (error) {
        if (breaksOf(message) >= BREAKS_TOGETHER + BREAKS_ALONE) await refuse([message], 'unreadable', sending);
        throw error;
      }
    }
  } catch (error) {
    throw await afterRefusal(error, mailbox.destinationPath, session, run);
  }
}

function octetsOf(messages: Iterable<Planned>, leftOut: ReadonlySet<number> = new Set()): number {
  let octets = 0;
  for (const { uid, size } of messages) if (!leftOut.has(uid)) octets += size;
  return octets;
}

async function list({ sourcePath }: Folder, keyword: string, { reader }: Session, run: Run): Promise<Listing> {
  try {
    return await notingHangUps('source', sourcePath, reader, run, () => listMailbox(reader, sourcePath, keyword));
  } catch (error) {
    if (isRefusal(error)) throw new FolderLeft('mailbox unreadable', error);
    throw error;
  }
}

/** In the inbox the newest messages first, otherwise in the order of the source. */
function ordered(messages: readonly Planned[], { isInbox }: Folder, { newest }: Sizes): readonly Planned[] {
  if (!isInbox) return messages;
  return [...messages.slice(-newest), ...messages.slice(0, -newest)];
}
