import type { Mailbox } from './mailbox.ts';

/**
 * The octets of one message, in order, to be read once. A chunk is only valid until the next one is asked for: copy
 * what is kept for longer.
 */
export type Octets = AsyncIterable<Uint8Array>;

/** The personal namespace (RFC 2342) and hierarchy delimiter of an account. */
export type Namespace = { readonly prefix: string; readonly delimiter: string };

/** `withStatus`: includes the STATUS of each mailbox, if that takes no further command (LIST-STATUS, RFC 5819). */
export type ListOptions = { readonly withStatus?: boolean };

/**
 * What is asked of an account besides its messages.
 * @throws {MailError} in every method
 */
export type MailControl = AsyncDisposable & {
  /** The namespace in which new mailboxes are created. */
  namespace(): Promise<Namespace>;
  /** The mailboxes that hold messages, each once; containers that can't be opened are left out. */
  mailboxes(options?: ListOptions): Promise<readonly Mailbox[]>;
  /** Deletes a mailbox, with whatever is in it. */
  remove(path: string): Promise<void>;
};

/** A mailbox as it was when it was opened. `uidValidity` is never 0; `uidNext` is missing if the server omits it. */
export type Opened = {
  readonly uidValidity: bigint;
  readonly uidNext?: number;
  readonly exists: number;
  readonly highestModseq?: bigint;
};

/**
 * A message as a listing shows it. `size` is RFC822.SIZE in octets, which some servers get wrong; no `\Recent` in
 * `flags`.
 */
export type Listed = {
  readonly uid: number;
  readonly size: number;
  readonly flags: readonly string[];
  /** Invalid when the server gives none. */
  readonly internalDate: Date;
};

/** `pages` throws what `opened` rejects with. */
export type OpenedListing = {
  readonly opened: Promise<Opened>;
  readonly pages: AsyncIterable<readonly Listed[]>;
};

/** A message that is being fetched. `size` is the true number of octets. Octets that are not read are skipped. */
export type Fetched = Listed & { readonly octets: Octets };

/**
 * Reads an account over one connection, only by EXAMINE (SELECT if a writer shares the connection) and BODY.PEEK.
 * @throws {MailError} in every method
 */
export type MailReader = AsyncDisposable & {
  /** The connection has ended. */
  readonly isOver: boolean;
  /**
   * Whether `mailboxes` may be called: its server has UNSELECT, which closes a mailbox without expunging the messages
   * that are marked as deleted.
   */
  readonly canListMailboxes: boolean;
  /** As of {@link MailControl}; closes the mailbox that is open. */
  mailboxes(options?: ListOptions): Promise<readonly Mailbox[]>;
  /**
   * Opens the mailbox again, so that the answer is current.
   * @param counted whether `highestModseq` is wanted, if the server counts changes (RFC 7162): some do so only for who
   *   asks (Dovecot)
   */
  open(path: string, options?: { readonly counted?: boolean }): Promise<Opened>;
  /** What STATUS says of a mailbox, without opening it. */
  status(path: string): Promise<Opened>;
  /**
   * Opens a mailbox anew and lists it; both commands are sent at the call, in one round trip. The pages have to be
   * read.
   */
  openAndList(path: string): OpenedListing;
  /**
   * Sends the commands of the coming `openAndList` calls, which have to follow in this order, to save each a round
   * trip. The listings are dropped if anything else is asked first.
   */
  listAhead(paths: readonly string[]): void;
  /** Lists the messages from a UID on (1 by default), in pages of at most 1,000, in the order of the server. */
  list(path: string, fromUid?: number): AsyncIterable<readonly Listed[]>;
  /** Lists these UIDs only. Any of them may be missing from the answer. */
  look(path: string, uids: readonly number[]): AsyncIterable<readonly Listed[]>;
  /** UID SEARCH: all messages, or those with an internal date since that day. */
  search(path: string, since?: Date): Promise<readonly number[]>;
  /** The header sections (BODY.PEEK[HEADER]), each bounded to 64 KB. */
  headers(path: string, uids: readonly number[]): AsyncIterable<{ readonly uid: number; readonly header: Buffer }>;
  /**
   * Fetches whole messages, in the order of the server; those without a body are left out. May be called again before
   * the last message is read: the next command is sent once that begins to arrive. The messages have to be read in the
   * order of the calls. A slow reader of `octets` holds back the connection (back-pressure).
   */
  fetch(path: string, uids: readonly number[]): AsyncIterable<Fetched>;
};

/** What a writer can do, by its server's capabilities. */
export type WriterTraits = {
  /** The largest message in octets (RFC 7889), if the server has one limit for all mailboxes. */
  readonly appendLimit?: number;
  /** MULTIAPPEND (RFC 3502). */
  readonly together: boolean;
  /** LITERAL+, LITERAL- or neither (RFC 7888). */
  readonly literals: 'any size' | 'small' | 'synchronising';
  /** UIDPLUS (RFC 4315): it returns the UIDs of what it stored, and can expunge single messages. */
  readonly saysUids: boolean;
};

/** A mailbox that messages are appended to. */
export type Selected = Opened & {
  /** Those of these flags that the mailbox keeps, by its PERMANENTFLAGS; never `\Recent`. */
  readonly keeps: (flags: readonly string[]) => string[];
  /** The limit of this mailbox, if it has one of its own. */
  readonly appendLimit?: number;
};

/** A message to be appended; `size` is exactly the number of octets that `octets` gives. */
export type NewMessage = {
  readonly size: number;
  readonly flags: readonly string[];
  readonly internalDate: Date;
  readonly octets: Octets;
};

/** Why a message was refused for good; `reasons.ts` has each in words for the subscriber. */
export type RefusalReason = 'too large' | 'not accepted' | 'virus';

/** The outcome of appending one message. */
export type Appended =
  /** `uid` is missing if the server did not send it. */
  | { readonly kind: 'stored'; readonly uid?: number; readonly uidValidity?: bigint }
  /**
   * It is not stored, because of the message itself. Of several in one MULTIAPPEND all get this outcome, and none is
   * stored. `isMisread`: the answer was BAD, as if the command were wrong. `isOfFlags`: its text mentions flags.
   */
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly text: string;
      readonly isMisread?: true;
      readonly isOfFlags?: true;
    }
  /**
   * It is not stored, for a reason that would concern other messages, too: `full`, `busy`, `refused` (with its response
   * code, such as TRYCREATE).
   */
  | { readonly kind: 'failed'; readonly error: Error }
  /** The connection ended before the answer: it may be stored or not. */
  | { readonly kind: 'unknown'; readonly error: Error };

export type Appending = {
  /**
   * All octets are handed to the socket: the next messages may be appended. Also rejects with what `messages` threw.
   */
  readonly sent: Promise<void>;
  /** One for each message that was taken from `messages`, in their order. Never rejects. */
  readonly outcome: Promise<readonly Appended[]>;
};

/**
 * Writes to an account over one connection.
 * @throws {MailError} in every method
 */
export type MailWriter = AsyncDisposable & {
  readonly traits: WriterTraits;
  /** The connection has ended, or may not write any more. */
  readonly isOver: boolean;
  /** SELECTs the mailbox again, so that the answer is current and includes which flags are kept. */
  select(path: string): Promise<Selected>;
  /**
   * Creates a mailbox, unless there is one, and subscribes to it. Several calls may be under way; the mailboxes are
   * created in the order of the calls.
   * @returns whether it was not there before
   */
  create(path: string): Promise<boolean>;
  /**
   * Appends messages, octet for octet, each streamed as it comes; nothing is sent before the first one comes.
   * `together`: by one MULTIAPPEND if the server has it, so that all are stored or none. Another call may be made once
   * the one before is `sent`. If `messages` throws in the middle of a message, the connection is dropped.
   */
  append(path: string, messages: AsyncIterable<NewMessage>, options: { readonly together: boolean }): Appending;
  /** Adds flags that a server dropped at the append. */
  addFlags(path: string, uid: number, flags: readonly string[]): Promise<void>;
  /**
   * Deletes exactly these messages, by UID STORE \Deleted and UID EXPUNGE. Does not ask `MayWrite`.
   * @param unchangedSince if the server counts changes (RFC 7162), messages that have changed since then stay
   */
  expunge(path: string, uids: readonly number[], unchangedSince?: bigint): Promise<void>;
  /** Takes \Deleted off messages again that were not removed. Does not ask `MayWrite`. */
  undelete(path: string, uids: readonly number[]): Promise<void>;
  /**
   * A reader over the same connection, for use while no message is being appended. Either of the two closes the
   * connection.
   */
  reading(): MailReader;
};
