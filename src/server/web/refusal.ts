import type { Failure } from '../../contract/failure.ts';
import type { Challenge } from '../../contract/work.ts';
import type { Side } from '../../contract/calls/resume.ts';
import type { FailureCode } from '../../contract/failure-code.ts';

export type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 416 | 429 | 500 | 502 | 503;

/** A refused call. `message` tells the subscriber what happened, that the mail is safe and what to do; never a secret. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: FailureCode;
  readonly status: RefusalStatus;
  /** `Retry-After`, in whole seconds. */
  readonly retryAfter: number | undefined;
  /** The conflicting transfer; only for a caller who has proved that the mailbox is theirs. */
  readonly transferId: string | undefined;
  /** Which of the transfer's two mailboxes refused the sign-in. */
  readonly side: Side | undefined;
  /** The work that gets the same call through. */
  readonly challenge: Challenge | undefined;
  /** The portal page to which browsers that have followed a link here are redirected. */
  readonly page: string | undefined;

  constructor(
    status: RefusalStatus,
    code: FailureCode,
    message: string,
    options: {
      retryAfter?: number;
      transferId?: string;
      side?: Side;
      challenge?: Challenge;
      page?: string;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = status;
    this.retryAfter = options.retryAfter;
    this.transferId = options.transferId;
    this.side = options.side;
    this.challenge = options.challenge;
    this.page = options.page;
  }

  toJSON(): Failure {
    const { code, message, transferId, side, challenge } = this;
    return {
      error: code,
      message,
      ...(transferId === undefined ? {} : { jobid: transferId }),
      ...(side === undefined ? {} : { side }),
      ...(challenge === undefined ? {} : { challenge }),
    };
  }
}

export function sessionOver(): Refusal {
  return new Refusal(401, 'INVALID_TOKEN', 'The session is over. Please sign in again.');
}

export function domainUnchecked(cause: unknown): Refusal {
  return new Refusal(502, 'GENERAL_ERROR', 'The domain could not be checked right now. Please try again.', { cause });
}
