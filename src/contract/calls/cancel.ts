import * as v from 'valibot';
import { GivenTransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** Stops a transfer. 5 s later nothing more is written to the destination; what has been copied stays there. */
export const cancel = {
  method: 'POST',
  path: '/api/v2/transfers/cancel/',
  Request: v.object({ job_id: GivenTransferId }),
  Answer: Ok,
} as const satisfies Call;
