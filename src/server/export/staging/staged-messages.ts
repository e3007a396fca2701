import { randomBytes } from 'node:crypto';
import type { Database } from '../../store/database.ts';
import type { Fenced } from './fenced.ts';
import type { Export } from './staged.ts';
import { openPartContent } from './part-content.ts';
import { openParts } from './parts.ts';
import { openStagedMailboxes } from './staged-mailboxes.ts';
import { openStagedRows } from './staged-rows.ts';

/** The transfer's export; made when there is none yet. */
export async function openExport(database: Database, transferId: string): Promise<Export> {
  await database.query('insert into exports (transfer_id, name) values ($1, $2) on conflict (transfer_id) do nothing', [
    transferId,
    randomBytes(16).toString('hex'),
  ]);
  const [row] = await database.query<Export>(
    `select id::float8 as id, name, last_part as "lastPart", contacts_staged as "contactsStaged",
       mail_skipped as "mailSkipped", mail_unsaved as "mailUnsaved", contacts_skipped as "contactsSkipped", finished
     from exports where transfer_id = $1`,
    [transferId],
  );
  if (row === undefined) throw new Error('The export of this transfer is gone.');
  return row;
}

export type StagedMessages = ReturnType<typeof openStagedMessages>;

/** What the database keeps of an export: which messages are staged where, and which parts are written. */
export function openStagedMessages(database: Fenced, exportId: number) {
  return {
    ...openStagedMailboxes(database, exportId),
    ...openStagedRows(database, exportId),
    ...openParts(database, exportId),
    ...openPartContent(database, exportId),
  };
}
