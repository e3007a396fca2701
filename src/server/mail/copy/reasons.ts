import type { RefusalReason } from '../imap/streams.ts';
import type { FolderReason } from './run.ts';

/** Why a message or a mailbox was left out, for the subscriber. */
const REASONS: Readonly<Record<RefusalReason | FolderReason | 'unreadable' | 'lost' | 'removed', string>> = {
  'too large': 'The message is larger than the new mailbox accepts.',
  'not accepted': 'The new mailbox did not accept the message.',
  virus: 'The new mailbox refused the message because of a virus.',
  unreadable: 'The current mailbox lists the message but does not give it out.',
  lost: 'The new mailbox took the message and does not have it any more. It is still in your current mailbox.',
  removed: 'The message was stored in the new mailbox and has been removed there since.',
  'mailbox unreadable': 'The current mailbox does not let this folder be read.',
  'mailbox not created': 'The new mailbox does not let this folder be made.',
  'mailbox closed': 'The new mailbox does not take messages into this folder.',
  'mailbox not complete': 'The current mailbox counts more messages in this folder than it gives out.',
};

/** Reasons are stored by their names; one that an older release stored is told as it is. */
export function wordsFor(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as keyof typeof REASONS] : reason;
}
