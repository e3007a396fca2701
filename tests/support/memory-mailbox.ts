import { createHash } from 'node:crypto';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Mailbox, MailReader } from '../../src/server/mail/imap/message.ts';

export type MemoryMessage = {
  readonly uid: number;
  readonly bytes: Buffer;
  readonly flags: readonly string[];
  readonly internalDate: Date;
};

export type MemoryMailbox = {
  readonly path: string;
  readonly delimiter?: string;
  uidValidity?: bigint;
  readonly messages: MemoryMessage[];
};

export type MemoryAccount = {
  readonly mailboxes: MemoryMailbox[];
  /** `path/uid` of each message that was handed out, in order. */
  readonly fetched: string[];
  readonly openReader: () => Promise<MailReader>;
};

type Hooks = {
  /** Called before a message is handed out; may throw. */
  readonly onFetch?: (path: string, uid: number, count: number) => void | Promise<void>;
  /** Messages that are listed and never handed out. */
  readonly withheld?: (path: string, uid: number) => boolean;
};

/** A generated account behind the reader's interface: for mailboxes that no server would store, and for stops at a given message. */
export function memoryAccount(mailboxes: MemoryMailbox[], { onFetch, withheld }: Hooks = {}): MemoryAccount {
  const fetched: string[] = [];
  const find = (path: string) => {
    const found = mailboxes.find((mailbox) => mailbox.path === path);
    if (found === undefined) throw new MailError('refused', 'There is no such mailbox.');
    return found;
  };
  const reader: MailReader = {
    mailboxes: async () =>
      mailboxes.map(({ path, delimiter = '/' }): Mailbox => ({ path, delimiter, subscribed: true })),
    open: async (mailbox) => {
      const { messages, uidValidity = 1n } = find(mailbox.path);
      return { mailbox, uidValidity, uidNext: (messages.at(-1)?.uid ?? 0) + 1, exists: messages.length };
    },
    async *list({ path }) {
      for (const { uid, bytes, flags, internalDate } of find(path).messages)
        yield { uid, size: bytes.length, flags, internalDate };
    },
    async *fetch({ path }, uids) {
      for (const uid of uids) {
        const message = find(path).messages.find((each) => each.uid === uid);
        if (message === undefined || withheld?.(path, uid) === true) continue;
        await onFetch?.(path, uid, fetched.length + 1);
        fetched.push(`${path}/${uid}`);
        yield { ...message, size: message.bytes.length };
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return { mailboxes, fetched, openReader: async () => reader };
}

/** The sha256 of every message, sorted: two accounts hold the same messages if these are equal. */
export function digestsOf(mailboxes: readonly MemoryMailbox[]): string[] {
  return mailboxes
    .flatMap(({ messages }) => messages.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')))
    .toSorted();
}
