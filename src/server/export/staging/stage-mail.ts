import type { Clock } from '../../clock.ts';
import type { CopySource, Waits } from '../../mail/copy/run/mail-copy.ts';
import { readAnother, type Sized } from '../../mail/copy/troubles/another-message.ts';
import {
  isReadable,
  isSentAwayOften,
  notingBreaks,
  openFaults,
  readableOf,
  sourcePlace,
  type Faults,
} from '../../mail/copy/troubles/breaks.ts';
import { HangsUp, notingHangUps, type Openings } from '../../mail/copy/troubles/hang-ups.ts';
import { isTroubled, unlessInTrouble } from '../../mail/copy/troubles/troubles.ts';
import { MailError, unlessRefused } from '../../mail/imap/mail-error.ts';
import type { Mailbox } from '../../mail/imap/mailbox.ts';
import type { MailReader } from '../../mail/imap/streams.ts';
import { Stopped } from '../../stopped.ts';
import { requireRoom } from '../disk/disk-room.ts';
import { arrive, type Arrived } from './arrival.ts';
import type { ExportLimits } from './export-limits.ts';
import type { MailFormat } from './mail-format.ts';
import { openPartFilling, type Parts } from './part-filling.ts';
import type { Segments } from './segments.ts';
import type { StagedMessages } from './staged-messages.ts';
import type { StagedMessage } from './staged.ts';
import type { SummedWriter } from './summed-writer.ts';

export type ExportProgress = { readonly done: number; readonly total: number; readonly bytes: number };

export type Gathering = Parts &
  Waits & {
    readonly ledger: StagedMessages;
    readonly source: CopySource;
    readonly clock: Clock;
    readonly format: MailFormat;
    readonly limits: ExportLimits;
    /** Where the spool is, to check the room on its disk. */
    readonly folder: string;
    readonly signal: AbortSignal;
    readonly segments: Segments;
    readonly onProgress: (progress: ExportProgress) => void;
  };

/** A mailbox as listed: which messages are wanted, and which of them have arrived. */
export type MailboxListing = {
  readonly mailbox: Mailbox;
  readonly uidValidity: bigint;
  readonly exists: number;
  /** Messages that it counts but does not list. */
  readonly unlisted: number;
  readonly mailboxId: number;
  /** The last number given. */
  highest: number;
  /** Whether messages are staged under this UIDVALIDITY. */
  readonly hasStaged: boolean;
  /** Whether messages are staged under an older UIDVALIDITY that may be the same ones. */
  readonly claims: boolean;
  readonly wanted: readonly Sized[];
  /** One that was staged before. */
  readonly staged?: Sized | undefined;
  readonly taken: Set<number>;
};

export type Batch = { readonly listing: MailboxListing; readonly uids: readonly number[]; readonly octets: number };

function* stagedIn({ staged, wanted, taken }: MailboxListing): Iterable<Sized> {
  if (staged !== undefined) yield staged;
  for (const message of wanted) if (taken.has(message.uid)) yield message;
}

/** Takes messages from the readers to the disk and into the ledger; several readers may deliver at once. */
export type Stager = {
  /** Stages those of the batch that are not staged yet. Can be repeated at any time after any failure. */
  take(batch: Batch, reader: MailReader): Promise<void>;
  /** Sets how many messages the source has now. */
  expect(total: number): void;
  count(): number;
  /** Grows with each message that is staged or given up. */
  moved(): number;
  /** The faults of the source's messages and mailboxes, in this run. */
  readonly faults: Openings & Faults;
  /** Why mailboxes were left in this run, by their paths: the server dropped the connection. */
  readonly hangUps: Map<string, HangsUp>;
};

export async function openStager(gathering: Gathering): Promise<Stager> {
  const { ledger, limits, signal } = gathering;
  const totals = await ledger.totals();
  const { messages, octets } = totals;
  const state = { messages, octets, expected: messages, givenUp: 0 };
  const open = new WeakMap<MailReader, MailboxListing>();
  const begin = openPartFilling(gathering, { octets: totals.openOctets, messages: totals.openMessages });
  const hangUps = new Map<string, HangsUp>();
  const looked = () => {
    state.givenUp += 1;
  };
  const faults: Openings & Faults = {
    ...openFaults(),
    looked,
    opened: { source: new Set(), destination: new Set() },
    // Those that were opened are known by then.
    sourcePaths: () => [],
    destinationPaths: () => [],
  };

  const tell = () => gathering.onProgress({ done: state.messages, total: state.expected, bytes: state.octets });

  async function record(listing: MailboxListing, arrived: readonly Arrived[], writer: SummedWriter): Promise<void> {
    if (arrived.length === 0) return;
    await writer.sync();
    const staged: StagedMessage[] = [];
    for (const message of arrived) {
      const row = await numbered(message, listing, ledger);
      if (row === null) listing.taken.add(message.uid);
      else staged.push(row);
    }
    if (staged.length === 0) return;
    await ledger.record(listing.mailboxId, listing.uidValidity, staged);
    for (const { uid } of staged) listing.taken.add(uid);
    state.messages += staged.length;
    state.octets += staged.reduce((sum, { size }) => sum + size, 0);
    state.expected = Math.max(state.expected, state.messages);
    tell();
  }

  async function fetch(listing: MailboxListing, uids: readonly number[], reader: MailReader): Promise<void> {
    if (uids.length === 0) return;
    const seen = new Set<number>();
    const place = sourcePlace(reader, listing.mailbox.path, listing.uidValidity);
    await gathering.segments.use(async (writer) => {
      const arrived: Arrived[] = [];
      try {
        const noting = notingBreaks(reader.fetch(place.path, uids), uids, place, faults, { isAskedAgain: true });
        for await (const message of noting) {
          if (signal.aborted) throw new Stopped('The export was asked to stop.');
          if (seen.has(message.uid)) continue;
          seen.add(message.uid);
          arrived.push(await arrive(message, writer, gathering.format));
        }
      } catch (error) {
        if (!(error instanceof MailError) && !(error instanceof Stopped)) throw error;
        // Keep what has arrived completely.
        await record(listing, arrived, writer);
        throw error;
      }
      await record(listing, arrived, writer);
    });
  }

  async function takeInto({ listing, uids, octets }: Batch, reader: MailReader): Promise<void> {
    await requireRoom(gathering.folder, limits.diskReserve + octets);
    if (open.get(reader) !== listing) {
      const { path } = listing.mailbox;
      const ask = () => unlessRefused(notingHangUps('source', path, reader, faults, () => reader.open(path)));
      const opened = await unlessInTrouble(ask, 'taken from', path, faults, (error) => {
        if (error instanceof HangsUp) hangUps.set(path, error);
      });
      // The next pass lists it again, or finds it gone.
      if (opened?.uidValidity !== listing.uidValidity) return;
      open.set(reader, listing);
      hangUps.delete(path);
    }
    const wanted = uids.filter((uid) => !listing.taken.has(uid));
    const place = sourcePlace(reader, listing.mailbox.path, listing.uidValidity);
    const { together, alone } = readableOf(place, wanted, faults);
    const readAnotherThan = async (uid: number) => {
      const size = listing.wanted.find((message) => message.uid === uid)?.size ?? 0;
      await readAnother(place, { uid, size }, stagedIn(listing), faults);
    };
    const [first] = together;
    if (first !== undefined && isSentAwayOften('source', faults)) await readAnotherThan(first);
    await fetch(listing, together, reader);
    for (const uid of alone) {
      try {
        await readAnotherThan(uid);
        await fetch(listing, [uid], reader);
      } catch (error) {
        // It is reported at the end; the connection has ended, and the next batch opens another one.
        if (isReadable(place, uid, faults) || uid !== alone.at(-1)) throw error;
      }
    }
  }

  return {
    take: async (batch, reader) => {
      if (signal.aborted) throw new Stopped('The export was asked to stop.');
      const ended = await begin({ octets: batch.octets, messages: batch.uids.length });
      try {
        await takeInto(batch, reader);
      } catch (error) {
        // The next pass asks for it again.
        if (!isTroubled(error, batch.listing.mailbox.path, faults)) throw error;
      } finally {
        ended();
      }
    },
    expect: (total) => {
      state.expected = Math.max(state.expected, total);
      tell();
    },
    count: () => state.messages,
    moved: () => state.messages + state.givenUp,
    faults,
    hangUps,
  };
}

/** `null` if it is already staged under another number. */
async function numbered(
  { sum, label, ...arrived }: Arrived,
  listing: MailboxListing,
  ledger: StagedMessages,
): Promise<StagedMessage | null> {
  const { sha256, crc32 } = await sum;
  const { uid } = arrived;
  if (listing.claims && (await ledger.claim(listing.mailboxId, listing.uidValidity, { uid, sha256 }))) return null;
  listing.highest += 1;
  return { ...arrived, number: listing.highest, label: label(listing.highest), sha256, crc32 };
}
