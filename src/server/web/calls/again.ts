import { again } from '../../../contract/calls/again.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import type { Secret } from '../../transfers/credentials.ts';
import type { TransferOrder } from '../../transfers/orders.ts';
import { takingBack } from '../../transfers/taking-back.ts';
import { transferById, type Transfer } from '../../transfers/transfer.ts';
import { requireManager } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { notGiven, provenSecret } from './resume.ts';
import { route } from './route.ts';

type Again = Pick<
  Web,
  'database' | 'transfers' | 'tokens' | 'owners' | 'sessions' | 'securityLog' | 'proofs' | 'consents' | 'limits'
>;

/** A new transfer between the mailboxes of one that has ended, which goes on from what that one knows. */
export const answerAgain = route(again, 'calls by a client', async ({ body }, services: Again, visit) => {
  const { job_id: id, source_account: source, destination_account: destination } = body;
  await requireManager(services, visit, id);
  const { database, transfers, tokens, limits } = services;
  const transfer = await transferById(database, id);
  const isTakenBack = await takingBack(database, id);
  if (transfer === null || transfer.destinationProvider === 'file_export' || isTakenBack !== false)
    throw new Refusal(
      409,
      'OPERATION_NOT_ALLOWED',
      'This transfer can not be run again now. Please wait until it is done.',
    );
  await provenSecret(transfer, 'source', source, services, visit);
  const secret = await provenSecret(transfer, 'destination', destination, services, visit);
  if (secret === null) throw notGiven();
  const order = orderOf(transfer, source.password, secret);
  if (!(await transfers.isStarted(order, { anew: true }))) {
    await limits.take('transfers of a mailbox', transfer.sourceEmail);
    await limits.take('transfers by a client', visit.client);
    if (order.notificationContact !== undefined)
      await limits.take('transfers that tell a contact', order.notificationContact);
  }
  const started = await transfers.start(order, { anew: true });
  if (started.kind === 'busy')
    throw new Refusal(
      409,
      'MIGRATION_IN_PROGRESS',
      'A transfer of this account is already running. Your mail is safe. Please wait until it is done.',
    );
  if (secret.kind === 'token') await (started.usesToken ? tokens.keep(secret.tokenId) : tokens.forget(secret.tokenId));
  await services.owners.add(started.id, visit.browser.keep());
  services.securityLog('transfer ordered', {
    mailbox: transfer.sourceEmail,
    client: visit.client,
    transferId: started.id,
    what: transfer.destinationProvider,
  });
  return { jobid: started.id };
});

/** Without forwarding, which stays as it is; contacts need a sign-in at the provider. */
function orderOf(transfer: Transfer, password: string, secret: Secret): TransferOrder {
  const { sourceImap, destinationImap, destinationProvider: provider, notificationContact, inQa } = transfer;
  const takesContacts = secret.kind === 'token' && isOauthProvider(provider);
  return {
    source: {
      email: transfer.sourceEmail,
      password,
      provider: transfer.sourceProvider,
      ...(sourceImap === undefined ? {} : { imap: sourceImap }),
    },
    destination: {
      email: transfer.destinationEmail,
      provider,
      ...(destinationImap === undefined ? {} : { imap: destinationImap }),
      ...(secret.kind === 'token' ? { tokenId: secret.tokenId } : { password: secret.password }),
    },
    operations: transfer.operations.filter(
      (operation) => operation === 'emailmigration' || (operation === 'contactsmigration' && takesContacts),
    ),
    ...(notificationContact === undefined ? {} : { notificationContact }),
    inQa,
  };
}
