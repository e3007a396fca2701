import { setMigrationStarted } from '../../contract/calls/set-migration-started.ts';
import { isAtDomain } from '../../contract/email-address.ts';
import { announceMigration } from '../provisioning.ts';
import { Refusal } from '../refusal.ts';
import { route } from './route.ts';

export const answerSetMigrationStarted = route(
  setMigrationStarted,
  'look-ups by a client',
  async ({ body, query }, web, visit) => {
    if (!isAtDomain(body.email, web.settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${web.settings.legacyName} email address.`);
    await announceMigration(web, { email: body.email, inQa: query.in_qa }, visit.signal);
    return { ok: true };
  },
);
