import type { CallFailureCode } from '../contract/failure-code.ts';

/** A call that ended in no answer: the server's refusal, or how it could not be had. */
export class CallError extends Error {
  override name = 'CallError';
  readonly error: CallFailureCode;
  /** The transfer that is in the way. */
  readonly transferId: string | undefined;
  constructor(
    error: CallFailureCode,
    message: string,
    options: ErrorOptions & { transferId?: string | undefined } = {},
  ) {
    super(message, options);
    this.error = error;
    this.transferId = options.transferId;
  }
}
