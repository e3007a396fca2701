import * as v from 'valibot';
import { GivenPassword } from '../account.ts';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/**
 * Switches the forwarding of a transfer off. The password of the San Bruno mailbox comes with it: what a transfer knew of
 * it is destroyed at its end, and nobody else may change what becomes of that mailbox's mail.
 */
export const forwardingOff = {
  method: 'POST',
  path: '/api/v2/transfers/forwarding-off/',
  Request: v.object({ job_id: TransferId, password: GivenPassword }),
  Answer: Ok,
} as const satisfies Call;
