import * as v from 'valibot';
import { isEmail, withFoldedDomain } from './email-address.ts';

/** An email address, trimmed and lowercased, with its domain folded. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.transform(withFoldedDomain),
  v.check(isEmail, 'Please enter a valid email address.'),
);
export type Email = v.InferOutput<typeof Email>;
