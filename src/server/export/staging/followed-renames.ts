import type { Listing } from '../../mail/copy/looking/listing.ts';
import { digestOf, secondsOf } from '../../mail/copy/message/digest.ts';
import { fetchReadable, sourcePlace, type Faults } from '../../mail/copy/troubles/breaks.ts';
import { blamingHangUps, type Openings } from '../../mail/copy/troubles/hang-ups.ts';
import { unlessTroubled } from '../../mail/copy/troubles/troubles.ts';
import type { MailError } from '../../mail/imap/mail-error.ts';
import { personalPrefix, type Mailbox } from '../../mail/imap/mailbox.ts';
import type { MailReader } from '../../mail/imap/streams.ts';
import { storedDate } from './arrival.ts';
import type { StagedIn } from './staged-mailboxes.ts';
import type { StagedMessages } from './staged-messages.ts';

/** How many messages are read to be sure, the first and the last among them. */
const READ_AT_MOST = 5;

/** The mailboxes of the source now; one that can't be opened has no listing. */
export type ListedMailboxes = ReadonlyMap<Mailbox, Listing | null>;

type Reading = {
  readonly ledger: StagedMessages;
  readonly reader: MailReader;
  readonly faults: Faults & Openings;
  /**
   * Called with the reason if a mailbox can't be compared, so that it is left out: as a new one, it would be exported
   * twice.
   */
  readonly leave: (mailbox: Mailbox) => (error: MailError) => void;
};

/** Whether messages are staged of a mailbox that is not where it was, under a UIDVALIDITY that another one has now. */
export async function mayBeRenamed(listed: ListedMailboxes, ledger: StagedMessages): Promise<boolean> {
  const staged = await ledger.stagedIn();
  const astray = astrayOf(staged, listed);
  return [...listed].some(([{ path }, listing]) => candidatesFor(path, listing, staged, astray).length > 0);
}

/**
 * Recognises mailboxes that were renamed, so that each message is exported once: what was staged is in another mailbox
 * now, under the same UIDVALIDITY and with the same octets. The old name may be another mailbox's by now.
 */
export async function followRenames(listed: ListedMailboxes, reading: Reading): Promise<void> {
  const staged = await reading.ledger.stagedIn();
  const astray = astrayOf(staged, listed);
  const renamed = new Map<number, Mailbox>();
  for (const [mailbox, listing] of listed)
    for (const before of candidatesFor(mailbox.path, listing, staged, astray)) {
      if (listing === null || renamed.has(before.mailboxId)) continue;
      const { reader, faults } = reading;
      const compare = () => isSame(mailbox.path, listing, before, reading);
      const comparing = blamingHangUps('source', mailbox.path, reader, faults, compare);
      const leave = reading.leave(mailbox);
      if ((await unlessTroubled(comparing, mailbox.path, faults, leave)) !== true) continue;
      renamed.set(before.mailboxId, mailbox);
      break;
    }
  if (renamed.size > 0) await reading.ledger.rename(renamed, personalPrefix([...listed.keys()]));
}

/** What is staged of mailboxes that are gone, or whose name is another's. */
function astrayOf(staged: readonly StagedIn[], listed: ListedMailboxes): readonly StagedIn[] {
  const listings = new Map([...listed].map(([{ path }, listing]) => [path, listing]));
  const isThere = ({ path, gone, uidValidity }: StagedIn) => {
    const listing = gone ? undefined : listings.get(path);
    return listing !== undefined && (listing === null || listing.opened.uidValidity === uidValidity);
  };
  const there = new Set(staged.filter(isThere).map(({ mailboxId }) => mailboxId));
  return staged.filter(({ mailboxId }) => !there.has(mailboxId));
}

function candidatesFor(
  path: string,
  listing: Listing | null,
  staged: readonly StagedIn[],
  astray: readonly StagedIn[],
): readonly StagedIn[] {
  if (listing === null) return [];
  const isAlike = ({ uidValidity }: StagedIn) => uidValidity === listing.opened.uidValidity;
  const isKnown = staged.some((each) => !each.gone && each.path === path && isAlike(each));
  return isKnown ? [] : astray.filter(isAlike);
}

async function isSame(
  path: string,
  { opened: { uidValidity }, messages }: Listing,
  { mailboxId }: StagedIn,
  { ledger, reader, faults }: Reading,
): Promise<boolean> {
  const dates = await ledger.stagedDates(mailboxId, uidValidity);
  const there: number[] = [];
  for (const { uid, date } of messages) {
    const before = dates.get(uid);
    if (before === undefined) continue;
    // Sizes are not compared: staged is the number of octets, and some servers list another one.
    if (date !== null && before !== secondsOf(storedDate(new Date(date * 1000)))) return false;
    there.push(uid);
  }
  const digests = await ledger.stagedDigests(mailboxId, uidValidity, spread(there, READ_AT_MOST));
  if (digests.size === 0) return false;
  if ((await reader.open(path)).uidValidity !== uidValidity) return false;
  let [read, differs] = [0, false];
  // Reads to the end, because the connection is used for the next mailbox.
  for await (const { uid, octets } of fetchReadable(
    sourcePlace(reader, path, uidValidity),
    [...digests.keys()],
    faults,
  )) {
    const { sha256 } = await digestOf(octets);
    differs ||= digests.get(uid) !== sha256;
    read += 1;
  }
  return read > 0 && !differs;
}

/** At most `most` of them, at equal distances. */
function spread(uids: readonly number[], most: number): number[] {
  if (uids.length <= most) return [...uids];
  return Array.from({ length: most }, (_, at) => uids[Math.round((at * (uids.length - 1)) / (most - 1))] as number);
}
