/** One mailbox of the source under one UIDVALIDITY, and where its messages go for the whole transfer. */
export type LedgerMailbox = {
  readonly id: number;
  readonly sourcePath: string;
  readonly sourceUidValidity: bigint;
  readonly destinationPath: string;
  /**
   * The destination before the first append of this transfer under its latest UIDVALIDITY: what has come since has a
   * UID from `uidNext` on.
   */
  readonly destination?: { readonly uidValidity: bigint; readonly uidNext: number };
  /** Why it was left out, or is not complete. */
  readonly reason?: string;
};

/** `total`, for the status: how many messages the source has there; see also {@link Ledger.countMailbox}. */
export type NewMailbox = Omit<LedgerMailbox, 'id' | 'destination'> & { readonly total: number };

/** `isNew`: it was not there before, so that there are no rows and no groups of it. */
export type AddedMailbox = LedgerMailbox & { readonly isNew: boolean };

/**
 * A source message as it was listed. `date` is the internal date in seconds since the epoch; `null` if there is none.
 */
export type Planned = {
  readonly uid: number;
  readonly size: number;
  readonly date: number | null;
  /** Whether it is sent with another date than it has at the source. */
  readonly isRedated?: boolean;
  /**
   * How often flags were left out after a refusal: first those that some server does not accept, then all keywords, as
   * there may be too many.
   */
  readonly unlabelled?: number;
  /** Whether it is sent with a CRLF at its end: Yahoo takes an unended last line for a part of the command. */
  readonly isEnded?: boolean;
};

/**
 * An intent: these messages are about to be appended, or may have been. The destination's UIDVALIDITY and UIDNEXT were
 * read before, so that what the group stored has a UID from `uidNext` on, as long as `uidValidity` is the same.
 */
export type NewGroup = {
  readonly mailboxId: number;
  readonly messages: readonly Planned[];
  readonly uidValidity: bigint;
  readonly uidNext: number;
};
export type Group = NewGroup & { readonly id: number };

/**
 * What became of a message:
 * - `stored` at the destination, octet for octet; `kept` there in a form of the provider's own (see message/norm.ts);
 * - `changed`: there, in a form that differs by more than that;
 * - `twin` not stored a second time, because the destination keeps equal messages once;
 * - `refused` by the destination or unreadable at the source, with its reason;
 * - `gone` from the source before it was read;
 * - `taken` away from the destination after it had been stored, moved, or deleted there: not ours any more;
 * - `lost`: stored by us, and not there.
 */
export type Fate = 'stored' | 'kept' | 'changed' | 'twin' | 'refused' | 'gone' | 'taken' | 'lost';

/** The one row of a message. */
export type Row = {
  readonly uid: number;
  readonly fate: Fate;
  /** In octets: as it was read, or as it was listed if it was not. */
  readonly size: number;
  /** Hex; of the source's octets. */
  readonly sha256?: string;
  /** Seconds since the epoch. */
  readonly date: number | null;
  /** What the source has told since, where that is another date. */
  readonly sourceDate?: number;
  readonly destinationUidValidity?: bigint;
  readonly destinationUid?: number;
  /** Read back and found to be what was sent. */
  readonly verified: boolean;
  /** Whether an earlier transfer between the same accounts brought it. */
  readonly earlier: boolean;
  readonly reason?: string;
  readonly subject?: string;
};

export type RowKey = { readonly mailboxId: number; readonly uid: number };

/**
 * `earlier` is only used if the message has no row yet. `flags`: those it was appended with; `storedSha256`: hex, of
 * what is there if that is in a form of the provider's own. Both stay as they were when they are left out. `isKnown`: it is
 * only written while a row of this message, under this UID and where it is at the destination, is there.
 */
export type NewRow = Omit<Row, 'earlier' | 'sourceDate'> & {
  readonly mailboxId: number;
  readonly earlier?: boolean;
  readonly flags?: readonly string[];
  readonly storedSha256?: string;
  readonly isKnown?: boolean;
};

/** A message of the destination that no row claims, and that is to be expunged. */
export type Disowned = { readonly destinationPath: string; readonly uidValidity: bigint; readonly uid: number };

/** `done` counts the rows; `bytes` are the octets stored by this transfer; `kept` as in {@link Fate}. */
export type Tally = { readonly done: number; readonly bytes: number; readonly kept: number };

/**
 * What is known of a transfer. When the promise of a write resolves, it is on disk. Every write carries the lease and
 * throws {@link LeaseLost} after another worker has taken over. Writes that come together are committed together.
 */
export type Ledger = {
  mailboxes(): Promise<readonly LedgerMailbox[]>;
  /** The same source path and UIDVALIDITY give the same row, with the destination that was decided first. */
  addMailboxes(mailboxes: readonly NewMailbox[]): Promise<readonly AddedMailbox[]>;
  /** Notes that the folder of these has another name at the source. */
  rename(mailboxIds: readonly number[], sourcePath: string): Promise<void>;
  /** Replaces the reason why the mailbox was left out or is not complete; `null`: it is neither. */
  noteMailbox(mailboxId: number, reason: string | null): Promise<void>;
  /** Notes how many messages it has, with those that have rows and that the source has not, or not any more. */
  countMailbox(mailboxId: number, total: number): Promise<void>;
  /**
   * Takes over what earlier, finished transfers between the same two accounts know: their mailboxes, the rows of what
   * was stored or taken away, and their open groups, as far as there is nothing of this transfer yet. Does so once.
   */
  adopt(): Promise<void>;
  /** All rows of a mailbox by rising source UID, from one on, in pages. */
  rows(mailboxId: number, fromUid?: number): AsyncIterable<readonly Row[]>;
  /** Open groups of this transfer. */
  groups(): Promise<readonly Group[]>;
  /** Commits intents. @returns them with their IDs, in the same order */
  open(groups: readonly NewGroup[]): Promise<readonly Group[]>;
  /**
   * Writes rows, each in place of an older one of the same message, and closes groups: a message of a closed group
   * without a row waits again.
   * @returns the rows not written, because an earlier worker has disowned their messages, or they are not known any more
   */
  settle(rows: readonly NewRow[], closed?: readonly number[]): Promise<readonly NewRow[]>;
  /** Gives rows another mailbox or UID, in place of what has that. None has what another one of these has had. */
  move(moves: readonly { readonly from: RowKey; readonly to: RowKey }[]): Promise<void>;
  /** Notes which dates the source tells of messages by now, in seconds since the epoch. */
  redate(mailboxId: number, messages: readonly { readonly uid: number; readonly date: number }[]): Promise<void>;
  /** Forgets rows: those messages wait again. */
  forget(mailboxId: number, uids: readonly number[]): Promise<void>;
  /**
   * Forgets messages that were refused, or not handed out, without a visible cause in the message itself.
   * @returns whether there was any
   */
  forgetRefused(): Promise<boolean>;
  /** Notes that these were read back and are what was sent, as far as they still have those rows. */
  verified(
    mailboxId: number,
    messages: readonly { readonly uid: number; readonly destinationUid: number }[],
  ): Promise<void>;
  /** The destination UIDs that rows of this transfer have. */
  claimed(destinationPath: string, uidValidity: bigint): Promise<ReadonlySet<number>>;
  /**
   * For a worker that learns of a stored message after its lease was lost: whether no row claims the message. If so no
   * other worker will claim it any more, and it is to be expunged. The only write without the lease.
   */
  disown(destinationPath: string, uidValidity: bigint, uid: number): Promise<boolean>;
  /** All that was disowned in this transfer. */
  disowned(): Promise<readonly Disowned[]>;
  /**
   * Octets that all transfers appended to (`up`) or read from (`down`) this transfer's accounts since then; ms since
   * the epoch.
   */
  traffic(since: number): Promise<{ readonly up: number; readonly down: number }>;
  tally(): Promise<Tally>;
};
