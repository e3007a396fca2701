import * as v from 'valibot';
import { GivenPassword, TokenId } from '../account.ts';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';

/** A new transfer between the same mailboxes, which brings what came since. What signs in travels as in `load`. */
export const again = {
  method: 'POST',
  path: '/api/v2/transfers/again/',
  Request: v.object({
    job_id: TransferId,
    source_account: v.object({ password: GivenPassword }),
    destination_account: v.optional(
      v.object({
        password: v.optional(GivenPassword),
        token_id: v.optional(TokenId),
      }),
      {},
    ),
    /** What still arrives is brought from now on, once a day. */
    daily: v.optional(v.literal(true)),
  }),
  Answer: v.object({ jobid: TransferId }),
} as const satisfies Call;
