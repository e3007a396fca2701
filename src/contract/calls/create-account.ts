import * as v from 'valibot';
import { Password } from '../account.ts';
import { Email } from '../email.ts';
import type { Call } from './call.ts';
import { InQa } from './in-qa.ts';
import { Ok } from './ok.ts';

export const createAccount = {
  method: 'POST',
  path: '/api/v2/san-bruno-create-account/',
  Query: InQa,
  Request: v.object({ email: Email, password: Password }),
  Answer: Ok,
} as const satisfies Call;
