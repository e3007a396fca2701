import * as v from 'valibot';
import { GivenPassword, TokenId } from '../account.ts';
import { GivenTransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** The mailbox that has a problem. */
export const Side = v.picklist(['source', 'destination']);
export type Side = v.InferOutput<typeof Side>;

/**
 * Resumes a transfer that is waiting for its owner: with a new password, with a new sign-in to the same mailbox at its
 * provider, or with neither once the mailbox has room. `side` defaults to the side that needs attention.
 */
export const resume = {
  method: 'POST',
  path: '/api/v2/transfers/resume/',
  Request: v.object({
    job_id: GivenTransferId,
    side: v.optional(Side),
    password: v.optional(GivenPassword),
    token_id: v.optional(TokenId),
  }),
  Answer: Ok,
} as const satisfies Call;
