import * as v from 'valibot';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/**
 * Ends the sign-ins of this browser: the bearer that is shown, what the cookie opens by a sign-in, and the lists of
 * transfers. `everywhere` ends those of every browser that is signed in to the same mailbox; who is signed in to none
 * is refused that with `INVALID_TOKEN`. What a browser ordered stays its own (`decisions.md`, "Who may do what").
 */
export const signOut = {
  method: 'POST',
  path: '/api/v2/sign-out/',
  Request: v.object({ everywhere: v.exactOptional(v.boolean()) }),
  Answer: Ok,
  bearer: true,
} as const satisfies Call;
