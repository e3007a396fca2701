import type { Listed, MailReader, Opened } from '../../imap/streams.ts';
import { MessageList, UidSet } from '../ledger/columns.ts';
import { secondsOf } from '../message/digest.ts';
import type { Place } from '../troubles/breaks.ts';
import { inParts, stillThere } from './looking.ts';

/** How often a listing is requested that stays too short. */
const TRIES = 3;

export type Listing = {
  readonly opened: Opened;
  readonly messages: MessageList;
  /** The listed messages that have the keyword, if one was asked for. */
  readonly marked: readonly Listed[];
  /** How many messages the mailbox counts but does not list, even when asked again. */
  readonly unlisted: number;
};

/**
 * Lists a mailbox, and checks the listing against EXISTS. If it is short, it is continued behind its last message, for
 * servers that cap an answer; then SEARCH finds what is missing; then all of it is repeated.
 */
export async function listMailbox(reader: MailReader, path: string, keyword?: string): Promise<Listing> {
  let messages = new MessageList();
  /** The UIDs that this try has shown. */
  let shown = new UidSet();
  const marked = new Map<number, Listed>();
  const take = async (pages: AsyncIterable<readonly Listed[]>) => {
    const before = messages.length;
    for await (const page of pages)
      for (const listed of page) {
        const { uid, size, flags, internalDate } = listed;
        messages.set({ uid, size, date: secondsOf(internalDate) });
        shown.add(uid);
        if (flags.some((flag) => flag.toLowerCase() === keyword)) marked.set(uid, listed);
      }
    return messages.length > before;
  };
  let validity: bigint | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const { opened: opening, pages } = reader.openAndList(path);
    const opened = await opening;
    shown = new UidSet();
    if (validity !== opened.uidValidity) {
      messages = new MessageList();
      marked.clear();
    }
    validity = opened.uidValidity;
    const isShort = () => messages.length < opened.exists;
    if (await take(pages)) while (isShort() && (await take(reader.list(path, messages.highest + 1))));
    if (isShort()) {
      const found = await reader.search(path);
      for (const uid of found) shown.add(uid);
      const missing = found.filter((uid) => !messages.has(uid));
      for (const uids of inParts(missing)) await take(reader.look(path, uids));
      // Found by SEARCH but not listed: its body tells the rest, if it is handed out.
      for (const uid of missing) if (!messages.has(uid)) messages.set({ uid, size: 0, date: null });
    }
    // What has been deleted since an earlier try must not make up for a message that is not listed.
    if (attempt > 1) messages = await stillOf(messages, shown, { reader, path, uidValidity: validity });
    if (!isShort() || attempt === TRIES)
      return {
        opened,
        messages,
        marked: [...marked.values()].filter(({ uid }) => messages.has(uid)),
        unlisted: Math.max(0, opened.exists - messages.length),
      };
  }
}

/** Leaves out those that this try has not shown and that are not there any more. */
async function stillOf(
  messages: MessageList,
  shown: UidSet,
  place: Pick<Place, 'reader' | 'path' | 'uidValidity'>,
): Promise<MessageList> {
  const unsure = messages.filter(({ uid }) => !shown.has(uid)).map(({ uid }) => uid);
  if (unsure.length === 0) return messages;
  const there = await stillThere(place, unsure);
  const still = new MessageList();
  for (const message of messages) if (shown.has(message.uid) || there.has(message.uid)) still.set(message);
  return still;
}
