import { setTimeout as wait } from 'node:timers/promises';
import { cancel } from '../../../contract/calls/cancel.ts';
import { removeUnfinishedExport } from '../../export/download/sweeper.ts';
import { stopTransfer } from '../../transfers/stopping.ts';
import { requireManager } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

type Stopping = Pick<
  Web,
  'database' | 'safe' | 'queue' | 'tokens' | 'exports' | 'owners' | 'sessions' | 'securityLog' | 'log'
>;

export const answerCancel = route(cancel, 'calls by a client', async ({ body }, services: Stopping, visit) => {
  const { job_id: id } = body;
  await requireManager(services, visit, id);
  if (!(await stopTransfer(services, id, (milliseconds) => wait(milliseconds))))
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'This transfer has ended already, so there is nothing to stop.');
  await removeUnfinishedExport(services, id);
  services.securityLog('transfer stopped', { client: visit.client, transferId: id });
  return { ok: true as const };
});
