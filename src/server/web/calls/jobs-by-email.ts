import { jobsByEmail } from '../../../contract/calls/jobs-by-email.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

/** `portal.md` §9, "Status-from-email list". */
const NEWEST = 5;

export const answerJobsByEmail = route(
  jobsByEmail,
  'look-ups by a client',
  async ({ body }, { consents, transfers }: Pick<Web, 'consents' | 'transfers'>, { browser }) => {
    const owner = browser.key === undefined ? null : await consents.ownerOf(body.hash, browser.key);
    if (owner === null)
      throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfers have not been found. Please sign in again.');
    const newest = await transfers.newestTo(owner, NEWEST);
    return Object.fromEntries(newest.map(({ id, created }) => [id, created.toISOString()]));
  },
);
