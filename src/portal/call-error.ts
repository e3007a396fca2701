import type { Side } from '../contract/calls/resume.ts';
import type { CallFailureCode } from '../contract/failure-code.ts';

/** A call that failed: the server refused it, could not be reached, or sent an answer that matches no schema. */
export class CallError extends Error {
  override name = 'CallError';
  readonly error: CallFailureCode;
  /** The ID of the transfer that prevented the call. */
  readonly transferId: string | undefined;
  /** Of a transfer's two mailboxes, the one whose sign-in was refused. */
  readonly side: Side | undefined;
  constructor(
    error: CallFailureCode,
    message: string,
    options: ErrorOptions & { transferId?: string | undefined; side?: Side | undefined } = {},
  ) {
    super(message, options);
    this.error = error;
    this.transferId = options.transferId;
    this.side = options.side;
  }
}
