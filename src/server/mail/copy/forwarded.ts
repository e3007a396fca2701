import type { ListedMessage, Mailbox, MailReader } from '../imap/message.ts';
import { messageIdOf } from './message-text.ts';
import type { MailWriter } from '../imap/writer.ts';

/** A forwarded message can be so long on its way: a server that is refused for a moment tries again (RFC 5321 §4.5.4.1). */
const ARRIVES_WITHIN_MS = 3 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Knows the messages of the source that an earlier forwarding has brought to the destination, or is about to bring. */
export type Forwarded = {
  /** Of a listing, the messages that are to be copied; also what can't be read, so that the copy tells of it. */
  toCopy(
    source: Mailbox,
    messages: readonly ListedMessage[],
    reader: Pick<MailReader, 'fetch'>,
    writer: Destination,
  ): Promise<readonly ListedMessage[]>;
};

type Destination = Pick<MailWriter, 'mailboxes' | 'messageIds'>;

/**
 * A forwarded message is left out while it may still be on its way, and as long as the destination has one of its
 * Message-ID in any mailbox. One that never arrived is copied as every other.
 * @param mark the keyword that forwarded messages have.
 */
export function openForwarded(mark: string, now: () => number = Date.now): Forwarded {
  const there = new Map<string, ReadonlySet<string>>();
  /** By mailbox and UID whether an old one has arrived: each is read once, however often the source is listed. */
  const judged = new Map<string, boolean>();

  async function arrived(since: Date, writer: Destination): Promise<ReadonlySet<string>> {
    const all = new Set<string>();
    for (const { path } of await writer.mailboxes()) {
      const key = `${since.getTime()} ${path}`;
      const ids = there.get(key) ?? (await writer.messageIds(path, since));
      there.set(key, ids);
      for (const id of ids) all.add(id);
    }
    return all;
  }

  return {
    toCopy: async (source, messages, reader, writer) => {
      const marked = messages.filter(({ flags }) => flags.some((flag) => flag.toLowerCase() === mark));
      if (marked.length === 0) return messages;
      const old = marked.filter((message) => now() - timeOf(message) > ARRIVES_WITHIN_MS);
      const keyOf = (uid: number) => `${source.path}\n${uid}`;
      const unread = old.filter(({ uid }) => !judged.has(keyOf(uid)));
      if (unread.length > 0) {
        const oldest = Math.min(...unread.map(timeOf));
        // Days are a server's own (RFC 9051 §6.4.4, SINCE), and clocks differ.
        const ids = await arrived(new Date(oldest - DAY_MS), writer);
        const uids = unread.map(({ uid }) => uid);
        for await (const { uid, bytes } of reader.fetch(source, uids)) {
          const id = messageIdOf(bytes);
          judged.set(keyOf(uid), id !== undefined && ids.has(id));
        }
      }
      const missing = new Set(old.filter(({ uid }) => judged.get(keyOf(uid)) !== true).map(({ uid }) => uid));
      const brought = new Set(marked.filter(({ uid }) => !missing.has(uid)).map(({ uid }) => uid));
      return messages.filter(({ uid }) => !brought.has(uid));
    },
  };
}

/** Milliseconds since the epoch; a server that gives no internal date leaves all of the time open. */
function timeOf({ internalDate }: ListedMessage): number {
  const time = internalDate.getTime();
  return Number.isNaN(time) ? 0 : Math.max(0, time);
}
