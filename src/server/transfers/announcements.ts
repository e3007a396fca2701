import type { Settings } from '../../contract/settings.ts';
import type { Database, Sql } from '../store/database.ts';
import { earlierTime } from '../store/earlier-time.ts';
import type { Vault } from '../store/vault.ts';

const DAY_MS = 24 * 3_600_000;
/** The purpose of the digests that mailboxes are recorded by. */
const PURPOSE = 'announced move';

/** The mailboxes whose moves we have announced to the account service. */
export type Announcements = {
  note(email: string): Promise<void>;
  has(email: string): Promise<boolean>;
  /** Erases those of `RETENTION_DAYS` ago, once access has ended: until then, their owners may come back. */
  purge(): Promise<void>;
};

type Services = {
  readonly database: Database;
  readonly vault: Vault;
  readonly settings: Pick<Settings, 'accessEnd' | 'retentionDays'>;
  readonly now: () => number;
};

export function openAnnouncements({ database, vault, settings, now }: Services): Announcements {
  return {
    note: async (email) => {
      await database.query(
        'insert into announced_moves (mailbox) values ($1) on conflict (mailbox) do update set announced = now()',
        [vault.digest(PURPOSE, email.toLowerCase())],
      );
    },
    has: async (email) => {
      const noted = await database.query('select 1 from announced_moves where mailbox = any($1)', [
        mailboxKeys(vault, email),
      ]);
      return noted.length > 0;
    },
    purge: async () => {
      const at = await earlierTime(database, now);
      if (at < Date.parse(settings.accessEnd)) return;
      const before = new Date(at - settings.retentionDays * DAY_MS);
      await database.query('delete from announced_moves where announced < $1', [before]);
    },
  };
}

/** Deletes the record that a move of this mailbox was announced. */
export async function eraseAnnouncement(sql: Sql, vault: Vault, email: string): Promise<void> {
  await sql.query('delete from announced_moves where mailbox = any($1)', [mailboxKeys(vault, email)]);
}

function mailboxKeys(vault: Vault, email: string): readonly string[] {
  return vault.digests(PURPOSE, email.toLowerCase());
}
