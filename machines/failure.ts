import { FAILURE_CODES, type CallFailureCode } from '../src/contract/failure-code.ts';

const CODES: readonly string[] = [...FAILURE_CODES, 'UNAVAILABLE', 'UNEXPECTED_ANSWER'];

/** The code of what an actor rejected with; `UNEXPECTED_ANSWER` for anything that has none. */
export function failureCodeOf(error: unknown): CallFailureCode {
  const code = typeof error === 'object' && error !== null && 'error' in error ? error.error : undefined;
  return typeof code === 'string' && CODES.includes(code) ? (code as CallFailureCode) : 'UNEXPECTED_ANSWER';
}

/** A guard on an actor's error: `guard: failedWith('INVALID_IMAP')`. */
export function failedWith(...codes: readonly CallFailureCode[]) {
  return {
    type: 'the failure is' as const,
    params: ({ event }: { event: { readonly error: unknown } }) => ({ code: failureCodeOf(event.error), codes }),
  };
}
