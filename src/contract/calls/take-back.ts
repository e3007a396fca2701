import * as v from 'valibot';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/** After the end: removes what this transfer appended and nobody has changed since, and nothing else. */
export const takeBack = {
  method: 'POST',
  path: '/api/v2/transfers/take-back/',
  Request: v.object({ job_id: TransferId }),
  Answer: Ok,
} as const satisfies Call;
