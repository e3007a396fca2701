import { isBreak, MailError } from '../../imap/mail-error.ts';
import type { Fetched, NewMessage, Octets } from '../../imap/streams.ts';
import { unlabelled } from '../../imap/wire/flags.ts';
import type { Group, Planned } from '../ledger/ledger.ts';
import { digesting, END_OF_HEADER } from '../message/digest.ts';
import { HEADERS_LOOKED_AT, sentDateOf } from '../message/message-text.ts';
import { EARLIEST_DATE } from '../message/odd-dates.ts';
import { notingBreaks, sourcePlace } from '../troubles/breaks.ts';
import { type Sending, type Sent, subjectIn, type TooLarge } from './settling.ts';

const LINE_END = Buffer.from('\r\n');

/** `limit`: the largest message that the destination accepts, in octets. Messages are added to `sent` or `tooLarge`. */
type Passing = {
  readonly limit: number;
  readonly sent: Sent[];
  readonly tooLarge: TooLarge[];
  /** Called when reading from the source fails. */
  readonly onBroken: () => void;
};

/** Turns the messages of a group, as they arrive, into those to be appended. @throws {MailError} of the source */
export async function* newMessages(
  fetched: AsyncIterable<Fetched>,
  group: Group,
  sending: Sending,
  { limit, sent, tooLarge, onBroken }: Passing,
): AsyncIterable<NewMessage> {
  const { mailbox, run, session } = sending;
  const place = sourcePlace(session.reader, mailbox.sourcePath, mailbox.sourceUidValidity);
  const wanted = new Map(group.messages.map((message) => [message.uid, message]));
  try {
    const noting = notingBreaks(fetched, [...wanted.keys()], place, run, { onBroken, isAskedAgain: true });
    for await (const message of noting) {
      const planned = wanted.get(message.uid);
      if (planned === undefined) continue;
      wanted.delete(message.uid);
      const { isEnded = false } = planned;
      const size = message.size + (isEnded ? LINE_END.length : 0);
      if (size > limit) {
        const { head } = await headOf(message.octets);
        tooLarge.push({ ...message, ...subjectIn(head) });
        continue;
      }
      const dated = await withDate(message, planned);
      const { octets, hasBegun, digest } = digesting(dated.octets, { withMac: message.size >= run.copy.sizes.mac });
      let flags: readonly string[] = sending.selected.keeps(message.flags);
      for (let times = planned.unlabelled ?? 0; times > 0; times -= 1) flags = unlabelled(flags);
      let isReadAlone = false;
      sent.push({ message, flags, date: dated.date, isGiven: () => hasBegun() && !isReadAlone, digest });
      yield { size, flags, internalDate: dated.date, octets: isEnded ? withLineEnd(octets) : octets };
      // If the server refuses an append before any octet, the message is read all the same, for its digest.
      isReadAlone = !hasBegun();
      if (isReadAlone) for await (const _chunk of octets);
    }
  } catch (error) {
    onBroken();
    if (wanted.size === 0 || !isBreak(error)) throw error;
    const broken = new MailError('lost', 'The connection broke off at a message.', { cause: error });
    broken.account = 'source';
    throw broken;
  }
}

async function* withLineEnd(octets: Octets): Octets {
  yield* octets;
  yield LINE_END;
}

/** The date to append a message with: if the source gives no internal date, that of the Date header. */
async function withDate(
  { internalDate, octets }: Fetched,
  { date, isRedated = false }: Planned,
): Promise<{ readonly date: Date; readonly octets: Octets }> {
  if (isRedated && date !== null) return { date: new Date(date * 1000), octets };
  if (!Number.isNaN(internalDate.getTime())) return { date: internalDate, octets };
  const { head, all } = await headOf(octets);
  return { date: sentDateOf(head) ?? EARLIEST_DATE, octets: all };
}

/**
 * Reads a message until its whole header is there, however small the chunks are.
 * @returns that, and all octets again
 */
async function headOf(octets: Octets): Promise<{ readonly head: Buffer; readonly all: Octets }> {
  const iterator = octets[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < HEADERS_LOOKED_AT && !head.includes(END_OF_HEADER)) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  async function* all() {
    yield head;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
  }
  return { head, all: all() };
}
