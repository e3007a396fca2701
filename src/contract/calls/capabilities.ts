import * as v from 'valibot';
import { Email } from '../email.ts';
import type { Call } from './call.ts';

export const capabilities = {
  method: 'POST',
  path: '/api/capabilities/',
  Request: v.object({ email: Email }),
  Answer: v.pipe(
    v.object({
      allowed_operations: v.array(v.string()),
      provider: v.string(),
      auth: v.picklist(['oauth', 'other']),
    }),
    v.transform(({ allowed_operations, provider, auth }) => ({
      allowedOperations: allowed_operations,
      provider,
      auth,
    })),
  ),
} as const satisfies Call;
export type Capabilities = v.InferOutput<typeof capabilities.Answer>;
