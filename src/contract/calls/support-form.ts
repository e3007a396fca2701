import * as v from 'valibot';
import { Email } from '../email.ts';
import { TransferId } from '../transfer.ts';
import { SUPPORT_ISSUE_LENGTH } from '../support-issue.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

const SupportRequest = v.pipe(
  v.object({
    email_address: Email,
    destination_email: v.optional(Email),
    migration_id: v.optional(TransferId),
    issue: v.pipe(
      v.string(),
      v.trim(),
      v.minLength(SUPPORT_ISSUE_LENGTH.longerThan + 1),
      v.maxLength(SUPPORT_ISSUE_LENGTH.atMost),
    ),
  }),
  v.transform((wire) => ({
    emailAddress: wire.email_address,
    issue: wire.issue,
    ...(wire.destination_email === undefined ? {} : { destinationEmail: wire.destination_email }),
    ...(wire.migration_id === undefined ? {} : { migrationId: wire.migration_id }),
  })),
);

export const supportForm = {
  method: 'POST',
  path: '/api/v2/support-form/',
  Request: SupportRequest,
  Answer: Ok,
} as const satisfies Call;
export type SupportRequest = v.InferOutput<typeof SupportRequest>;

/** The request in its wire form, in snake case; absent values are `undefined`, which JSON omits. */
export function writeSupportForm(request: SupportRequest): v.InferInput<typeof SupportRequest> {
  return {
    email_address: request.emailAddress,
    destination_email: request.destinationEmail,
    migration_id: request.migrationId,
    issue: request.issue,
  };
}
