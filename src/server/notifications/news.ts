import type { Attention, ExportFile, WaitingReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Provider } from '../../contract/provider.ts';

/**
 * `attention`: it has ended, not all of it well. `stopped`: its owner has ended it. `paused`: it goes on when its owner
 * has put something right. `waiting`: it goes on by itself, but not for long. `taken back`: what it copied, as far as that
 * could be.
 */
export type NotificationKind = 'started' | 'finished' | 'attention' | 'stopped' | 'paused' | 'waiting' | 'taken back';

/** What a transfer has to tell. `outcomes` are sentences, one for each operation that did not complete. */
export type News = {
  /** It ended so long ago that its end has been told: a letter that is sent at once goes before that. */
  readonly hasLongEnded?: true;
  /** Who is told: an address, or `+1` and ten digits. */
  readonly contact: string;
  /** Whether it is an address that the transfer's owner has proven; anything else may be a stranger's. */
  readonly isConfirmed: boolean;
  /** The address that is moved. */
  readonly source: string;
  readonly destination: { readonly provider: Provider; readonly email: string };
  readonly isExport: boolean;
  /** Those that were copied; those that an earlier transfer had brought come besides. */
  readonly messages: number;
  readonly messagesPresent: number;
  /** Those that were copied; those that were there, whole or now with what they lacked, come besides. */
  readonly contacts: number;
  readonly contactsPresent: number;
  readonly contactsCompleted: number;
  /** Whether the status page has something to say of single contacts. */
  readonly remarks: boolean;
  readonly skipped: number;
  readonly outcomes: readonly string[];
  /** What its owner has to put right, and until when; `resumed` counts how often they have done so before. */
  readonly attention?: Attention & { readonly operation: Operation; readonly until: Date; readonly resumed: number };
  /** It goes on by itself, then if that is known. `null` while it tries. */
  readonly waiting?: { readonly operation: Operation; readonly reason: WaitingReason | null; readonly until?: Date };
  /** How many messages were taken back, and what there is to say of others. */
  readonly takenBack?: { readonly removed: number; readonly remark: string | null };
  /** It was begun by a daily, which has gone off. */
  readonly dailyIsOff?: true;
  /** What still arrives is brought once a day, until then. */
  readonly dailyUntil?: Date;
  /** New mail goes to `to`. */
  readonly forwarding?: { readonly to: string; readonly since: Date };
  /** What can be downloaded. */
  readonly files: readonly Pick<ExportFile, 'name' | 'url' | 'expires'>[];
};
