import { Stopped } from '../../../stopped.ts';
import { MailError } from '../../imap/mail-error.ts';
import type { Fetched } from '../../imap/streams.ts';
import type { Group, NewRow, Planned } from '../ledger/ledger.ts';
import { ProviderLimit } from '../run/budget.ts';
import { type Otherwise, saidKey, type Session } from '../run/run.ts';
import type { Sizes } from '../run/sizes.ts';
import {
  appendName,
  messageName,
  messagesOf,
  noteBreakOff,
  notePassed,
  refusalName,
  sourcePlace,
} from '../troubles/breaks.ts';
import { MESSAGES } from '../troubles/troubles.ts';
import { commitOutcome, leaveBehind } from './committing.ts';
import { openFetches, type Fetches } from './fetches.ts';
import { openIntents } from './intents.ts';
import { newMessages } from './new-messages.ts';
import { type Refused, settleRefused } from './refused.ts';
import {
  asksForPause,
  type Left,
  type Sending,
  type Sent,
  type Settled,
  settleGroup,
  settleUnseen,
  type TooLarge,
  type Unsaid,
  type Way,
} from './settling.ts';

/** At most this many groups await their outcome while the next one is sent. */
const GROUPS_UNDER_WAY = 3;
const TOGETHER: Way = { together: true };
const ALONE: Way = { together: false };

/** Requests the first of the messages that {@link sendMessages} is to send, in this order. */
export function askForFirst(messages: readonly Planned[], session: Session, path: string, sizes: Sizes): Fetches {
  const [first = []] = partsOf(messages, session, sizes);
  return openFetches(groupsOf(first, sizes), session.reader, path, sizes);
}

/**
 * Splits messages into parts. After a part, unreported UIDs are looked for; an unread answer to the next part's FETCH
 * would be in the way.
 */
function* partsOf(messages: readonly Planned[], { writer }: Session, { sent }: Sizes): Generator<readonly Planned[]> {
  const most = writer.traits.saysUids ? sent.said : sent.unsaid;
  for (let from = 0; from < messages.length; from += most) yield messages.slice(from, from + most);
}

/**
 * Copies messages without a row, in groups: commits intents, sends octets, commits outcomes. Several groups are under
 * way at once. An error leaves groups open, which the next run settles.
 * @param begun what {@link askForFirst} asked for of these messages
 * @throws {MailError} `full`, `busy`, `lost`, `refused` with TRYCREATE; `LeaseLost`; {@link Stopped}
 */
export async function sendMessages(messages: readonly Planned[], sending: Sending, begun?: Fetches): Promise<void> {
  const { session, mailbox, run } = sending;
  const { sizes } = run.copy;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const rows: NewRow[] = [];
  const others: Planned[] = [];
  for (const message of messages) {
    const known = run.otherwise.get(messageName(place, message.uid));
    if (known === undefined) others.push(message);
    else if ('row' in known) rows.push(known.row);
    else others.push(known.as);
  }
  await commitRefused(rows, sending);
  for (const [index, part] of [...partsOf(others, session, sizes)].entries()) {
    const first = index === 0 ? begun : undefined;
    const groups = groupsOf(part, sizes, apartIn(sending));
    await sendPart(first ?? openFetches(groups, session.reader, mailbox.sourcePath, sizes), sending);
  }
}

/** Commits the rows of refused messages that have been looked for at the destination since. */
async function commitRefused(rows: readonly NewRow[], sending: Sending): Promise<void> {
  if (rows.length === 0) return;
  await commitOutcome(rows, [], sending);
  forget(rows, sending);
  sending.run.looked();
}

/** Forgets how messages were to be sent, as their outcome is known. */
function forget(messages: readonly Pick<Planned, 'uid'>[], { mailbox, session, run }: Sending): void {
  if (run.otherwise.size === 0) return;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  for (const { uid } of messages) run.otherwise.delete(messageName(place, uid));
}

async function sendPart(fetches: Fetches, sending: Sending): Promise<void> {
  const { sizes } = sending.run.copy;
  const ask = (groups: readonly Planned[][], alone: boolean) =>
    openFetches(groups, sending.session.reader, sending.mailbox.sourcePath, { ...sizes, alone });
  const first = await sendGroups(fetches, sending, TOGETHER);
  // When a group is refused as a whole, one message is the culprit: each is sent by itself.
  const second = await sendGroups(ask(groupsOf(first.refusedTogether, sizes), false), sending, ALONE);
  // Messages that came out of turn are fetched again, by one FETCH a group; those still left out (Yahoo), singly.
  const late = groupsOf([...first.unseen, ...second.unseen], sizes, apartIn(sending));
  const again = await sendGroups(ask(late, true), sending, TOGETHER);
  const single = singly([...again.unseen, ...again.refusedTogether]);
  const third = await sendGroups(ask(single, true), sending, ALONE);
  const unseen = [...third.unseen];
  // A message may need more than one change.
  let changed = [first, second, again, third].flatMap((each) => each.changed);
  while (changed.length > 0) {
    const left = await sendGroups(ask(singly(changed), true), sending, ALONE);
    unseen.push(...left.unseen);
    changed = [...left.changed];
  }
  await settleUnseen(unseen, sending);
}

function singly(messages: readonly Planned[]): Planned[][] {
  return messages.map((message) => [message]);
}

async function sendGroups(fetches: Fetches, sending: Sending, way: Way): Promise<Left> {
  try {
    return await sendAll(fetches, sending, way);
  } catch (error) {
    await fetches.letGo();
    throw error;
  }
}

function appendLimitOf({ selected, session }: Sending): number {
  return Math.min(selected.appendLimit ?? Infinity, session.writer.traits.appendLimit ?? Infinity);
}

/** @param isApart whether a message goes by itself */
function groupsOf(
  messages: readonly Planned[],
  { group: most }: Sizes,
  isApart: (message: Planned) => boolean = () => false,
): Planned[][] {
  const groups: Planned[][] = [];
  let octets = Infinity;
  for (const message of messages) {
    const last = groups.at(-1);
    if (isApart(message)) {
      groups.push([message]);
      octets = Infinity;
    } else if (last !== undefined && last.length < most.messages && octets + message.size <= most.octets) {
      last.push(message);
      octets += message.size;
    } else {
      groups.push([message]);
      octets = message.size;
    }
  }
  return groups;
}

/**
 * After the destination has failed at several messages in one command, each goes alone, so that the next failure tells
 * which one it is. So does each of those that it refused together.
 */
function apartIn({ mailbox, session, run }: Sending): (message: Planned) => boolean {
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const isRefused = (uid: number) => session.writer.traits.together && run.faults(refusalName(place, uid)) > 0;
  return ({ uid }) => run.faults(appendName(place, uid)) > 0 || isRefused(uid);
}

/** One {@link sendAll}, and the outcome of its groups so far. */
type Batch = {
  readonly sending: Sending;
  readonly way: Way;
  /** The largest message that the destination accepts, in octets. */
  readonly limit: number;
  /** Groups whose outcome is awaited. */
  readonly underWay: Set<Promise<void>>;
  readonly left: {
    readonly refusedTogether: Planned[];
    readonly changed: Planned[];
    readonly unseen: Planned[];
  };
  readonly refused: Refused[];
  readonly unwritten: NewRow[];
  readonly unsaid: Unsaid[];
  /** Groups of which nothing but UIDs is unknown. */
  readonly unsaidGroups: number[];
  /** By group ID: the messages at which the destination failed, and the error. */
  readonly broken: Map<number, Pick<Settled, 'broken' | 'brokenBy'>>;
  /** The ID of the first group at which the destination asked for a pause. */
  paused: number;
  /** Reading from the source has failed, and with it the appends under way. */
  hasSourceFailed: boolean;
  /** The first failure; after it nothing more is begun. */
  failure?: { readonly error: unknown };
};

async function sendAll(fetches: Fetches, sending: Sending, way: Way): Promise<Left> {
  const { run, goesOn } = sending;
  const batch: Batch = {
    sending,
    way,
    limit: appendLimitOf(sending),
    underWay: new Set(),
    left: { refusedTogether: [], changed: [], unseen: [] },
    refused: [],
    unwritten: [],
    unsaid: [],
    unsaidGroups: [],
    broken: new Map(),
    paused: Infinity,
    hasSourceFailed: false,
  };
  const { limit, underWay } = batch;
  const intents = openIntents(fetches.groups, sending);
  for (const index of fetches.groups.keys()) {
    try {
      const group = await intents.take(index);
      if (run.copy.signal.aborted || !goesOn()) throw new Stopped('The copy was asked to stop.');
      intents.openAhead(index);
      await run.room();
      // A message that is listed as larger than the limit either is not appended, or is really smaller: so at most the
      // limit is taken from the budget.
      const octets = group.messages.reduce((sum, message) => sum + Math.min(message.size, limit), 0);
      await takeBudget(octets, batch);
      await sendGroup(group, octets, fetches.next(), batch);
    } catch (error) {
      batch.failure ??= { error };
    }
    if (batch.failure !== undefined) break;
    while (underWay.size >= GROUPS_UNDER_WAY) await Promise.race(underWay);
  }
  await Promise.all([intents.ended(), ...underWay]);
  noteBroken(batch);
  await settleUnsaidOf(batch, fetches);
  const { left, refused } = batch;
  if (refused.length === 0) return left;
  const there = await settleRefused(refused, sending);
  const isLeft = ({ uid }: Pick<Planned, 'uid'>) => !there.has(uid);
  forget(
    refused.filter(({ uid }) => there.has(uid)),
    sending,
  );
  await commitRefused(batch.unwritten.filter(isLeft), sending);
  return {
    refusedTogether: left.refusedTogether.filter(isLeft),
    changed: left.changed.filter(isLeft),
    unseen: left.unseen,
  };
}

/**
 * Waits for what is under way, which may give back what it did not need.
 * @throws {ProviderLimit} if that is not enough
 */
async function takeBudget(octets: number, batch: Batch): Promise<void> {
  const { sending, underWay } = batch;
  for (;;)
    try {
      return await sending.run.budget.take(octets);
    } catch (error) {
      if (!(error instanceof ProviderLimit) || underWay.size === 0) throw error;
      await Promise.race(underWay);
      if (batch.failure !== undefined) throw error;
    }
}

/** Sends a group; resolves when its octets are sent. The outcome is then awaited in `underWay`. */
async function sendGroup(group: Group, octets: number, messages: AsyncIterable<Fetched>, batch: Batch): Promise<void> {
  const { sending, way, limit, underWay } = batch;
  const { mailbox, session, run } = sending;
  const { onStep } = run.copy;
  const sent: Sent[] = [];
  const tooLarge: TooLarge[] = [];
  const appending = session.writer.append(
    mailbox.destinationPath,
    newMessages(messages, group, sending, {
      limit,
      sent,
      tooLarge,
      onBroken: () => {
        batch.hasSourceFailed = true;
      },
    }),
    { together: way.together && group.messages.length > 1 },
  );
  const outcome = (async () => {
    const appended = await appending.outcome.catch((error: unknown) => {
      run.budget.correct(-octets);
      throw error;
    });
    await onStep('appended', mailbox.sourcePath);
    const settled = await settleGroup(group, { sent, tooLarge, appended }, way, sending);
    run.budget.correct(settled.stored - octets);
    noteSettled(settled, group, batch);
  })().catch((error: unknown) => {
    batch.failure ??= { error };
  });
  const guarded = outcome.finally(() => underWay.delete(guarded));
  underWay.add(guarded);
  await appending.sent;
  await onStep('octets sent', mailbox.sourcePath);
}

function noteSettled(settled: Settled, group: Group, batch: Batch): void {
  const { sending, left } = batch;
  const { mailbox, selected, session, run } = sending;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  if (settled.isKnown) forget(group.messages, sending);
  // Kept for the run: the connection may end before their turn, and this need not be found out again.
  const note = (uid: number, known: Otherwise) => run.otherwise.set(messageName(place, uid), known);
  for (const as of settled.changed) note(as.uid, { as });
  for (const row of settled.unwritten) note(row.uid, { row });
  if (session.writer.traits.together)
    for (const { uid } of settled.refusedTogether) run.noteFault(refusalName(place, uid));
  left.refusedTogether.push(...settled.refusedTogether);
  left.changed.push(...settled.changed);
  left.unseen.push(...settled.unseen);
  batch.refused.push(...settled.refused);
  batch.unwritten.push(...settled.unwritten);
  if (settled.broken.length > 0) batch.broken.set(group.id, settled);
  if (asksForPause(settled.error)) batch.paused = Math.min(batch.paused, group.id);
  if (settled.stored > 0) notePassed('appends', run);
  batch.unsaid.push(...settled.unsaid);
  for (const one of settled.unsaid)
    run.said.set(saidKey(mailbox, one.uid), { ...one, uidValidity: selected.uidValidity });
  if (settled.unsaid.length > 0 && settled.isKnown) batch.unsaidGroups.push(group.id);
  if (settled.error !== undefined) batch.failure ??= { error: settled.error };
}

/**
 * Notes at which message the destination failed: the first one without an answer, as it answers in order; of several in
 * one command it may be any.
 */
function noteBroken({ sending, way, broken, paused, hasSourceFailed }: Batch): void {
  const { mailbox, session, run } = sending;
  const { signal, lease } = run.copy;
  if (broken.size === 0 || hasSourceFailed || signal.aborted || !lease.mayWrite()) return;
  // If it fails at so many messages, they are not the cause.
  if (run.faults(messagesOf(mailbox.destinationPath)) >= MESSAGES) return;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const first = Math.min(...broken.keys());
  // It has asked for a pause before: later failures are for the same reason, and at no message.
  if (paused <= first) return;
  const { broken: all = [], brokenBy } = broken.get(first) ?? {};
  const isOneCommand = way.together && session.writer.traits.together;
  const names = (isOneCommand ? all : all.slice(0, 1)).map(({ uid }) => appendName(place, uid));
  noteBreakOff(brokenBy, names, { passing: 'appends', path: mailbox.destinationPath, isAskedAgain: true }, run);
}

/** Looks for messages stored without a reported UID. @throws an earlier failure, after that */
async function settleUnsaidOf({ sending, unsaid, unsaidGroups, failure }: Batch, fetches: Fetches): Promise<void> {
  try {
    // Nobody will read the answers to the other FETCH commands.
    if (failure !== undefined) await fetches.letGo();
    // What a busy server has stored must not be stored again, so it is looked for at once; if it asks for a pause, that
    // comes first.
    if (unsaid.length > 0 && (failure === undefined || isBusyNow(failure.error)))
      await sending.resolve(unsaid, unsaidGroups).catch((error: unknown) => {
        throw failure === undefined ? error : failure.error;
      });
    if (failure !== undefined) throw failure.error;
  } catch (error) {
    if (!sending.run.copy.lease.mayWrite()) leaveBehind({ uids: [], unsaid: unsaid.length }, sending);
    throw error;
  }
}

function isBusyNow(error: unknown): boolean {
  return error instanceof MailError && error.fault === 'busy' && error.pause === undefined;
}
