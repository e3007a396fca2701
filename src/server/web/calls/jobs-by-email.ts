import { jobsByEmail } from '../../../contract/calls/jobs-by-email.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** `portal.md` §9, "Status-from-email list". */
const NEWEST = 5;

export const answerJobsByEmail = route(
  jobsByEmail,
  'look-ups by a client',
  async ({ body }, { consents, database }: Pick<Web, 'consents' | 'database'>) => {
    const email = await consents.emailOf(body.hash);
    if (email === null)
      throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfers have not been found. Please sign in again.');
    const rows = await database.query<{ id: string; created: Date }>(
      `select id, created from transfers where destination_email = $1 order by created desc limit ${NEWEST}`,
      [email],
    );
    return Object.fromEntries(rows.map(({ id, created }) => [id, created.toISOString()]));
  },
);
