import type { Listed } from '../../imap/streams.ts';
import { Alike } from '../message/alike.ts';
import { digestOf, secondsOf } from '../message/digest.ts';
import { fetchReadable, isReadable, messageName } from '../troubles/breaks.ts';
import { matchForms } from './forms.ts';
import { inParts, isUnlisted, stillThere } from './looking.ts';
import {
  AS_LISTED,
  byDate,
  byDateAndSize,
  bySize,
  storedFirst,
  uidsOf,
  type Found,
  type Known,
  type Likeness,
  type Matching,
  type Rules,
  type Sides,
  type Wanted,
} from './wanted.ts';

/**
 * Up to this many unclaimed messages, and two per wanted one, are all read; of more, those of the right size or date.
 */
const READ_ANYWAY = 200;

export type Matched = {
  /** By source UID. */
  readonly found: ReadonlyMap<number, Found>;
  /** Source messages that are not there any more, asked for by UID. */
  readonly gone: ReadonlySet<number>;
  /** Messages of both sides that were asked for but did not come, by {@link messageName}. */
  readonly unseen: readonly string[];
};

/**
 * Matches source messages with messages of the destination, one to one: by octets, then by the norm, then by Message-ID
 * and date. If the source has lost the message, or the destination does not hand it out, by date and size, which some
 * servers round.
 * @param areStored which of them the destination has confirmed as stored: any that it does not hand out may be one of
 *   these
 * @param readsRest whether what is not found is sent: then, if no likely one fits, all are read, as the destination may
 *   keep neither sizes nor dates
 * @param areNew whether the candidates have come since the messages were sent, to a server that may keep no dates: then
 *   one that is not handed out, and has as many octets, is enough, unless one that is read shows that dates are kept
 */
export async function match(
  wanted: readonly Wanted[],
  candidates: readonly Listed[],
  sides: Sides,
  { readsRest = false, areStored = () => false, areNew = false }: MatchOptions = {},
): Promise<Matched> {
  const all = storedFirst(wanted, areStored);
  const likely = likelyOf(wanted, candidates);
  const rules = { areStored, areNew };
  const matched = await matchAmong(likely, all, sides, rules);
  const isOver = matched.found.size > 0 || matched.gone.size === wanted.length || likely.length === candidates.length;
  return isOver || !readsRest ? matched : matchAmong(candidates, all, sides, rules);
}

type MatchOptions = { readonly readsRest?: boolean } & Partial<Rules>;

async function matchAmong(
  likely: readonly Listed[],
  wanted: readonly Wanted[],
  sides: Sides,
  { areStored, areNew }: Rules,
): Promise<Matched> {
  const [found, gone] = [new Map<number, Found>(), new Set<number>()];
  if (likely.length === 0 || wanted.length === 0) return { found, gone, unseen: [] };

  const { source, destination, run } = sides;
  const matching: Matching = { ...sides, areStored, areNew, wanted, found, gone };
  const known = await digestsOf(matching);
  const unread = new Map(likely.map((listed) => [listed.uid, listed]));
  const left = await readLikely(likely, unread, matching);
  // First by octets and date, so that none takes what belongs to another.
  matchOctets((sha256, date) => `${sha256} ${date}`, known, left, matching);
  matchOctets((sha256) => sha256, known, left, matching);
  const open = wanted.filter(({ uid }) => !found.has(uid));
  const isOver = open.length === 0 || left.size === 0;
  const { unsent, uncompared, unshown, unfit } = isOver
    ? { unsent: [], uncompared: [], unshown: [], unfit: [] }
    : await matchForms(open, [...left], matching);
  for (const listed of unshown) unread.set(listed.uid, listed);
  const unhanded =
    found.size === wanted.length
      ? []
      : [...unread.keys()]
          .filter((uid) => isReadable(destination, uid, run))
          .map((uid) => messageName(destination, uid));
  matchUnread(wanted, known, unread, found, { areStored, areNew: areNew && !areDatesKept(wanted, found) });
  // One that can't be compared now must be there in another form, and is compared when it is read back.
  const stored = uncompared.filter(({ uid }) => areStored(uid));
  const rest = new Map(unfit.map((listed) => [listed.uid, listed]));
  matchUnread(stored, known, rest, found, { areStored: () => false, areNew: false });
  const unseen = source === null ? [] : unsent.map((uid) => messageName(source, uid));
  return { found, gone, unseen: [...unhanded, ...unseen] };
}

/** A message that the destination handed out. */
type Read = Listed & { readonly sha256: string };

/** @param unread those that were not read stay in it */
async function readLikely(
  likely: readonly Listed[],
  unread: Map<number, Listed>,
  { destination, run }: Sides,
): Promise<Set<Read>> {
  const read = new Set<Read>();
  for (const uids of inParts(uidsOf(likely)))
    for await (const { octets, ...listed } of fetchReadable(destination, uids, run, AS_LISTED)) {
      const { sha256 } = await digestOf(octets);
      unread.delete(listed.uid);
      read.add({ ...listed, sha256 });
    }
  return read;
}

/** @param left those that are matched are taken out of it */
function matchOctets(
  likeness: (sha256: string, date: number | null) => string,
  known: ReadonlyMap<number, Known>,
  left: Set<Read>,
  { wanted, found }: Matching,
): void {
  const same = new Alike(left, ({ sha256, internalDate }) => likeness(sha256, secondsOf(internalDate)));
  for (const message of wanted) {
    const digest = known.get(message.uid);
    if (digest === undefined || found.has(message.uid)) continue;
    const candidate = same.first(likeness(digest.sha256, message.date));
    if (candidate === undefined) continue;
    left.delete(candidate);
    found.set(message.uid, {
      fate: 'stored',
      destinationUid: candidate.uid,
      ...digest,
      isRead: true,
      hasDate: message.date === null || message.date === secondsOf(candidate.internalDate),
    });
  }
}

/** Whether one that was read has the date that was sent with it: then one with another date is somebody else's. */
function areDatesKept(wanted: readonly Wanted[], found: ReadonlyMap<number, Found>): boolean {
  return wanted.some(({ uid, date }) => {
    const one = found.get(uid);
    return date !== null && one?.isRead === true && one.hasDate;
  });
}

const BY_DATE: readonly Likeness[] = [byDateAndSize, byDate];
/**
 * From strict to loose. The last one, for another form without its date, matches in the order in which they were sent.
 */
const LOOSELY: readonly Likeness[] = [...BY_DATE, bySize, () => ''];

/** Matches by their listing messages that are there but not handed out: they must not be stored a second time. */
function matchUnread(
  wanted: readonly Wanted[],
  known: ReadonlyMap<number, Known>,
  unread: ReadonlyMap<number, Listed>,
  found: Map<number, Found>,
  { areStored, areNew }: Rules,
): void {
  const left = new Set(unread.values());
  for (const likeness of LOOSELY) {
    // Size 0 means that the server reports none, and must not match another missing size.
    const alike = new Alike(left, ({ size, internalDate }) =>
      likeness({ size: size === 0 ? Number.NaN : size, date: secondsOf(internalDate) }),
    );
    for (const message of wanted) {
      // If no date is known, or kept, the size has to do: else each run would store it again.
      const isBySize = likeness === bySize && (areNew || message.date === null);
      if (!BY_DATE.includes(likeness) && !isBySize && !areStored(message.uid)) continue;
      const digest = known.get(message.uid);
      if (found.has(message.uid) || digest === undefined) continue;
      const one = alike.first(likeness(message));
      if (one === undefined) continue;
      // Where both servers round sizes, many are equal.
      if (isBySize && message.date !== null && !areStored(message.uid) && one.size !== digest.size) continue;
      left.delete(one);
      found.set(message.uid, { fate: 'stored', destinationUid: one.uid, ...digest, isRead: false, hasDate: true });
    }
  }
}

/** Some servers round RFC822.SIZE, and some ignore the internal date, so neither alone rules a message out. */
function likelyOf(wanted: readonly Wanted[], candidates: readonly Listed[]): readonly Listed[] {
  if (candidates.length <= READ_ANYWAY + 2 * wanted.length) return candidates;
  const sizes = new Set(wanted.map((message) => message.size));
  const dates = new Set(wanted.map((message) => message.date));
  return candidates.filter(
    (listed) => isUnlisted(listed) || sizes.has(listed.size) || dates.has(secondsOf(listed.internalDate)),
  );
}

/** The digests of what is wanted; what the source has lost is `gone`. */
async function digestsOf({ wanted, source, run, gone }: Matching): Promise<Map<number, Known>> {
  const known = new Map<number, Known>();
  const unknown = new Set<number>();
  for (const { uid, size, sha256 } of wanted) {
    if (sha256 === undefined) unknown.add(uid);
    else known.set(uid, { size, sha256 });
  }
  if (source !== null)
    for (const uids of inParts([...unknown]))
      for await (const message of fetchReadable(source, uids, run)) {
        known.set(message.uid, await digestOf(message.octets));
        unknown.delete(message.uid);
      }
  const there = source === null ? new Set<number>() : await stillThere(source, [...unknown]);
  for (const uid of unknown) if (!there.has(uid)) gone.add(uid);
  return known;
}
