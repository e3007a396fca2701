import { setMigrationStarted } from '../../../contract/calls/set-migration-started.ts';
import { isAtDomain } from '../../../contract/email-address.ts';
import { announceMigration } from '../provisioning.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { SESSION_MS } from '../sessions.ts';
import type { Visit } from '../visit.ts';
import { route } from './route.ts';

type Announcing = Pick<Web, 'settings' | 'sessions' | 'signInLimits' | 'log' | 'vault' | 'announcements'>;

/** Only someone who has signed in to the mailbox can announce its move. */
export const answerSetMigrationStarted = route(
  setMigrationStarted,
  'look-ups by a client',
  async ({ body, query }, services: Announcing, visit) => {
    const { settings } = services;
    if (!isAtDomain(body.email, settings.legacyDomains))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
    if (!(await hasSignedIn(body.email, services, visit)))
      throw new Refusal(401, 'INVALID_TOKEN', 'The session is over. Nothing was moved. Please sign in again.');
    // Noted first: the service may get the announcement even if its answer is lost.
    await services.announcements.note(body.email);
    await announceMigration(services, { email: body.email, inQa: query.in_qa }, visit.signal);
    return { ok: true };
  },
);

/** By the bearer token from `validate` for this mailbox or, for clients that don't keep it, by a recent sign-in to it. */
async function hasSignedIn(
  email: string,
  { sessions, signInLimits }: Announcing,
  { bearer, client }: Visit,
): Promise<boolean> {
  return (
    (bearer !== undefined && (await sessions.isOf(bearer, email))) ||
    signInLimits.hasSignedIn(email, client, SESSION_MS)
  );
}
