import { randomBytes } from 'node:crypto';
import type { Skipped } from '../../../contract/calls/status.ts';
import { refusedBy } from '../../../contract/transfer-status.ts';
import type { Database, Sql } from '../../store/database.ts';
import { storable } from '../../store/storable.ts';
import { ownPath, personalPrefix } from '../../mail/imap/mailbox.ts';
import { readablePath } from '../../mail/imap/wire/mailbox-name.ts';
import type { LineEnds } from '../archive/mbox.ts';
import type { Fenced } from './fenced.ts';
import { openStagedMailboxes } from './staged-mailboxes.ts';

/** An export as it stands. `name` is how links call it; what is skipped is known once all is staged. */
export type Export = {
  readonly id: number;
  readonly name: string;
  readonly lastPart: number | null;
  readonly contactsStaged: Date | null;
  readonly mailSkipped: readonly Skipped[] | null;
  /** How many messages are not in it; of them, and of whole mailboxes, `mailSkipped` names some. */
  readonly mailUnsaved: number | null;
  readonly contactsSkipped: readonly Skipped[] | null;
  readonly finished: Date | null;
};

export type StagedMessage = {
  readonly number: number;
  readonly uid: number;
  readonly size: number;
  readonly sha256: string;
  readonly crc32: number;
  readonly internalDate: Date;
  readonly flags: readonly string[];
  readonly lineEnds: LineEnds;
  readonly label: string;
  readonly segment: string;
  readonly position: number;
};

/** A message of a part, with where its mailbox goes. `path` is the server's own name for the mailbox. */
export type PartMessage = StagedMessage & {
  readonly mailboxId: number;
  readonly path: string;
  readonly folder: string;
};

export type PartMailbox = {
  readonly mailboxId: number;
  readonly folder: string;
  readonly newest: Date;
  readonly messages: number;
  readonly octets: number;
  /** How many earlier parts hold messages of this mailbox. */
  readonly before: number;
};

/** A mailbox by its path as its owner reads it, with what it is for (RFC 6154), or `''`. */
export type MailboxName = {
  readonly mailboxId: number;
  readonly path: string;
  readonly delimiter: string;
  readonly specialUse: string;
};

export type PartFile = {
  readonly part: number;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly pieces: Buffer;
};

const PAGE = 500;
/** The most skipped messages that are told one by one. */
const SKIPPED_AT_MOST = 1000;

function jsonOf(skipped: readonly Skipped[]): string {
  return JSON.stringify(
    skipped.slice(0, SKIPPED_AT_MOST).map(({ mailbox, subject, ...each }) => ({
      ...each,
      mailbox: storable(readablePath(mailbox)),
      ...(subject === undefined ? {} : { subject: storable(subject) }),
    })),
  );
}

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

/** What is durable of an export: which messages are staged where, and which parts are written. */
export function openStagedMessages(database: Fenced, exportId: number) {
  return {
    ...openStagedMailboxes(database, exportId),

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
     * Forgets a part whose staged messages are damaged; they are fetched again. Those after it, of which none is written
     * before it is, move up, so that the files tell their numbers without a gap.
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

    async *messages(part: number, mailboxId?: number): AsyncGenerator<PartMessage> {
      const pageAfter = async (after: { readonly mailboxId: number; readonly number: number }) =>
        database.query<PartMessage>(
          `select message.mailbox_id::float8 as "mailboxId", path, folder, number, uid::float8 as uid,
             size::float8 as size, sha256, crc32::float8 as crc32, internal_date as "internalDate", flags, line_ends as "lineEnds", label,
             segment, position::float8 as position
           from export_messages as message join export_mailboxes as mailbox on mailbox.id = message.mailbox_id
           where message.export_id = $1 and part = $2 and (mailbox_id, number) > ($3, $4)
             and ($5::bigint is null or mailbox_id = $5)
           order by mailbox_id, number limit ${PAGE}`,
          [exportId, part, after.mailboxId, after.number, mailboxId ?? null],
        );
      let next: Promise<PartMessage[]> | undefined = pageAfter({ mailboxId: mailboxId ?? 0, number: 0 });
      while (next !== undefined) {
        const page: PartMessage[] = await next;
        const last = page.at(-1);
        // Asked for while this one is worked on.
        next = last === undefined || page.length < PAGE ? undefined : pageAfter(last);
        next?.catch(() => {});
        for (const message of page) yield { ...message, path: readablePath(JSON.parse(message.path) as string) };
      }
    },

    mailboxes: (part: number): Promise<PartMailbox[]> =>
      database.query<PartMailbox>(
        `select mailbox_id::float8 as "mailboxId", folder, max(internal_date) filter (where part = $2) as newest,
           (count(*) filter (where part = $2))::integer as messages,
           (sum(size) filter (where part = $2))::float8 as octets,
           (count(distinct part) filter (where part < $2))::integer as before
         from export_messages as message join export_mailboxes as mailbox on mailbox.id = message.mailbox_id
         where message.export_id = $1 and part <= $2
         group by mailbox_id, folder having bool_or(part = $2) order by mailbox_id`,
        [exportId, part],
      ),

    /** How much mail a part holds. */
    content: async (part: number) => {
      const [row] = await database.query<{ messages: number; octets: number }>(
        `select count(*)::float8 as messages, coalesce(sum(size), 0)::float8 as octets
         from export_messages where export_id = $1 and part = $2`,
        [exportId, part],
      );
      return row ?? { messages: 0, octets: 0 };
    },

    /** The mailboxes of a part; with the last one, those without any message as well. */
    mailboxNames: async (part: number, isLast: boolean): Promise<MailboxName[]> => {
      const rows = await database.query<MailboxName & { readonly gone: boolean; readonly wanted: boolean }>(
        `select id::float8 as "mailboxId", path, delimiter, special_use as "specialUse", gone,
           id in (select mailbox_id from export_messages where export_id = $1 and part = $2)
           or $3::boolean and not gone and id not in (select mailbox_id from export_messages where export_id = $1)
           as wanted
         from export_mailboxes where export_id = $1 order by id`,
        [exportId, part, isLast],
      );
      const all = rows.map((row) => ({ ...row, path: JSON.parse(row.path) as string }));
      const prefix = personalPrefix(all.filter(({ gone }) => !gone));
      return all.filter(({ wanted }) => wanted).map((row) => ({ ...row, path: ownPath(row, prefix) }));
    },

    /** The folders of mailboxes without messages. */
    emptyFolders: async (): Promise<string[]> => {
      const rows = await database.query<{ folder: string }>(
        `select folder from export_mailboxes where export_id = $1 and not gone
           and id not in (select mailbox_id from export_messages where export_id = $1) order by id`,
        [exportId],
      );
      return rows.map(({ folder }) => folder);
    },

    /** Segments that hold messages of parts not written yet. Others may be swept: @throws {LeaseLost} when not by us */
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

    /** The names of the parts that are written. Others may be removed: @throws {LeaseLost} when not by us */
    names: async (): Promise<Set<string>> => {
      const rows = await database.write((sql) =>
        sql.query<{ name: string }>('select name from export_files where export_id = $1', [exportId]),
      );
      return new Set(rows.map(({ name }) => name));
    },

    /** Offers the files, and forgets what was needed only on the way. */
    finish: (finished: Date, expires: Date): Promise<void> =>
      database.write(async (sql) => {
        await sql.query(
          `update exports set finished = $2, expires = $3, messages = staged.messages, octets = staged.octets
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
