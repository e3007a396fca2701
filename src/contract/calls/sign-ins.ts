import * as v from 'valibot';
import type { Call } from './call.ts';

const Time = v.pipe(v.string(), v.isoTimestamp());

/** The other browsers that are signed in to the asker's mailbox, the last used first: when, and nothing else of them. */
export const signIns = {
  method: 'GET',
  path: '/api/v2/sign-ins/',
  Answer: v.object({ others: v.array(v.object({ began: Time, used: Time })) }),
  bearer: true,
} as const satisfies Call;
export type SignIns = v.InferOutput<typeof signIns.Answer>['others'];
