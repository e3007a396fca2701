/**
 * One mailbox of an account. `path` is the server's own name, decoded to Unicode, parts joined by `delimiter`;
 * `specialUse` is the attribute of RFC 6154 (`\Sent`, `\All`, …), `\Inbox` for the inbox.
 */
export type Mailbox = {
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse?: string;
  readonly subscribed: boolean;
};

/** A mailbox as it was when it was opened: UIDs mean something only together with this `uidValidity`. */
export type OpenedMailbox = {
  readonly mailbox: Mailbox;
  readonly uidValidity: bigint;
  readonly uidNext: number;
  readonly exists: number;
};

/** What a listing tells of a message. `size` is RFC822.SIZE in octets, which some servers get wrong; `flags` include keywords. */
export type ListedMessage = {
  readonly uid: number;
  readonly size: number;
  readonly flags: readonly string[];
  readonly internalDate: Date;
};

/** A message with its octets, exactly as the server holds them. */
export type Message = ListedMessage & { readonly bytes: Buffer };

/** Reads an account, without setting `\Seen` or changing anything else. */
export type MailReader = AsyncDisposable & {
  /** The mailboxes that hold messages; containers that can't be opened are left out. */
  mailboxes(): Promise<readonly Mailbox[]>;
  open(mailbox: Mailbox): Promise<OpenedMailbox>;
  /** Every message of the opened mailbox, by rising UID. */
  list(mailbox: Mailbox): AsyncIterable<ListedMessage>;
  /** The messages with these UIDs, by rising UID; those gone meanwhile are left out. One message is in memory at a time. */
  fetch(mailbox: Mailbox, uids: readonly number[]): AsyncIterable<Message>;
};
