import * as v from 'valibot';
import type { Call } from './call.ts';
import { Email } from '../email.ts';
import { Ok } from './ok.ts';

/**
 * Ends this browser's sign-ins: the bearer token that is sent, what the cookie gives access to by a sign-in, and the
 * lists of transfers. `everywhere` also ends those of all other browsers that are signed in to the same mailbox; it is
 * refused with `INVALID_TOKEN` when the caller isn't signed in to one. `email` names the mailbox that is meant, since
 * another tab of the browser may have signed in to a different one. A browser keeps its access to the transfers that it
 * ordered (`decisions.md`, "Who may do what").
 */
export const signOut = {
  method: 'POST',
  path: '/api/v2/sign-out/',
  Request: v.object({ everywhere: v.exactOptional(v.boolean()), email: v.exactOptional(Email) }),
  Answer: Ok,
  bearer: true,
} as const satisfies Call;
