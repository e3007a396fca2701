import * as v from 'valibot';
import { Password, ProviderName } from '../account.ts';
import { Email } from '../email.ts';
import { ImapHost } from '../host.ts';
import type { Call } from './call.ts';

export const validate = {
  method: 'POST',
  path: '/api/validate/',
  Request: v.object({
    email: Email,
    password: Password,
    imap: v.optional(ImapHost),
    provider: ProviderName,
  }),
  Answer: v.object({ ok: v.literal(true), token: v.optional(v.string()) }),
} as const satisfies Call;
export type Validated = v.InferOutput<typeof validate.Answer>;
