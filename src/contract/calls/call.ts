import type * as v from 'valibot';

type AnySchema = v.GenericSchema<unknown, unknown>;

/** What the browser and the server agree on for one call: where it is, what it takes, what it answers. */
export type Call = {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/${string}/`;
  /** The query parameters, for both methods; values arrive as text. */
  readonly Query?: AnySchema;
  /** The JSON body of a POST. */
  readonly Request?: AnySchema;
  readonly Answer: AnySchema;
  /** Wants the bearer that `validate` gave; who has none must have signed in a short time ago. */
  readonly bearer?: true;
};

/** A call that is answered with server-sent events; each has the name and the schema of its data. */
export type Stream = {
  readonly method: 'GET';
  readonly path: `/api/${string}/`;
  readonly Query: AnySchema;
  readonly events: Readonly<Record<string, AnySchema>>;
};

/** The query parameters and the body of a call as they travel, for whoever makes it. */
export type Asked<C extends Pick<Call, 'Query' | 'Request'>> = (C extends {
  readonly Query: infer Query extends AnySchema;
}
  ? { readonly query: v.InferInput<Query> }
  : unknown) &
  (C extends { readonly Request: infer Request extends AnySchema }
    ? { readonly body: v.InferInput<Request> }
    : unknown);
