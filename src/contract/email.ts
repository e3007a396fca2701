import * as v from 'valibot';
import { isEmail, withFoldedDomain } from './email-address.ts';

/** Much longer than any address, whatever invisible characters it has; more would take long to fold. */
const FOLDED_AT_MOST = 1024;

/** An email address, trimmed and lowercased, with its domain folded. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.maxLength(FOLDED_AT_MOST, 'Please enter a valid email address.'),
  v.transform(withFoldedDomain),
  v.check(isEmail, 'Please enter a valid email address.'),
);
export type Email = v.InferOutput<typeof Email>;
