import type { Clock } from '../../clock.ts';
import { isBreak, isFarewell, isInTrouble, isRefusal, MailError } from '../imap/mail-error.ts';
import type { Listed, MailReader } from '../imap/streams.ts';
import type { Ledger, Planned } from './ledger/ledger.ts';
import { inParts } from './looking/looking.ts';
import { secondsOf } from './message/digest.ts';
import { messageIdOf } from './message/message-text.ts';
import type { Waits } from './run/mail-copy.ts';
import { FolderLeft } from './run/run.ts';
import {
  BREAKS_TOGETHER,
  destinationPlace,
  isReadable,
  messageName,
  noteBreak,
  noteBreakOff,
  notePassed,
  sourcePlace,
  type Faults,
  type Place,
} from './troubles/breaks.ts';
import type { Openings } from './troubles/hang-ups.ts';
import { openAside, refusedForNow } from './troubles/troubles.ts';

/**
 * How long a forwarded message can be on its way: a server that is refused for a moment tries again (RFC 5321
 * §4.5.4.1).
 */
const ARRIVES_WITHIN_MS = 3 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Knows the messages of the source that an earlier forwarding has brought to the destination, or is about to bring. */
export type Forwarded = {
  /** Which of the marked messages are not to be copied. */
  brought(
    path: string,
    uidValidity: bigint,
    marked: readonly Listed[],
    source: MailReader,
    destination: MailReader,
  ): Promise<ReadonlySet<number>>;
};

/**
 * A forwarded message is not copied while it may still be on its way, nor if the destination has a message with its
 * Message-ID that no transfer of ours has brought (what we have brought may be an equal one). One that never arrived,
 * or whose header can't be read, is copied like every other.
 * @param mailboxes the paths of the destination's mailboxes
 */
export function openForwarded(
  mailboxes: () => readonly string[],
  clock: Clock,
  ledger: Known,
  run: Looking,
): Forwarded {
  const there = new Map<string, ReadonlySet<string>>();
  /**
   * By mailbox, UIDVALIDITY and UID: whether an old one has arrived. Each is read once, however often the source is
   * listed.
   */
  const judged = new Map<string, boolean>();

  async function arrived(since: Date, destination: MailReader): Promise<ReadonlySet<string>> {
    const all = new Set<string>();
    for (const path of mailboxes()) {
      const key = `${since.getTime()} ${path}`;
      const ids = there.get(key) ?? (await messageIds(destination, path, since, ledger, run));
      there.set(key, ids);
      for (const id of ids) all.add(id);
    }
    return all;
  }

  return {
    brought: async (path, uidValidity, marked, source, destination) => {
      if (marked.length === 0) return new Set();
      const now = clock.now();
      const old = marked.filter((message) => now - timeOf(message, now) > ARRIVES_WITHIN_MS);
      const keyOf = (uid: number) => `${path}\n${uidValidity} ${uid}`;
      const unread = old.filter(({ uid }) => !judged.has(keyOf(uid)));
      if (unread.length > 0) {
        const oldest = Math.min(...unread.map((message) => timeOf(message, now)));
        // A day more: SINCE takes the server's own days (RFC 9051 §6.4.4), and clocks differ.
        const ids = await arrived(new Date(Math.max(0, oldest - DAY_MS)), destination);
        const uids = unread.map(({ uid }) => uid);
        for await (const { uid, header } of headersOf(sourcePlace(source, path, uidValidity), uids, run)) {
          const id = messageIdOf(header);
          judged.set(keyOf(uid), id !== undefined && ids.has(id));
        }
      }
      const missing = new Set(old.filter(({ uid }) => judged.get(keyOf(uid)) !== true).map(({ uid }) => uid));
      return new Set(marked.filter(({ uid }) => !missing.has(uid)).map(({ uid }) => uid));
    },
  };
}

type Looking = Faults & Openings & { readonly copy: Waits };

/** What the ledger knows of messages that were sent. */
type Known = Pick<Ledger, 'claimed' | 'groups' | 'mailboxes' | 'rows'>;

/**
 * Headers of messages, without those that are refused, or at which connections break off, each time. It is unknown
 * which of several it is, so they are asked for one by one then.
 */
async function* headersOf(place: Place, uids: readonly number[], run: Faults): ReturnType<MailReader['headers']> {
  const readable = uids.filter((uid) => isReadable(place, uid, run));
  const together = `headers of ${place.name}`;
  const isBroken = run.faults(together) >= BREAKS_TOGETHER;
  for (const asked of isBroken ? readable.map((uid) => [uid]) : inParts(readable))
    try {
      for await (const one of place.reader.headers(place.path, asked)) {
        notePassed(place.account, run);
        yield one;
      }
    } catch (error) {
      if (!isBreak(error) && !isFarewell(error) && !isRefusal(error)) throw error;
      const [first = 0, ...others] = asked;
      if (others.length > 0) {
        if (run.noteFault(together) === BREAKS_TOGETHER) run.looked();
      } else if (isFarewell(error)) {
        const how = { passing: place.account, path: place.path, isAskedAgain: true };
        noteBreakOff(error, [messageName(place, first)], how, run);
      } else noteBreak(messageName(place, first), place.path, run);
      if (isFarewell(error) || (error instanceof MailError && isBreak(error) && !isInTrouble(error))) throw error;
      let isAnswered = false;
      for (const uid of asked)
        for await (const one of headersOf(place, [uid], run)) {
          isAnswered = true;
          yield one;
        }
      // The server refuses all of them, perhaps for a while only.
      if (!isAnswered && others.length > 0) throw error;
    }
}

async function messageIds(
  reader: MailReader,
  path: string,
  since: Date,
  ledger: Known,
  run: Looking,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const opened = await openAside(path, 'forwarded to', reader, run);
  // Without this mailbox, what has arrived in it would be copied again.
  if (opened === 'in trouble' && refusedForNow(run.copy) !== null)
    throw new FolderLeft('mailbox closed', new MailError('busy', 'Nobody knows what has arrived.'));
  if (typeof opened === 'string') return ids;
  const claims = await ledger.claimed(path, opened.uidValidity);
  const unclaimed = (await reader.search(path, since)).filter((uid) => !claims.has(uid));
  if (unclaimed.length === 0) return ids;
  const sent = await unclaimedIn(path, opened.uidValidity, ledger);
  const theirs = unclaimed.filter((uid) => uid < sent.from);
  for (const uids of inParts(unclaimed.filter((uid) => uid >= sent.from)))
    for await (const page of reader.look(path, uids))
      for (const listed of page) if (!sent.mayBe(listed)) theirs.push(listed.uid);
  for await (const { header } of headersOf(destinationPlace(reader, path, opened.uidValidity), theirs, run)) {
    const id = messageIdOf(header);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

/**
 * Which unclaimed messages of a mailbox may be ours, and from which UID on: what a worker was storing when it died,
 * what had other UIDs, and, if none of our folders goes to it, any of ours: it may be one that was renamed.
 */
async function unclaimedIn(path: string, uidValidity: bigint, ledger: Known) {
  const looks = new Set<string>();
  const dates = new Set<number | null>();
  let from = Infinity;
  // If the source gives no date, it was sent with another one, and only its size tells.
  const add = ({ size, date }: Planned, uid: number) => {
    looks.add(date === null ? `${size}` : `${size} ${date}`);
    from = Math.min(from, uid);
  };
  const all = await ledger.mailboxes();
  const ours = all.filter(({ destinationPath }) => destinationPath === path);
  const here = new Set((ours.length > 0 ? ours : all).map(({ id }) => id));
  const isHere = (validity?: bigint) => ours.length > 0 && validity === uidValidity;
  for (const group of await ledger.groups())
    if (here.has(group.mailboxId))
      for (const message of group.messages) {
        add(message, isHere(group.uidValidity) ? group.uidNext : 1);
        // Its size is the listed one, which may be wrong: its date is enough.
        if (message.date !== null) dates.add(message.date);
      }
  for (const id of here)
    for await (const page of ledger.rows(id))
      for (const row of page) if (row.destinationUid !== undefined && !isHere(row.destinationUidValidity)) add(row, 1);
  const mayBe = ({ size, internalDate }: Listed) =>
    looks.has(`${size}`) || looks.has(`${size} ${secondsOf(internalDate)}`) || dates.has(secondsOf(internalDate));
  return { from, mayBe };
}

/**
 * Milliseconds since the epoch; 0 if the server gives no internal date, or one of a day to come: else that message
 * would count as on its way for ever.
 */
function timeOf({ internalDate }: Listed, now: number): number {
  const time = internalDate.getTime();
  return Number.isNaN(time) || time > now + DAY_MS ? 0 : Math.max(0, time);
}
