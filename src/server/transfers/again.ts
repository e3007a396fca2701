import { isOauthProvider } from '../../contract/provider-name.ts';
import type { Secret } from './credentials.ts';
import type { TransferOrder } from './orders.ts';
import type { Transfer } from './transfer.ts';

/**
 * The order that copies what has arrived since a transfer. Forwarding stays as it is; contacts need a sign-in at the
 * provider.
 */
export function orderAgain(transfer: Transfer, password: string, destination: Secret): TransferOrder {
  const { destinationImap, destinationProvider: provider, notificationContact, inQa } = transfer;
  const takesContacts = destination.kind === 'token' && isOauthProvider(provider);
  return {
    source: {
      email: transfer.sourceEmail,
      password,
      provider: transfer.sourceProvider,
    },
    destination: {
      email: transfer.destinationEmail,
      provider,
      ...(destinationImap === undefined ? {} : { imap: destinationImap }),
      ...(destination.kind === 'token' ? { tokenId: destination.tokenId } : { password: destination.password }),
    },
    operations: transfer.operations.filter(
      (operation) => operation === 'emailmigration' || (operation === 'contactsmigration' && takesContacts),
    ),
    ...(notificationContact === undefined ? {} : { notificationContact }),
    inQa,
  };
}
