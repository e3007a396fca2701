import * as v from 'valibot';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** Stops a transfer: nothing is written to the destination 5 s later, and what is there stays. */
export const cancel = {
  method: 'POST',
  path: '/api/v2/transfers/cancel/',
  Request: v.object({ job_id: TransferId }),
  Answer: Ok,
} as const satisfies Call;
