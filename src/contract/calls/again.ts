import * as v from 'valibot';
import { GivenPassword, TokenId } from '../account.ts';
import { GivenTransferId, TransferId } from '../transfer.ts';
import type { Call } from './call.ts';

/** Starts a new transfer between the same mailboxes, for mail that arrived since. Credentials are sent as in `load`. */
export const again = {
  method: 'POST',
  path: '/api/v2/transfers/again/',
  Request: v.object({
    job_id: GivenTransferId,
    /** Missing credentials are refused only to whoever may manage the transfer, when it has ended. */
    source_account: v.optional(v.object({ password: v.optional(GivenPassword) }), {}),
    destination_account: v.optional(
      v.object({
        password: v.optional(GivenPassword),
        token_id: v.optional(TokenId),
      }),
      {},
    ),
    /** From now on, transfers new mail once a day. */
    daily: v.optional(v.literal(true)),
  }),
  Answer: v.object({ jobid: TransferId }),
} as const satisfies Call;
