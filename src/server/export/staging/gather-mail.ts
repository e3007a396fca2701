import type { Skipped } from '../../../contract/calls/status.ts';
import { workOf } from '../../mail/copy/lanes/lane-work.ts';
import { type Lanes, openLanes } from '../../mail/copy/lanes/lanes.ts';
import { wordsFor } from '../../mail/copy/ledger/reasons.ts';
import { listMailbox, type Listing } from '../../mail/copy/looking/listing.ts';
import { nearerTo, type Sized } from '../../mail/copy/troubles/another-message.ts';
import { leftByGoodbyes } from '../../mail/copy/troubles/breaks.ts';
import { HangsUp, notingHangUps } from '../../mail/copy/troubles/hang-ups.ts';
import { refusedForNow, troubledForNow, unlessTroubled } from '../../mail/copy/troubles/troubles.ts';
import { isBareRefusal, isRefusal, MailError } from '../../mail/imap/mail-error.ts';
import { personalPrefix, type Mailbox } from '../../mail/imap/mailbox.ts';
import type { MailControl, MailReader } from '../../mail/imap/streams.ts';
import type { ExportLimits } from './export-limits.ts';
import { followRenames, mayBeRenamed } from './followed-renames.ts';
import { openStager, type Gathering, type MailboxListing, type Stager } from './stage-mail.ts';
import type { StagedMessages } from './staged-messages.ts';

/** The largest message that is exported, in octets, as its server lists it. A copy has no such limit. */
const MESSAGE_SIZE_LIMIT = 256 * 1024 * 1024;
/** How often the mailboxes are gone through: again for what arrived meanwhile or was not handed out at first. */
const PASSES = 4;

type Found = {
  readonly listings: readonly MailboxListing[];
  readonly unreadable: readonly { readonly mailbox: Mailbox; readonly mayPass: boolean }[];
};

/**
 * Stages every message that is not staged yet. It ends when a pass over all mailboxes finds nothing new.
 * @returns what the source lists and, asked again, does not hand out.
 * @throws {MailError} what stopped it, or makes it wait for what may be refused for a while only; {@link Stopped} after
 *   an abort
 */
export async function gatherMail(gathering: Gathering): Promise<readonly Skipped[]> {
  const { source, clock, signal, limits } = gathering;
  const stager = await openStager(gathering);
  const shared = { clock, signal, moved: () => stager.moved() };
  await using controls = openLanes<MailControl>({ ...shared, size: 1, open: source.control });
  await using readers = openLanes<MailReader>({ ...shared, size: source.limits.connections, open: source.reader });
  let found: Found = { listings: [], unreadable: [] };
  for (let pass = 1; pass <= PASSES; pass += 1) {
    const before = stager.count();
    found = await listAll(await mailboxesBy(controls), readers, gathering, stager);
    unlessEmptied(found);
    stager.expect(found.listings.reduce((sum, { exists }) => sum + exists, 0));
    const batches = found.listings.flatMap((listing) => [...batchesOf(listing, limits)]);
    await readers.work(workOf(batches), (batch, reader) => stager.take(batch, reader));
    if (stager.count() === before) break;
  }
  const ofMessages = leftByGoodbyes(stager.faults, { source: source.limits.downADay });
  const lasting = ofMessages === 'all' ? ofMessages : (hangUpIn(found, stager) ?? ofMessages);
  const longer = lasting === null ? null : troubledForNow(gathering, lasting);
  const wait = longer ?? refusedForNow(gathering);
  if (wait !== null && mayComeLater(found)) throw wait;
  return skippedOf(found);
}

/**
 * As for a copy: an account without any mail, whose inbox has another UIDVALIDITY than what is staged of it, is what a
 * server shows whose disk is away.
 * @throws {MailError}
 */
function unlessEmptied({ listings, unreadable }: Found): void {
  const isEmpty = unreadable.length === 0 && listings.every(({ exists, hasStaged }) => exists === 0 && !hasStaged);
  if (isEmpty && listings.some(({ mailbox: { path }, claims }) => path === 'INBOX' && claims))
    throw new MailError('unreachable', 'All mailboxes that had mail are gone.').of('source');
}

function mayComeLater({ listings, unreadable }: Found): boolean {
  return unreadable.some(({ mayPass }) => mayPass) || listings.some(lacksSome);
}

/** Why a mailbox that lacks something was left, if the server dropped the connection at it. */
function hangUpIn({ listings, unreadable }: Found, { hangUps }: Stager): HangsUp | undefined {
  const left = [...unreadable, ...listings.filter(lacksSome)];
  return left.flatMap(({ mailbox: { path } }) => hangUps.get(path) ?? []).at(0);
}

function lacksSome({ wanted, taken }: MailboxListing): boolean {
  return wanted.some(({ uid, size }) => !taken.has(uid) && size <= MESSAGE_SIZE_LIMIT);
}

/** Whole mailboxes first: not all of a long list is kept. */
function skippedOf({ listings, unreadable }: Found): Skipped[] {
  return [
    ...unreadable.map(({ mailbox: { path } }) => ({ mailbox: path, reason: wordsFor('mailbox unreadable') })),
    ...listings
      .filter(({ unlisted }) => unlisted > 0)
      .map(({ mailbox: { path } }) => ({ mailbox: path, reason: wordsFor('mailbox not complete') })),
    ...listings.flatMap(({ mailbox: { path: mailbox }, wanted, taken }) =>
      wanted.filter(({ uid }) => !taken.has(uid)).map(({ size }) => ({ mailbox, reason: reasonFor(size) })),
    ),
  ];
}

function reasonFor(size: number): string {
  return size > MESSAGE_SIZE_LIMIT
    ? 'This message is too large to be exported. It is still in your mailbox.'
    : 'The mail server lists this message but does not hand it out. It is still in your mailbox.';
}

async function mailboxesBy(controls: Lanes<MailControl>): Promise<readonly Mailbox[]> {
  let mailboxes: readonly Mailbox[] = [];
  await controls.work(workOf([0]), async (_, control) => {
    mailboxes = await control.mailboxes();
  });
  // Closed, because its connection counts among those that the account allows.
  await controls[Symbol.asyncDispose]();
  return mailboxes;
}

/** What of each mailbox is not staged yet, by a fresh listing; in the order of the mailboxes. */
async function listAll(
  mailboxes: readonly Mailbox[],
  readers: Lanes<MailReader>,
  gathering: Gathering,
  { faults, hangUps }: Stager,
): Promise<Found> {
  const { ledger } = gathering;
  const listed = new Map<Mailbox, Listing | null>(mailboxes.map((mailbox) => [mailbox, null]));
  const passing = new Set<Mailbox>();
  const refused = new Set<Mailbox>();
  const inTrouble = new Set<Mailbox>();
  const leave = (mailbox: Mailbox) => (error: MailError) => {
    listed.set(mailbox, null);
    if (error instanceof HangsUp) hangUps.set(mailbox.path, error);
    if (!isRefusal(error) || isBareRefusal(error)) passing.add(mailbox);
    const { responseCode } = error;
    if (isRefusal(error)) refused.add(mailbox);
    else if (responseCode !== undefined) inTrouble.add(mailbox);
  };
  const openings = { ...faults, sourcePaths: () => mailboxes.map(({ path }) => path) };
  await readers.work(workOf(mailboxes), async (mailbox, reader) => {
    const { path } = mailbox;
    const listing = notingHangUps('source', path, reader, openings, () => listMailbox(reader, path));
    const there = await unlessTroubled(listing, path, faults, leave(mailbox));
    if (there !== null) listed.set(mailbox, there);
  });
  // What a server answers about all mailboxes is its own trouble.
  const open = mailboxes.filter((mailbox) => !refused.has(mailbox));
  const isOfAll = inTrouble.size > 0 && open.length > 1 && open.every((mailbox) => listed.get(mailbox) === null);
  const wait = isOfAll ? troubledForNow(gathering, 'all') : null;
  if (wait !== null) throw wait;
  if (await mayBeRenamed(listed, ledger))
    await readers.work(workOf([0]), (_, reader) => followRenames(listed, { ledger, reader, faults: openings, leave }));
  // Names are settled in the order of the mailboxes, whichever is listed first.
  const prefix = personalPrefix(mailboxes);
  const rows = new Map<Mailbox, number>();
  for (const mailbox of mailboxes) rows.set(mailbox, await ledger.mailbox(mailbox, prefix));
  const listings: MailboxListing[] = [];
  const unreadable: Found['unreadable'][number][] = [];
  for (const [mailbox, mailboxId] of rows) {
    const listing = listed.get(mailbox) ?? null;
    if (listing === null) unreadable.push({ mailbox, mayPass: passing.has(mailbox) });
    else listings.push(await wantedOf(mailbox, mailboxId, listing, ledger));
    // Frees memory: the listing of a large mailbox takes much.
    listed.delete(mailbox);
  }
  return { listings, unreadable };
}

async function wantedOf(
  mailbox: Mailbox,
  mailboxId: number,
  listing: Listing,
  ledger: StagedMessages,
): Promise<MailboxListing> {
  const { opened, messages, unlisted } = listing;
  const { uidValidity, exists } = opened;
  const { uids, highest, older } = await ledger.staged(mailboxId, uidValidity);
  const wanted = messages.filter(({ uid }) => !uids.has(uid)).map(({ uid, size }) => ({ uid, size }));
  const largest = wanted.reduce((most, { size }) => Math.max(most, size), 0);
  let staged: Sized | undefined;
  for (const message of messages) if (uids.has(message.uid)) staged = nearerTo(largest, staged, message);
  const [hasStaged, claims] = [uids.size > 0, older > 0];
  const known = { highest, hasStaged, claims, staged };
  return { mailbox, uidValidity, exists, unlisted, mailboxId, ...known, wanted, taken: new Set() };
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
