import type { Clock } from '../../../clock.ts';
import type { HeldLease } from '../../../transfers/lease.ts';
import type { MailControl, MailReader, MailWriter } from '../../imap/streams.ts';
import type { Ledger, LedgerMailbox } from '../ledger/ledger.ts';
import type { Sizes } from './sizes.ts';

/** The moments between which a worker can die; `onStep` sees each of them. */
export type Step =
  | 'listed'
  | 'intent committed'
  | 'octets sent'
  | 'appended'
  | 'outcome committed'
  | 'verified'
  | 'recovered';
export type StepListener = (step: Step, mailbox: string) => void | Promise<void>;

/** What a provider allows, as far as it is known; see provider-limits.ts. */
export type AccountLimits = {
  readonly connections: number;
  /** Octets in 24 hours, appended to the account or read from it. */
  readonly upADay?: number;
  readonly downADay?: number;
  /** How many of the newest messages of a mailbox are shown; older ones are there but not listed. */
  readonly window?: number;
  /** The provider's own folders, by lower-case name, that are not for mail and show none to their owner. */
  readonly ownFolders?: readonly string[];
};

export type CopySource = {
  readonly control: () => Promise<MailControl>;
  readonly reader: () => Promise<MailReader>;
  readonly limits: AccountLimits;
};
/**
 * `evenStopped`: the connection is made even though the copy was asked to stop, to take back what was stored too late.
 */
export type CopyDestination = CopySource & {
  readonly writer: (options?: { readonly evenStopped: true }) => Promise<MailWriter>;
};

export type CopyProgress = {
  readonly done: number;
  readonly total: number;
  readonly bytes: number;
  readonly kept: number;
  /** What this run has moved or been refused, not what it found there; and what is left for it, as far as that is known. */
  readonly moved: { readonly messages: number; readonly octets: number; readonly refused: number };
  readonly left: { readonly messages: number; readonly octets: number } | null;
};

/** By the UIDs that the server reported; for `unsaid` more it reported none. */
export type Orphans = { readonly uids: readonly number[]; readonly unsaid: number };

/**
 * How often an operation has waited: for what was refused, and, counted separately, for a server that drops connections
 * or fails at all mailboxes. An outage must not use up what a message needs later.
 */
export type Waits = { readonly refusalWaits: number; readonly troubleWaits: number };

/** A copy of an account's mail. Time, randomness, connections and the ledger come from outside. */
export type MailCopy = Waits & {
  readonly source: CopySource;
  readonly destination: CopyDestination;
  readonly ledger: Ledger;
  readonly lease: Pick<HeldLease, 'transferId' | 'mayWrite'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Aborts when the worker's process is to end; `signal` does so as well when the lease is lost. */
  readonly processEnds: AbortSignal;
  readonly onStep: StepListener;
  readonly onProgress: (progress: CopyProgress) => void;
  /** A mailbox was made at the destination that was not there before. */
  readonly onMade: (path: string) => Promise<void>;
  /** Messages may have been stored for this worker after its lease was lost, and can't be taken back. */
  readonly onOrphans: (mailbox: LedgerMailbox, left: Orphans) => void;
  /** The keyword of source messages that were forwarded to this destination. */
  readonly forwardedMark: string;
  readonly sizes: Sizes;
};

/** `unlisted`: messages that the source counts but does not list, even when asked again. */
export type CopyEnd = {
  readonly lost: number;
  readonly duplicated: number;
  readonly changed: number;
  readonly kept: number;
  readonly unlisted: number;
  /** Mailboxes that could not be copied, each with its reason in the ledger. */
  readonly mailboxesLeft: number;
};
