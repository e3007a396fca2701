import type { Sql } from '../../store/database.ts';
import { storable } from '../../store/storable.ts';
import type { Fenced } from './fenced.ts';
import type { StagedMessage } from './staged.ts';

/** Which messages are staged, by mailbox, UIDVALIDITY and UID. */
export function openStagedRows(database: Fenced, exportId: number) {
  return {
    /** What is staged of a mailbox: the UIDs of this UIDVALIDITY, the highest number, and how many of older ones. */
    staged: async (mailboxId: number, uidValidity: bigint) => {
      const uids = await database.query<{ uid: number }>(
        'select uid::float8 as uid from export_messages where mailbox_id = $1 and uid_validity = $2',
        [mailboxId, String(uidValidity)],
      );
      const [row] = await database.query<{ highest: number; older: number }>(
        `select coalesce(max(number), 0) as highest,
           (count(*) filter (where uid_validity <> $2))::float8 as older
         from export_messages where mailbox_id = $1`,
        [mailboxId, String(uidValidity)],
      );
      return { uids: new Set(uids.map(({ uid }) => uid)), highest: row?.highest ?? 0, older: row?.older ?? 0 };
    },

    /**
     * Takes over a message that is staged already under an older UIDVALIDITY, if one has the same octets: the server
     * numbered its mailbox anew, and each message is exported once.
     */
    claim: async (
      mailboxId: number,
      uidValidity: bigint,
      message: { uid: number; sha256: string },
    ): Promise<boolean> => {
      const rows = await database.write((sql) =>
        sql.query(
          `update export_messages set uid_validity = $2, uid = $3
           where mailbox_id = $1 and number = (
             select min(number) from export_messages where mailbox_id = $1 and uid_validity <> $2 and sha256 = $4)
           returning number`,
          [mailboxId, String(uidValidity), message.uid, message.sha256],
        ),
      );
      return rows.length > 0;
    },

    record: async (mailboxId: number, uidValidity: bigint, messages: readonly StagedMessage[]): Promise<void> => {
      const record = (sql: Sql) =>
        sql.query(
          `insert into export_messages (mailbox_id, export_id, uid_validity, number, uid, size, sha256, crc32, internal_date,
           flags, line_ends, label, segment, position)
         select $1, $2, $3, number, uid, size, sha256, crc32, internal_date, flags, line_ends, label, segment, position
         from jsonb_to_recordset($4::jsonb) as message(number integer, uid bigint, size bigint, sha256 text, crc32 bigint,
           internal_date timestamptz, flags jsonb, line_ends text, label text, segment text, position bigint)`,
          [
            mailboxId,
            exportId,
            String(uidValidity),
            JSON.stringify(
              messages.map(({ internalDate, lineEnds, flags, ...message }) => ({
                ...message,
                internal_date: internalDate,
                line_ends: lineEnds,
                flags: flags.map((flag) => storable(flag)),
              })),
            ),
          ],
        );
      await database.write(record);
    },

    /** Octets and messages: of the whole export, and of the part that is being gathered. */
    totals: async () => {
      const [row] = await database.query<Record<'messages' | 'octets' | 'openMessages' | 'openOctets', number>>(
        `select count(*)::float8 as messages, coalesce(sum(size), 0)::float8 as octets,
           (count(*) filter (where part is null))::float8 as "openMessages",
           coalesce(sum(size) filter (where part is null), 0)::float8 as "openOctets"
         from export_messages where export_id = $1`,
        [exportId],
      );
      return row ?? { messages: 0, octets: 0, openMessages: 0, openOctets: 0 };
    },
  };
}
