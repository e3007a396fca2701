import { unlessRefused } from '../imap/mail-error.ts';
import type { Listed, MailReader } from '../imap/streams.ts';
import type { Clock } from '../imap/wire.ts';
import { messageIdOf } from './message-text.ts';
import { inParts } from './matching.ts';

/** A forwarded message can be so long on its way: a server that is refused for a moment tries again (RFC 5321 §4.5.4.1). */
const ARRIVES_WITHIN_MS = 3 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Knows the messages of the source that an earlier forwarding has brought to the destination, or is about to bring. */
export type Forwarded = {
  /** Of messages with the mark those that are not to be copied. */
  brought(
    path: string,
    marked: readonly Listed[],
    source: MailReader,
    destination: MailReader,
  ): Promise<ReadonlySet<number>>;
};

/**
 * A forwarded message is left out while it may still be on its way, and as long as the destination has one of its
 * Message-ID in any mailbox. One that never arrived is copied as every other.
 * @param mailboxes the paths of the destination's mailboxes
 */
export function openForwarded(mailboxes: () => readonly string[], clock: Clock): Forwarded {
  const there = new Map<string, ReadonlySet<string>>();
  /** By mailbox and UID whether an old one has arrived: each is read once, however often the source is listed. */
  const judged = new Map<string, boolean>();

  async function arrived(since: Date, destination: MailReader): Promise<ReadonlySet<string>> {
    const all = new Set<string>();
    for (const path of mailboxes()) {
      const key = `${since.getTime()} ${path}`;
      const ids = there.get(key) ?? (await messageIds(destination, path, since));
      there.set(key, ids);
      for (const id of ids) all.add(id);
    }
    return all;
  }

  return {
    brought: async (path, marked, source, destination) => {
      if (marked.length === 0) return new Set();
      const old = marked.filter((message) => clock.now() - timeOf(message) > ARRIVES_WITHIN_MS);
      const keyOf = (uid: number) => `${path}\n${uid}`;
      const unread = old.filter(({ uid }) => !judged.has(keyOf(uid)));
      if (unread.length > 0) {
        const oldest = Math.min(...unread.map(timeOf));
        // Days are a server's own (RFC 9051 §6.4.4, SINCE), and clocks differ.
        const ids = await arrived(new Date(Math.max(0, oldest - DAY_MS)), destination);
        for (const uids of inParts(unread.map(({ uid }) => uid)))
          for await (const { uid, header } of source.headers(path, uids)) {
            const id = messageIdOf(header);
            judged.set(keyOf(uid), id !== undefined && ids.has(id));
          }
      }
      const missing = new Set(old.filter(({ uid }) => judged.get(keyOf(uid)) !== true).map(({ uid }) => uid));
      return new Set(marked.filter(({ uid }) => !missing.has(uid)).map(({ uid }) => uid));
    },
  };
}

async function messageIds(reader: MailReader, path: string, since: Date): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  if ((await unlessRefused(reader.open(path))) === null) return ids;
  for (const uids of inParts(await reader.search(path, since)))
    for await (const { header } of reader.headers(path, uids)) {
      const id = messageIdOf(header);
      if (id !== undefined) ids.add(id);
    }
  return ids;
}

/** Milliseconds since the epoch; a server that gives no internal date leaves all of the time open. */
function timeOf({ internalDate }: Listed): number {
  const time = internalDate.getTime();
  return Number.isNaN(time) ? 0 : Math.max(0, time);
}
