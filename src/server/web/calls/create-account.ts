import { createAccount } from '../../../contract/calls/create-account.ts';
import { isAtDomain } from '../../../contract/email-address.ts';
import { createDestinationAccount } from '../provisioning.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** Only the mailbox's owner can have an account made for it, so the password is proven first. */
export const answerCreateAccount = route(
  createAccount,
  'calls by a client',
  async ({ body, query }, services: Pick<Web, 'proofs' | 'settings' | 'log' | 'vault' | 'transfers'>, visit) => {
    const { proofs, settings } = services;
    const { email, password } = body;
    if (!isAtDomain(email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
    await proofs.prove({ email, password, provider: 'sanbruno' }, visit);
    try {
      await createDestinationAccount(services, { email, password, inQa: query.in_qa }, visit.signal);
    } catch (error) {
      throw await withTransfer(error, email, services);
    }
    return { ok: true };
  },
);

/** The mailbox has been proven: a transfer that is in the way is named. */
async function withTransfer(error: unknown, email: string, { transfers }: Pick<Web, 'transfers'>): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS') return error;
  const running = await transfers.running(email);
  if (running === null) return error;
  return new Refusal(error.status, error.code, error.message, { transferId: running.id, cause: error });
}
