import * as v from 'valibot';
import type { Call } from './call.ts';

export const phoneNumberValidation = {
  method: 'GET',
  path: '/api/v2/phone-number-validation/',
  Query: v.object({ number: v.pipe(v.string(), v.minLength(1), v.maxLength(32)) }),
  Answer: v.object({ valid: v.boolean() }),
} as const satisfies Call;
