import * as v from 'valibot';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

export const validateToken = {
  method: 'POST',
  path: '/api/validate-token/',
  Request: v.object({ token: v.pipe(v.string(), v.maxLength(4096)) }),
  Answer: Ok,
} as const satisfies Call;
