import { validateToken } from '../../../contract/calls/validate-token.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerValidateToken = route(
  validateToken,
  'calls by a client',
  async ({ body }, { sessions }: Pick<Web, 'sessions'>) => {
    if (!(await sessions.isValid(body.token)))
      throw new Refusal(401, 'INVALID_TOKEN', 'The session is over. Please sign in again.');
    return { ok: true };
  },
);
