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
  // Also where it is gone: a call before this one may have broken off in between.
  const isStopped = !hasEnded && (await stopDailyRun(services, id, (milliseconds) => wait(milliseconds)));
  if (!isOff && !isStopped)
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'New mail is not brought once a day. So there is nothing to stop.');
  services.securityLog('daily switched off', { client: visit.client, transferId: id });
  return { ok: true as const };
});
