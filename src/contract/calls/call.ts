import type * as v from 'valibot';

type AnySchema = v.GenericSchema<unknown, unknown>;

/** The contract between browser and server for one call: its path, its input and its answer. */
export type Call = {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/${string}/`;
  /** The query parameters, for both methods; values arrive as text. */
  readonly Query?: AnySchema;
  /** The JSON body of a POST. */
  readonly Request?: AnySchema;
  readonly Answer: AnySchema;
  /** Takes the bearer token from `validate`; callers without one must have signed in recently. */
  readonly bearer?: true;
};

/** A call that is answered with server-sent events; `events` has the schema of each event's data by its name. */
export type Stream = {
  readonly method: 'GET';
  readonly path: `/api/${string}/`;
  readonly Query: AnySchema;
  readonly events: Readonly<Record<string, AnySchema>>;
};

/** The query parameters and the body of a call in their wire form. */
export type Asked<C extends Pick<Call, 'Query' | 'Request'>> = (C extends {
  readonly Query: infer Query extends AnySchema;
}
  ? { readonly query: v.InferInput<Query> }
  : unknown) &
  (C extends { readonly Request: infer Request extends AnySchema }
    ? { readonly body: v.InferInput<Request> }
    : unknown);
