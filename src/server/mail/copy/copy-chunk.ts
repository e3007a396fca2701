import type { Intent, Ledger, LedgerMailbox, PendingMessage, StoredMessage } from './ledger.ts';
import { MESSAGE_SIZE_LIMIT } from '../imap/connection.ts';
import type { Gate } from './gate.ts';
import { MailError } from '../imap/mail-error.ts';
import { sentDateOf, subjectOf } from './message-text.ts';
import type { Mailbox, MailReader, Message } from '../imap/message.ts';
import { findAppended, sameSecond, sha256 } from './recovery.ts';
import type { Appended, MailWriter, RefusalReason, SelectedMailbox } from '../imap/writer.ts';

/** So many refusals in a row that the server does not explain are no longer about single messages (Exchange hangs up at 10). */
const REFUSALS_IN_A_ROW = 8;
/** For messages that have no date at all; the first second is refused by some servers. */
const NO_DATE = new Date(86_400_000);

/** The moments between which a worker can die; `onStep` sees each of them. */
export type Step = 'intent committed' | 'appended' | 'outcome committed' | 'recovered';
export type StepListener = (
  step: Step,
  message: { readonly mailbox: string; readonly uid: number },
) => void | Promise<void>;

/** Some messages of one mailbox, to be copied by one worker. */
export type Chunk = { readonly mailbox: LedgerMailbox; readonly source: Mailbox; readonly uids: readonly number[] };

/** What the workers of one transfer share. */
export type Copying = {
  readonly ledger: Ledger;
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly onStep: StepListener;
  /** A message's fate is settled; `bytes` is 0 unless it was stored. */
  readonly onSettled: (bytes: number) => void;
  /** What an older UIDVALIDITY of a source mailbox has at the destination already, by digest. */
  readonly earlier: ReadonlyMap<string, EarlierMessage[]>;
  refusalsInARow: number;
};
export type EarlierMessage = StoredMessage & { readonly mailboxId: number };

/** The work was asked to end; what is done is done, the rest waits. */
export class Stopped extends Error {
  override name = 'Stopped';
}

/** Copies what of the chunk is not settled yet. Can be repeated at any time after any failure. */
export async function copyChunk(chunk: Chunk, reader: MailReader, writer: MailWriter, copying: Copying): Promise<void> {
  const { ledger } = copying;
  const { mailbox, source } = chunk;
  const todo: number[] = [];
  for (const pending of await ledger.pending(mailbox.id, chunk.uids)) {
    if (await recovered(pending, mailbox, writer, copying)) continue;
    if (pending.size > MESSAGE_SIZE_LIMIT) await refuse(copying, mailbox, pending.uid, 'too large');
    else todo.push(pending.uid);
  }
  if (todo.length === 0) return;
  const opened = await reader.open(source);
  if (opened.uidValidity !== mailbox.sourceUidValidity)
    throw new MailError('lost', 'The UIDVALIDITY of the source mailbox has changed.');
  const unseen = new Set(todo);
  const copyFrom = async (uids: readonly number[]) => {
    const state = { selected: await selectOrCreate(writer, mailbox.destinationPath), settled: Promise.resolve() };
    await ledger.noteDestination(mailbox.id, state.selected);
    for await (const message of reader.fetch(source, uids)) {
      if (copying.signal.aborted) throw new Stopped('The copy was asked to stop.');
      unseen.delete(message.uid);
      await copyMessage(message, mailbox, writer, copying, state);
    }
    await state.settled;
  };
  await copyFrom(todo);
  // Yahoo leaves a body out now and then: ask for each once more, alone.
  for (const uid of unseen) await copyFrom([uid]);
  if (unseen.size > 0) await settleUnseen(unseen, chunk, reader, copying);
}

/**
 * Settles what waits under a mailbox or UIDVALIDITY that the source no longer has: what may have been appended is looked
 * for; the rest is gone, or is listed anew somewhere else.
 */
export async function settleAbandoned(
  mailbox: LedgerMailbox,
  writer: MailWriter,
  copying: Omit<Copying, 'earlier'>,
): Promise<void> {
  for (const pending of await copying.ledger.pending(mailbox.id)) {
    if (await recovered(pending, mailbox, writer, copying)) continue;
    await copying.ledger.settle(mailbox.id, pending.uid, { state: 'gone' });
    copying.onSettled(0);
  }
}

/** Those that never came: deleted at the source meanwhile, or there but unreadable. */
async function settleUnseen(unseen: Set<number>, chunk: Chunk, reader: MailReader, copying: Copying): Promise<void> {
  const { mailbox, source } = chunk;
  const there = new Set<number>();
  await reader.open(source);
  for await (const listed of reader.list(source)) if (unseen.has(listed.uid)) there.add(listed.uid);
  for (const uid of unseen) {
    if (there.has(uid)) await refuse(copying, mailbox, uid, 'unreadable');
    else {
      await copying.ledger.settle(mailbox.id, uid, { state: 'gone' });
      copying.onSettled(0);
    }
  }
}

/** Whether the message of an open intent turned out to be at the destination. */
async function recovered(
  { uid, intent }: PendingMessage,
  mailbox: LedgerMailbox,
  writer: MailWriter,
  copying: Omit<Copying, 'earlier'>,
): Promise<boolean> {
  if (intent === undefined) return false;
  return copying.gate.alone(async () => {
    const found = await find(writer, mailbox, intent, copying.ledger);
    if (found === null) return false;
    await copying.ledger.settle(mailbox.id, uid, { state: 'done', ...found });
    await copying.onStep('recovered', { mailbox: mailbox.sourcePath, uid });
    copying.onSettled(intent.size);
    return true;
  });
}

async function find(writer: MailWriter, mailbox: LedgerMailbox, intent: Intent, ledger: Ledger) {
  await ledger.drained();
  const { uidValidity } = await selectOrCreate(writer, mailbox.destinationPath);
  const claimed = await ledger.claimed(mailbox.destinationPath, uidValidity);
  return findAppended(writer, mailbox.destinationPath, intent, claimed);
}

/** `settled` is the outcome of the message before, which is committed together with the next intent. */
type CopyState = { selected: SelectedMailbox; settled: Promise<void> };

async function copyMessage(
  message: Message,
  mailbox: LedgerMailbox,
  writer: MailWriter,
  copying: Copying,
  state: CopyState,
): Promise<void> {
  const { ledger, gate, onStep } = copying;
  const { uid, bytes } = message;
  const step = { mailbox: mailbox.sourcePath, uid };
  const intent = intentOf(message, state.selected);
  const known = takeEarlier(copying, mailbox, intent);
  if (known !== undefined) return adopt(known, intent, mailbox, uid, copying);
  await Promise.all([state.settled, ledger.intend(mailbox.id, uid, intent)]);
  await onStep('intent committed', step);
  const settle = (outcome: Parameters<Ledger['settle']>[2], size: number) => {
    state.settled = (async () => {
      await ledger.settle(mailbox.id, uid, outcome);
      copying.onSettled(size);
      await onStep('outcome committed', step);
    })();
    // It is awaited with the next message; until then a failure must not count as nobody's.
    state.settled.catch(() => {});
  };
  const appended = await gate.pass(async () => {
    const answer = await writer.append(mailbox.destinationPath, {
      bytes,
      flags: intent.flags,
      internalDate: intent.internalDate,
    });
    await onStep('appended', step);
    if (answer.kind === 'stored' && answer.uid !== undefined)
      settle({ state: 'done', uid: answer.uid, uidValidity: answer.uidValidity ?? intent.uidValidity }, bytes.length);
    return answer;
  });
  if (appended.kind === 'refused') {
    countRefusal(copying, appended);
    settle({ state: 'refused', reason: appended.reason, ...subject(bytes) }, 0);
    return;
  }
  copying.refusalsInARow = 0;
  if (appended.uid !== undefined) return;
  // No APPENDUID (RFC 4315): look where it went, so that the ledger can claim it.
  const found = await gate.alone(() => find(writer, mailbox, intent, ledger));
  if (found === null) throw new MailError('lost', 'The server took a message that it does not show.');
  settle({ state: 'done', ...found }, bytes.length);
  state.selected = await writer.select(mailbox.destinationPath);
}

function intentOf(message: Message, selected: SelectedMailbox): Intent {
  const { bytes, flags, internalDate } = message;
  return {
    size: bytes.length,
    sha256: sha256(bytes),
    internalDate: Number.isNaN(internalDate.getTime()) ? (sentDateOf(bytes) ?? NO_DATE) : internalDate,
    flags: selected.keeps(flags),
    uidValidity: selected.uidValidity,
    uidNext: selected.uidNext,
  };
}

/** After a new UIDVALIDITY at the source, messages are known by their octets and date; each old one stands for one new one. */
function takeEarlier(copying: Copying, mailbox: LedgerMailbox, intent: Intent): EarlierMessage | undefined {
  const same = copying.earlier.get(`${mailbox.destinationPath}\n${intent.sha256}`);
  const index = same?.findIndex((each) => sameSecond(each.internalDate, intent.internalDate)) ?? -1;
  return index < 0 ? undefined : same?.splice(index, 1)[0];
}

async function adopt(
  known: EarlierMessage,
  intent: Intent,
  mailbox: LedgerMailbox,
  uid: number,
  { ledger, onSettled }: Copying,
): Promise<void> {
  const uidValidity = known.destinationUidValidity;
  await ledger.intend(mailbox.id, uid, { ...intent, uidValidity, uidNext: known.destinationUid });
  await ledger.supersede(known.mailboxId, known.uid);
  await ledger.settle(mailbox.id, uid, { state: 'done', uid: known.destinationUid, uidValidity });
  onSettled(intent.size);
}

async function refuse(copying: Copying, mailbox: LedgerMailbox, uid: number, reason: RefusalReason): Promise<void> {
  await copying.ledger.settle(mailbox.id, uid, { state: 'refused', reason });
  copying.onSettled(0);
}

function countRefusal(copying: Copying, { reason }: Extract<Appended, { kind: 'refused' }>): void {
  if (reason !== 'not accepted') return;
  copying.refusalsInARow += 1;
  if (copying.refusalsInARow >= REFUSALS_IN_A_ROW)
    throw new MailError('refused', `The destination refused ${REFUSALS_IN_A_ROW} messages in a row.`);
}

function subject(bytes: Buffer): { subject?: string } {
  const text = subjectOf(bytes);
  return text === undefined ? {} : { subject: text };
}

/** Makes the mailbox when it is missing: deleted at the destination meanwhile, or not there yet. */
async function selectOrCreate(writer: MailWriter, path: string): Promise<SelectedMailbox> {
  try {
    return await writer.select(path);
  } catch (error) {
    if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
    await writer.create(path);
    return writer.select(path);
  }
}
