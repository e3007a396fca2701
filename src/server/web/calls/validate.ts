import { validate } from '../../../contract/calls/validate.ts';
import { isAtDomain } from '../../../contract/email-address.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerValidate = route(
  validate,
  'calls by a client',
  async ({ body }, { settings, proofs, sessions }: Pick<Web, 'settings' | 'proofs' | 'sessions'>, visit) => {
    const { email, provider } = body;
    if (provider === 'file_export') throw new Refusal(400, 'UNSUPPORTED_PROVIDER', 'This provider is not supported.');
    if (provider === 'sanbruno' && !isAtDomain(email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
    const { imap, ...claim } = body;
    await proofs.proveOwner({ ...claim, ...(imap === undefined ? {} : { imap }) }, visit);
    // A server that the visitor named may let anybody in under any address.
    const mailbox = provider === 'sanbruno' ? email : `${provider} ${email}`;
    return { ok: true, token: await sessions.begin(mailbox, visit.browser.keep()) };
  },
);
