import { MailError } from '../../imap/mail-error.ts';
import type { Planned } from '../ledger/ledger.ts';
import { AT_DESTINATION, type KnownRows } from '../looking/known-rows.ts';
import type { Listing } from '../looking/listing.ts';
import { reopen } from '../mailboxes/both-mailboxes.ts';
import type { Run, Session } from '../run/run.ts';
import { readAnother } from '../troubles/another-message.ts';
import { sourcePlace } from '../troubles/breaks.ts';
import type { Sending } from './settling.ts';

/** A mailbox of the source as it was listed, and what is known of it. */
type Listed = Pick<Listing, 'messages'> & { readonly known: Pick<KnownRows, 'settled' | 'refused'> };

/**
 * Reads another message of the source, as {@link readAnother}; if none of this mailbox has been read before, one of
 * another mailbox.
 * @param message that is read next
 */
export async function readAnyOther(
  message: Planned,
  listed: Listed,
  { reader }: Pick<Session, 'reader'>,
  { mailbox: { sourcePath, sourceUidValidity }, run }: Pick<Sending, 'mailbox' | 'run'>,
): Promise<void> {
  if (await readAnother(sourcePlace(reader, sourcePath, sourceUidValidity), message, readIn(listed), run)) return;
  for (const { id, ...other } of [...run.known.values()].flat()) {
    const failed = `another one of ${other.sourcePath}`;
    if (other.sourcePath === sourcePath || run.faults(failed) > 0) continue;
    const place = sourcePlace(reader, other.sourcePath, other.sourceUidValidity);
    const isDone = await readAnother(place, message, someStored(id, run), run).catch((error: unknown) => {
      // Trouble of that mailbox tells nothing of this one.
      run.noteFault(failed);
      if (reader.isOver || !(error instanceof MailError)) throw error;
      return false;
    });
    if (isDone) break;
  }
  await reopen(reader, sourcePath, sourceUidValidity, run);
}

function* readIn({ messages, known: { settled, refused } }: Listed): Iterable<Planned> {
  for (const message of messages) if (settled.has(message.uid) && !refused.has(message.uid)) yield message;
}

/** What was stored of another mailbox; of a large one, some. */
async function* someStored(mailboxId: number, { copy }: Run): AsyncIterable<Planned> {
  for await (const page of copy.ledger.rows(mailboxId)) {
    for (const row of page) if (AT_DESTINATION.has(row.fate)) yield row;
    return;
  }
}
