import * as v from 'valibot';
import { GivenPassword, TokenId } from '../account.ts';
import { GivenTransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/**
 * After the end, removes exactly what this transfer appended and nobody has changed since. The credentials for the
 * destination were erased at the end, so they are supplied again.
 */
export const takeBack = {
  method: 'POST',
  path: '/api/v2/transfers/take-back/',
  Request: v.object({
    job_id: GivenTransferId,
    password: v.optional(GivenPassword),
    token_id: v.optional(TokenId),
  }),
  Answer: Ok,
} as const satisfies Call;
