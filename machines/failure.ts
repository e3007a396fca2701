import type { Side } from '../src/contract/calls/resume.ts';
import { FAILURE_CODES, type CallFailureCode } from '../src/contract/failure-code.ts';
import type { Context, Message } from './wizard.types.ts';

const CODES: readonly string[] = [...FAILURE_CODES, 'UNAVAILABLE', 'UNEXPECTED_ANSWER'];

function said(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
}

/** The code of the error that an actor rejected with; `UNEXPECTED_ANSWER` if it has none. */
function failureCodeOf(error: unknown): CallFailureCode {
  const code = said(error, 'error');
  return typeof code === 'string' && CODES.includes(code) ? (code as CallFailureCode) : 'UNEXPECTED_ANSWER';
}

/** A guard on an actor's error: `guard: failedWith('INVALID_IMAP')`. */
export function failedWith(...codes: readonly CallFailureCode[]) {
  return {
    type: 'the failure is' as const,
    params: ({ event }: { event: { readonly error: unknown } }) => ({ code: failureCodeOf(event.error), codes }),
  };
}

/** A guard on an actor's error: which of the transfer's two mailboxes refused the sign-in. */
export function refusedBy(wanted: Side) {
  return {
    type: 'the sign-in is refused by' as const,
    params: ({ event: { error } }: { event: { readonly error: unknown } }) => ({
      code: failureCodeOf(error),
      side: said(error, 'side'),
      wanted,
    }),
  };
}

/** The transfer that prevented a call, if the caller may know it. */
export function transferInTheWay({ event }: Failed): { transfer: Context['transferInTheWay'] } {
  const { error } = event;
  const id = said(error, 'transferId');
  const isCompleted = failureCodeOf(error) === 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED';
  return { transfer: typeof id === 'string' ? { id, isCompleted } : null };
}

export type FailedEvent = { readonly type: string; readonly error?: unknown };
type Failed = { event: FailedEvent };

/**
 * The code shown for a call that failed or timed out. After a timeout, as after an unreadable answer, its outcome is
 * unknown.
 */
export function failureOf<About extends Extract<Message, { readonly code: unknown }>['about']>(about: About) {
  return ({ event }: Failed) => ({
    message: {
      about,
      code: event.type.startsWith('xstate.error.') ? failureCodeOf(event.error) : ('UNEXPECTED_ANSWER' as const),
    },
  });
}
