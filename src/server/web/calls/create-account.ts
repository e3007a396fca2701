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
  async ({ body, query }, services: Pick<Web, 'proofs' | 'settings' | 'log' | 'vault'>, visit) => {
    const { proofs, settings } = services;
    const { email, password } = body;
    if (!isAtDomain(email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
    await proofs.prove({ email, password, provider: 'sanbruno' }, visit);
    await createDestinationAccount(services, { email, password, inQa: query.in_qa }, visit.signal);
    return { ok: true };
  },
);
