import { validate } from '../../../contract/calls/validate.ts';
import { isAtDomain } from '../../../contract/email-address.ts';
import { newBrowserKey } from '../browser.ts';
import { likenessOf } from '../likeness.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerValidate = route(
  validate,
  'calls by a client',
  async (
    { body },
    {
      settings,
      proofs,
      limits,
      sessions,
      signInLimits,
    }: Pick<Web, 'settings' | 'proofs' | 'limits' | 'sessions' | 'signInLimits'>,
    visit,
  ) => {
    const { email, provider } = body;
    if (provider === 'file_export') throw new Refusal(400, 'UNSUPPORTED_PROVIDER', 'This provider is not supported.');
    if (provider === 'sanbruno' && !isAtDomain(email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
    // It can't be a new mailbox, and its password must only be guessable under one limit, whatever host is named.
    if (provider === 'other' && isAtDomain(email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', 'Please use an address at another provider.');
    const { imap, ...claim } = body;
    await proofs.proveOwner({ ...claim, ...(imap === undefined ? {} : { imap }) }, visit);
    // A sign-in elsewhere gives no access here: a server that the visitor named may accept anybody under any address.
    if (provider !== 'sanbruno') return { ok: true };
    await limits.take('sessions of a mailbox', likenessOf(email));
    const browser = newBrowserKey();
    await signInLimits.recordBrowser(email, browser);
    const token = await sessions.begin(email, browser, visit.browser.key);
    visit.browser.change(browser);
    return { ok: true, token };
  },
);
