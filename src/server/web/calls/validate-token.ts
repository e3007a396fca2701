import { validateToken } from '../../../contract/calls/validate-token.ts';
import { sessionOver } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerValidateToken = route(
  validateToken,
  'calls by a client',
  async ({ body }, { sessions }: Pick<Web, 'sessions'>) => {
    if (!(await sessions.isValid(body.token))) throw sessionOver();
    return { ok: true };
  },
);
