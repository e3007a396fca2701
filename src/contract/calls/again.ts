import * as v from 'valibot';
import { TOKEN_ID_LENGTH } from '../token-id.ts';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';

const Password = v.pipe(v.string(), v.minLength(1), v.maxLength(1024));

/** A new transfer between the same mailboxes, which brings what came since. What signs in travels as in `load`. */
export const again = {
  method: 'POST',
  path: '/api/v2/transfers/again/',
  Request: v.object({
    job_id: TransferId,
    source_account: v.object({ password: Password }),
    destination_account: v.optional(
      v.object({
        password: v.optional(Password),
        token_id: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(TOKEN_ID_LENGTH))),
      }),
      {},
    ),
    /** What still arrives is brought from now on, once a day. */
    daily: v.optional(v.literal(true)),
  }),
  Answer: v.object({ jobid: TransferId }),
} as const satisfies Call;
