import { setImmediate as turn } from 'node:timers/promises';
import { Stopped } from '../../../stopped.ts';
import type { Listed } from '../../imap/streams.ts';
import { Alike } from '../message/alike.ts';
import { digestOf, portraits, secondsOf, type Portrait } from '../message/digest.ts';
import { isProvidersForm } from '../message/norm.ts';
import type { Run } from '../run/run.ts';
import { fetchReadable, isReadable, messageName, type Place } from '../troubles/breaks.ts';
import { inParts, isUnlisted, stillThere } from './looking.ts';

/**
 * Up to this many unclaimed messages, and two per wanted one, are all read; of more, those of the right size or date.
 */
const READ_ANYWAY = 200;
/** How far at most some servers round RFC822.SIZE, in octets. */
export const ABOUT_OCTETS = 4096;
/** What the destination does not hand out is recognised by its size and date, and read back later. */
const AS_LISTED = { isAskedAgain: true };

/** A source message that is looked for at the destination; its digest is fetched from the source if it is not known. */
export type Wanted = {
  readonly uid: number;
  readonly size: number;
  /** Seconds since the epoch. */
  readonly date: number | null;
  readonly sha256?: string;
};

/** `stored` octet for octet, `kept` by the norm, `changed` by its Message-ID and date only. */
export type Found = {
  readonly fate: 'stored' | 'kept' | 'changed';
  readonly destinationUid: number;
  readonly size: number;
  /** Hex; of the source's octets. Missing if the source has lost the message and the one found has another size. */
  readonly sha256?: string;
  /**
   * Whether the message at the destination was read; otherwise it is not handed out, and is recognised by its size or
   * date only.
   */
  readonly isRead: boolean;
  /** Whether it has the date that was sent with it, as far as that is known. */
  readonly hasDate: boolean;
};

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
 * @param source opened, or `null` when it can't be asked
 * @param areStored which of them the destination has confirmed as stored: any that it does not hand out may be one of
 *   these
 * @param readsRest whether what is not found is sent: then, if no likely one fits, all are read, as the destination may
 *   keep neither sizes nor dates
 * @param areNew whether the candidates have come since the messages were sent, to a server that may keep no dates: then
 *   one that is not handed out, and has as many octets, is enough, unless one that is read shows that dates are kept
 */
export async function match(
  wanted: readonly Wanted[],
  source: Place | null,
  candidates: readonly Listed[],
  destination: Place,
  run: Run,
  { readsRest = false, areStored = () => false, areNew = false }: MatchOptions = {},
): Promise<Matched> {
  const all = storedFirst(wanted, areStored);
  const likely = likelyOf(wanted, candidates);
  const rules = { areStored, areNew };
  const matched = await matchAmong(likely, all, source, destination, run, rules);
  const isOver = matched.found.size > 0 || matched.gone.size === wanted.length || likely.length === candidates.length;
  return isOver || !readsRest ? matched : matchAmong(candidates, all, source, destination, run, rules);
}

/**
 * Puts first what the destination has confirmed as stored: of equal messages, those are there, and another one must not
 * take the place of one of them.
 */
function storedFirst<Message extends { readonly uid: number }>(
  messages: readonly Message[],
  areStored: (uid: number) => boolean,
): readonly Message[] {
  return messages.toSorted((one, other) => Number(areStored(other.uid)) - Number(areStored(one.uid)));
}

type Rules = { readonly areStored: (uid: number) => boolean; readonly areNew: boolean };
type MatchOptions = { readonly readsRest?: boolean } & Partial<Rules>;

async function matchAmong(
  likely: readonly Listed[],
  wanted: readonly Wanted[],
  source: Place | null,
  destination: Place,
  run: Run,
  { areStored, areNew }: Rules,
): Promise<Matched> {
  const found = new Map<number, Found>();
  const gone = new Set<number>();
  if (likely.length === 0 || wanted.length === 0) return { found, gone, unseen: [] };

  const known = await digestsOf(wanted, source, gone, run);
  const left = new Set<Listed & { readonly sha256: string }>();
  const unread = new Map(likely.map((listed) => [listed.uid, listed]));
  for (const uids of inParts(likely.map((listed) => listed.uid)))
    for await (const { octets, ...listed } of fetchReadable(destination, uids, run, AS_LISTED)) {
      const { sha256 } = await digestOf(octets);
      unread.delete(listed.uid);
      left.add({ ...listed, sha256 });
    }

  const findSame = (likeness: (sha256: string, date: number | null) => string) => {
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
  };
  // First by octets and date, so that none takes what belongs to another.
  findSame((sha256, date) => `${sha256} ${date}`);
  findSame((sha256) => sha256);
  const open = wanted.filter(({ uid }) => !found.has(uid));
  const isOver = open.length === 0 || left.size === 0;
  const { unsent, uncompared, unshown, unfit } = isOver
    ? { unsent: [], uncompared: [], unshown: [], unfit: [] }
    : await matchForms(open, { source, destination, run }, [...left], gone, found, areStored);
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

/** Whether one that was read has the date that was sent with it: then one with another date is somebody else's. */
function areDatesKept(wanted: readonly Wanted[], found: ReadonlyMap<number, Found>): boolean {
  const isKept = (one: Found | undefined) => one?.isRead === true && one.hasDate;
  return wanted.some(({ uid, date }) => date !== null && isKept(found.get(uid)));
}

/** What listings tell of a message, as a key for comparing. */
type Likeness = (message: Pick<Wanted, 'size' | 'date'>) => string;
const bySize: Likeness = ({ size }) => `${size}`;
const byDateAndSize: Likeness = ({ date, size }) => `${date} ${size}`;
const byDate: Likeness = ({ date }) => `${date}`;
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

type Known = { readonly size: number; readonly sha256: string };

async function digestsOf(
  wanted: readonly Wanted[],
  source: Place | null,
  gone: Set<number>,
  run: Run,
): Promise<Map<number, Known>> {
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

/**
 * Matches the rest by form, or by date and size if the source has lost it.
 * @returns what was asked for in vain, `unsent` and `unshown`; what the source has, or can't be asked for, and did not
 *   hand out, `uncompared`; and what is stored and matches nothing, `unfit`
 */
async function matchForms(
  wanted: readonly Wanted[],
  { source, destination, run }: { readonly source: Place | null; readonly destination: Place; readonly run: Run },
  left: readonly Listed[],
  gone: ReadonlySet<number>,
  found: Map<number, Found>,
  areStored: (uid: number) => boolean,
): Promise<
  Record<'unshown' | 'unfit', readonly Listed[]> & {
    readonly unsent: readonly number[];
    readonly uncompared: readonly Wanted[];
  }
> {
  const stored = new Set<Portrait>();
  for (const uids of inParts(left.map((listed) => listed.uid)))
    for await (const portrait of portraits(fetchReadable(destination, uids, run, AS_LISTED))) stored.add(portrait);
  const shown = new Set([...stored].map(({ uid }) => uid));
  const sent: Portrait[] = [];
  const there = wanted.filter(({ uid }) => !gone.has(uid));
  const readable = source === null ? [] : there.map(({ uid }) => uid).filter((uid) => isReadable(source, uid, run));
  if (source !== null)
    for (const uids of inParts(readable))
      for await (const portrait of portraits(fetchReadable(source, uids, run))) sent.push(portrait);

  const dateOf = new Map(wanted.map((message) => [message.uid, message.date]));
  const others = async () => {
    if (run.copy.signal.aborted) throw new Stopped('The copy was asked to stop.');
    await turn();
  };
  const settle = async (
    fate: Found['fate'],
    likeness: (portrait: Portrait, date: number | null) => string,
    fits: (sent: Portrait, stored: Portrait) => boolean = () => true,
  ) => {
    const alike = new Alike(stored, (portrait) => likeness(portrait, portrait.date));
    for (const portrait of storedFirst(sent, areStored)) {
      if (found.has(portrait.uid)) continue;
      const date = dateOf.get(portrait.uid) ?? null;
      const one = await alike.find(likeness(portrait, date), (each) => fits(portrait, each), others);
      if (one === undefined) continue;
      stored.delete(one);
      const { size, sha256 } = portrait;
      const hasDate = date === null || date === one.date;
      found.set(portrait.uid, { fate, destinationUid: one.uid, size, sha256, isRead: true, hasDate });
    }
  };
  // The source may not have handed these out before.
  await settle('stored', ({ sha256 }, date) => `${sha256} ${date}`);
  await settle('stored', ({ sha256 }) => sha256);
  await settle('kept', ({ form }, date) => `${form.body} ${date}`, isKept);
  await settle('kept', ({ form }) => form.body, isKept);
  const mayBe = (one: Portrait, other: Portrait) => isSameId(one, other) || areStored(one.uid);
  await settle('changed', ({ form }, date) => `${form.messageId} ${date}`, mayBe);
  // The server has said that it is there, and may keep no dates. Without a Message-ID, any other could be taken for it.
  await settle(
    'changed',
    ({ form }) => form.messageId,
    (one, other) => areStored(one.uid) && isSameId(one, other),
  );
  const isLost = ({ uid }: Wanted) => !found.has(uid) && (source === null || gone.has(uid));
  const settleLost = async (
    isWanted: (message: Wanted) => boolean,
    likeness: Likeness,
    fits: (message: Wanted, stored: Portrait) => boolean = () => true,
  ) => {
    const alike = new Alike(stored, likeness);
    for (const message of wanted.filter((each) => isLost(each) && isWanted(each))) {
      const one = await alike.find(likeness(message), (each) => fits(message, each), others);
      if (one === undefined) continue;
      stored.delete(one);
      const { uid: destinationUid, size } = one;
      const digest = size === message.size ? { sha256: one.sha256 } : {};
      found.set(message.uid, { fate: 'stored', destinationUid, size, ...digest, isRead: true, hasDate: true });
    }
  };
  await settleLost(() => true, byDateAndSize);
  await settleLost(isUnsure, byDate, isAbout);
  const seen = new Set(sent.map(({ uid }) => uid));
  const unclaimed = new Set([...stored].map(({ uid }) => uid));
  return {
    unsent: readable.filter((uid) => !seen.has(uid)),
    uncompared: there.filter(({ uid }) => !seen.has(uid)),
    unshown: left.filter(({ uid }) => !shown.has(uid)),
    unfit: left.filter(({ uid }) => unclaimed.has(uid)),
  };
}

function isUnsure({ sha256, date }: Wanted): boolean {
  return sha256 === undefined && date !== null;
}

function isAbout({ size }: Wanted, stored: Portrait): boolean {
  return Math.abs(stored.size - size) <= ABOUT_OCTETS;
}

function isKept(sent: Portrait, stored: Portrait): boolean {
  return isProvidersForm(sent.form, stored.form);
}

function isSameId(one: Portrait, other: Portrait): boolean {
  return one.form.messageId !== '' && one.form.messageId === other.form.messageId;
}
