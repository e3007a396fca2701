import * as v from 'valibot';
import { FAILURE_CODES, type FailureCode } from './failure-code.ts';
import type { Challenge } from './work.ts';

function failure<const Code extends string>(code: Code) {
  return v.object({ error: v.literal(code), message: v.optional(v.string(), '') });
}

/** The body of every 4xx and 5xx answer. */
export const Failure = v.variant(
  'error',
  FAILURE_CODES.map((code) => failure(code)),
);
export type Failure = {
  readonly error: FailureCode;
  readonly message: string;
  /** What lets the same call through; read on its own, by who means to do it. */
  readonly challenge?: Challenge;
};
