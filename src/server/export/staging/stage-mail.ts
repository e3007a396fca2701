import { createHash } from 'node:crypto';
import { MailError } from '../../mail/imap/mail-error.ts';
import { Stopped } from '../../mail/copy/lanes.ts';
import type { MailReader, Message, OpenedMailbox } from '../../mail/imap/message.ts';
import { requireRoom } from './disk-full.ts';
import type { StagedMessage, StagedMessages } from './staged-messages.ts';
import { lineEndsOf } from '../archive/mbox.ts';
import type { Spool, SpoolWriter } from './spool.ts';
import type { Pause } from '../../mail/copy/connection-pool.ts';
import type { MailFormat } from '../archive/mail-format.ts';
import type { ExportLimits } from './export-limits.ts';

export type ExportProgress = { readonly done: number; readonly total: number; readonly bytes: number };

export type Gathering = {
  readonly ledger: StagedMessages;
  readonly openReader: () => Promise<MailReader>;
  readonly connections: number;
  readonly pause: Pause;
  readonly format: MailFormat;
  readonly limits: ExportLimits;
  /** Where the spool is, for a look at the room on its disk. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly spool: Spool;
  /** Seals what is staged and writes it; messages may be staged meanwhile, for the next part. */
  readonly onPartFull: () => Promise<void>;
  readonly onProgress: (progress: ExportProgress) => void;
};

/** A mailbox as it was listed: what is wanted of it, and what of that has come. */
export type MailboxListing = {
  readonly opened: OpenedMailbox;
  readonly mailboxId: number;
  /** The number that was given last. */
  highest: number;
  /** Whether something is staged under an older UIDVALIDITY that may be the same messages. */
  readonly claims: boolean;
  readonly wanted: readonly { readonly uid: number; readonly size: number }[];
  readonly taken: Set<number>;
};

export type Batch = { readonly listing: MailboxListing; readonly uids: readonly number[]; readonly octets: number };

/** Where messages come from the readers and go to the disk and into the ledger; several readers may bring some at once. */
export type Stager = {
  /** Stages what of the batch is not staged yet. Can be repeated at any time after any failure. */
  take(batch: Batch, reader: MailReader): Promise<void>;
  /** The source has so many messages now. */
  expect(total: number): void;
  count(): number;
};

/** The times that an archive, a database and an ISO string all can hold. */
const [EARLIEST, LATEST] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z')];

export async function openStager(gathering: Gathering): Promise<Stager> {
  const { ledger, limits, signal } = gathering;
  const totals = await ledger.totals();
  const state = { ...totals, expected: totals.messages };
  const open = new WeakMap<MailReader, MailboxListing>();
  let parts = Promise.resolve();

  const tell = () => gathering.onProgress({ done: state.messages, total: state.expected, bytes: state.octets });

  /** Counts the batch into the part that is being gathered, or into the next one when it does not fit. */
  async function countIn({ octets, uids }: Batch, before: Promise<void>): Promise<void> {
    await before;
    const most = Math.min(limits.partMessages, gathering.format.partMessages);
    const fits = state.openOctets + octets <= limits.partOctets && state.openMessages + uids.length <= most;
    if (state.openMessages > 0 && !fits) {
      await gathering.spool.rotate();
      await gathering.onPartFull();
      state.openOctets = 0;
      state.openMessages = 0;
    }
    state.openOctets += octets;
    state.openMessages += uids.length;
  }

  function makeRoomInPart(batch: Batch): Promise<void> {
    // When a part can't be written, nobody goes on; each who waits is told.
    parts = countIn(batch, parts);
    return parts;
  }

  async function stage(message: Message, listing: MailboxListing, writer: SpoolWriter): Promise<StagedMessage | null> {
    const { uid, bytes, flags } = message;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (listing.claims && (await ledger.claim(listing.mailboxId, listing.opened.uidValidity, { uid, sha256 })))
      return null;
    listing.highest += 1;
    const number = listing.highest;
    const internalDate = clamped(message.internalDate);
    return {
      number,
      uid,
      size: bytes.length,
      sha256,
      internalDate,
      flags,
      lineEnds: lineEndsOf(bytes),
      label: gathering.format.label({ ...message, internalDate }, number),
      ...(await writer.append(bytes)),
    };
  }

  async function record(listing: MailboxListing, staged: readonly StagedMessage[], writer: SpoolWriter): Promise<void> {
    if (staged.length === 0) return;
    await writer.sync();
    await ledger.record(listing.mailboxId, listing.opened.uidValidity, staged);
    for (const { uid } of staged) listing.taken.add(uid);
    state.messages += staged.length;
    state.octets += staged.reduce((sum, { size }) => sum + size, 0);
    state.expected = Math.max(state.expected, state.messages);
    tell();
  }

  async function fetch(listing: MailboxListing, uids: readonly number[], reader: MailReader): Promise<void> {
    const seen = new Set<number>();
    const refused = await gathering.spool.use(async (writer) => {
      const staged: StagedMessage[] = [];
      try {
        for await (const message of reader.fetch(listing.opened.mailbox, uids)) {
          if (signal.aborted) throw new Stopped('The export was asked to stop.');
          if (seen.has(message.uid)) continue;
          seen.add(message.uid);
          const row = await stage(message, listing, writer);
          if (row === null) listing.taken.add(message.uid);
          else staged.push(row);
        }
      } catch (error) {
        if (!(error instanceof MailError) && !(error instanceof Stopped)) throw error;
        await record(listing, staged, writer);
        if (error instanceof MailError && error.fault === 'refused') return true;
        throw error;
      }
      await record(listing, staged, writer);
      return false;
    });
    // One message that the server can't read must not keep back those around it.
    if (refused && uids.length > 1)
      for (const uid of uids) if (!listing.taken.has(uid)) await fetch(listing, [uid], reader);
  }

  return {
    take: async (batch, reader) => {
      const { listing } = batch;
      if (signal.aborted) throw new Stopped('The export was asked to stop.');
      await makeRoomInPart(batch);
      await requireRoom(gathering.folder, limits.diskReserve + batch.octets);
      if (open.get(reader) !== listing) {
        const { uidValidity } = await reader.open(listing.opened.mailbox);
        // The next pass lists it anew.
        if (uidValidity !== listing.opened.uidValidity) return;
        open.set(reader, listing);
      }
      await fetch(
        listing,
        batch.uids.filter((uid) => !listing.taken.has(uid)),
        reader,
      );
    },
    expect: (total) => {
      state.expected = Math.max(state.expected, total);
      tell();
    },
    count: () => state.messages,
  };
}

function clamped(date: Date): Date {
  if (Number.isNaN(date.getTime())) return new Date(0);
  if (date < EARLIEST) return EARLIEST;
  return date > LATEST ? LATEST : date;
}
