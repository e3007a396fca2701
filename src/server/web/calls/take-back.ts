import { setTimeout as wait } from 'node:timers/promises';
import { takeBack } from '../../../contract/calls/take-back.ts';
import type { Sql } from '../../store/database.ts';
import { isOfDaily, switchDailyOff } from '../../transfers/dailies.ts';
import { stopDailyRun } from '../../transfers/stopping.ts';
import { orderTakeBack, takingBack, wouldBeCopiedAgain } from '../../transfers/taking-back.ts';
import { transferById } from '../../transfers/transfer.ts';
import { limitOrder } from '../order-limits.ts';
import { requireManager } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import { notGiven, provenSecret, type Proving } from './resume.ts';
import { route } from './route.ts';

export const answerTakeBack = route(takeBack, 'calls by a client', async ({ body }, services: Proving, visit) => {
  const { job_id: id } = body;
  await requireManager(services, visit, id);
  const { database, tokens } = services;
  const transfer = await transferById(database, id);
  if (transfer?.destinationProvider === 'file_export')
    throw new Refusal(
      409,
      'OPERATION_NOT_ALLOWED',
      'These are files. Nothing was put into a mailbox, so there is nothing to take back.',
    );
  const isRunning = await takingBack(database, id);
  if (transfer === null || isRunning === null)
    throw new Refusal(
      409,
      'OPERATION_NOT_ALLOWED',
      'There is nothing to take back now. A transfer must have ended first.',
    );
  // The button was pressed twice.
  if (isRunning) return { ok: true as const };
  await requireNoOther(id, services);
  const secret = await provenSecret(transfer, 'destination', body, services, visit);
  if (secret === null) throw notGiven('destination');
  // These are erased as the daily goes off.
  if (secret.kind === 'token' && (await isOfDaily(database, secret.tokenId))) throw notGiven('destination');
  // Proving may have taken some seconds.
  await requireNoOther(id, services);
  await limitOrder(services.limits, { mailbox: transfer.sourceEmail, client: visit.client });
  // Otherwise tomorrow's run would copy it all again.
  await switchDailyOff(services, id, null);
  await stopDailyRun(services, id, (milliseconds) => wait(milliseconds));
  // Stopping may have taken some more.
  const admit = (sql: Sql) => requireNoOther(id, { database: sql });
  // Unless another tab was faster.
  if (!(await orderTakeBack(services, transfer, secret, admit))) return { ok: true as const };
  if (secret.kind === 'token') await tokens.keep(secret.tokenId);
  services.securityLog('take-back ordered', { client: visit.client, transferId: id });
  return { ok: true as const };
});

/** @throws {Refusal} 409 if another order between the same mailboxes is not finished */
async function requireNoOther(id: string, { database }: { readonly database: Sql }): Promise<void> {
  if (await wouldBeCopiedAgain(database, id))
    throw new Refusal(
      409,
      'MIGRATION_IN_PROGRESS',
      'Another transfer between these mailboxes is not finished. It would copy again what is taken back. Please stop it first, or wait for its end.',
    );
}
