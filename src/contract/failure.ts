import * as v from 'valibot';
import { Side } from './calls/resume.ts';
import { FAILURE_CODES, type FailureCode } from './failure-code.ts';
import { TransferId } from './transfer.ts';
import type { Challenge } from './work.ts';

function failure<const Code extends string>(code: Code) {
  return v.object({
    error: v.literal(code),
    message: v.optional(v.string(), ''),
    /** The conflicting transfer, for a caller who has proved that the mailbox is theirs. */
    jobid: v.optional(TransferId),
    /** Which of the transfer's two mailboxes refused the sign-in. */
    side: v.optional(Side),
  });
}

/** The body of every 4xx and 5xx answer. */
export const Failure = v.variant(
  'error',
  FAILURE_CODES.map((code) => failure(code)),
);
export type Failure = {
  readonly error: FailureCode;
  readonly message: string;
  readonly jobid?: string | undefined;
  readonly side?: Side | undefined;
  /** The work that gets the same call through; parsed separately, by callers that are prepared to do it. */
  readonly challenge?: Challenge;
};
