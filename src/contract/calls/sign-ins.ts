import * as v from 'valibot';
import type { Call } from './call.ts';

const Time = v.pipe(v.string(), v.isoTimestamp());

/** The other browsers that are signed in to the caller's mailbox, most recently used first: only times, nothing else. */
export const signIns = {
  method: 'GET',
  path: '/api/v2/sign-ins/',
  Answer: v.object({ others: v.array(v.object({ began: Time, used: Time })) }),
  bearer: true,
} as const satisfies Call;
export type SignIns = v.InferOutput<typeof signIns.Answer>['others'];
