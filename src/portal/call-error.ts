import type { CallFailureCode } from '../contract/failure-code.ts';

/** A call that ended in no answer: the server's refusal, or how it could not be had. */
export class CallError extends Error {
  override name = 'CallError';
  readonly error: CallFailureCode;
  constructor(error: CallFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.error = error;
  }
}
