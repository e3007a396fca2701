import * as v from 'valibot';
import type { Call } from '../../../contract/calls/call.ts';
import type { LimitName } from '../limits.ts';
import { Refusal, sessionOver } from '../refusal.ts';
import type { Web } from '../services.ts';
import type { Visit } from '../visit.ts';

type QueryOf<C extends Call> = C extends { readonly Query: infer Q extends v.GenericSchema<unknown, unknown> }
  ? { readonly query: v.InferOutput<Q> }
  : unknown;
type BodyOf<C extends Call> = C extends { readonly Request: infer R extends v.GenericSchema<unknown, unknown> }
  ? { readonly body: v.InferOutput<R> }
  : unknown;
type Input<C extends Call> = QueryOf<C> & BodyOf<C>;

/** The answer in its wire form, in snake case; the contract's transform makes it camel case for the browser. */
type WireAnswer<C extends Call> = v.InferInput<C['Answer']>;

/** A call with its handler. `answer` takes unparsed input. */
export type Route = {
  readonly call: Call;
  /** The limit per client, in addition to the handler's own limits. */
  readonly limit: LimitName;
  answer(outside: { query: unknown; body: unknown }, web: Web, visit: Visit): Promise<unknown>;
};

/**
 * Binds a handler to its call: parses the input and, except in production, checks the answer against its schema.
 * Failures are {@link Refusal}s.
 */
export function route<const C extends Call>(
  call: C,
  limit: LimitName,
  handler: (input: Input<C>, web: Web, visit: Visit) => Promise<WireAnswer<C>>,
): Route {
  return {
    call,
    limit,
    answer: async ({ query, body }, web, visit) => {
      const input = {
        ...(call.Query === undefined ? {} : { query: parse(call.Query, query) }),
        ...(call.Request === undefined ? {} : { body: parse(call.Request, body) }),
      } as Input<C>;
      const answer = await handler(input, web, visit);
      if (process.env['NODE_ENV'] !== 'production') v.parse(call.Answer, answer);
      return answer;
    },
  };
}

/** @throws {Refusal} for the first invalid field */
export function parse<Output>(schema: v.GenericSchema<unknown, Output>, input: unknown): Output {
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output;
  const keys = result.issues[0].path?.map(({ key }) => key) ?? [];
  throw refusalOf(keys.findLast((key) => typeof key === 'string') ?? '');
}

/** The refusal for an invalid field. It never repeats the input. */
function refusalOf(field: string): Refusal {
  switch (field) {
    case 'email':
    case 'email_address':
    case 'destination_email':
    case 'notification_email':
      return new Refusal(400, 'INVALID_EMAIL', 'Please enter a valid email address.');
    case 'imap':
    case 'source_imap':
    case 'destination_imap':
      return new Refusal(400, 'INVALID_IMAP', 'Invalid IMAP. Please enter a valid IMAP address.');
    case 'job_id':
    case 'hash':
      return new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.');
    case 'migration_id':
      return new Refusal(400, 'GENERAL_ERROR', 'Please, enter a valid transfer ID.');
    case 'token':
      return sessionOver();
    case 'operations':
      return new Refusal(400, 'OPERATION_NOT_ALLOWED', 'This operation is not allowed.');
    case 'provider':
      return new Refusal(400, 'UNSUPPORTED_PROVIDER', 'This provider is not supported.');
    case 'password':
      return new Refusal(401, 'INVALID_CREDENTIALS', 'Incorrect email or password.');
    case 'token_id':
      return new Refusal(
        401,
        'INVALID_CREDENTIALS',
        'The destination account is not signed in. Nothing was moved. Please sign in to it again.',
      );
    default:
      return new Refusal(400, 'GENERAL_ERROR', 'The request is not well formed. Nothing was changed.');
  }
}
