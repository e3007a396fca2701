import type { OF_FOLDER } from '../../../../contract/transfer-status.ts';
import type { RefusalReason } from '../../imap/streams.ts';

export type FolderReason =
  | 'mailbox unreadable'
  | 'mailbox not created'
  | 'mailbox closed'
  | 'mailbox not complete'
  | 'mailbox not read back'
  | 'mailbox not compared';

/** Why a message or a mailbox was left out, for the subscriber. */
const REASONS: Readonly<Record<RefusalReason | 'unreadable' | 'lost' | 'removed', string>> &
  Readonly<Record<FolderReason, `${string}${typeof OF_FOLDER}${string}`>> = {
  'too large': 'The message is too large for the new mailbox.',
  'not accepted': 'The new mailbox did not accept the message.',
  virus: 'The new mailbox refused the message because of a virus.',
  unreadable: 'The mail server lists this message but does not hand it out.',
  lost: 'The new mailbox took the message but no longer has it. Nothing was deleted from the mailbox that your mail comes from.',
  removed:
    'The new mailbox took the message but no longer has it: it was removed there, or never kept. Nothing was deleted from the mailbox that your mail comes from.',
  'mailbox unreadable': 'The mail server does not let us read this folder.',
  'mailbox not created': 'The new mailbox did not let us make this folder.',
  'mailbox closed': 'The new mailbox does not take messages into this folder.',
  'mailbox not read back':
    'We copied this folder, but the new mailbox does not let us read it any more, so we could not check all of it.',
  'mailbox not compared':
    'We copied this folder, but the mail server does not let us read it any more, so we could not check all of it.',
  'mailbox not complete': 'The mail server counts more messages in this folder than it hands out.',
};

/** Reasons of messages that may pass: some servers refuse everything for a while. */
export const PERHAPS_FOR_NOW: readonly string[] = ['not accepted', 'unreadable'] satisfies (keyof typeof REASONS)[];

/** Reasons are stored by their names; an older release stored the words, which are returned as they are. */
export function wordsFor(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as keyof typeof REASONS] : reason;
}
