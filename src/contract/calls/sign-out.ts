import * as v from 'valibot';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/**
 * Ends the sign-ins of this browser: the bearer that is shown, what the cookie opens by a sign-in, and the list of
 * transfers. What the browser ordered stays its own (`decisions.md`, "Who may do what").
 */
export const signOut = {
  method: 'POST',
  path: '/api/v2/sign-out/',
  Request: v.object({ hash: v.exactOptional(v.pipe(v.string(), v.maxLength(128))) }),
  Answer: Ok,
  bearer: true,
} as const satisfies Call;
