import type { Database } from '../../../store/database.ts';
import { storable } from '../../../store/storable.ts';
import { isHeld, LeaseLost, requireLease, type Lease } from '../../../transfers/lease.ts';
import type { Ledger } from './ledger.ts';
import { MAILBOX, type MailboxRow, mailboxJson, mailboxOf, storedPath } from './rows.ts';

type Mailboxes = Pick<Ledger, 'mailboxes' | 'addMailboxes' | 'rename' | 'noteMailbox' | 'countMailbox'>;

/** What the ledger knows of a transfer's mailboxes. */
export function ledgerMailboxes(database: Database, { transferId, epoch }: Lease): Mailboxes {
  const write = async (mailboxId: number, column: 'reason' | 'total', value: string | number | null) => {
    const written = await database.query(
      `update ledger_mailboxes set ${column} = $2
       where id = $1 and exists (select 1 from transfers where ${isHeld('$3', '$4')}) returning id`,
      [mailboxId, value, transferId, epoch],
    );
    if (written.length === 0) throw new LeaseLost(transferId);
  };
  return {
    mailboxes: async () =>
      (
        await database.query<MailboxRow>(`select ${MAILBOX} from ledger_mailboxes where transfer_id = $1 order by id`, [
          transferId,
        ])
      ).map(mailboxOf),
    addMailboxes: async (mailboxes) => {
      const rows = await database.query<MailboxRow & { is_new: boolean }>(
        `insert into ledger_mailboxes (transfer_id, source_path, source_uid_validity, destination_path, total, reason)
         select id, x.source_path, x.validity, x.destination_path, x.total, x.reason
         from transfers, json_to_recordset($2::json) as x(source_path text, validity bigint, destination_path text, total integer, reason text, number bigint)
         where ${isHeld('$1', '$3')} order by x.number
         on conflict (transfer_id, source_path, source_uid_validity)
           do update set total = excluded.total, reason = excluded.reason
         returning ${MAILBOX}, xmax = 0 as is_new`,
        [transferId, JSON.stringify(mailboxes.map((mailbox, number) => ({ ...mailboxJson(mailbox), number }))), epoch],
      );
      const byKey = new Map(
        rows.map((row) => [`${row.source_uid_validity} ${row.source_path}`, { ...mailboxOf(row), isNew: row.is_new }]),
      );
      return mailboxes.map((given) => {
        const mailbox = byKey.get(`${given.sourceUidValidity} ${storedPath(given.sourcePath)}`);
        if (mailbox === undefined) throw new LeaseLost(transferId);
        const { destinationPath, sourcePath } = given;
        const same = mailbox.destinationPath === storedPath(destinationPath);
        return { ...mailbox, sourcePath, ...(same ? { destinationPath } : {}) };
      });
    },
    rename: async (mailboxIds, sourcePath) => {
      await database.transaction(async (sql) => {
        await requireLease(sql, { transferId, epoch });
        await sql.query(
          'update ledger_mailboxes set source_path = $3 where transfer_id = $1 and id = any($2::bigint[])',
          [transferId, [...mailboxIds], storedPath(sourcePath)],
        );
      });
    },
    noteMailbox: (mailboxId, reason) => write(mailboxId, 'reason', reason === null ? null : storable(reason)),
    countMailbox: (mailboxId, total) => write(mailboxId, 'total', total),
  };
}
