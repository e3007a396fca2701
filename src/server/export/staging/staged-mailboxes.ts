import { ownPath, type Mailbox } from '../../mail/imap/mailbox.ts';
import { folderName } from '../names/folder-name.ts';
import { clashKey } from '../names/safe-name.ts';
import type { Fenced } from './fenced.ts';

/** A mailbox of which messages are staged. `gone`: it does not exist any more, and its name is another's. */
export type StagedIn = {
  readonly mailboxId: number;
  readonly path: string;
  readonly gone: boolean;
  readonly uidValidity: bigint;
};

/** What the database keeps of an export's mailboxes: their names at the source, and their folders in the archive. */
export function openStagedMailboxes(database: Fenced, exportId: number) {
  const folders = new Map<string, number>();
  const taken = new Set<string>();

  async function remember(): Promise<void> {
    const rows = await database.query<{ id: number; path: string; folder: string; gone: boolean }>(
      'select id::float8 as id, path, folder, gone from export_mailboxes where export_id = $1',
      [exportId],
    );
    for (const { id, path, folder, gone } of rows) {
      if (!gone) folders.set(path, id);
      taken.add(clashKey(folder));
    }
  }

  return {
    /**
     * The mailbox's row; its folder's name is settled when it is first seen. `prefix`: `personalPrefix` of the account.
     */
    mailbox: async ({ path, delimiter, specialUse = '' }: Mailbox, prefix: string): Promise<number> => {
      if (folders.size === 0) await remember();
      const key = JSON.stringify(path);
      const known = folders.get(key);
      if (known !== undefined) return known;
      const folder = folderName(ownPath({ path }, prefix), delimiter, taken);
      const [made] = await database.write((sql) =>
        sql.query<{ id: number }>(
          `insert into export_mailboxes (export_id, path, folder, delimiter, special_use) values ($1, $2, $3, $4, $5)
           returning id::float8 as id`,
          [exportId, key, folder, delimiter, specialUse],
        ),
      );
      if (made === undefined) throw new Error('The database did not say which row it made.');
      folders.set(key, made.id);
      taken.add(clashKey(folder));
      return made.id;
    },

    /** Where messages are staged, under each UIDVALIDITY. */
    stagedIn: async (): Promise<readonly StagedIn[]> => {
      const rows = await database.query<{ id: number; path: string; gone: boolean; uidValidity: string }>(
        `select distinct mailbox.id::float8 as id, path, gone, uid_validity::text as "uidValidity"
         from export_messages as message join export_mailboxes as mailbox on mailbox.id = message.mailbox_id
         where message.export_id = $1 order by id`,
        [exportId],
      );
      return rows.map(({ id, path, gone, uidValidity }) => ({
        mailboxId: id,
        path: JSON.parse(path) as string,
        gone,
        uidValidity: BigInt(uidValidity),
      }));
    },

    /** When the messages that are staged of a mailbox arrived, by their UIDs: in seconds since the epoch. */
    stagedDates: async (mailboxId: number, uidValidity: bigint): Promise<ReadonlyMap<number, number>> => {
      const rows = await database.query<{ uid: number; date: number }>(
        `select uid::float8 as uid, floor(extract(epoch from internal_date))::float8 as date from export_messages
         where mailbox_id = $1 and uid_validity = $2`,
        [mailboxId, String(uidValidity)],
      );
      return new Map(rows.map(({ uid, date }) => [uid, date]));
    },

    /** Digests of some messages that are staged, by their UIDs. */
    stagedDigests: async (
      mailboxId: number,
      uidValidity: bigint,
      uids: readonly number[],
    ): Promise<ReadonlyMap<number, string>> => {
      const rows = await database.query<{ uid: number; sha256: string }>(
        `select uid::float8 as uid, sha256 from export_messages
         where mailbox_id = $1 and uid_validity = $2 and uid = any($3::bigint[])`,
        [mailboxId, String(uidValidity), uids],
      );
      return new Map(rows.map(({ uid, sha256 }) => [uid, sha256]));
    },

    /**
     * Gives mailboxes the names that they have by now. If a settled part holds messages of one, it keeps its folder, so
     * that all of it is in one. What was staged of another mailbox of that name stays in the folder of that.
     */
    rename: async (renamed: ReadonlyMap<number, Mailbox>, prefix: string): Promise<void> => {
      folders.clear();
      taken.clear();
      await database.write(async (sql) => {
        const ids = [...renamed.keys()];
        const paths = [...renamed.values()].map(({ path }) => JSON.stringify(path));
        await sql.query(
          'update export_mailboxes set gone = true where export_id = $1 and (id = any($2::bigint[]) or path = any($3::text[]))',
          [exportId, ids, paths],
        );
        await sql.query(
          `delete from export_mailboxes where export_id = $1 and gone
             and id not in (select mailbox_id from export_messages where export_id = $1)`,
          [exportId],
        );
        const rows = await sql.query<{ id: number; folder: string; settled: boolean }>(
          `select id::float8 as id, folder, exists (
             select 1 from export_messages where mailbox_id = mailbox.id and part is not null) as settled
           from export_mailboxes as mailbox where export_id = $1`,
          [exportId],
        );
        const keeps = new Map(rows.flatMap(({ id, folder, settled }) => (settled ? [[id, folder]] : [])));
        const others = new Set(
          rows.filter(({ id }) => keeps.has(id) || !renamed.has(id)).map(({ folder }) => clashKey(folder)),
        );
        for (const [id, { path, delimiter, specialUse = '' }] of renamed) {
          const folder = keeps.get(id) ?? folderName(ownPath({ path }, prefix), delimiter, others);
          others.add(clashKey(folder));
          await sql.query(
            `update export_mailboxes set path = $2, folder = $3, delimiter = $4, special_use = $5, gone = false
             where id = $1`,
            [id, JSON.stringify(path), folder, delimiter, specialUse],
          );
        }
      });
    },
  };
}
