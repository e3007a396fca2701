import type { Skipped } from '../../../contract/calls/status.ts';

/** An export as it stands. `name` is how links call it; what is skipped is known once all is staged. */
export type Export = {
  readonly id: number;
  readonly name: string;
  readonly lastPart: number | null;
  readonly contactsStaged: Date | null;
  readonly mailSkipped: readonly Skipped[] | null;
  /** How many messages are not in it; of them, and of whole mailboxes, `mailSkipped` names some. */
  readonly mailUnsaved: number | null;
  readonly contactsSkipped: readonly Skipped[] | null;
  readonly finished: Date | null;
};

/** `crlf`: its lines end in CRLF only, so that LF can stand for that; `kept`: they are to be kept as they are. */
export type LineEnds = 'crlf' | 'kept';

export type LineEndsReader = { take(chunk: Uint8Array): void; end(): LineEnds };

export type StagedMessage = {
  readonly number: number;
  readonly uid: number;
  readonly size: number;
  readonly sha256: string;
  readonly crc32: number;
  readonly internalDate: Date;
  readonly flags: readonly string[];
  readonly lineEnds: LineEnds;
  readonly label: string;
  readonly segment: string;
  readonly position: number;
};

/** A message of a part, with where its mailbox goes. `path` is the server's own name for the mailbox. */
export type PartMessage = StagedMessage & {
  readonly mailboxId: number;
  readonly path: string;
  readonly folder: string;
};

export type PartMailbox = {
  readonly mailboxId: number;
  readonly folder: string;
  readonly newest: Date;
  readonly messages: number;
  readonly octets: number;
  /** How many earlier parts hold messages of this mailbox. */
  readonly before: number;
};

/** A mailbox by its path as its owner reads it, with what it is for (RFC 6154), or `''`. */
export type MailboxName = {
  readonly mailboxId: number;
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse: string;
};

export type PartFile = {
  readonly part: number;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly pieces: Buffer;
};
