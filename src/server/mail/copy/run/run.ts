import type { MailError } from '../../imap/mail-error.ts';
import type { MailReader, MailWriter } from '../../imap/streams.ts';
import type { Fate, LedgerMailbox, NewRow, Planned } from '../ledger/ledger.ts';
import type { FolderReason } from '../ledger/reasons.ts';
import type { Mac } from '../message/mac.ts';
import type { MailCopy } from './mail-copy.ts';

/** Connections of one lane. */
export type Session = AsyncDisposable & {
  readonly reader: MailReader;
  readonly writer: MailWriter;
  /** Reads the destination over the writer's connection, while no message is on its way there. */
  readonly checker: MailReader;
  /** One of the connections has ended. */
  readonly isOver: boolean;
  /**
   * Hands over its connections for reading back what it has stored: from now on the result is used, and closed, in
   * place of this.
   */
  readonly checking: () => CheckSession;
};

/** Connections of a lane that reads back. The source is asked only for what differs. */
export type CheckSession = AsyncDisposable & {
  readonly checker: MailReader;
  readonly reader: () => Promise<MailReader>;
  /** The connection to the source, if it has been opened. */
  readonly standing: MailReader | undefined;
  /** One of the connections has ended. */
  readonly isOver: boolean;
};

/** A stored message that is to be read back. */
export type Unchecked = {
  readonly uid: number;
  readonly destinationUid: number;
  readonly size: number;
  readonly sha256: string;
  /** Only of a large message that this process has sent; any other is recognised by its digest. */
  readonly mac?: Mac;
  readonly date: number | null;
  readonly fate: Fate;
  readonly subject?: string;
  /** As they were appended; missing if an earlier run did it, as the subscriber may have changed them since. */
  readonly flags?: readonly string[];
};

/** Some messages of one mailbox that are to be read back. */
export type Check = {
  readonly mailbox: LedgerMailbox;
  readonly uidValidity: bigint;
  readonly messages: readonly Unchecked[];
};

/** A message stored without a reported UID, and the UIDVALIDITY of the mailbox then. */
export type Said = Planned & { readonly sha256: string; readonly subject?: string; readonly uidValidity: bigint };

/** Octets that the accounts still allow today. */
export type Budget = {
  /** @throws {ProviderLimit} when there are not so many left */
  take(octets: number): Promise<void>;
  /**
   * Corrects what was taken: a negative number for what was not stored after all, a positive one for what turns out to
   * have been stored.
   */
  correct(octets: number): void;
  /** How many are left. */
  room(): number;
};

/**
 * A folder's part of the progress. Messages with a row are `done`; `octetsLeft` are those of the others, `null` before
 * it is known which have a row.
 */
export type FolderCount = {
  done: number;
  total: number;
  bytes: number;
  kept: number;
  octetsLeft: number | null;
};

/**
 * A search for missing messages in all other mailboxes, which can be resumed: mailboxes that are done are not searched
 * again. `uids`: of each message, at the source and where it is missing. `moved`: those found, by source UID. `looked`:
 * paths that are done. `validities`: UIDVALIDITYs by path, as the messages may have gone with a renamed mailbox;
 * `byUid`: that has been checked. `at`: the last progress, in the clock's elapsed milliseconds.
 */
export type Search = {
  readonly uids: readonly (number | undefined)[];
  readonly moved: Set<number>;
  readonly looked: Set<string>;
  readonly validities: Map<string, bigint | null>;
  byUid: boolean;
  at: number;
};

/**
 * What to do with a message that the destination refused as it was: send it as it is here, or write this row once the
 * message has been looked for.
 */
export type Otherwise = { readonly as: Planned } | { readonly row: NewRow };

/** What the lanes of one copy share. */
export type Run = {
  readonly copy: MailCopy;
  /** Queues messages to be read back. */
  readonly check: (check: Check) => void;
  /** Resolves when reading back is not too far behind. */
  readonly room: () => Promise<void>;
  readonly budget: Budget;
  /** What the ledger knows, by source path: the mailbox under each UIDVALIDITY that it has had. */
  readonly known: Map<string, readonly LedgerMailbox[]>;
  /** Sets a folder's counts anew. */
  readonly count: (path: string, count: FolderCount) => void;
  /** Adds rows to a folder's counts. */
  readonly settled: (path: string, rows: readonly NewRow[]) => void;
  /** The same for messages that were found at the destination. */
  readonly settledFound: (path: string, rows: readonly NewRow[]) => void;
  /** Corrects the counts for rows that are written again with another fate. */
  readonly refated: (path: string, rows: readonly NewRow[]) => void;
  /**
   * To be called when a mailbox has been listed or compared, or a message given up: that is progress, after which tries
   * are counted anew.
   */
  readonly looked: () => void;
  /**
   * Messages that the destination stored without reporting UIDs, and that have not been found yet; by {@link saidKey}.
   */
  readonly said: Map<string, Said>;
  /**
   * How messages that the destination has refused are to be handled; by the name under which their faults are counted.
   */
  readonly otherwise: Map<string, Otherwise>;
  /**
   * By mailbox and UIDVALIDITY of the destination: the UID from which on it is to be looked through for what no row
   * knows, kept until that is done. Rows that are written meanwhile say nothing of what came before them.
   */
  readonly unlooked: Map<string, number>;
  /** Searches for messages elsewhere, by a name for what is missing where. */
  readonly searches: Map<string, Search>;
  /** Mailboxes whose destination has another UIDVALIDITY than their rows, found while reading back. */
  readonly stale: Set<number>;
  /**
   * By mailbox, how many messages of its last listing were gone when they were asked for, and how many it had then.
   */
  readonly gone: Map<number, { readonly count: number; readonly exists: number }>;
  /**
   * To be called for messages that are listed but not handed out, each by a unique name: this may be momentary.
   * @throws {MailError} the first time, so that they are asked for again
   */
  readonly askAgain: (messages: readonly string[]) => void;
  /**
   * To be called for a mailbox that is missing, or has another UIDVALIDITY: it may have been renamed.
   * @throws {PlanAgain} the first few times for each
   */
  readonly planAgain: (account: 'source' | 'destination', path: string, uidValidity?: bigint) => void;
  /**
   * By source path: the error at a folder that may be a renamed one. It is not copied until that is known: all of it
   * might be there twice.
   */
  readonly unsure: Map<string, MailError>;
  /** How often something went wrong in this run, by a name for it. */
  readonly faults: (name: string) => number;
  /** Notes one such time. @returns how often by now */
  readonly noteFault: (name: string) => number;
  readonly forgetFaults: (name: string) => void;
  /** By account, the paths of mailboxes that its server has created, opened, or answered STATUS for, in this run. */
  readonly opened: Readonly<Record<'source' | 'destination', Set<string>>>;
  /** The paths of all mailboxes, as they were last listed: a lane has no connection to spare for listing them. */
  readonly sourcePaths: () => readonly string[];
  readonly destinationPaths: () => readonly string[];
};

export function saidKey({ id }: Pick<LedgerMailbox, 'id'>, uid: number): string {
  return `${id} ${uid}`;
}

/** A mailbox can't be copied, for a reason of its own; the others go on. */
export class FolderLeft extends Error {
  override name = 'FolderLeft';
  readonly reason: FolderReason;
  constructor(reason: FolderReason, cause: unknown) {
    super(`The mailbox is left out: ${reason}.`, { cause });
    this.reason = reason;
  }
}

/** A folder waits until the mailboxes of both sides have been listed again. */
export class PlanAgain extends Error {
  override name = 'PlanAgain';
}
