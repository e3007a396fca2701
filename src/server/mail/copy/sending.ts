import { MailError } from '../imap/mail-error.ts';
import type { Clock } from '../imap/wire.ts';
import type { Appended, Fetched, NewMessage, Octets, RefusalReason, Selected } from '../imap/streams.ts';
import { digesting, secondsOf, type Digest } from './digest.ts';
import { LeaseLost } from '../../transfers/lease.ts';
import type { Group, LedgerMailbox, NewRow, Planned } from './ledger.ts';
import { Stopped } from './lanes.ts';
import { stillThere } from './matching.ts';
import { sentDateOf, subjectOf } from './message-text.ts';
import type { Run, Session, Unchecked } from './run.ts';

const GROUP_MESSAGES = 100;
const GROUP_OCTETS = 4_000_000;
/** Intents of so many groups are committed together. */
const GROUPS_AHEAD = 8;
/** Groups, or single messages, whose outcome is awaited while the next ones are sent. */
const GROUPS_UNDER_WAY = 3;
/** FETCH commands that are sent before the one in front is read. */
const FETCHES_AHEAD = 2;
/** With no UIDs said, so many messages are sent before they are looked for. */
const UNSAID_AT_MOST = 1000;
/**
 * What this worker stored after its lease may have been lost is asked about, and taken back, again after these; then the
 * operator is told. In milliseconds.
 */
const AGAIN_AFTER_MS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000];
/** For messages that have no date at all; the first second is refused by some servers. */
const NO_DATE = new Date(86_400_000);

/** A message that was stored without its UID being said. */
export type Unsaid = Planned & { readonly sha256: string; readonly subject?: string };

export type Sending = {
  readonly mailbox: LedgerMailbox;
  readonly selected: Selected;
  readonly session: Session;
  readonly run: Run;
  readonly goesOn: () => boolean;
  /** Destination UIDs that rows have, by the UIDVALIDITY of `selected`. */
  readonly claims: Set<number>;
  /** Finds what was stored without its UID, and settles it. */
  readonly resolve: (unsaid: readonly Unsaid[], groups: readonly number[]) => Promise<void>;
};

/** One message on its way: what the source said of it, and its digest once it has passed. */
type Sent = { readonly message: Fetched; readonly flags: readonly string[]; readonly date: Date; digest: () => Digest };

/**
 * Copies messages that have no row, in this order, a group at a time: intents, octets, outcomes. Groups are under way
 * together; each outcome is committed as it comes. What throws leaves open groups, which the next run settles.
 * @throws {MailError} `full`, `busy`, `lost`, `refused` with TRYCREATE; {@link LeaseLost}; {@link Stopped}
 */
export async function sendMessages(messages: readonly Planned[], sending: Sending): Promise<void> {
  const first = await sendGroups(groupsOf(messages), sending, true);
  // Of a group that was refused as a whole one message is the culprit: each is sent by itself.
  const second = await sendGroups(groupsOf(first.refusedTogether), sending, false);
  // Yahoo leaves a body out now and then: each is asked for once more, alone.
  const unseen = [...first.unseen, ...second.unseen];
  const third = await sendGroups(
    unseen.map((message) => [message]),
    sending,
    false,
  );
  await settleUnseen(third.unseen, sending);
}

function appendLimitOf({ selected, session }: Sending): number {
  return Math.min(selected.appendLimit ?? Infinity, session.writer.traits.appendLimit ?? Infinity);
}

/** At most 100 messages or 4 MB; a large message is a group by itself. */
function groupsOf(messages: readonly Planned[]): Planned[][] {
  const groups: Planned[][] = [];
  let octets = 0;
  for (const message of messages) {
    const last = groups.at(-1);
    if (last !== undefined && last.length < GROUP_MESSAGES && octets + message.size <= GROUP_OCTETS) {
      last.push(message);
      octets += message.size;
    } else {
      groups.push([message]);
      octets = message.size;
    }
  }
  return groups;
}

type Left = { readonly refusedTogether: readonly Planned[]; readonly unseen: readonly Planned[] };

async function sendGroups(plan: readonly Planned[][], sending: Sending, together: boolean): Promise<Left> {
  const { mailbox, selected, session, run, goesOn, resolve } = sending;
  const { ledger, lease, onStep, signal } = run.copy;
  const path = mailbox.sourcePath;
  const limit = appendLimitOf(sending);
  const [refusedTogether, unseen]: [Planned[], Planned[]] = [[], []];
  const [unsaid, unsaidGroups]: [Unsaid[], number[]] = [[], []];
  let failure: { readonly error: unknown } | undefined;
  const underWay = new Set<Promise<void>>();
  const opened: Group[] = [];
  const fetching: { readonly group: Group; readonly messages: AsyncIterable<Fetched> }[] = [];
  let planned = 0;

  const prefetch = async (): Promise<void> => {
    while (fetching.length < FETCHES_AHEAD) {
      if (opened.length === 0) {
        const part = plan.slice(planned, planned + GROUPS_AHEAD);
        if (part.length === 0) return;
        planned += part.length;
        const facts = { mailboxId: mailbox.id, uidValidity: selected.uidValidity, uidNext: selected.uidNext ?? 1 };
        opened.push(...(await ledger.open(part.map((each) => ({ ...facts, messages: each })))));
        await onStep('intent committed', path);
      }
      const group = opened.shift();
      if (group === undefined) return;
      const uids = group.messages.map((message) => message.uid);
      fetching.push({ group, messages: session.reader.fetch(path, uids) });
    }
  };
  const flush = async () => {
    await Promise.all(underWay);
    const stored = unsaid.splice(0);
    try {
      if (failure !== undefined) throw failure.error;
      if (stored.length > 0) await resolve(stored, unsaidGroups.splice(0));
    } catch (error) {
      if (!lease.mayWrite()) leaveBehind(stored, sending);
      throw error;
    }
  };

  await prefetch();
  for (let next = fetching.shift(); next !== undefined; next = fetching.shift()) {
    const { group, messages } = next;
    if (signal.aborted || !goesOn()) failure ??= { error: new Stopped('The copy was asked to stop.') };
    if (failure !== undefined) break;
    await prefetch();
    try {
      await run.room();
      // What a listing says to be larger is not appended, or is smaller than it says: only the true size tells.
      await run.budget.take(group.messages.reduce((octets, message) => octets + Math.min(message.size, limit), 0));
    } catch (error) {
      failure = { error };
      break;
    }
    const sent: Sent[] = [];
    const tooLarge: Fetched[] = [];
    const appending = session.writer.append(
      mailbox.destinationPath,
      newMessages(messages, group, sending, sent, tooLarge),
      { together: together && group.messages.length > 1 },
    );
    const outcome = (async () => {
      const appended = await appending.outcome;
      await onStep('appended', path);
      const settled = await settleGroup(group, sent, tooLarge, appended, together, sending);
      refusedTogether.push(...settled.refusedTogether);
      unseen.push(...settled.unseen);
      unsaid.push(...settled.unsaid);
      if (settled.unsaid.length > 0) unsaidGroups.push(group.id);
      if (settled.error !== undefined) failure ??= { error: settled.error };
    })().catch((error: unknown) => {
      failure ??= { error };
    });
    const guarded = outcome.finally(() => underWay.delete(guarded));
    underWay.add(guarded);
    try {
      await appending.sent;
      await onStep('octets sent', path);
    } catch (error) {
      failure ??= { error };
    }
    while (underWay.size >= GROUPS_UNDER_WAY) await Promise.race(underWay);
    if (unsaid.length >= UNSAID_AT_MOST) await flush();
  }
  try {
    await flush();
  } catch (error) {
    // What was asked for and is not read would stand in the way of the next answer.
    for (const { messages } of fetching) await messages[Symbol.asyncIterator]().return?.();
    throw error;
  }
  return { refusedTogether, unseen };
}

async function* newMessages(
  fetched: AsyncIterable<Fetched>,
  group: Group,
  sending: Sending,
  sent: Sent[],
  tooLarge: Fetched[],
): AsyncIterable<NewMessage> {
  const limit = appendLimitOf(sending);
  const wanted = new Set(group.messages.map((message) => message.uid));
  for await (const message of fetched) {
    if (!wanted.delete(message.uid)) continue;
    if (message.size > limit) {
      tooLarge.push(message);
      continue;
    }
    const dated = await withDate(message);
    const { octets, digest } = digesting(dated.octets);
    const flags = sending.selected.keeps(message.flags);
    sent.push({ message, flags, date: dated.date, digest });
    yield { size: message.size, flags, internalDate: dated.date, octets };
  }
}

/** A server that gives no internal date leaves the one that the sender wrote. */
async function withDate({ internalDate, octets }: Fetched): Promise<{ readonly date: Date; readonly octets: Octets }> {
  if (!Number.isNaN(internalDate.getTime())) return { date: internalDate, octets };
  const iterator = octets[Symbol.asyncIterator]();
  const first = await iterator.next();
  const head = first.done === true ? Buffer.alloc(0) : Buffer.from(first.value);
  async function* all() {
    yield head;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
  }
  return { date: sentDateOf(head) ?? NO_DATE, octets: all() };
}

type Settled = Left & { readonly unsaid: readonly Unsaid[]; readonly error?: unknown };

function isFull(error: Error): boolean {
  return error instanceof MailError && error.fault === 'full';
}

/** Commits what came of a group. It stays open as long as something of it is not known. */
async function settleGroup(
  group: Group,
  sent: readonly Sent[],
  tooLarge: readonly Fetched[],
  appended: readonly Appended[],
  together: boolean,
  sending: Sending,
): Promise<Settled> {
  const { mailbox, run, claims, selected } = sending;
  const rows: NewRow[] = tooLarge.map((message) => refusal(mailbox, message, 'too large'));
  const [unsaid, refusedTogether]: [Unsaid[], Planned[]] = [[], []];
  const checks: Unchecked[] = [];
  let error: unknown;
  let isKnown = true;
  const settled = new Set(tooLarge.map((message) => message.uid));
  // The mailbox may get another UIDVALIDITY while it is selected.
  const claimed = new Map([[selected.uidValidity, claims]]);
  const claimedUnder = async (uidValidity: bigint) => {
    const known =
      claimed.get(uidValidity) ?? new Set(await run.copy.ledger.claimed(mailbox.destinationPath, uidValidity));
    claimed.set(uidValidity, known);
    return known;
  };
  const byUid = new Map(group.messages.map((message) => [message.uid, message]));
  for (const [index, one] of sent.entries()) {
    const { message, flags, date } = one;
    const planned = byUid.get(message.uid);
    const outcome = appended[index] ?? { kind: 'unknown', error: new MailError('lost', 'There was no answer.') };
    settled.add(message.uid);
    if (planned === undefined) continue;
    switch (outcome.kind) {
      case 'stored': {
        const { sha256, head } = one.digest();
        const what = { uid: message.uid, size: message.size, sha256, date: secondsOf(date), ...subjectIn(head) };
        if (outcome.uid === undefined) {
          unsaid.push(what);
          break;
        }
        const uidValidity = outcome.uidValidity ?? selected.uidValidity;
        const others = await claimedUnder(uidValidity);
        const isTwin = others.has(outcome.uid);
        others.add(outcome.uid);
        if (uidValidity !== selected.uidValidity) run.stale.add(mailbox.id);
        rows.push({
          ...what,
          mailboxId: mailbox.id,
          fate: isTwin ? 'twin' : 'stored',
          destinationUidValidity: uidValidity,
          destinationUid: outcome.uid,
          verified: isTwin,
          flags,
        });
        if (!isTwin && uidValidity === selected.uidValidity)
          checks.push({ ...what, destinationUid: outcome.uid, fate: 'stored', flags });
        break;
      }
      case 'refused':
        if (together && group.messages.length > 1) refusedTogether.push(planned);
        else rows.push({ ...refusal(mailbox, message, outcome.reason), ...subjectIn(one.digest().head) });
        break;
      case 'failed':
        // There may be room for some of what there was none for together.
        if (together && group.messages.length > 1 && isFull(outcome.error)) refusedTogether.push(planned);
        else error ??= outcome.error;
        break;
      case 'unknown':
        error ??= outcome.error;
        isKnown = false;
        break;
    }
  }
  // Messages that the source never sent; what broke off in between is not known to be missing.
  const unseen = error === undefined ? group.messages.filter((message) => !settled.has(message.uid)) : [];
  await commit(rows, isKnown && unsaid.length === 0 ? [group.id] : [], sending, unsaid);
  if (checks.length > 0) run.check({ mailbox, uidValidity: selected.uidValidity, messages: checks });
  return { refusedTogether, unseen, unsaid, ...(error === undefined ? {} : { error }) };
}

/** What another worker has to do by now is not ours: what was stored is taken back, unless that one has claimed it. */
async function commit(
  rows: readonly NewRow[],
  closed: readonly number[],
  sending: Sending,
  unsaid: readonly Unsaid[] = [],
): Promise<void> {
  const { mailbox, run } = sending;
  const { ledger, onStep, lease, clock } = run.copy;
  await again(clock, async (isLast) => {
    try {
      await ledger.settle(rows, closed);
      return true;
    } catch (error) {
      const isLost = error instanceof LeaseLost;
      // With the database gone nobody knows whether another worker has finished meanwhile.
      if (!isLost && !isLast && !lease.mayWrite() && rows.some(isAppended)) return false;
      if (isLost || !lease.mayWrite()) leaveBehind(unsaid, sending);
      if (isLost) await takeBack(rows, sending);
      throw error;
    }
  });
  run.settled(mailbox.sourcePath, rows);
  await onStep('outcome committed', mailbox.sourcePath);
}

/** Another worker may have taken over before these were stored, and has stored them as well; their UIDs were not said. */
function leaveBehind(unsaid: readonly Unsaid[], { mailbox, run }: Sending): void {
  for (const _ of unsaid) run.copy.onOrphan(mailbox.destinationPath, null);
}

function isAppended({ destinationUid }: NewRow): boolean {
  return destinationUid !== undefined;
}

/** Tries something until it is done, after longer and longer pauses, and a last time. */
async function again(clock: Clock, attempt: (isLast: boolean) => Promise<boolean>): Promise<void> {
  for (const wait of AGAIN_AFTER_MS) {
    if (await attempt(false)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.after(wait, resolve);
    await promise;
  }
  await attempt(true);
}

/** Over a connection of its own: the one that stored them may not write any more. */
async function takeBack(rows: readonly NewRow[], { mailbox, run, session }: Sending): Promise<void> {
  const { ledger, destination, onOrphan, clock } = run.copy;
  const path = mailbox.destinationPath;
  const disowned: { uid: number; uidValidity: bigint }[] = [];
  for (const { destinationUid: uid, destinationUidValidity: uidValidity } of rows)
    if (uid !== undefined && uidValidity !== undefined && (await ledger.disown(path, uidValidity, uid)))
      disowned.push({ uid, uidValidity });
  if (disowned.length === 0) return;
  await session.writer[Symbol.asyncDispose]();
  const left = new Set(disowned);
  await again(clock, async () => {
    try {
      await using writer = await destination.writer({ evenStopped: true });
      const selected = await writer.select(path);
      for (const each of left)
        if (each.uidValidity === selected.uidValidity) {
          await writer.expunge(path, [each.uid]);
          left.delete(each);
        }
      return true;
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      return !error.passing;
    }
  });
  for (const { uid } of left) onOrphan(path, uid);
}

function refusal(mailbox: LedgerMailbox, message: Fetched, reason: RefusalReason | 'unreadable'): NewRow {
  const { uid, size } = message;
  const date = secondsOf(message.internalDate);
  return { mailboxId: mailbox.id, uid, size, date, fate: 'refused', verified: false, reason };
}

async function refuse(
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
  await commit(rows, [], sending);
}

/** Those that never came: deleted at the source meanwhile, or there but unreadable. */
async function settleUnseen(unseen: readonly Planned[], sending: Sending): Promise<void> {
  if (unseen.length === 0) return;
  const { mailbox, session } = sending;
  await session.reader.open(mailbox.sourcePath);
  const source = { reader: session.reader, path: mailbox.sourcePath };
  const there = await stillThere(
    source,
    unseen.map(({ uid }) => uid),
  );
  await refuse(
    unseen.filter((message) => there.has(message.uid)),
    'unreadable',
    sending,
  );
  const gone = unseen
    .filter((message) => !there.has(message.uid))
    .map((message): NewRow => ({ ...message, mailboxId: mailbox.id, fate: 'gone', verified: false }));
  if (gone.length > 0) await commit(gone, [], sending);
}

function subjectIn(head: Buffer): { subject?: string } {
  const subject = subjectOf(head);
  return subject === undefined ? {} : { subject };
}
