import type { RefusalReason } from '../imap/writer.ts';

/** Why a single message was not taken, for the subscriber. */
export const REASONS: Readonly<Record<RefusalReason, string>> = {
  'too large': 'The message is larger than the new mailbox accepts.',
  'not accepted': 'The new mailbox did not accept the message.',
  virus: 'The new mailbox refused the message because of a virus.',
  unreadable: 'The current mailbox lists the message but does not give it out.',
};

/** Reasons are stored by their names; one that an older release stored is told as it is. */
export function wordsFor(reason: string): string {
  return reason in REASONS ? REASONS[reason as RefusalReason] : reason;
}
