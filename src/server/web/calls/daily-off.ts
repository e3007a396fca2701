import { setTimeout as wait } from 'node:timers/promises';
import { dailyOff } from '../../../contract/calls/daily-off.ts';
import { dailyHasEnded, switchDailyOff } from '../../transfers/dailies.ts';
import { stopDailyRun } from '../../transfers/stopping.ts';
import { requireManager } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

type SwitchingOff = Pick<Web, 'database' | 'safe' | 'tokens' | 'queue' | 'owners' | 'sessions' | 'securityLog'>;

export const answerDailyOff = route(dailyOff, 'calls by a client', async ({ body }, services: SwitchingOff, visit) => {
  const { job_id: id } = body;
  await requireManager(services, visit, id);
  const isOff = await switchDailyOff(services, id, null);
  const hasEnded = !isOff && (await dailyHasEnded(services.database, id));
  // Even if it is already off: an earlier call may have been interrupted between the two steps.
  const isStopped = !hasEnded && (await stopDailyRun(services, id, (milliseconds) => wait(milliseconds)));
  if (!isOff && !isStopped)
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'New mail is not brought once a day. So there is nothing to stop.');
  services.securityLog('daily switched off', { client: visit.client, transferId: id });
  return { ok: true as const };
});
