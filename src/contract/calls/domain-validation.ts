import * as v from 'valibot';
import type { Call } from './call.ts';

export const domainValidation = {
  method: 'GET',
  path: '/api/v2/domain-validation/',
  Query: v.object({ domain: v.pipe(v.string(), v.minLength(1), v.maxLength(253)) }),
  Answer: v.object({ valid: v.boolean() }),
} as const satisfies Call;
