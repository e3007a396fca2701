import * as v from 'valibot';
import { ImapHost } from '../host.ts';
import type { Call } from './call.ts';
import { Ok } from './ok.ts';

export const validateImap = {
  method: 'POST',
  path: '/api/validate-imap/',
  Request: v.object({ imap: ImapHost }),
  Answer: Ok,
} as const satisfies Call;
