import { again } from '../../../contract/calls/again.ts';
import { orderAgain } from '../../transfers/again.ts';
import { dailyOf, dailyUntil, isOfDaily, switchDailyOn } from '../../transfers/dailies.ts';
import type { TransferOrder } from '../../transfers/orders.ts';
import { takingBack } from '../../transfers/taking-back.ts';
import { transferById } from '../../transfers/transfer.ts';
import { limitOrder } from '../order-limits.ts';
import { requireManager } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { notGiven, provenSecret, putRightBy, type Proving } from './resume.ts';
import { route } from './route.ts';

type Again = Proving & Pick<Web, 'settings' | 'now' | 'transfers'>;

/** Starts a new transfer between the mailboxes of one that has ended; it continues from what that one has recorded. */
export const answerAgain = route(again, 'calls by a client', async ({ body }, services: Again, visit) => {
  const { job_id: id, source_account: source, destination_account: destination } = body;
  await requireManager(services, visit, id);
  const { database, tokens } = services;
  const transfer = await transferById(database, id);
  if (transfer?.destinationProvider === 'file_export')
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'These are files. Please start a new download for what is new.');
  if (transfer === null || (await takingBack(database, id)) !== false)
    throw new Refusal(
      409,
      'OPERATION_NOT_ALLOWED',
      'This transfer can not be run again now. Please wait until it is done.',
    );
  const until = body.daily === true ? await untilOf(id, services) : null;
  const { password } = source;
  if (password === undefined) throw notGiven('source');
  await provenSecret(transfer, 'source', { password }, services, visit);
  const secret = await provenSecret(transfer, 'destination', destination, services, visit);
  if (secret === null) throw notGiven('destination');
  const order = orderAgain(transfer, password, secret);
  if (order.operations.length === 0)
    throw new Refusal(
      409,
      'OPERATION_NOT_ALLOWED',
      'This transfer brings only contacts, and those need a sign-in at the provider instead of a password.',
    );
  const { sourceEmail: mailbox } = transfer;
  const asked = { mailbox, contact: order.notificationContact, client: visit.client };
  // From now on: a transfer that ends at once would erase them before the daily is on.
  const held = until !== null && secret.kind === 'token' ? secret.tokenId : null;
  if (held !== null) await tokens.hold(held, services.now(), database);
  const begin = async () => {
    const started = await startAnew(order, asked, services);
    const takesToken = await putRightBy(order, started.id, services);
    if (until !== null) {
      const secrets = { source: { kind: 'password', password }, destination: secret } as const;
      await switchDailyOn(services, transfer, secrets, services.now(), until);
      services.securityLog('daily switched on', { client: visit.client, transferId: id });
    }
    return { jobid: started.id, usesToken: started.usesToken || takesToken };
  };
  const { jobid, usesToken } = await begin().catch(async (error: unknown) => {
    if (held !== null && !(await isOfDaily(database, held))) await tokens.unhold(held, database);
    throw error;
  });
  if (secret.kind === 'token') await (usesToken ? tokens.keep(secret.tokenId) : tokens.forget(secret.tokenId));
  await services.owners.add(jobid, visit.browser.keep());
  services.securityLog('transfer ordered', {
    mailbox,
    client: visit.client,
    transferId: jobid,
    what: transfer.destinationProvider,
  });
  return { jobid };
});

/** @throws {Refusal} */
async function startAnew(
  order: TransferOrder,
  asked: Parameters<typeof limitOrder>[1],
  { transfers, limits }: Pick<Again, 'transfers' | 'limits'>,
) {
  const started = await transfers.start(order, { anew: true, admit: (sql) => limitOrder(limits.within(sql), asked) });
  if (started.kind === 'started') return started;
  throw new Refusal(
    409,
    'MIGRATION_IN_PROGRESS',
    'A transfer of this account is already running. Your mail is safe. Please wait until it is done.',
  );
}

/** When daily transfers would end. @throws {Refusal} 409 if they can't be switched on */
async function untilOf(
  id: string,
  { database, settings, now }: Pick<Again, 'database' | 'settings' | 'now'>,
): Promise<Date> {
  const daily = await dailyOf(database, settings.accessEnd, now(), id);
  const until = dailyUntil(settings.accessEnd, now());
  if (daily === null || until === null)
    throw new Refusal(409, 'OPERATION_NOT_ALLOWED', 'New mail can not be brought once a day for this transfer.');
  return until;
}
