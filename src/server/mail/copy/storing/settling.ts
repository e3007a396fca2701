import type { Clock } from '../../../clock.ts';
import { isBreak, isFarewell, isInTrouble, MailError } from '../../imap/mail-error.ts';
import type { Appended, Fetched, RefusalReason, Selected } from '../../imap/streams.ts';
import { isOddKeyword, unlabelled } from '../../imap/wire/flags.ts';
import type { Group, LedgerMailbox, NewRow, Planned } from '../ledger/ledger.ts';
import { stillThere } from '../looking/looking.ts';
import { reopen, unlessUnreadable } from '../mailboxes/both-mailboxes.ts';
import { type Digest, secondsOf } from '../message/digest.ts';
import { subjectOf } from '../message/message-text.ts';
import { redated } from '../message/odd-dates.ts';
import type { Run, Session, Unchecked } from '../run/run.ts';
import { refusalName, sourcePlace } from '../troubles/breaks.ts';
import { commitOutcome } from './committing.ts';
import type { Refused } from './refused.ts';

/** A message that the server stored without reporting its UID. */
export type Unsaid = Planned & { readonly sha256: string; readonly subject?: string };

export type Sending = {
  readonly mailbox: LedgerMailbox;
  readonly selected: Selected;
  readonly session: Session;
  readonly run: Run;
  readonly goesOn: () => boolean;
  /** Destination UIDs that rows have under the UIDVALIDITY of `selected`. */
  readonly claims: Set<number>;
  /** Finds messages stored without a reported UID, and settles them. */
  readonly resolve: (unsaid: readonly Unsaid[], groups: readonly number[]) => Promise<void>;
};

/**
 * One message being sent: as the source described it, the date that it is sent with, and its digest once it has passed.
 */
export type Sent = {
  readonly message: Fetched;
  readonly flags: readonly string[];
  readonly date: Date;
  /** Whether the server has been given any of it. */
  isGiven: () => boolean;
  digest: () => Digest;
};

/** A message that is not sent, because the destination takes none of that size. */
export type TooLarge = Omit<Fetched, 'octets'> & { readonly subject?: string };

/** How messages are sent: `together`, several in one command. */
export type Way = { readonly together: boolean };

/**
 * Messages without a row that are to be tried in another way. A server that refused `changed` may accept them as they
 * are here: with a CRLF at the end, without odd keywords, or with another date. `unseen` did not come from the source.
 */
export type Left = {
  readonly refusedTogether: readonly Planned[];
  readonly changed: readonly Planned[];
  readonly unseen: readonly Planned[];
};

/**
 * The outcome of one group. `isKnown`: whether it is known of every message if it was stored. `stored`: octets.
 * `broken`: the messages at which the connection or the server failed; `brokenBy`: the error.
 */
export type Settled = Left & {
  readonly refused: readonly Refused[];
  /** Rows of `refused` messages, to be written once these have been looked for. */
  readonly unwritten: readonly NewRow[];
  readonly broken: readonly Planned[];
  readonly unsaid: readonly Unsaid[];
  readonly isKnown: boolean;
  readonly stored: number;
  readonly brokenBy?: unknown;
  readonly error?: unknown;
};

function isFull(error: Error): boolean {
  return error instanceof MailError && error.fault === 'full';
}

/** Whether a server asks us to wait with everything, unlike by SERVERBUG or UNAVAILABLE. */
export function asksForPause(error: unknown): boolean {
  return error instanceof MailError && error.fault === 'busy' && !isInTrouble(error);
}

/** The outcome of the messages of a group so far; nothing is committed yet. */
type Gathered = {
  readonly rows: NewRow[];
  readonly checks: Unchecked[];
  readonly unsaid: Unsaid[];
  readonly refused: Refused[];
  readonly refusedTogether: Planned[];
  readonly changed: Planned[];
  readonly broken: Planned[];
  /** Whether it is known for every message if it was stored. */
  isKnown: boolean;
  /** Octets. */
  stored: number;
  brokenBy?: unknown;
  /** The first failure that was not about one message. */
  error?: unknown;
};

/** The destination UIDs that rows have, under one UIDVALIDITY. */
type ClaimedUnder = (uidValidity: bigint) => Promise<Set<number>>;

/** What was done with the messages of a group: those that were `sent`, in this order, with the outcome of each. */
type Passed = {
  readonly sent: readonly Sent[];
  readonly appended: readonly Appended[];
  readonly tooLarge: readonly TooLarge[];
};

/** Commits the outcome of a group. The group stays open as long as the fate of any of its messages is unknown. */
export async function settleGroup(
  group: Group,
  { sent, appended, tooLarge }: Passed,
  way: Way,
  sending: Sending,
): Promise<Settled> {
  const { mailbox, run, selected } = sending;
  const gathered: Gathered = {
    rows: tooLarge.map((message) => refusal(mailbox, message, 'too large')),
    checks: [],
    unsaid: [],
    refused: [],
    refusedTogether: [],
    changed: [],
    broken: [],
    isKnown: true,
    stored: 0,
  };
  const settled = new Set(tooLarge.map((message) => message.uid));
  const claimedUnder = claimsOf(sending);
  const byUid = new Map(group.messages.map((message) => [message.uid, message]));
  const isOneCommand = way.together && sending.session.writer.traits.together && sent.length > 1;
  for (const [index, one] of sent.entries()) {
    const { uid } = one.message;
    settled.add(uid);
    const planned = byUid.get(uid);
    if (planned === undefined) continue;
    const outcome = appended[index] ?? { kind: 'unknown', error: new MailError('lost', 'There was no answer.') };
    switch (outcome.kind) {
      case 'stored':
        await gatherStored(one, planned, outcome, claimedUnder, sending, gathered);
        break;
      case 'refused':
        gatherRefused(
          one,
          planned,
          outcome,
          !way.together || sent.length === 1 || isItsOwn(uid, sending),
          sending,
          gathered,
        );
        break;
      case 'failed':
        if (way.together && group.messages.length > 1 && isFull(outcome.error)) gatherTogether(one, planned, gathered);
        else {
          gathered.error ??= outcome.error;
          // The server may have stored it, or those before it, before it failed.
          if (isOneCommand || mayHaveStored(one, outcome.error)) noteUnknown(planned, outcome.error, gathered);
        }
        break;
      case 'unknown':
        gathered.error ??= outcome.error;
        noteUnknown(planned, outcome.error, gathered);
        break;
    }
  }
  const { rows: all, checks, ...came } = gathered;
  // Messages that the source did not send. After an error it is unknown which are missing.
  const unseen = came.error === undefined ? group.messages.filter((message) => !settled.has(message.uid)) : [];
  const isOver = came.isKnown && came.unsaid.length === 0;
  // A refused message may have been stored, and is looked for after a break as well, as long as it has no row. One that
  // was sent alone gets its row at once: else a run that ends before the search would have sent it in vain.
  const waiting = new Set(way.together ? came.refused.map(({ uid }) => uid) : []);
  const rows = all.filter(({ uid }) => !waiting.has(uid));
  await commitOutcome(rows, isOver ? [group.id] : [], sending, came.unsaid.length);
  if (checks.length > 0) run.check({ mailbox, uidValidity: selected.uidValidity, messages: checks });
  const refused = came.refused.map((one) => ({ ...one, hasRow: one.hasRow && !way.together }));
  return { ...came, refused, unseen, unwritten: all.filter(({ uid }) => waiting.has(uid)) };
}

/**
 * Whether a message was refused in a command of its own, for the second time: among several in one command any may be
 * the cause, and a first refusal may be momentary.
 */
function isItsOwn(uid: number, { mailbox, session, run }: Sending): boolean {
  if (session.writer.traits.together) return false;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  return run.noteFault(refusalName(place, uid)) > 1;
}

/** What a server answers by trouble of its own, or by asking for a pause once it has octets of it, it may have stored. */
function mayHaveStored({ isGiven }: Sent, error: Error): boolean {
  return (error instanceof MailError && isInTrouble(error)) || (asksForPause(error) && isGiven());
}

function noteUnknown(planned: Planned, error: Error, gathered: Gathered): void {
  gathered.isKnown = false;
  if (!isBreak(error) && !isFarewell(error)) return;
  gathered.broken.push(planned);
  gathered.brokenBy ??= error;
}

/** The mailbox may change its UIDVALIDITY while it is selected: the ledger is asked once for each further one. */
function claimsOf({ mailbox, selected, claims, run }: Sending): ClaimedUnder {
  const claimed = new Map([[selected.uidValidity, claims]]);
  return async (uidValidity) => {
    const known =
      claimed.get(uidValidity) ?? new Set(await run.copy.ledger.claimed(mailbox.destinationPath, uidValidity));
    claimed.set(uidValidity, known);
    return known;
  };
}

async function gatherStored(
  { message, flags, date, digest }: Sent,
  planned: Planned,
  outcome: Extract<Appended, { kind: 'stored' }>,
  claimedUnder: ClaimedUnder,
  { mailbox, selected, run }: Sending,
  gathered: Gathered,
): Promise<void> {
  const { sha256, head, mac } = digest();
  gathered.stored += message.size;
  const what = { uid: message.uid, size: message.size, sha256, date: secondsOf(date), ...subjectIn(head) };
  if (outcome.uid === undefined) {
    gathered.unsaid.push({ ...what, ...redatedIn(planned) });
    return;
  }
  const uidValidity = outcome.uidValidity ?? selected.uidValidity;
  const others = await claimedUnder(uidValidity);
  // A UID from before the SELECT is that of the subscriber's own message.
  const wasThere = uidValidity === selected.uidValidity && outcome.uid < (selected.uidNext ?? 0);
  const isTwin = wasThere || others.has(outcome.uid);
  others.add(outcome.uid);
  const ownFate = fateAsSent(planned);
  if (uidValidity !== selected.uidValidity) run.stale.add(mailbox.id);
  gathered.rows.push({
    ...what,
    mailboxId: mailbox.id,
    fate: isTwin ? 'twin' : ownFate,
    destinationUidValidity: uidValidity,
    destinationUid: outcome.uid,
    verified: false,
    // A row without flags is never taken back.
    ...(isTwin ? {} : { flags }),
  });
  if (uidValidity !== selected.uidValidity) return;
  // A twin is read back too: some servers keep only one of all messages with the same Message-ID. Its flags are those
  // of the other one.
  const sent = isTwin ? ({ fate: 'twin' } as const) : ({ fate: ownFate, flags } as const);
  gathered.checks.push({ ...what, ...(mac === undefined ? {} : { mac }), destinationUid: outcome.uid, ...sent });
}

/** A message that is refused for good gets a row; any other is sent again, alone or in another form. */
function gatherRefused(
  { message, flags, date, digest }: Sent,
  planned: Planned,
  outcome: Extract<Appended, { kind: 'refused' }>,
  isAlone: boolean,
  { mailbox, run }: Sending,
  gathered: Gathered,
): void {
  const { size, sha256, head, isEnded } = digest();
  const isWhole = size === message.size;
  // Of several in one command the reason holds for one only, and some servers have stored those before it.
  const isOpen = (outcome.reason === 'not accepted' || !isAlone) && isWhole;
  const isUnended = size > 0 && !isEnded;
  const other = isOpen ? otherThan(planned, { flags, date, isUnended }, outcome, run.copy.clock) : null;
  const hasRow = isAlone && other === null;
  if (hasRow) gathered.rows.push(refusal(mailbox, { ...message, ...subjectIn(head) }, outcome.reason));
  else if (isAlone) gathered.changed.push(other ?? planned);
  else gathered.refusedTogether.push(planned);
  if (isOpen) gathered.refused.push({ ...whatOf(message, date, { size, sha256, head }, planned), hasRow });
}

/**
 * How the server may accept a message that it refused as it was sent: of its end, its flags and its date, whichever may
 * be the cause, and comes first, is changed. An end that was added in vain was not the cause, and is taken off again.
 * @returns `null` when nothing is left to be changed
 */
function otherThan(
  planned: Planned,
  { flags, date, isUnended }: Pick<Sent, 'flags' | 'date'> & { readonly isUnended: boolean },
  outcome: Extract<Appended, { kind: 'refused' }>,
  clock: Clock,
): Planned | null {
  const isMisread = outcome.isMisread === true;
  if (isMisread && isUnended && planned.isEnded !== true) return { ...planned, isEnded: true };
  const { isEnded: _, ...unended } = planned;
  const before = isMisread ? unended : planned;
  const isOfOddOnes = isMisread && flags.some(isOddKeyword);
  if (outcome.isOfFlags === true ? unlabelled(flags).length < flags.length : isOfOddOnes)
    return { ...before, unlabelled: (planned.unlabelled ?? 0) + 1 };
  return planned.isRedated === true ? null : redated(before, date, clock);
}

/** There may be room for some of them, if not for all together, and some servers have stored those. */
function gatherTogether({ message, date, digest }: Sent, planned: Planned, gathered: Gathered): void {
  const passed = digest();
  gathered.refusedTogether.push(planned);
  if (passed.size === message.size) gathered.refused.push({ ...whatOf(message, date, passed, planned), hasRow: false });
}

function whatOf(
  { uid }: Fetched,
  date: Date,
  { size, sha256, head }: Pick<Digest, 'size' | 'sha256' | 'head'>,
  planned: Planned,
): Unsaid {
  return { uid, size, sha256, date: secondsOf(date), ...subjectIn(head), ...redatedIn(planned) };
}

/**
 * A message that is there as it was sent is `kept`, not `stored`, if it was sent with another date than the source's.
 */
export function fateAsSent({ isRedated = false }: Pick<Planned, 'isRedated'>): 'kept' | 'stored' {
  return isRedated ? 'kept' : 'stored';
}

function redatedIn({ isRedated }: Planned): Pick<Planned, 'isRedated'> {
  return isRedated === undefined ? {} : { isRedated };
}

function refusal(mailbox: LedgerMailbox, message: TooLarge, reason: RefusalReason): NewRow {
  const { uid, size, subject } = message;
  const date = secondsOf(message.internalDate);
  const row = { mailboxId: mailbox.id, uid, size, date, fate: 'refused', verified: false, reason } as const;
  return subject === undefined ? row : { ...row, subject };
}

export async function refuse(
  messages: readonly Planned[],
  reason: RefusalReason | 'unreadable',
  sending: Sending,
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map((message): NewRow => ({
    ...message,
    mailboxId: sending.mailbox.id,
    fate: 'refused',
    verified: false,
    reason,
  }));
  await commitOutcome(rows, [], sending);
}

/**
 * Settles messages that never came: deleted at the source meanwhile, or there but unreadable.
 * @throws {MailError} also if the source's UIDVALIDITY has changed: the known UIDs mean nothing any more
 */
export async function settleUnseen(unseen: readonly Planned[], sending: Sending): Promise<void> {
  if (unseen.length === 0) return;
  const { mailbox, session, run } = sending;
  const { exists } = await reopen(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity, run);
  const source = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const uids = unseen.map(({ uid }) => uid);
  const there = await unlessUnreadable(stillThere(source, uids));
  await refuse(
    unseen.filter((message) => there.has(message.uid)),
    'unreadable',
    sending,
  );
  const gone = unseen
    .filter((message) => !there.has(message.uid))
    .map((message): NewRow => ({ ...message, mailboxId: mailbox.id, fate: 'gone', verified: false }));
  if (gone.length === 0) return;
  await commitOutcome(gone, [], sending);
  run.gone.set(mailbox.id, { count: (run.gone.get(mailbox.id)?.count ?? 0) + gone.length, exists });
}

export function subjectIn(head: Buffer): { subject?: string } {
  const subject = subjectOf(head);
  return subject === undefined ? {} : { subject };
}
