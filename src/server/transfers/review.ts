import type { Provider } from '../../contract/provider.ts';
import type { Review } from '../notifications/review.ts';
import type { Sql } from '../store/database.ts';

/** What support is told about a transfer that has ended; `null` if nothing about it needs review. */
export async function reviewOf(sql: Sql, id: string): Promise<Review | null> {
  const operations = await sql.query<Review['operations'][number]>(
    `select operation, status, done, total, lost, duplicated, changed, failure
     from operations where transfer_id = $1 order by operation desc`,
    [id],
  );
  if (!operations.some(({ status }) => status === 'review')) return null;
  const [transfer] = await sql.query<{
    source: string;
    provider: Provider;
    email: string;
    contact: string | null;
    ordered: Date;
    ended: Date | null;
  }>(
    `select source_email as source, destination_provider as provider, destination_email as email,
       notification_contact as contact, created as ordered, finished as ended
     from transfers where id = $1`,
    [id],
  );
  if (transfer === undefined || transfer.ended === null) return null;
  const { source, provider, email, contact, ordered, ended } = transfer;
  return { source, destination: { provider, email }, contact, ordered, ended, operations };
}
