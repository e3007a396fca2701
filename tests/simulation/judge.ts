import type { Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { storedPath } from '../../src/server/mail/copy/ledger/rows.ts';
import { digestOf, type Deed, messageIdOf, type SimulatedAccount, type StoredMail } from './account.ts';
import { EARLIEST_LETTER, LATEST_LETTER } from './letters.ts';
import type { Poison, Scenario, Side } from './scenario.ts';

/** How one order ended, as the subscriber is told. */
export type Receipt = {
  readonly status: 'completed' | 'review' | 'authentication_error';
  readonly failure?: string;
  readonly lost: number;
  readonly duplicated: number;
  readonly changed: number;
  readonly kept: number;
  readonly unlisted: number;
  readonly mailboxesLeft: number;
};

/** What is told of single messages: the ledger's rows, by the UIDVALIDITY of their source mailbox. */
export type Told = readonly {
  readonly sourcePath: string;
  readonly uidValidity: number;
  readonly destinationPath: string;
  readonly rows: readonly Row[];
  /** How many messages it has, as its line in the status says. */
  readonly total?: number;
}[];

export type Evidence = {
  readonly scenario: Scenario;
  readonly source: SimulatedAccount;
  readonly destination: SimulatedAccount;
  readonly receipt: Receipt;
  /** When the receipt was given; workers that had stood still may take back what they stored after that. */
  readonly ended: number;
  readonly told: Told;
  /** Mailboxes that the subscriber is told were left out, or are not complete. */
  readonly noted: readonly string[];
  /** Messages that workers told the operator of, as they could neither claim them nor take them back. */
  readonly orphans: number;
  /** Workers that were killed before they could take anything back, and when they had thawed. */
  readonly cutShort: ReadonlyMap<string, number>;
};

/** Trouble that passes is no reason to leave anything. */
const PASSING: { readonly until?: number } = { until: 0 };
const STORED = new Set(['stored', 'kept', 'changed']);
/** Said to be stored. */
const IS_MADE: ReadonlySet<Deed['kind']> = new Set(['stored', 'dropped']);
/** Told not to be there. */
const MISSING: ReadonlySet<string> = new Set(['taken', 'lost', 'twin']);
const SUBSCRIBER = new Set(['before', 'subscriber']);
/** Deeds after which what had not been read back in a mailbox of the destination may be lost. */
const UNSURE_AFTER = new Set<Scenario['deeds'][number]['does']>([
  'deletes a mailbox',
  'makes a mailbox anew',
  'renumbers a mailbox',
]);
const isWorker = (by: string) => !SUBSCRIBER.has(by) && by !== 'server';

/** `stand`: how many that the destination had before may stand for one of the source. */
type Count = {
  need: number;
  most: number;
  have: number;
  stand: number;
  skipped: number;
  folders: Set<string>;
  subject: string;
};

/**
 * Holds what the engine says against what the two servers have and remember. Knows nothing of the ledger but what the
 * subscriber is told of it. @returns what is wrong, in words
 */
export function judge(evidence: Evidence): string[] {
  const { scenario, source, destination, receipt, told } = evidence;
  const wrong: string[] = [];
  const counts = countAll(evidence);
  const refusals = new Map<string, Set<string>>();
  for (const deed of destination.history)
    if (deed.kind === 'refused')
      refusals.set(deed.digest, (refusals.get(deed.digest) ?? new Set()).add(deed.reason ?? ''));
  countSkipped(told, source, destination, counts, wrong);

  let lost = 0;
  let notKept = 0;
  let duplicated = 0;
  // Where UIDs are not said, or a mailbox lets nobody in, nothing but the operator's log can tell what a worker stored
  // after its lease was lost.
  const { closing } = destination.quirks;
  let orphans = (saysUids(destination) && closing === null ? 0 : evidence.orphans) + storedUnheard(evidence);
  let tolerated = 0;
  const doubled = timesOf(allIn(destination).flatMap(({ by, digest }) => (by === 'server' ? [digest] : [])));
  const missing = timesOf(
    told.flatMap(({ rows }) => rows.flatMap(({ fate, sha256 = '' }) => (MISSING.has(fate) ? [sha256] : []))),
  );
  const dropped = new Set(destination.history.flatMap(({ kind, digest }) => (kind === 'dropped' ? [digest] : [])));
  const deleted = new Set(source.history.flatMap(({ kind, digest }) => (kind === 'expunged' ? [digest] : [])));
  const isPartial = receipt.mailboxesLeft + receipt.unlisted > 0;
  for (const [digest, count] of counts) {
    // One that the server keeps once more may stand for an equal one.
    const twice = doubled.get(digest) ?? 0;
    const surely = Math.max(0, Math.min(twice, count.have + twice - count.most));
    duplicated += surely;
    const once = keepsTwinsOnce(destination) ? Math.min(count.need, count.folders.size) : count.need;
    if (destination.quirks.keepsOneOfAnId && count.have < count.most) notKept += count.most - once;
    // One that was there may also be told as lost: a server that keeps equal messages once does not always show it.
    lost += Math.max(0, once - count.have - count.skipped);
    // What is said to be stored, and never shown, can't be told from what the subscriber has removed.
    const untold = once - count.have - count.skipped - count.stand - (missing.get(digest) ?? 0);
    if (dropped.has(digest) && untold > 0 && receipt.failure === undefined && !isPartial)
      wrong.push(`of ${once} times ${count.subject} (${digest.slice(0, 8)}) ${untold} are missing and not told`);
    if (count.have + count.skipped + count.stand < once && receipt.status === 'completed' && !dropped.has(digest))
      wrong.push(`completed, but ${count.subject} (${digest.slice(0, 8)}) is there ${count.have} times of ${once}`);
    const left = Math.max(0, Math.min(orphans, count.have - count.most));
    orphans -= left;
    // An equal one that the source has deleted since may have been copied as well.
    tolerated += Math.max(left, deleted.has(digest) ? count.have - count.need : 0) + twice - surely;
    if (count.have - left > count.most) {
      duplicated += count.have - left - count.most;
      wrong.push(`${count.subject} (${digest.slice(0, 8)}) was stored ${count.have} times of ${count.most}`);
    }
  }
  untouched(destination, wrong);
  for (const note of falselyNoted(evidence)) wrong.push(`falsely told: ${note}`);
  // A mailbox is told of once, however many UIDVALIDITYs it has had.
  const leftOut = new Set(evidence.noted.filter((note) => !note.endsWith('mailbox not complete'))).size;
  if (receipt.failure === undefined && receipt.mailboxesLeft !== leftOut)
    wrong.push(`${receipt.mailboxesLeft} mailboxes are left, and of ${leftOut} it is told`);
  // One that is kept of several may be told as what another one was changed into (README, seed 2000048).
  if (!keepsTwinsOnce(destination)) toldOnce(told, destination, wrong);
  // A run that broke off between two writes, of a folder that has another name since, is listed as known (seed 18241).
  const hasBroken = scenario.stops.length + scenario.database.length > 0;
  const isRenamed = scenario.deeds.some(({ side, does }) => side === 'source' && does.startsWith('renames'));
  if (!(hasBroken && isRenamed)) countedAsTold(told, wrong);
  readAsTold(told, destination, wrong);
  isAsTold(told, deleted, source, destination, wrong);
  // As many as are told may differ.
  const unlike = unlikeTheSource(evidence);
  if (unlike.length > receipt.changed) wrong.push(...unlike);
  if (receipt.status === 'completed') {
    const told = receipt.lost + receipt.duplicated + receipt.changed + receipt.unlisted + receipt.mailboxesLeft;
    if (told > 0) wrong.push(`completed with ${told} differences`);
    if (evidence.noted.length > 0) wrong.push(`completed, but of mailboxes it is told: ${evidence.noted.join(', ')}`);
    const unread = unreadOf(evidence, deleted) - evidence.orphans - storedUnheard(evidence);
    if (unread > 0) wrong.push(`completed, but ${unread} messages were never read back`);
  }
  // A later order sees what an earlier one could not.
  const more = receipt.duplicated - duplicated;
  if (more < 0 || more > tolerated + takenBackAfter(evidence) + putBackIn(destination, counts))
    wrong.push(`${receipt.duplicated} duplicated are told of ${duplicated}`);
  // What the subscriber deletes before it is read back can't be told from what the server lost; what is moved can, by
  // its UID.
  const unclear = takenOf(destination, saysUids(destination) ? ['expunged'] : ['expunged', 'moved']).flatMap(
    // The one that a server keeps of equal messages stood for all of them.
    (digest) =>
      Array.from(
        { length: keepsTwinsOnce(destination) ? Math.max(1, counts.get(digest)?.most ?? 1) : 1 },
        () => digest,
      ),
  );
  // Nor can what is kept in another form, without its UID having been said, be known when the source has lost it.
  if (!saysUids(destination) && (destination.quirks.rewriting !== 'nothing' || destination.quirks.wantsLineEnd))
    unclear.push(...source.history.flatMap(({ kind, digest }) => (kind === 'expunged' ? [digest] : [])));
  // What came to the source meanwhile, and was not kept, is not needed.
  const late = destination.history.filter(({ kind }) => kind === 'dropped').length;
  if (receipt.lost > lost + notKept + unclear.length + late) wrong.push(`${receipt.lost} lost are told of ${lost}`);
  if (receipt.failure === undefined) countForms(evidence, wrong);
  if (receipt.status !== 'completed')
    wrong.push(...withoutCause(scenario, receipt, lost + Math.max(duplicated, receipt.duplicated)));
  return wrong;
}

/**
 * What workers stored, nobody has moved, and the server shows. What the source has `deleted`, and the destination never
 * hands out, is not known to be ours where it said no UID; nor is it where the ledger is one of before.
 */
function unreadOf({ destination, scenario }: Evidence, deleted: ReadonlySet<string>): number {
  const { folders, quirks, history, renamed } = destination;
  const moved = new Set([...renamed, ...history.flatMap(({ kind, id }) => (kind === 'moved' ? [id] : []))]);
  const shown = [...folders.values()].flatMap(({ messages }) => messages.slice(-Math.min(quirks.window, 1e9)));
  const isUnsaid = (digest: string) => !saysUids(destination) && quirks.breaking.has(digest);
  const isUnknown = (digest: string) => deleted.has(digest) && (isUnsaid(digest) || scenario.backedUpAt !== undefined);
  return shown.filter(
    ({ by, id, wasRead, digest }) => isWorker(by) && !moved.has(id) && wasRead !== true && !isUnknown(digest),
  ).length;
}

/** What a worker was frozen in the very write of, and stored when it thawed, only to be killed before it took that back. */
function storedUnheard({ cutShort, destination }: Evidence): number {
  return destination.history.filter(({ kind, by, time }) => kind === 'stored' && time >= (cutShort.get(by) ?? Infinity))
    .length;
}

/** Copies of the source's messages that the subscriber has put there. */
function putBackIn(destination: SimulatedAccount, counts: ReadonlyMap<string, Count>): number {
  return allIn(destination).filter(({ by, digest }) => by === 'subscriber' && counts.has(digest)).length;
}

function takenBackAfter({ ended, destination }: Evidence): number {
  return destination.history.filter(({ kind, by, time }) => kind === 'expunged' && isWorker(by) && time > ended).length;
}

/** A subscriber is not to be worried, nor a transfer given up, for nothing. */
function withoutCause(scenario: Scenario, receipt: Receipt, differences: number): string[] {
  const { destination, source } = scenario;
  const wrong: string[] = [];
  const { failure, unlisted, mailboxesLeft, changed } = receipt;
  if (failure !== undefined) {
    const isLimited = [destination.quota, destination.bytesADay, source.bytesADay].some((limit) => limit !== undefined);
    const isRough = scenario.links.length + scenario.database.length + scenario.deeds.length > 0;
    const hangsUp = (source.goodbyeAfterCommands ?? destination.goodbyeAfterCommands) !== undefined;
    const isNarrow = (source.connections ?? destination.connections) !== undefined;
    if (!isLimited && !isRough && !hangsUp && !isNarrow) wrong.push(`given up for no reason: ${failure}`);
  } else if (differences + receipt.lost + unlisted + mailboxesLeft + changed === 0) wrong.push('a review of nothing');
  if (unlisted > 0 && source.shortListings === undefined) wrong.push(`${unlisted} unlisted are told of none`);
  const isClosed = [source, destination].some(
    ({ closing, refusesReading, renumbers, shiftsUids }) =>
      (closing ?? renumbers ?? shiftsUids) !== undefined || (refusesReading ?? PASSING).until === undefined,
  );
  // Its listing may take more commands than a connection lasts for.
  const isEndless = [source, destination].some(
    ({ goodbyeAfterCommands, shortListings }) => goodbyeAfterCommands !== undefined && shortListings !== undefined,
  );
  const isBroken = scenario.poison.some(
    (each) => ('breaks' in each && each.side === 'destination') || ('code' in each && each.code === 'TRYCREATE'),
  );
  if (
    mailboxesLeft > 0 &&
    destination.longestName === undefined &&
    destination.refusesCreating === undefined &&
    scenario.deeds.length === 0 &&
    !isClosed &&
    !isEndless &&
    !isBroken
  )
    wrong.push(`${mailboxesLeft} mailboxes were left out for no reason`);
  return wrong;
}

function sideOf(poison: Poison): Side {
  if ('side' in poison) return poison.side;
  return 'code' in poison ? 'destination' : 'source';
}

function isOfSource(note: string): boolean {
  return /mailbox (?:unreadable|not complete|not compared)$/.test(note);
}

/** Reasons that say of the one server what only the other one has given cause for. */
function falselyNoted({ scenario, noted }: Pick<Evidence, 'scenario' | 'noted'>): string[] {
  const isWell = (side: Side) => {
    const { closing, refusesReading, renumbers, shiftsUids, goodbyeAfterCommands, shortListings } = scenario[side];
    const { longestName, refusesCreating, quota } = scenario[side];
    const causes = [closing, refusesReading, renumbers, shiftsUids, goodbyeAfterCommands, shortListings, longestName];
    if ([...causes, refusesCreating, quota].some((cause) => cause !== undefined)) return false;
    if (scenario.poison.some((each) => sideOf(each) === side)) return false;
    return ![...scenario.deeds, ...scenario.links].some((each) => each.side === side);
  };
  return noted.filter((note) => isWell(isOfSource(note) ? 'source' : 'destination'));
}

/** Whether the engine surely learns what became of each append: else what is deleted before may be brought again. */
function isCalm({ stops, links, database, source, destination, orders, deeds }: Scenario): boolean {
  const hangsUp = source.goodbyeAfterCommands !== undefined || destination.goodbyeAfterCommands !== undefined;
  const isSaid = destination.uidPlus === true && destination.storesRefused !== true && orders === 1;
  // That is brought again.
  const isLost = deeds.some(({ side, does }) => side === 'destination' && UNSURE_AFTER.has(does));
  return stops.length + links.length + database.length === 0 && !hangsUp && !isLost && isSaid;
}

/** By the octets that were given: what the source has, and what workers stored and did not take back. */
function countAll({ scenario, source, destination }: Evidence): Map<string, Count> {
  const counts = new Map<string, Count>();
  const countOf = (digest: string) => {
    const count = counts.get(digest) ?? {
      need: 0,
      most: 0,
      have: 0,
      stand: 0,
      skipped: 0,
      folders: new Set<string>(),
      subject: '',
    };
    counts.set(digest, count);
    return count;
  };
  const arrivedLate = new Set(
    source.history
      .filter(({ kind, by }) => by === 'subscriber' && kind !== 'flagged' && kind !== 'redated')
      .map(({ id }) => id),
  );
  for (const folder of source.folders.values())
    for (const { digest, id, octets } of folder.messages) {
      const count = countOf(digest);
      count.most += 1;
      count.subject = subjectOf(octets);
      if (arrivedLate.has(id)) continue;
      count.need += 1;
      count.folders.add(folder.name);
    }
  // The simulation puts what the subscriber has of the source's messages before into the inbox only.
  const inbox = (source.find('INBOX')?.messages ?? []).map(({ digest }) => digest);
  const before = destination.history.flatMap(({ kind, by, digest }) =>
    kind === 'stored' && by === 'before' ? [digest] : [],
  );
  for (const [digest, count] of counts) {
    const times = (all: readonly string[]) => all.filter((each) => each === digest).length;
    count.stand = Math.min(times(inbox), times(before));
  }
  for (const deed of source.history) if (deed.kind === 'expunged') countOf(deed.digest).most += 1;
  if (!isCalm(scenario)) for (const digest of takenOf(destination, ['expunged', 'moved'])) countOf(digest).most += 1;
  for (const deed of destination.history) {
    if (!isWorker(deed.by)) continue;
    if (deed.kind === 'stored') countOf(deed.digest).have += 1;
    if (deed.kind === 'expunged') countOf(deed.digest).have -= 1;
  }
  return counts;
}

/** Where a message is: by its path only where several mailboxes have one UIDVALIDITY, as it may have another name by now. */
function placeOf(
  { quirks }: SimulatedAccount,
  path: string,
  uidValidity: bigint | number | undefined,
  uid: number | undefined,
): string {
  return `${quirks.datesUidValidity ? storedPath(path) : ''} ${uidValidity} ${uid}`;
}

/** Each message of the destination is told of as that of one message of the source. */
function toldOnce(told: Told, destination: SimulatedAccount, wrong: string[]): void {
  const places = new Set<string>();
  for (const { destinationPath, rows } of told)
    for (const { uid, fate, destinationUid, destinationUidValidity } of rows) {
      if (destinationUid === undefined || !STORED.has(fate)) continue;
      const place = placeOf(destination, destinationPath, destinationUidValidity, destinationUid);
      if (places.has(place)) wrong.push(`${uid} is told to be where another one is`);
      places.add(place);
    }
}

/** A folder that says it has fewer messages than are known of it counts some as done that are still to come. */
function countedAsTold(told: Told, wrong: string[]): void {
  for (const { sourcePath, rows, total = Infinity } of told)
    if (rows.length > total)
      wrong.push(`${sourcePath} is said to have ${total} messages, and ${rows.length} are known`);
}

/** What is told to have been read back was read. */
function readAsTold(told: Told, destination: SimulatedAccount, wrong: string[]): void {
  const unread = new Set<string>();
  for (const { name, uidValidity, messages } of destination.folders.values())
    for (const { uid, by, wasRead } of messages)
      if (isWorker(by) && wasRead !== true) unread.add(placeOf(destination, name, uidValidity, uid));
  for (const { destinationPath, rows } of told)
    for (const { uid, verified, destinationUid, destinationUidValidity } of rows)
      if (verified && unread.has(placeOf(destination, destinationPath, destinationUidValidity, destinationUid)))
        wrong.push(`${uid} is told to have been read back, and was not`);
}

/**
 * What is told to have been read back and found as it was sent is that, octet for octet and of its date; what is told as
 * changed or in another form differs. What the source has lost since may be known by its date alone, without a digest.
 */
function isAsTold(
  told: Told,
  deleted: ReadonlySet<string>,
  source: SimulatedAccount,
  destination: SimulatedAccount,
  wrong: string[],
): void {
  const there = new Map<string, StoredMail>();
  for (const { name, uidValidity, messages } of destination.folders.values())
    for (const message of messages) there.set(placeOf(destination, name, uidValidity, message.uid), message);
  const dates = new Map<string, Set<number>>();
  for (const { digest, internalDate } of source.quirks.oddDates > 0 ? [] : allIn(source))
    dates.set(digest, (dates.get(digest) ?? new Set()).add(Math.floor(internalDate / 1000)));
  for (const { kind, digest } of source.history) if (kind === 'redated') dates.delete(digest);
  for (const { destinationPath, rows } of told)
    for (const { uid, fate, verified, sha256, date, destinationUid, destinationUidValidity } of rows) {
      const message = there.get(placeOf(destination, destinationPath, destinationUidValidity, destinationUid));
      if (message === undefined || !isWorker(message.by)) continue;
      const digest = digestOf(message.octets);
      const isSame = sha256 === undefined ? deleted.has(digest) : digest === sha256;
      const second = Math.floor(message.internalDate / 1000);
      const hasDate = date === null || second === date;
      if (fate === 'stored' && verified && !(isSame && hasDate)) wrong.push(`${uid} is told as stored, and differs`);
      // A date that a server does not take is replaced by another one, which it has then.
      const isKept = fate === 'kept' && !destination.quirks.wantsDates;
      if ((fate === 'changed' || isKept) && isSame && hasDate)
        wrong.push(`${uid} is told as ${fate}, and is as it was sent`);
      const isRedated = dates.get(digest)?.has(second) === false && !deleted.has(digest);
      if (fate === 'stored' && verified && isRedated)
        wrong.push(`${uid} is told as stored, with another date than it had`);
      if (fate === 'kept' && isSame && !hasDate && !hasOddDate(date * 1000))
        wrong.push(`${uid} is told as kept, and its date is changed`);
    }
}

/** A message that was left out was refused by the destination, or withheld by the source. */
function countSkipped(
  told: Told,
  source: SimulatedAccount,
  destination: SimulatedAccount,
  counts: Map<string, Count>,
  wrong: string[],
): void {
  const refused = new Set(destination.history.filter(({ kind }) => kind === 'refused').map(({ digest }) => digest));
  const counted = new Set<number>();
  const everywhere = [...source.folders.values()].flatMap(({ name, uidValidity: now, messages }) =>
    messages.map((message) => ({ name, now, message })),
  );
  for (const { sourcePath, uidValidity, rows } of told) {
    const all = source.quirks.datesUidValidity
      ? everywhere.filter(({ name }) => storedPath(name) === sourcePath)
      : everywhere;
    // By its numbers: its mailbox may have another name by now.
    const find = (uid: number) =>
      all.find(
        ({ now, message }) =>
          (now === uidValidity && message.uid === uid) ||
          message.formerly.some((name) => name.uidValidity === uidValidity && name.uid === uid),
      )?.message;
    for (const row of rows) {
      if (row.fate !== 'refused') continue;
      const message = find(row.uid);
      if (message === undefined) continue;
      if (counted.has(message.id)) wrong.push(`${subjectOf(message.octets)} was told as skipped twice`);
      if (counted.has(message.id)) continue;
      counted.add(message.id);
      const count = counts.get(message.digest);
      if (count !== undefined) count.skipped += 1;
      const tooLarge = message.octets.length > destination.quirks.appendLimit;
      const withheld = source.quirks.withheld.has(message.digest) || source.quirks.breaking.has(message.digest);
      const isTrue = withheld || tooLarge || refused.has(message.digest);
      if (!isTrue) wrong.push(`${subjectOf(message.octets)} was skipped as "${row.reason}", but nobody refused it`);
      else if (row.reason === 'too large' && !tooLarge && !wasToldTooLarge(destination, message.digest))
        wrong.push(`${subjectOf(message.octets)} was skipped as too large, but it is not`);
      else if (row.reason === 'not accepted' && !refused.has(message.digest))
        wrong.push(`${subjectOf(message.octets)} was skipped as not accepted, but nobody refused it`);
    }
  }
}

function wasToldTooLarge(destination: SimulatedAccount, digest: string): boolean {
  return destination.history.some(
    (deed) =>
      deed.kind === 'refused' && deed.digest === digest && (deed.reason === 'TOOBIG' || deed.reason === 'LIMIT'),
  );
}

/**
 * What workers stored has the date and the flags of a message that the source has, unless somebody has changed either.
 * @returns of which that is not so, in words
 */
function unlikeTheSource({ source, destination }: Evidence): string[] {
  const unlike: string[] = [];
  const { ignoresDate, dropsKeywords, wantsDates, replacesDates, refusesKeywords } = destination.quirks;
  const secondOf = (date: number) =>
    (wantsDates || replacesDates) && hasOddDate(date) ? 'odd' : Math.floor(date / 1000);
  const lookOf = ({ flags, internalDate }: StoredMail) =>
    JSON.stringify([
      ignoresDate || source.quirks.oddDates > 0 ? 0 : secondOf(internalDate),
      // What is being taken back is marked as deleted first.
      [...flags]
        .filter((flag) => flag !== '\\Deleted' && (!dropsKeywords || flag.startsWith('\\')))
        .filter((flag) => refusesKeywords === null || !flag.includes('.'))
        .toSorted(),
    ]);
  const touched = new Set(
    [...source.history, ...destination.history].flatMap(({ kind, by, digest }) =>
      kind !== 'stored' && !isWorker(by) ? [digest] : [],
    ),
  );
  const looks = new Map<string, Set<string>>();
  for (const { messages } of source.folders.values())
    for (const message of messages)
      looks.set(message.digest, (looks.get(message.digest) ?? new Set()).add(lookOf(message)));
  for (const { messages } of destination.folders.values())
    for (const message of messages) {
      const { digest, by } = message;
      if (!isWorker(by) || touched.has(digest) || !looks.has(digest)) continue;
      if (looks.get(digest)?.has(lookOf(message)) !== true)
        unlike.push(
          `${subjectOf(message.octets)} has ${lookOf(message)} and not ${[...(looks.get(digest) ?? [])].join()}`,
        );
    }
  return unlike;
}

/** What was at the destination before, what came there otherwise, and what the subscriber did, is nobody's business. */
function untouched(destination: SimulatedAccount, wrong: string[]): void {
  const owners = new Map<number, string>();
  // What a worker takes back it marks as deleted first.
  const takenBack = new Set(
    destination.history.filter(({ kind, by }) => kind === 'expunged' && isWorker(by)).map(({ id }) => id),
  );
  const touched = new Map<number, string>();
  for (const deed of destination.history) {
    if (deed.kind === 'refused' || deed.kind === 'dropped') continue;
    if (deed.kind === 'stored') owners.set(deed.id, deed.by);
    if (!isWorker(deed.by)) {
      if (deed.kind !== 'stored') touched.set(deed.id, deed.kind);
      continue;
    }
    if (deed.kind === 'stored') continue;
    if (SUBSCRIBER.has(owners.get(deed.id) ?? 'before'))
      wrong.push(`a message of the destination's own was ${deed.kind}`);
    else if (touched.has(deed.id) && deed.kind === 'flagged' && !takenBack.has(deed.id))
      wrong.push(`the flags of a message were set after the subscriber had ${touched.get(deed.id)} it`);
  }
}

/** The digests of what workers stored and the subscriber deleted, or moved away. */
function takenOf({ history }: SimulatedAccount, kinds: readonly Deed['kind'][]): string[] {
  const ours = new Set(history.filter(({ kind, by }) => kind === 'stored' && isWorker(by)).map(({ id }) => id));
  const taken = new Map<number, string>();
  for (const { kind, by, id, digest } of history)
    if (kinds.includes(kind) && !isWorker(by) && ours.has(id)) taken.set(id, digest);
  return [...taken.values()];
}

/** What the provider keeps in a form of its own is told as that, and nothing else is told as changed. */
function countForms(evidence: Evidence, wrong: string[]): void {
  const { source, destination, receipt } = evidence;
  const orphans = evidence.orphans + storedUnheard(evidence);
  let now = 0;
  const moved = new Set(destination.history.filter(({ kind }) => kind === 'moved').map(({ id }) => id));
  for (const id of destination.renamed) moved.add(id);
  // What is behind the window of a server can't be read back.
  for (const folder of destination.folders.values())
    for (const message of folder.messages.slice(-Math.min(destination.quirks.window, 1e9)))
      if (isWorker(message.by) && !moved.has(message.id) && digestOf(message.octets) !== message.digest) now += 1;
  const { rewriting, wantsLineEnd, wantsDates, replacesDates, ignoresDate } = destination.quirks;
  const changesBodies = rewriting === 'changes the body';
  const hasForm = rewriting !== 'nothing' || wantsLineEnd || wantsDates || replacesDates || ignoresDate;
  const made = destination.history.filter(({ kind, by }) => IS_MADE.has(kind) && isWorker(by)).length;
  // Another body is no form of what was sent.
  const ever = hasForm && !changesBodies ? made : 0;
  // A form can't be held against what the source has lost meanwhile, or where one of both lets nobody in.
  const isClosed = (source.quirks.closing ?? destination.quirks.closing) !== null && receipt.mailboxesLeft > 0;
  const left =
    destination.quirks.ignoresDate || isClosed
      ? Infinity
      : source.history.filter(({ kind, by }) => kind === 'expunged' && by === 'subscriber').length;
  // What was on its way in a folder that got another name, when its worker died, is known by its date only.
  const onTheirWay = evidence.scenario.stops.length > 0 ? source.renamed.size : 0;
  const untold = receipt.mailboxesLeft > 0 ? Infinity : left + onTheirWay;
  // Of equal messages kept once one has the date of another one: that is only told apart while UIDs mean the same.
  // One of the subscriber's own that stands for it can't be known from ours where the server does not say UIDNEXT.
  const isOwn = destination.quirks.keepsOneOfAnId && !destination.quirks.saysUidNext;
  const equal = (keepsTwinsOnce(destination) ? twinsIn(source) : 0) + (isOwn ? ownIn(destination, source) : 0);
  const most = (changesBodies || ignoresDate ? made : left) + equal;
  if (receipt.changed > most) wrong.push(`${receipt.changed} changed are told of ${changesBodies ? made : 'none'}`);
  if (
    (receipt.kept + receipt.changed + orphans + Math.min(untold, now) < now && !destination.quirks.ignoresDate) ||
    receipt.kept > ever
  )
    wrong.push(`${receipt.kept} kept in another form are told of ${now}`);
}

/** One that a strict server refuses, or that stands in place of such a one. */
function hasOddDate(date: number): boolean {
  return date < EARLIEST_LETTER || date > LATEST_LETTER;
}

function saysUids({ quirks }: SimulatedAccount): boolean {
  const { uidPlus, ways } = quirks;
  return (
    uidPlus && !ways.includes('UIDs of appended messages at times') && !ways.includes('one UID for several appended')
  );
}

function keepsTwinsOnce({ quirks }: SimulatedAccount): boolean {
  return quirks.twinsKeptOnce || quirks.keepsOneOfAnId;
}

/** How many messages of the subscriber's own have the Message-ID of one of the source. */
function ownIn(destination: SimulatedAccount, source: SimulatedAccount): number {
  const sent = new Set(allIn(source).map(({ octets }) => messageIdOf(octets)));
  return allIn(destination).filter(({ by, octets }) => !isWorker(by) && sent.has(messageIdOf(octets))).length;
}

function allIn({ folders }: SimulatedAccount): readonly StoredMail[] {
  return [...folders.values()].flatMap(({ messages }) => messages);
}

/** How often each of them comes. */
function timesOf(digests: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(digests, (digest) => digest)].map(([digest, all]) => [digest, all.length]));
}

/** How many messages of an account have an equal one. */
function twinsIn(account: SimulatedAccount): number {
  const all = allIn(account).map(({ digest }) => digest);
  return all.length - new Set(all).size;
}

function subjectOf(octets: Buffer): string {
  return /Subject: ([^\r\n]*)/.exec(octets.toString('latin1', 0, 300))?.[1] ?? 'a message';
}
