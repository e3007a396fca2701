import ky, { isHTTPError, isNetworkError } from 'ky';
import * as v from 'valibot';
import type { Asked, Call } from '../contract/calls/call.ts';
import { UNAVAILABLE_STATUS } from '../contract/failure-code.ts';
import { Failure } from '../contract/failure.ts';
import { CallError } from './call-error.ts';

type Any = { readonly query?: Readonly<Record<string, string>>; readonly body?: unknown };

/** The one way to the server. No time limit (`portal.md` §9) and no repeats: the machine decides both. */
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
    try {
      return await http(call.path, {
        method: call.method,
        signal,
        ...(query === undefined ? {} : { searchParams: query }),
        ...(body === undefined ? {} : { json: body }),
        ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      }).json<C['Answer']>(call.Answer as C['Answer']);
    } catch (error) {
      throw asCallError(error);
    }
  };
}

function asCallError(cause: unknown): CallError {
  if (isNetworkError(cause)) return new CallError('UNAVAILABLE', 'The server could not be reached.', { cause });
  if (!isHTTPError(cause)) return new CallError('UNEXPECTED_ANSWER', 'The answer could not be read.', { cause });
  if (cause.response.status === UNAVAILABLE_STATUS)
    return new CallError('UNAVAILABLE', 'The server is unavailable.', { cause });
  const refusal = v.safeParse(Failure, cause.data);
  return refusal.success
    ? new CallError(refusal.output.error, refusal.output.message, { cause, transferId: refusal.output.jobid })
    : new CallError('UNEXPECTED_ANSWER', 'The refusal could not be read.', { cause });
}
