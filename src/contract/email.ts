import * as v from 'valibot';
import { domainOf, isEmail } from './email-address.ts';

/** An address, trimmed and lowercased, its domain folded: one mailbox has one name, whatever letters its domain was typed in. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.transform((text) => `${text.slice(0, text.lastIndexOf('@') + 1)}${domainOf(text)}`),
  v.check(isEmail, 'Please enter a valid email address.'),
);
export type Email = v.InferOutput<typeof Email>;
