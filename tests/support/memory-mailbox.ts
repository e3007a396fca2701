import { createHash } from 'node:crypto';
import type { CopySource } from '../../src/server/mail/copy/run/mail-copy.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Listed, MailReader } from '../../src/server/mail/imap/streams.ts';

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
  /** `path/uid` of each message that was fetched, in order. */
  readonly fetched: string[];
  readonly source: CopySource;
};

type Hooks = {
  /** Called before a message is returned; may throw. The fault `refused` skips the message, as with a real reader. */
  readonly onFetch?: (path: string, uid: number, count: number) => void | Promise<void>;
  /** Mailboxes that are listed but can't be opened. */
  readonly closed?: (path: string) => boolean;
  /** What is said of a mailbox in place of opening it; a lost connection has ended. */
  readonly inTrouble?: (path: string, isListed: boolean) => MailError | undefined;
  /** How many messages are counted but not listed. */
  readonly unlisted?: (path: string) => number;
  /** Messages that are listed but never returned. */
  readonly withheld?: (path: string, uid: number) => boolean;
};

/** A generated account with the interfaces of a real one: for mailboxes that no server would store, and for stops at a given message. */
export function memoryAccount(
  mailboxes: MemoryMailbox[],
  { onFetch, withheld, closed, inTrouble, unlisted }: Hooks = {},
): MemoryAccount {
  const fetched: string[] = [];
  const find = (path: string) => {
    const found = mailboxes.find((mailbox) => mailbox.path === path);
    if (found === undefined) throw new MailError('refused', 'There is no such mailbox.');
    return found;
  };
  const opened = (path: string) => {
    const { messages, uidValidity = 1n } = find(path);
    if (closed?.(path) === true)
      throw new MailError('refused', 'The mailbox can not be opened.', { cause: new Error('NO') });
    return { uidValidity, uidNext: (messages.at(-1)?.uid ?? 0) + 1, exists: messages.length + (unlisted?.(path) ?? 0) };
  };
  const listedMailboxes = () => mailboxes.map(({ path, delimiter = '/' }) => ({ path, delimiter }));
  const handsOut = async (path: string, uid: number) => {
    try {
      await onFetch?.(path, uid, fetched.length + 1);
      return true;
    } catch (error) {
      if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
      return false;
    }
  };
  const reader: Omit<MailReader, 'isOver' | 'open' | 'openAndList'> = {
    canListMailboxes: true,
    mailboxes: async () => listedMailboxes(),
    status: async (path) => opened(path),
    listAhead: () => {},
    async *list(path, fromUid = 1) {
      yield find(path)
        .messages.filter(({ uid }) => uid >= fromUid)
        .map(listed);
    },
    async *look(path, uids) {
      yield find(path)
        .messages.filter(({ uid }) => uids.includes(uid))
        .map(listed);
    },
    search: async (path) => find(path).messages.map(({ uid }) => uid),
    async *headers() {},
    async *fetch(path, uids) {
      for (const uid of uids) {
        const message = find(path).messages.find((each) => each.uid === uid);
        if (message === undefined || withheld?.(path, uid) === true || !(await handsOut(path, uid))) continue;
        fetched.push(`${path}/${uid}`);
        yield { ...listed(message), octets: piecesOf(message.bytes) };
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const openReader = (): MailReader => {
    let isOver = false;
    const open = (path: string, isListed = false) => {
      const trouble = inTrouble?.(path, isListed);
      isOver ||= trouble?.fault === 'lost';
      if (trouble !== undefined) throw trouble;
      return opened(path);
    };
    return {
      ...reader,
      get isOver() {
        return isOver;
      },
      open: async (path) => open(path),
      openAndList: (path) => ({ opened: Promise.resolve(open(path, true)), pages: reader.list(path) }),
    };
  };
  const source: CopySource = {
    control: async () => ({
      namespace: async () => ({ prefix: '', delimiter: '/' }),
      mailboxes: async () => listedMailboxes(),
      create: () => Promise.reject(new Error('An export creates no mailbox.')),
      remove: () => Promise.reject(new Error('An export removes no mailbox.')),
      [Symbol.asyncDispose]: async () => {},
    }),
    reader: async () => openReader(),
    limits: { connections: 2 },
  };
  return { mailboxes, fetched, source };
}

function listed({ uid, bytes, flags, internalDate }: MemoryMessage): Listed {
  return { uid, size: bytes.length, flags, internalDate };
}

/** In pieces that are only valid until the next one is requested, as from a connection. */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(Math.min(bytes.length, 64 * 1024));
  for (let from = 0; from < bytes.length; from += piece.length) yield piece.subarray(0, bytes.copy(piece, 0, from));
}

/** The account, read over one connection only. */
export function narrow(account: MemoryAccount): MemoryAccount {
  return { ...account, source: { ...account.source, limits: { connections: 1 } } };
}

/** The sha256 of every message, sorted: two accounts hold the same messages if these are equal. */
export function digestsOf(mailboxes: readonly MemoryMailbox[]): string[] {
  return mailboxes
    .flatMap(({ messages }) => messages.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')))
    .toSorted();
}
