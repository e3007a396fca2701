import * as v from 'valibot';
import { isInQa } from '../in-qa.ts';

/** The build setting `in_qa` on the wire. */
export const InQa = v.object({
  in_qa: v.optional(v.pipe(v.string(), v.maxLength(8), v.transform(isInQa)), 'false'),
});
