import { detailedStatus, status, type TransferStatus } from '../../../contract/calls/status.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerStatus = route(
  status,
  'calls by a client',
  async ({ query }, { transfers }: Pick<Web, 'transfers'>) => {
    const { emailmigration, contactsmigration } = await statusOf(query.job_id, transfers);
    return {
      ...(emailmigration === undefined ? {} : { emailmigration: { status: emailmigration.status } }),
      ...(contactsmigration === undefined ? {} : { contactsmigration: { status: contactsmigration.status } }),
    };
  },
);

export const answerDetailedStatus = route(
  detailedStatus,
  'calls by a client',
  ({ query }, { transfers }: Pick<Web, 'transfers'>) => statusOf(query.job_id, transfers),
);

/** @throws {Refusal} 404 */
export async function statusOf(id: string, transfers: Web['transfers']): Promise<TransferStatus> {
  const found = await transfers.status(id);
  if (found === null) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.');
  return found;
}
