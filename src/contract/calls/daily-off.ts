import * as v from 'valibot';
import { GivenTransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** Switches off the daily transfer of new mail. `job_id` may be any transfer between the two mailboxes. */
export const dailyOff = {
  method: 'POST',
  path: '/api/v2/transfers/daily-off/',
  Request: v.object({ job_id: GivenTransferId }),
  Answer: Ok,
} as const satisfies Call;
