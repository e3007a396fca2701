import type { Failure } from '../../contract/failure.ts';
import type { Challenge } from '../../contract/work.ts';
import type { Side } from '../../contract/calls/resume.ts';
import type { FailureCode } from '../../contract/failure-code.ts';

export type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 416 | 429 | 500 | 502 | 503;

/** A call's refusal. `message` is for the subscriber: what happened, whether the mail is safe, what to do; never a secret. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: FailureCode;
  readonly status: RefusalStatus;
  /** Whole seconds for `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** The transfer that is in the way; only for a caller who has shown that the mailbox is theirs. */
  readonly transferId: string | undefined;
  /** Of a transfer's two mailboxes, the one whose sign-in was refused. */
  readonly side: Side | undefined;
  /** The work with which the same call is let through. */
  readonly challenge: Challenge | undefined;
  /** The portal's page that a browser is led to which has followed a link here. */
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
