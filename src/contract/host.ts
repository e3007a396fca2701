import * as v from 'valibot';
import { readHost } from './mail-host.ts';

/** A mail server as the portal sends it: `host` or `host:port`, lower case. */
export const ImapHost = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.check((text) => readHost(text) !== null, 'Invalid IMAP. Please enter a valid IMAP address.'),
);
export type ImapHost = v.InferOutput<typeof ImapHost>;
