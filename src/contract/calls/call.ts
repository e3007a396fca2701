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
