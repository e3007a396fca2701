import { MailboxRenumbered } from '../../imap/mail-error.ts';
import type { Listed, MailReader } from '../../imap/streams.ts';
import type { Place } from '../troubles/breaks.ts';
import { askedAgain, unlessRefusedAgain } from '../troubles/troubles.ts';

const UIDS_A_COMMAND = 200;
/** How far at most some servers round RFC822.SIZE, in octets. */
export const ABOUT_OCTETS = 4096;

/** Which of these messages a mailbox lists. */
export async function listedAmong(
  { reader, path }: Pick<Place, 'reader' | 'path'>,
  uids: readonly number[],
): Promise<Set<number>> {
  const listed = new Set<number>();
  for (const part of inParts(uids))
    for await (const page of reader.look(path, part)) for (const { uid } of page) listed.add(uid);
  return listed;
}

/**
 * Which of these messages a mailbox of the source still has. One that is missing from an answer is asked for by itself,
 * then searched for, and where more is counted than found, looked for in a listing of all, because none of them is
 * reliable.
 * @throws {MailboxRenumbered} if its UIDs mean nothing any more
 */
export async function stillThere(
  { reader, path, uidValidity }: Pick<Place, 'reader' | 'path' | 'uidValidity'>,
  uids: readonly number[],
): Promise<ReadonlySet<number>> {
  const there = await listedAmong({ reader, path }, uids);
  if (uids.length > 1)
    for (const uid of uids)
      if (!there.has(uid)) for (const found of await listedAmong({ reader, path }, [uid])) there.add(found);
  const missing = new Set(uids.filter((uid) => !there.has(uid)));
  if (missing.size === 0) return there;
  // Counted first: what is deleted before the search must not make up for what that leaves out.
  const opened = await askedAgain(() => reader.open(path));
  if (opened.uidValidity !== uidValidity) throw new MailboxRenumbered('source');
  const found = (await unlessRefusedAgain(() => reader.search(path))) ?? [];
  for (const uid of found) if (missing.delete(uid)) there.add(uid);
  if (missing.size === 0 || opened.exists <= found.length) return there;
  for await (const page of reader.list(path)) for (const { uid } of page) if (missing.has(uid)) there.add(uid);
  return there;
}

/** Slices that are each short enough for one command. */
export function* inParts<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let from = 0; from < items.length; from += UIDS_A_COMMAND) yield items.slice(from, from + UIDS_A_COMMAND);
}

/** A message that SEARCH finds but a listing omits: its body tells the rest, if it is handed out. */
function unlisted(uid: number): Listed {
  return { uid, size: 0, flags: [], internalDate: new Date(Number.NaN) };
}

/** Whether nothing is known of the message but its UID. */
export function isUnlisted({ size, internalDate }: Listed): boolean {
  return size === 0 && Number.isNaN(internalDate.getTime());
}

/**
 * What a mailbox has from a UID on, by listing and search together: a message must not be taken for missing because
 * one of the two left it out.
 */
export async function* listedFrom(reader: MailReader, path: string, fromUid: number): AsyncIterable<Listed> {
  const seen = new Set<number>();
  for await (const page of reader.list(path, fromUid))
    for (const listed of page)
      if (listed.uid >= fromUid && !seen.has(listed.uid)) {
        seen.add(listed.uid);
        yield listed;
      }
  const more = (await reader.search(path)).filter((uid) => uid >= fromUid && !seen.has(uid));
  for (const uids of inParts(more))
    for await (const page of reader.look(path, uids))
      for (const listed of page)
        if (!seen.has(listed.uid)) {
          seen.add(listed.uid);
          yield listed;
        }
  for (const uid of more) if (!seen.has(uid)) yield unlisted(uid);
}
