import * as v from 'valibot';
import { GivenPassword, TokenId } from '../account.ts';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** The mailbox that something is wrong with. */
export const Side = v.picklist(['source', 'destination']);
export type Side = v.InferOutput<typeof Side>;

/**
 * Goes on where a transfer that needed its owner has stopped: with a new password, with a new sign-in at the provider of
 * the same mailbox, or with neither once there is room. `side` is the one that needs attention when it is left out.
 */
export const resume = {
  method: 'POST',
  path: '/api/v2/transfers/resume/',
  Request: v.object({
    job_id: TransferId,
    side: v.optional(Side),
    password: v.optional(GivenPassword),
    token_id: v.optional(TokenId),
  }),
  Answer: Ok,
} as const satisfies Call;
