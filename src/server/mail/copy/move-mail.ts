import { openGate } from './gate.ts';
import { compareListing, compareOctets, sum, type Rereading } from './comparison.ts';
import {
  copyChunk,
  settleAbandoned,
  type Chunk,
  type Copying,
  type EarlierMessage,
  type StepListener,
} from './copy-chunk.ts';
import { openForwarded, type Forwarded } from './forwarded.ts';
import { MailError } from '../imap/mail-error.ts';
import { mapMailboxes, type MappedMailbox } from './mapping.ts';
import type { MailReader } from '../imap/message.ts';
import type { MailWriter } from '../imap/writer.ts';
import type { Ledger, LedgerMailbox, LedgerProgress } from './ledger.ts';
import type { Measured } from '../../transfers/operations.ts';
import { workThrough, type Pause } from './connection-pool.ts';

const MESSAGES_A_CHUNK = 100;
/** Listings of the source until one shows nothing new; a mailbox that never rests must not keep the transfer from ending. */
const PASSES = 5;

export type MailMove = {
  readonly ledger: Ledger;
  readonly openReader: () => Promise<MailReader>;
  readonly openWriter: () => Promise<MailWriter>;
  /** Reads the destination, for the comparison. */
  readonly openChecker: () => Promise<MailReader>;
  /** How many connections towards each of the two accounts. */
  readonly connections: number;
  readonly signal: AbortSignal;
  readonly pause: Pause;
  readonly onStep: StepListener;
  readonly onProgress: (progress: LedgerProgress) => void;
  /** The keyword of source messages that were forwarded to this destination. */
  readonly forwardedMark: string;
};

/**
 * Copies an account's mail, from wherever an earlier run left it, until a listing shows nothing new.
 * @returns the mailboxes that are there now
 * @throws {MailError} what stopped it, {@link Stopped} after an abort, {@link LeaseLost}
 */
export async function copyWhatIsThere(move: MailMove): Promise<readonly LedgerMailbox[]> {
  const { ledger } = move;
  let progress = await ledger.progress();
  const tell = (change: Partial<LedgerProgress>) => {
    progress = { ...progress, ...change };
    move.onProgress(progress);
  };
  const copying: Omit<Copying, 'earlier'> = {
    ledger,
    gate: openGate(),
    signal: move.signal,
    onStep: move.onStep,
    onSettled: (bytes) => tell({ done: progress.done + 1, bytes: progress.bytes + bytes }),
    refusalsInARow: 0,
  };
  const forwarded = openForwarded(move.forwardedMark);
  let current: readonly LedgerMailbox[] = [];
  for (let pass = 1; pass <= PASSES; pass += 1) {
    const planned = await plan(move, copying, forwarded);
    current = planned.mailboxes;
    tell(await ledger.progress());
    if (planned.chunks.length === 0) break;
    await copyAll(planned.chunks, move, { ...copying, earlier: planned.earlier }, () => progress.done);
    await ledger.drained();
  }
  return current;
}

/** Copies what is there, and ends with the comparison of both sides. @throws as {@link copyWhatIsThere} */
export async function moveMail(move: MailMove): Promise<Measured> {
  const mailboxes = await copyWhatIsThere(move);
  const left = await move.ledger.progress();
  const measured = await compare(mailboxes, move);
  return { ...measured, lost: measured.lost + (left.total - left.done) };
}

type Plan = {
  readonly mailboxes: readonly LedgerMailbox[];
  readonly chunks: readonly Chunk[];
  readonly earlier: Map<string, EarlierMessage[]>;
};

/** Lists both sides, makes the missing mailboxes, and finds what is still to be done. */
async function plan(move: MailMove, copying: Omit<Copying, 'earlier'>, forwarded: Forwarded): Promise<Plan> {
  const { ledger } = move;
  const mailboxes: LedgerMailbox[] = [];
  const chunks: Chunk[] = [];
  await workThrough([0], {
    ...poolOf(move, 1),
    moved: () => chunks.length,
    open: () => openBoth(move),
    work: async (_, { reader, writer }) => {
      mailboxes.length = 0;
      chunks.length = 0;
      const known = new Map((await ledger.mailboxes()).map((each) => [each.sourcePath, each.destinationPath]));
      const mapping = mapMailboxes(await reader.mailboxes(), await writer.mailboxes(), writer.namespace, known);
      for (const each of mapping.mailboxes) {
        const mapped = each.create ? await createMapped(each, writer) : each;
        const mailbox = await listSource(mapped, { reader, writer }, ledger, copying, forwarded);
        await takeOver(mailbox, writer, ledger);
        mailboxes.push(mailbox);
        const uids = (await ledger.pending(mailbox.id)).map((pending) => pending.uid);
        for (let from = 0; from < uids.length; from += MESSAGES_A_CHUNK)
          chunks.push({ mailbox, source: mapped.source, uids: uids.slice(from, from + MESSAGES_A_CHUNK) });
      }
      const current = new Set(mailboxes.map((mailbox) => mailbox.id));
      for (const mailbox of await ledger.mailboxes())
        if (!current.has(mailbox.id)) await settleAbandoned(mailbox, writer, copying);
    },
  });
  return { mailboxes, chunks, earlier: await earlierMessages(ledger, mailboxes) };
}

/** Creates the destination; a server that refuses its name is asked for the plainer one. */
async function createMapped(mapped: MappedMailbox, writer: MailWriter): Promise<MappedMailbox> {
  try {
    await writer.create(mapped.destination);
    return mapped;
  } catch (error) {
    if (!(error instanceof MailError) || error.fault !== 'refused' || mapped.plainer === mapped.destination)
      throw error;
    await writer.create(mapped.plainer);
    return { ...mapped, destination: mapped.plainer };
  }
}

async function listSource(
  mapped: MappedMailbox,
  { reader, writer }: { readonly reader: MailReader; readonly writer: MailWriter },
  ledger: Ledger,
  copying: Omit<Copying, 'earlier'>,
  forwarded: Forwarded,
): Promise<LedgerMailbox> {
  const { uidValidity } = await reader.open(mapped.source);
  const mailbox = await ledger.addMailbox({
    sourcePath: mapped.source.path,
    sourceUidValidity: uidValidity,
    destinationPath: mapped.destination,
  });
  const listed = new Set<number>();
  const messages = [];
  for await (const message of reader.list(mapped.source)) {
    listed.add(message.uid);
    messages.push(message);
  }
  await ledger.addListed(mailbox.id, await forwarded.toCopy(mapped.source, messages, reader, writer));
  // Deleted at the source before it was read. One that may have been appended is looked for all the same.
  for (const pending of await ledger.pending(mailbox.id))
    if (!listed.has(pending.uid) && pending.intent === undefined) {
      await ledger.settle(mailbox.id, pending.uid, { state: 'gone' });
      copying.onSettled(0);
    }
  return mailbox;
}

/** What an earlier transfer has brought, and the subscriber has not deleted since, is there already. */
async function takeOver(mailbox: LedgerMailbox, writer: MailWriter, ledger: Ledger): Promise<void> {
  const { uidValidity } = await writer.select(mailbox.destinationPath);
  const known = await ledger.known(mailbox.id, uidValidity);
  if (known.length === 0) return;
  const there = new Set<number | null>([null]);
  for await (const listed of writer.list(mailbox.destinationPath, 1)) there.add(listed.uid);
  const kept = known.filter((message) => there.has(message.destinationUid)).map((message) => message.uid);
  if (kept.length > 0) await ledger.adopt(mailbox.id, uidValidity, kept);
}

/** What was stored under UIDVALIDITYs that the source no longer has. */
async function earlierMessages(
  ledger: Ledger,
  current: readonly LedgerMailbox[],
): Promise<Map<string, EarlierMessage[]>> {
  const earlier = new Map<string, EarlierMessage[]>();
  const ids = new Set(current.map((mailbox) => mailbox.id));
  const paths = new Set(current.map((mailbox) => mailbox.sourcePath));
  for (const mailbox of await ledger.mailboxes()) {
    if (ids.has(mailbox.id) || !paths.has(mailbox.sourcePath)) continue;
    for await (const page of ledger.stored(mailbox.id))
      for (const message of page) {
        const key = `${mailbox.destinationPath}\n${message.sha256}`;
        earlier.set(key, [...(earlier.get(key) ?? []), { ...message, mailboxId: mailbox.id }]);
      }
  }
  return earlier;
}

async function copyAll(chunks: readonly Chunk[], move: MailMove, copying: Copying, moved: () => number): Promise<void> {
  await workThrough(chunks, {
    ...poolOf(move, move.connections),
    moved,
    open: () => openBoth(move),
    work: (chunk, { reader, writer }) => copyChunk(chunk, reader, writer, copying),
  });
}

/** A second listing of the destination, and its octets read again. */
async function compare(mailboxes: readonly LedgerMailbox[], move: MailMove): Promise<Measured> {
  const { ledger } = move;
  // The notes on the destination came with the first append, after `mailboxes` was made.
  const noted = new Map((await ledger.mailboxes()).map((each) => [each.id, each]));
  const results = new Map<unknown, Measured>();
  const rereadings: Rereading[] = [];
  const moved = () => results.size;
  await workThrough(mailboxes, {
    ...poolOf(move, 1),
    moved,
    open: async () => together(await move.openChecker(), await move.openWriter()),
    work: async (mailbox, { reader, writer }) => {
      const listed = await compareListing(noted.get(mailbox.id) ?? mailbox, ledger, reader, writer);
      results.set(mailbox, listed.measured);
      rereadings.push(...listed.rereadings);
    },
  });
  await workThrough(rereadings, {
    ...poolOf(move, move.connections),
    moved,
    open: move.openChecker,
    work: async (rereading, reader) => {
      results.set(rereading, await compareOctets(rereading, reader));
    },
  });
  return sum([...results.values()]);
}

function poolOf({ pause, signal }: MailMove, size: number) {
  return { size, pause, signal };
}

async function openBoth(move: MailMove) {
  const reader = await move.openReader();
  try {
    return together(reader, await move.openWriter());
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }
}

function together(reader: MailReader, writer: MailWriter) {
  return {
    reader,
    writer,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([reader[Symbol.asyncDispose](), writer[Symbol.asyncDispose]()]);
    },
  };
}
