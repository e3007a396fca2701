import { ownPath, personalPrefix } from '../../mail/imap/mailbox.ts';
import { readablePath } from '../../mail/imap/wire/mailbox-name.ts';
import type { Fenced } from './fenced.ts';
import type { MailboxName, PartMailbox, PartMessage } from './staged.ts';

/** How many rows are read at once. */
const PAGE = 500;

/** What is in a part, in the order of its mailboxes. */
export function openPartContent(database: Fenced, exportId: number) {
  return {
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
        // The next page is asked for while this one is worked on.
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
  };
}
