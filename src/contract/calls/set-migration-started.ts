import * as v from 'valibot';
import { Email } from '../email.ts';
import type { Call } from './call.ts';
import { InQa } from './in-qa.ts';
import { Ok } from './ok.ts';

export const setMigrationStarted = {
  method: 'POST',
  path: '/api/v2/san-bruno-set-migration-started/',
  Query: InQa,
  Request: v.object({ email: Email }),
  Answer: Ok,
  bearer: true,
} as const satisfies Call;
