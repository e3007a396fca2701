import * as v from 'valibot';
import { GivenPassword } from '../account.ts';
import { GivenTransferId } from '../transfer.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

/**
 * Switches a transfer's forwarding off. It takes the password of the San Bruno mailbox, because the transfer's own copy
 * was destroyed when it ended, and because only the mailbox's owner may change what happens to its mail.
 */
export const forwardingOff = {
  method: 'POST',
  path: '/api/v2/transfers/forwarding-off/',
  Request: v.object({ job_id: GivenTransferId, password: GivenPassword }),
  Answer: Ok,
} as const satisfies Call;
