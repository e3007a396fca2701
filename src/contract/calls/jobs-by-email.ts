import * as v from 'valibot';
import { TransferId } from '../transfer.ts';
import type { Call } from './call.ts';

/** Answers with a map from transfer ID to start time (ISO 8601), newest first. */
export const jobsByEmail = {
  method: 'POST',
  path: '/api/jobs-by-email/',
  Request: v.object({ hash: v.pipe(v.string(), v.maxLength(128)) }),
  Answer: v.record(TransferId, v.pipe(v.string(), v.isoTimestamp())),
} as const satisfies Call;
export type TransfersByHash = v.InferOutput<typeof jobsByEmail.Answer>;
