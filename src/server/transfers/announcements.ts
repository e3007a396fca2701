import type { Database, Sql } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

/** The mailboxes whose moves we have announced to the account service. */
export type Announcements = {
  note(email: string): Promise<void>;
  has(email: string): Promise<boolean>;
};

export function openAnnouncements({ database, vault }: { database: Database; vault: Vault }): Announcements {
  return {
    note: async (email) => {
      await database.query(
        'insert into announced_moves (mailbox) values ($1) on conflict (mailbox) do update set announced = now()',
        [mailboxKey(vault, email)],
      );
    },
    has: async (email) => {
      const noted = await database.query('select 1 from announced_moves where mailbox = $1', [
        mailboxKey(vault, email),
      ]);
      return noted.length > 0;
    },
  };
}

/** Deletes the record that a move of this mailbox was announced. */
export async function eraseAnnouncement(sql: Sql, vault: Vault, email: string): Promise<void> {
  await sql.query('delete from announced_moves where mailbox = $1', [mailboxKey(vault, email)]);
}

function mailboxKey(vault: Vault, email: string): string {
  return vault.digest('announced move', email.toLowerCase());
}
