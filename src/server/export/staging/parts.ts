import type { Skipped } from '../../../contract/calls/status.ts';
import { refusedBy } from '../../../contract/transfer-status.ts';
import { readablePath } from '../../mail/imap/wire/mailbox-name.ts';
import { storable } from '../../store/storable.ts';
import type { Fenced } from './fenced.ts';
import type { PartFile } from './staged.ts';

/** How many skipped messages, and how many contacts, are listed one by one at most. */
export const SKIPPED_AT_MOST = 1000;

function jsonOf(skipped: readonly Skipped[]): string {
  return JSON.stringify(
    skipped.slice(0, SKIPPED_AT_MOST).map(({ mailbox, subject, ...each }) => ({
      ...each,
      mailbox: storable(readablePath(mailbox)),
      ...(subject === undefined ? {} : { subject: storable(subject) }),
    })),
  );
}

/** The parts of an export: what is gathered, then settled, then written into a file, then offered. */
export function openParts(database: Fenced, exportId: number) {
  return {
    /** Settles what the next part holds: all that is staged and in no part yet. `skipped` goes with the last one. */
    seal: (last?: { readonly skipped: readonly Skipped[] }): Promise<void> =>
      database.write(async (sql) => {
        const [row] = await sql.query<{ sealed: number }>(
          `update exports set sealed = sealed + 1,
             last_part = case when $2::jsonb is null then last_part else sealed + 1 end, mail_skipped = $2::jsonb,
             mail_unsaved = $3::integer
           where id = $1 returning sealed`,
          [exportId, last === undefined ? null : jsonOf(last.skipped), last === undefined ? null : refusedBy(last)],
        );
        await sql.query('update export_messages set part = $2 where export_id = $1 and part is null', [
          exportId,
          row?.sealed ?? 0,
        ]);
      }),

    /** Parts that are settled and not written: those that hold messages, and the last one in any case. */
    unwritten: async (): Promise<number[]> => {
      const rows = await database.query<{ part: number }>(
        `select part from (
           select distinct part from export_messages where export_id = $1 and part is not null
           union select last_part from exports where id = $1 and last_part is not null) as parts
         where part not in (select part from export_files where export_id = $1) order by part`,
        [exportId],
      );
      return rows.map(({ part }) => part);
    },

    /**
     * Forgets a part whose staged messages are damaged; they are fetched again. The parts after it, none of which is
     * written before it, move up by one, so that the numbers of the files have no gap.
     */
    forget: (part: number): Promise<void> =>
      database.write(async (sql) => {
        await sql.query('delete from export_messages where export_id = $1 and part = $2', [exportId, part]);
        await sql.query('update export_messages set part = part - 1 where export_id = $1 and part > $2', [
          exportId,
          part,
        ]);
        await sql.query(
          `update exports set last_part = null, sealed = (select coalesce(max(part), $2::integer - 1)
             from export_messages where export_id = $1 and part >= $2)
           where id = $1`,
          [exportId, part],
        );
      }),

    contactsStaged: async (skipped: readonly Skipped[]): Promise<void> => {
      await database.write((sql) =>
        sql.query('update exports set contacts_staged = now(), contacts_skipped = $2::jsonb where id = $1', [
          exportId,
          jsonOf(skipped),
        ]),
      );
    },

    /**
     * Segments that hold messages of parts not written yet. Others may be swept.
     * @throws {LeaseLost} if another worker has the transfer
     */
    segments: async (): Promise<Set<string>> => {
      const rows = await database.write((sql) =>
        sql.query<{ segment: string }>(
          `select distinct segment from export_messages where export_id = $1
             and (part is null or part not in (select part from export_files where export_id = $1))`,
          [exportId],
        ),
      );
      return new Set(rows.map(({ segment }) => segment));
    },

    written: async ({ part, name, size, sha256, pieces }: PartFile): Promise<void> => {
      await database.write((sql) =>
        sql.query(
          'insert into export_files (export_id, part, name, size, sha256, pieces) values ($1, $2, $3, $4, $5, $6)',
          [exportId, part, name, size, sha256, pieces],
        ),
      );
    },

    /**
     * The names of the parts that are written. Others may be removed.
     * @throws {LeaseLost} if another worker has the transfer
     */
    names: async (): Promise<Set<string>> => {
      const rows = await database.write((sql) =>
        sql.query<{ name: string }>('select name from export_files where export_id = $1', [exportId]),
      );
      return new Set(rows.map(({ name }) => name));
    },

    /**
     * Offers the files, from the later of the worker's time and the database's on, as nobody is to have fewer days, and
     * forgets what was needed only on the way.
     */
    finish: (finished: Date, expires: Date): Promise<void> =>
      database.write(async (sql) => {
        await sql.query(
          `update exports set finished = greatest($2, now()), expires = greatest($3, now() + ($3::timestamptz - $2::timestamptz)),
             messages = staged.messages, octets = staged.octets
           from (select count(*)::integer as messages, coalesce(sum(size), 0)::bigint as octets
             from export_messages where export_id = $1) staged
           where id = $1 and finished is null`,
          [exportId, finished, expires],
        );
        await sql.query('delete from export_mailboxes where export_id = $1', [exportId]);
        await sql.query('delete from export_contacts where export_id = $1', [exportId]);
        await sql.query('delete from export_cards where export_id = $1', [exportId]);
      }),
  };
}
