import * as v from 'valibot';
import { isEmail } from './email-address.ts';

/** An address, trimmed and lowercased. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.check(isEmail, 'Please enter a valid email address.'),
);
export type Email = v.InferOutput<typeof Email>;
