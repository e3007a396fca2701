import type { Skipped } from '../../../contract/calls/status.ts';
import { workThrough } from '../../mail/copy/connection-pool.ts';
import { MESSAGE_SIZE_LIMIT } from '../../mail/imap/connection.ts';
import type { Mailbox, MailReader, OpenedMailbox } from '../../mail/imap/message.ts';
import type { StagedMessages } from './staged-messages.ts';
import type { ExportLimits } from './export-limits.ts';
import { openStager, type Gathering, type Stager, type MailboxListing } from './stage-mail.ts';

/** How often the mailboxes are gone through: again for what arrived meanwhile or was not handed out at first. */
const PASSES = 4;

/**
 * Stages every message that is not staged yet. It ends when a pass over all mailboxes finds nothing new.
 * @returns the messages that the source lists and, asked again, does not hand out.
 * @throws {MailError} what stopped it, {@link Stopped} after an abort
 */
export async function gatherMail(gathering: Gathering): Promise<readonly Skipped[]> {
  const stager = await openStager(gathering);
  let listings: readonly MailboxListing[] = [];
  for (let pass = 1; pass <= PASSES; pass += 1) {
    const before = stager.count();
    listings = await listAll(gathering, stager);
    const batches = listings.flatMap((listing) => [...batchesOf(listing, gathering.limits)]);
    await workThrough(batches, {
      ...gathering,
      size: gathering.connections,
      moved: () => stager.count(),
      open: gathering.openReader,
      work: (batch, reader) => stager.take(batch, reader),
    });
    if (stager.count() === before) break;
  }
  return listings.flatMap((listing) =>
    listing.wanted
      .filter(({ uid }) => !listing.taken.has(uid))
      .map((wanted) => skippedOf(listing.opened.mailbox, wanted.size)),
  );
}

function skippedOf({ path }: Mailbox, size: number): Skipped {
  const reason =
    size > MESSAGE_SIZE_LIMIT
      ? 'This message is too large to be exported. It is still in your mailbox.'
      : 'The mail server lists this message and does not hand it out. It is still in your mailbox.';
  return { mailbox: path, reason };
}

/** What of each mailbox is not staged yet, by a fresh listing. */
async function listAll({ ledger, openReader, pause, signal }: Gathering, stager: Stager): Promise<MailboxListing[]> {
  const listings = new Map<string, MailboxListing>();
  let total = 0;
  await workThrough([0], {
    size: 1,
    pause,
    signal,
    moved: () => listings.size,
    open: openReader,
    work: async (_, reader) => {
      listings.clear();
      total = 0;
      for (const mailbox of await reader.mailboxes()) {
        const opened = await reader.open(mailbox);
        total += opened.exists;
        listings.set(mailbox.path, await listingOf(opened, reader, ledger));
      }
    },
  });
  stager.expect(total);
  return [...listings.values()];
}

async function listingOf(opened: OpenedMailbox, reader: MailReader, ledger: StagedMessages): Promise<MailboxListing> {
  const mailboxId = await ledger.mailbox(opened.mailbox);
  const { uids, highest, older } = await ledger.staged(mailboxId, opened.uidValidity);
  const wanted = new Map<number, { uid: number; size: number }>();
  for await (const { uid, size } of reader.list(opened.mailbox)) if (!uids.has(uid)) wanted.set(uid, { uid, size });
  return { opened, mailboxId, highest, claims: older > 0, wanted: [...wanted.values()], taken: new Set() };
}

/** A message larger than a whole batch is one by itself. */
function* batchesOf(listing: MailboxListing, { batchOctets, batchMessages }: ExportLimits) {
  let [uids, octets]: [number[], number] = [[], 0];
  for (const { uid, size } of listing.wanted) {
    if (size > MESSAGE_SIZE_LIMIT) continue;
    if (uids.length > 0 && (octets + size > batchOctets || uids.length === batchMessages)) {
      yield { listing, uids, octets };
      [uids, octets] = [[], 0];
    }
    uids.push(uid);
    octets += size;
  }
  if (uids.length > 0) yield { listing, uids, octets };
}
