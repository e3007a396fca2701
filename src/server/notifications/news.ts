import type { Attention, WaitingReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';

/**
 * `attention`: it has ended, not all of it well. `stopped`: its owner has ended it. `paused`: it goes on when its owner
 * has put something right. `waiting`: it goes on by itself, but not for long. `taken back`: what it copied, as far as that
 * could be.
 */
export type NotificationKind = 'started' | 'finished' | 'attention' | 'stopped' | 'paused' | 'waiting' | 'taken back';

/** What a letter can tell about a transfer. `outcomes` has a sentence for each operation that did not complete. */
export type News = {
  /** It ended long enough ago for the letter about its end to have been sent. */
  readonly hasLongEnded?: true;
  /** The recipient: an email address, or `+1` and ten digits. */
  readonly contact: string;
  /** Whether the owner has proven that the contact is theirs; any other, so that of each export, may be a stranger's. */
  readonly isConfirmed: boolean;
  /** The address of the source. */
  readonly source: string;
  readonly destination: { readonly provider: Provider; readonly email: string };
  /** Messages copied, not counting those already present. */
  readonly messages: number;
  readonly messagesPresent: number;
  /** Messages that were there before, and have been taken back since with the transfer that had brought them. */
  readonly messagesTakenBack?: number;
  /** Messages that were there before, and have been moved or deleted since. */
  readonly messagesMoved: number;
  /** Contacts copied, not counting those already present or completed. */
  readonly contacts: number;
  readonly contactsPresent: number;
  readonly contactsCompleted: number;
  /** Whether the status page has remarks about individual contacts. */
  readonly remarks: boolean;
  readonly skipped: number;
  readonly outcomes: readonly string[];
  /** What the owner has to put right, and by when; `resumed` counts how often they have done so before. */
  readonly attention?: Attention & { readonly operation: Operation; readonly until: Date; readonly resumed: number };
  /** It continues by itself, at `until` if that is known. The reason is `null` during a try. */
  readonly waiting?: { readonly operation: Operation; readonly reason: WaitingReason | null; readonly until?: Date };
  /** How many messages were taken back, and a remark about the others. */
  readonly takenBack?: { readonly removed: number; readonly remark: string | null };
  /** When that was asked for the last time. */
  readonly takeBackAsked?: Date;
  /** It was started by a daily that has since been switched off. */
  readonly dailyIsOff?: true;
  /** Until when new mail is brought over once a day. */
  readonly dailyUntil?: Date;
  /** Where new mail is forwarded. */
  readonly forwarding?: { readonly to: string; readonly since: Date };
};
