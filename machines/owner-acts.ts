import type { Attention, Progress, TransferStatus } from '../src/contract/calls/status.ts';
import type { Provider } from '../src/contract/provider.ts';
import { copiedBy, isExport, standingOf } from '../src/contract/transfer-status.ts';

/** What the owner can do with a transfer on the status page. */
export const ACTS = ['stop', 'mend', 'take back', 'again', 'receipt', 'forwarding', 'daily', 'daily off'] as const;
export type Act = (typeof ACTS)[number];

/** Whether an act is offered for this status, and only to visitors who may see all of it (`decisions.md`). */
export function isOffered(status: TransferStatus | null, act: Act): boolean {
  if (status === null || status.limited === true) return false;
  const { emailmigration: mail, emailforwarding: forwarding, daily } = status;
  switch (act) {
    case 'stop':
      return !isAtItsEnd(status);
    case 'mend':
      return attentionOf(status) !== undefined;
    case 'take back':
      return isEndedMove(status) && mail?.taking_back !== true && (mail?.taken_back ?? 0) < copiedBy(mail ?? {});
    case 'again':
      return isEndedMove(status) && mail?.taking_back !== true;
    case 'receipt':
      // The files of an export have their own list of messages.
      return isAtItsEnd(status) && !isExport(status);
    case 'forwarding':
      return forwarding?.since !== undefined && forwarding.ended === undefined;
    case 'daily':
      return isOffered(status, 'again') && daily !== undefined && daily.next === undefined;
    case 'daily off':
      return daily?.next !== undefined;
  }
}

function isEndedMove(status: TransferStatus): boolean {
  return status.emailmigration !== undefined && !isExport(status) && isAtItsEnd(status);
}

/** Whether no part of a transfer is running or waiting for its owner. */
export function isAtItsEnd(status: TransferStatus): boolean {
  return progressesOf(status).every(
    (operation) => operation.attention === undefined && ['success', 'failed'].includes(standingOf(operation)),
  );
}

/** How the mail and the contacts stand, of what the transfer has of the two. */
export function progressesOf({ emailmigration, contactsmigration }: TransferStatus): Progress[] {
  return [emailmigration, contactsmigration].filter((operation) => operation !== undefined);
}

/** Whether its owner has stopped the transfer. */
export function isCancelled(status: TransferStatus): boolean {
  return progressesOf(status).some(({ ended }) => ended === 'cancelled');
}

/** What the owner has to put right, if anything. */
export function attentionOf(status: TransferStatus | null): Attention | undefined {
  return status === null ? undefined : progressesOf(status).find(({ attention }) => attention !== undefined)?.attention;
}

/** Whether only the contacts are waiting for the owner. */
export function isOfContacts(status: TransferStatus | null): boolean {
  return status?.emailmigration?.attention === undefined && status?.contactsmigration?.attention !== undefined;
}

type Shown = {
  readonly status: TransferStatus | null;
  readonly transferId: string | null;
  readonly destination: { readonly provider: Provider; readonly transferId?: string } | null;
};

/** Whether the transfer that is looked at goes to this tab's destination, which may be that of another one. */
export function isToOwnDestination({ transferId, destination }: Omit<Shown, 'status'>): boolean {
  return destination?.transferId === (transferId ?? '');
}

/** The destination, from the server or from this tab's order. If neither is known, one with a password is assumed. */
export function destinationOf(shown: Shown): Provider {
  const ordered = isToOwnDestination(shown) ? shown.destination?.provider : undefined;
  return shown.status?.destination ?? ordered ?? 'other';
}
