import type { Mailbox } from './mailbox.ts';

/**
 * Octets of one message, in order, to be read once. The chunks are the reader's own: copy what is kept for longer than
 * until the next one is asked for.
 */
export type Octets = AsyncIterable<Uint8Array>;

/** The personal namespace (RFC 2342) and hierarchy delimiter of an account. */
export type Namespace = { readonly prefix: string; readonly delimiter: string };

/** `withStatus`: what STATUS tells of each comes with it, if that takes no command more (LIST-STATUS, RFC 5819). */
export type ListOptions = { readonly withStatus?: boolean };

/** What is asked of an account besides its messages. @throws {MailError} in every method */
export type MailControl = AsyncDisposable & {
  /** In which new mailboxes are made. */
  namespace(): Promise<Namespace>;
  /** The mailboxes that hold messages, each once; containers that can't be opened are left out. */
  mailboxes(options?: ListOptions): Promise<readonly Mailbox[]>;
  /** Deletes a mailbox, with whatever is in it. */
  remove(path: string): Promise<void>;
};

/** A mailbox as it was when it was opened. `uidValidity` is never 0; `uidNext` is missing where a server leaves it out. */
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

/** A message on its way. `size` is the true number of octets. What of `octets` is not read is skipped. */
export type Fetched = Listed & { readonly octets: Octets };

/**
 * Reads an account over one connection, by EXAMINE (beside a writer by SELECT) and BODY.PEEK only.
 * @throws {MailError} in every method
 */
export type MailReader = AsyncDisposable & {
  /** The connection has ended. */
  readonly isOver: boolean;
  /** Whether `mailboxes` may be called: its server can close a mailbox without expunging what is marked as deleted there. */
  readonly canListMailboxes: boolean;
  /** As of {@link MailControl}; what is open is closed. */
  mailboxes(options?: ListOptions): Promise<readonly Mailbox[]>;
  /** Opens the mailbox again, so that the answer is current. */
  open(path: string): Promise<Opened>;
  /** What STATUS says of a mailbox, without opening it. */
  status(path: string): Promise<Opened>;
  /** Opens a mailbox anew and lists it; both are asked for at the call, in one round trip. The pages are to be read. */
  openAndList(path: string): OpenedListing;
  /**
   * Asks at once for mailboxes that `openAndList` will be called for, in this order: without a round trip for each. Lets
   * go of them when anything else is asked first.
   */
  listAhead(paths: readonly string[]): void;
  /** What the mailbox lists from a UID on (1 by default), in pages of at most 1,000, in the order of the server. */
  list(path: string, fromUid?: number): AsyncIterable<readonly Listed[]>;
  /** Lists these UIDs only. Any of them may be missing from the answer. */
  look(path: string, uids: readonly number[]): AsyncIterable<readonly Listed[]>;
  /** UID SEARCH: all, or those with an internal date since a day. */
  search(path: string, since?: Date): Promise<readonly number[]>;
  /** The header sections (BODY.PEEK[HEADER]), each bounded to 64 KB. */
  headers(path: string, uids: readonly number[]): AsyncIterable<{ readonly uid: number; readonly header: Buffer }>;
  /**
   * Whole messages, in the order of the server; those without a body are left out. The command is sent at the call, so
   * that the next one can be sent before the last one is read; several are to be read in the order of their calls.
   * The connection is not read ahead of whoever reads `octets`.
   */
  fetch(path: string, uids: readonly number[]): AsyncIterable<Fetched>;
};

/** What a writer can do, by its server's capabilities. */
export type WriterTraits = {
  /** The largest message in octets (RFC 7889, as far as it is said without a mailbox). */
  readonly appendLimit?: number;
  /** MULTIAPPEND (RFC 3502). */
  readonly together: boolean;
  /** LITERAL+, LITERAL- or neither (RFC 7888). */
  readonly literals: 'any size' | 'small' | 'synchronising';
  /** UIDPLUS (RFC 4315): it says the UIDs of what it stored, and one message can be expunged. */
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

/** Why a message was not taken: for good, each in words for the subscriber in `reasons.ts`. */
export type RefusalReason = 'too large' | 'not accepted' | 'virus';

/** What came of one message. */
export type Appended =
  /** `uid` is missing when the server did not say it. */
  | { readonly kind: 'stored'; readonly uid?: number; readonly uidValidity?: bigint }
  /**
   * It is not stored, because of itself. Of several that went together each has it, and none is stored. `isMisread`: by
   * BAD, as if something were wrong with the command. `isOfFlags`: in words that speak of its flags.
   */
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly text: string;
      readonly isMisread?: true;
      readonly isOfFlags?: true;
    }
  /**
   * It is not stored, for a reason that is not its own: `full`, `busy`, `refused` (with its response code, such as
   * TRYCREATE).
   */
  | { readonly kind: 'failed'; readonly error: Error }
  /** The connection ended, and nobody knows. */
  | { readonly kind: 'unknown'; readonly error: Error };

export type Appending = {
  /** All octets are handed to the socket: the next messages may be appended. Rejects with what the source threw, too. */
  readonly sent: Promise<void>;
  /** One for each message that was taken from `messages`, in their order. Never rejects. */
  readonly outcome: Promise<readonly Appended[]>;
};

/** Writes to an account over one connection. @throws {MailError} in every method */
export type MailWriter = AsyncDisposable & {
  readonly traits: WriterTraits;
  /** The connection has ended, or may not write any more. */
  readonly isOver: boolean;
  /** SELECTs the mailbox again, so that the answer is current and includes which flags are kept. */
  select(path: string): Promise<Selected>;
  /**
   * Creates a mailbox and asks for it to be subscribed to; one that exists already is fine. Several may be under way, and
   * are created in the order of their calls.
   * @returns whether it was not there before
   */
  create(path: string): Promise<boolean>;
  /**
   * Appends messages, octet for octet, each streamed as it comes; nothing is sent before the first one comes.
   * `together`: by one MULTIAPPEND if the server has it, so that all are stored or none. Several calls may be under way
   * once the one before is `sent`. When `messages` throws in the middle of a message the socket is destroyed.
   */
  append(path: string, messages: AsyncIterable<NewMessage>, options: { readonly together: boolean }): Appending;
  /** Adds flags, so that a server that dropped them at the append has them after all. */
  addFlags(path: string, uid: number, flags: readonly string[]): Promise<void>;
  /**
   * Takes messages away for good, by UID STORE \Deleted and UID EXPUNGE of exactly them. Not asked for `MayWrite`.
   * @param unchangedSince where the server counts changes (RFC 7162), those that have changed since then stay
   */
  expunge(path: string, uids: readonly number[], unchangedSince?: bigint): Promise<void>;
  /** Its connection as one that reads, while no message is on its way; it is closed once, by either. */
  reading(): MailReader;
};
