import type { WaitingReason } from '../../contract/calls/status.ts';
import type { Operation } from '../../contract/operation.ts';

const LONG_WAITS: Readonly<Record<WaitingReason, string>> = {
  provider_limit: 'Your mail provider takes only so much mail at a time, so we are taking a break.',
  unreachable: 'We cannot reach one of your mailboxes. We keep trying.',
  busy: 'The mail server does not let us go on. We keep trying.',
  queue: 'Your transfer is waiting for its turn.',
  disk: 'We have no room on our side right now.',
};

const LONG_WAITS_OF_CONTACTS: Readonly<Partial<Record<WaitingReason, string>>> = {
  unreachable: 'Your contacts have to wait, because we cannot reach one of your address books. We keep trying.',
  busy: 'Your contacts have to wait, because the address book does not let us go on. We keep trying.',
};

/** Why a transfer is waiting for a long time; it continues by itself. */
export function whyItWaits(operation: Operation, reason: WaitingReason): string {
  const ofContacts = operation === 'contactsmigration' ? LONG_WAITS_OF_CONTACTS[reason] : undefined;
  return ofContacts ?? LONG_WAITS[reason];
}

export const DAILY_IS_OFF =
  'We have stopped bringing new mail once a day. If you like, you can turn it on again on the status page.';

/** The outcome of a take-back. */
export function takenBackLines({
  removed,
  remark,
}: {
  readonly removed: number;
  readonly remark: string | null;
}): string[] {
  return [
    removed === 0 && remark === null ? 'There was nothing to take back.' : removedWords(removed),
    ...(remark === null ? [] : [remark]),
    'Everything else in your new mailbox is as it was, and the contacts stay there.',
  ];
}

function removedWords(removed: number): string {
  if (removed === 0) return 'Nothing was removed from your new mailbox.';
  if (removed === 1) return '1 message was removed from your new mailbox.';
  return `${new Intl.NumberFormat('en-US').format(removed)} messages were removed from your new mailbox.`;
}
