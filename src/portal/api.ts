import ky, { isHTTPError, isNetworkError } from 'ky';
import * as v from 'valibot';
import type { Asked, Call } from '../contract/calls/call.ts';
import { UNAVAILABLE_STATUS } from '../contract/failure-code.ts';
import { Failure } from '../contract/failure.ts';
import { WORK_HEADER } from '../contract/work.ts';
import { CallError } from './call-error.ts';
import { solutionFor } from './work.ts';

type Any = { readonly query?: Readonly<Record<string, string>>; readonly body?: unknown };

/** One for each mailbox that a call can name. */
const WORK_AT_MOST = 2;

/**
 * The one way to the server. No time limit (`portal.md` §9) and no repeats: the machine decides both. Only what the
 * server takes for a proof of work is asked again with it.
 */
export function createApi(bearer: () => string | null) {
  const http = ky.create({ timeout: false, retry: 0, credentials: 'same-origin' });

  /** @throws {CallError} */
  return async function ask<C extends Call>(
    call: C,
    asked: Asked<C> & Any,
    signal: AbortSignal,
  ): Promise<v.InferOutput<C['Answer']>> {
    const token = bearer();
    const { query, body } = asked;
    const make = (solution: string | null) =>
      http(call.path, {
        method: call.method,
        signal,
        ...(query === undefined ? {} : { searchParams: query }),
        ...(body === undefined ? {} : { json: body }),
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(solution === null ? {} : { [WORK_HEADER]: solution }),
        },
      }).json<C['Answer']>(call.Answer as C['Answer']);
    try {
      return await working(make, signal);
    } catch (error) {
      throw asCallError(error);
    }
  };
}

async function working<Answer>(
  make: (solution: string | null) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  let solution: string | null = null;
  for (let done = 0; done < WORK_AT_MOST; done += 1)
    try {
      return await make(solution);
    } catch (error) {
      solution = isHTTPError(error) ? await solutionFor(error.data, signal) : null;
      if (solution === null) throw error;
    }
  return make(solution);
}

function asCallError(cause: unknown): CallError {
  if (isNetworkError(cause)) return new CallError('UNAVAILABLE', 'The server could not be reached.', { cause });
  if (!isHTTPError(cause)) return new CallError('UNEXPECTED_ANSWER', 'The answer could not be read.', { cause });
  if (cause.response.status === UNAVAILABLE_STATUS)
    return new CallError('UNAVAILABLE', 'The server is unavailable.', { cause });
  const refusal = v.safeParse(Failure, cause.data);
  if (!refusal.success) return new CallError('UNEXPECTED_ANSWER', 'The refusal could not be read.', { cause });
  const { error, message, jobid, side } = refusal.output;
  return new CallError(error, message, { cause, transferId: jobid, side });
}
