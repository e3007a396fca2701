import { createHash } from 'node:crypto';
import type { Intent } from './ledger.ts';
import type { ListedMessage } from '../imap/message.ts';
import type { MailWriter } from '../imap/writer.ts';

/** With more unclaimed messages than this, only those of the right size are read. */
const READ_ANYWAY = 200;

/**
 * Looks for a message that may have been appended without our knowing: among those that came to the mailbox since the
 * intent was noted and that nothing else claims, the one with its octets.
 * @returns its UID, or `null` when it is not there
 */
export async function findAppended(
  writer: MailWriter,
  path: string,
  intent: Intent,
  claimed: ReadonlySet<number>,
): Promise<{ uid: number; uidValidity: bigint } | null> {
  const mailbox = await writer.select(path);
  // Another UIDVALIDITY: the noted UID means nothing any more, the message can be anywhere.
  const from = mailbox.uidValidity === intent.uidValidity ? intent.uidNext : 1;
  const candidates: ListedMessage[] = [];
  for await (const listed of writer.list(path, from)) if (!claimed.has(listed.uid)) candidates.push(listed);
  for (const candidate of likeliestFirst(candidates, intent))
    for await (const message of writer.fetch(path, [candidate.uid]))
      if (sha256(message.bytes) === intent.sha256) return { uid: message.uid, uidValidity: mailbox.uidValidity };
  return null;
}

/** Some servers round RFC822.SIZE, and some ignore the internal date, so neither alone rules a message out. */
function likeliestFirst(candidates: readonly ListedMessage[], intent: Intent): ListedMessage[] {
  const score = (listed: ListedMessage) =>
    (listed.size === intent.size ? 2 : 0) + (sameSecond(listed.internalDate, intent.internalDate) ? 1 : 0);
  const possible =
    candidates.length > READ_ANYWAY ? candidates.filter((listed) => listed.size === intent.size) : candidates;
  return possible.toSorted((a, b) => score(b) - score(a) || a.uid - b.uid);
}

/** Internal dates have whole seconds on the wire. */
export function sameSecond(a: Date, b: Date): boolean {
  return Math.floor(a.getTime() / 1000) === Math.floor(b.getTime() / 1000);
}

/** Hex. */
export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
